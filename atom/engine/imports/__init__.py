"""Imports, and the pictures that come with or after them."""
