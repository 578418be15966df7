"""Runs, as values."""
