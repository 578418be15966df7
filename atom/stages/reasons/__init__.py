"""Reasons of failures: a judge names groups of them."""
