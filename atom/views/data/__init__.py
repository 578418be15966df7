"""Data, as values."""
