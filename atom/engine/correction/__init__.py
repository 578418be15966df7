"""Self-correction experiments: planned, forecast, run."""
