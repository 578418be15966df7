"""A study's own runs: its stages, item by item."""
