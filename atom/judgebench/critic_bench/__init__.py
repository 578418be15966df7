"""CriticBench."""
