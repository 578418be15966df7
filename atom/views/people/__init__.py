"""People's labels and scores, as values."""
