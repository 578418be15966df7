"""Judge lab, as values."""
