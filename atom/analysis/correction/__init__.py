"""What a correction experiment shows."""
