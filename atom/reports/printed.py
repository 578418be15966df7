"""Numbers as they are printed in a report, and the number records made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.numbers import p_value
from atom.reports.records import Number
from atom.stages.answer import lettered as write_choices
from atom.views.overview.ranking import RankRow

NONE = "–"
FINE = 200
"""From this many cases on a percent gets a decimal."""


def listed(names: list[str] | tuple[str, ...]) -> str:
    """Write `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def lettered(choices: Sequence[str]) -> str:
    """Write `A) red · B) blue`, in the letters that answers name choices by."""
    return " · ".join(write_choices(choices).splitlines())


def n_words(number: Number) -> str:
    """Write what a number rests on: `132 criteria`, `1 answer`; empty where that isn't known."""
    if number.n is None:
        return ""
    return numbers.counted(number.n, number.n_unit)


def p_words(p: float | None) -> str:
    """Write `p = .012` or `p < .001`; empty where there is none."""
    if p is None or math.isnan(p):
        return ""
    text = p_value(p).replace("\u00a0", " ")
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def with_interval(value: float, lo: float, hi: float, decimals: int = 1) -> str:
    """Write `62.1 (58.4–65.7)`; with `to` between the ends where one is negative."""
    if math.isnan(value):
        return NONE
    text = f"{value:.{decimals}f}"
    if math.isnan(lo) or math.isnan(hi):
        return text
    low, high = f"{lo:.{decimals}f}", f"{hi:.{decimals}f}"
    return f"{text} ({low}{' to ' if low.startswith('-') else '–'}{high})"


def estimate_words(value: float, lo: float, hi: float) -> str:
    """Write a share of [0, 1] with its interval: `43 % (20–69)`."""
    return numbers.share_interval(value, lo, hi, 0)


def rank_number(row: RankRow) -> Number:
    """Make the number of a model's rank set: `2`, or `2–4`."""
    text = str(row.rank_best)
    if row.rank_worst != row.rank_best:
        text += f"–{row.rank_worst}"
    return Number(name="rank", text=text, value=float(row.rank_best), unit="rank",
                  lo=float(row.rank_best), hi=float(row.rank_worst))  # fmt: skip


def estimate_number(name: str, estimate: Estimate, *, percent: bool, n_unit: str) -> Number:
    """Make the number of a mean on 0-100 with its interval.

    Args:
        name: what it measures.
        percent: whether it is a share; shares of few cases are printed without decimals.
        n_unit: what is counted.
    """
    decimals = 0 if percent and estimate.n < FINE else 1
    text = with_interval(estimate.value, estimate.lo, estimate.hi, decimals)
    return Number(
        name=name,
        text=f"{text} %" if percent and estimate.known else text,
        value=finite(estimate.value),
        unit="%" if percent else "points of 100",
        lo=finite(estimate.lo),
        hi=finite(estimate.hi),
        n=estimate.n,
        n_unit=n_unit,
    )


def share_number(name: str, hits: int, n: int, lo: float, hi: float, *, n_unit: str) -> Number:
    """Make the number of a counted share; `lo` and `hi` on [0, 1]."""
    value = 100 * hits / n if n else math.nan
    text = with_interval(value, 100 * lo, 100 * hi, 1 if n >= FINE else 0)
    return Number(
        name=name,
        text=f"{text} %" if n else NONE,
        value=finite(value),
        unit="%",
        lo=finite(100 * lo),
        hi=finite(100 * hi),
        n=n,
        n_unit=n_unit,
    )


def plain(name: str, value: int, unit: str) -> Number:
    """Make the number of a count."""
    return Number(name=name, text=f"{value:,}", value=float(value), unit=unit)


def finite(value: float | None) -> float | None:
    """Return a number, or None where there is none."""
    return value if value is not None and math.isfinite(value) else None
