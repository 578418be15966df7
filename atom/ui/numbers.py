"""Numbers as text, in one way on every screen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.views.overview.page import Estimate

NONE = "–"
_FINE = 200
"""From this many cases on a percent gets a decimal."""


def score(value: float) -> str:
    """Write a score on the 0-100 scale with one decimal."""
    return NONE if math.isnan(value) else f"{value:.1f}"


def percent(value: float, n: int) -> str:
    """Write a percentage; without decimals under 200 cases."""
    if math.isnan(value):
        return NONE
    return f"{value:.1f} %" if n >= _FINE else f"{value:.0f} %"


def interval(estimate: Estimate) -> str:
    """Write `62.1 (58.4-65.7)`."""
    if not estimate.known:
        return NONE
    return f"{estimate.value:.1f} ({estimate.lo:.1f}–{estimate.hi:.1f})"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write `1 sample`, `1,200 samples`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def middle(text: str, size: int = 34) -> str:
    """Cut a long name in the middle."""
    if len(text) <= size:
        return text
    head = (size - 1) * 2 // 3
    return f"{text[:head].rstrip()}…{text[-(size - 1 - head) :].lstrip()}"


def rank(best: int, worst: int) -> str:
    """Write a set of ranks, `1` or `1-3`."""
    return str(best) if best == worst else f"{best}–{worst}"


def short_names(names: Sequence[str]) -> list[str]:
    """Shorten names to what tells them apart: `model-a`, `model-b` become `a`, `b`."""
    if len(names) < 2:
        return [middle(name, 9) for name in names]
    head = 0
    while all(len(name) > head + 1 for name in names) and len({n[head] for n in names}) == 1:
        head += 1
    while head and names[0][head - 1] not in "-_ /.":
        head -= 1
    return [middle(name[head:], 9) for name in names]
