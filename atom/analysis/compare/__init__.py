"""Which model is ahead, by scores, marks and votes."""
