"""Capability tree."""
