"""Endpoints: configured, found, tested."""
