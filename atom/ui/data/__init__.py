"""Data: imports, pictures, column maps."""
