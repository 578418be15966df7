"""MM-CRITIC."""
