"""Pure statistics on the score table."""
