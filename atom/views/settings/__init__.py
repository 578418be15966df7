"""Settings, as values."""
