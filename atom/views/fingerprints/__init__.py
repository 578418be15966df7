"""Fingerprints, as values."""
