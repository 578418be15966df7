"""Regular expressions: none may take more than linear time for what a stranger writes."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attacks._pumps import patterns_of, pumps
from benchmarks.attacks._tried import Tried

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("atom", "taxonomy")
LARGEST = 16_384
"""Characters of the longest string."""
STEP = 16
"""How many times longer the longer string is."""
MOST_RATIO = 64.0
"""For sixteen times the text: 16 is linear, 256 quadratic, so a machine may be off fourfold."""
LEAST = 0.03
"""Seconds; anything faster for the longest string is of no concern."""
ENDS = ("\x00", "")


def attack() -> Iterator[Tried]:
    """Search long strings with every expression of the packages."""
    for found in patterns_of(ROOT, PACKAGES):
        yield Tried(name=found.name, fell=slow(found.pattern, anchored=found.anchored))


def slow(pattern: re.Pattern[str], *, anchored: bool = False) -> str:
    """Say with which string an expression takes more than linear time; nothing where it doesn't.

    Args:
        pattern: the expression.
        anchored: whether it is only tried at a text's start.
    """
    for before, piece in pumps(pattern):
        for end in ENDS:
            fell = _slow_for(pattern, (before, piece, end), anchored=anchored)
            if fell:
                return fell
    return ""


def _slow_for(pattern: re.Pattern[str], parts: tuple[str, str, str], *, anchored: bool) -> str:
    def seconds(size: int, times: int) -> float:
        text = _text(*parts, size)
        return min(_seconds(pattern, text, anchored=anchored) for _ in range(times))

    size = 12  # an exponential one shows early, and must not be met much later
    while size < LARGEST and seconds(size, 1) < LEAST:
        size = size + 4 if size < 48 else 2 * size
    last = seconds(size, 2)
    if last < LEAST:
        return ""
    first = seconds(size // STEP, 3)
    if last / max(first, 1e-6) <= MOST_RATIO:
        return ""
    return (
        f"{parts[0]!r} + {parts[1]!r} repeated: {1000 * first:.1f} ms for {size // STEP:,} "
        f"characters, {1000 * last:.0f} ms for {size:,}"
    )


def _text(before: str, piece: str, end: str, size: int) -> str:
    return before + piece * (size // max(len(piece), 1)) + end


def _seconds(pattern: re.Pattern[str], text: str, *, anchored: bool) -> float:
    started = time.process_time()
    if anchored:
        pattern.match(text)
    else:
        deque(pattern.finditer(text), maxlen=0)
    return time.process_time() - started
