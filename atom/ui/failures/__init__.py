"""Failures, and a sample laid open."""
