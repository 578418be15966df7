"""Fingerprints."""
