"""A store as a whole: taken to another place."""
