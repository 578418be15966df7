"""Judge lab."""
