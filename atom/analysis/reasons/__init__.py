"""Reasons of failures: groups of them, and which models they make up."""
