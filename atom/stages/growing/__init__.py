"""What the judge is asked while a tree grows."""
