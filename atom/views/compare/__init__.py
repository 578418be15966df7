"""Compare, as values."""
