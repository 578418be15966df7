"""Ordinary words that a sentence may begin with: a capital there makes no name of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "ordinary.txt"


@cache
def ordinary_words() -> frozenset[str]:
    """Return the words, in small letters."""
    return frozenset(_FILE.read_text(encoding="utf-8").split())
