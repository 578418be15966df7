"""Large studies made ready beforehand: parts in files, and the sums that single filters need."""
