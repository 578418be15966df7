"""Findings as data, what they're looked for in, and which are told."""
