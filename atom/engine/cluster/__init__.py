"""Runs elsewhere than on this computer: on a Ray cluster."""
