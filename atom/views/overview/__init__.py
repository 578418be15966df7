"""Overview, as values."""
