"""Counts in words."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a count with its noun: `1 item`, `3 items`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
