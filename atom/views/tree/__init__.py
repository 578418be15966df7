"""Capability tree, as values."""
