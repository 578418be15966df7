"""Live replay, as values."""
