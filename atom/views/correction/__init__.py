"""Self-correction, as values."""
