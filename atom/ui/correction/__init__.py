"""Self-correction."""
