"""Runs by batch files: written, sent, taken in."""
