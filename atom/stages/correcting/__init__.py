"""Self-correction: what a trial is about."""
