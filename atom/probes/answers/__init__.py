"""Answers to probes: written from steps, and read back."""
