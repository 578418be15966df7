"""Failures, and a sample laid open, as values."""
