"""Shares of verdicts, counted twice: an unreadable one as wrong, and left out.

Reference: METHODS 0 (strict and valid-only rates), A14 (macro mean).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import Z95, Floats, Ints, wilson

WRONG, RIGHT, INVALID = 0, 1, -1
"""What became of an item: a verdict that is wrong, one that is right, none that can be read."""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share of right verdicts.

    Attributes:
        right: right verdicts.
        n: items asked.
        invalid: items without a readable verdict.
        strict: right / n, an unreadable verdict counted as wrong; NaN where n = 0.
        lo: lower end of the 95 % Wilson interval of `strict`.
        valid_only: right / (n - invalid), unreadable ones left out; NaN where none is left.
        valid_lo: lower end of its 95 % Wilson interval.
        chance: what a judge that flips coins would reach on these items; NaN where none is defined.
    """

    right: int
    n: int
    invalid: int
    strict: float
    lo: float
    hi: float
    valid_only: float
    valid_lo: float
    valid_hi: float
    chance: float = math.nan

    @property
    def invalid_rate(self) -> float:
        """Share of items without a readable verdict; NaN where n = 0."""
        return self.invalid / self.n if self.n else math.nan


def rate(codes: Ints, chance: float = math.nan) -> Rate:
    """Count right verdicts.

    Args:
        codes: 1 right, 0 wrong, -1 unreadable; shape (n,).
        chance: the level of a coin-flipping judge.

    Returns:
        The share, counted both ways.
    """
    n, right, invalid = len(codes), int((codes == RIGHT).sum()), int((codes == INVALID).sum())
    valid = n - invalid
    lo, hi = wilson(right, n) if n else (math.nan, math.nan)
    valid_lo, valid_hi = wilson(right, valid) if valid else (math.nan, math.nan)
    return Rate(
        right=right,
        n=n,
        invalid=invalid,
        strict=right / n if n else math.nan,
        lo=lo,
        hi=hi,
        valid_only=right / valid if valid else math.nan,
        valid_lo=valid_lo,
        valid_hi=valid_hi,
        chance=chance,
    )


@dataclass(frozen=True, kw_only=True)
class Macro:
    """An unweighted mean over categories.

    Attributes:
        value: the mean; NaN where a category has no value.
        se: `sqrt(sum SE_c^2) / C`; NaN where a category has fewer than two values.
        lo: lower end of the 95 % interval.
    """

    value: float
    se: float
    lo: float
    hi: float


def macro(values: Sequence[float], sizes: Sequence[int]) -> Macro:
    """Average shares over categories, each counting the same.

    Args:
        values: share of each category, 0..1.
        sizes: items of each category.

    Returns:
        The mean with its interval.

    Reference:
        METHODS A14; VL-RewardBench 3 (macro average).
    """
    share = np.asarray(values, dtype=np.float64)
    n = np.asarray(sizes, dtype=np.float64)
    if not len(share):
        return Macro(value=math.nan, se=math.nan, lo=math.nan, hi=math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(n > 1, share * (1 - share) / n, np.nan)
    value = float(share.mean())
    se = float(np.sqrt(variance.sum())) / len(share)
    return Macro(value=value, se=se, lo=max(value - Z95 * se, 0.0), hi=min(value + Z95 * se, 1.0))


def pooled(values: Sequence[float], sizes: Sequence[int]) -> float:
    """Average shares over categories, each item counting the same; NaN without items."""
    n = np.asarray(sizes, dtype=np.float64)
    if not n.sum():
        return math.nan
    return float(np.average(np.asarray(values, dtype=np.float64), weights=n))


def majority(votes: Ints) -> Ints:
    """Bring an item's votes down to one code.

    Args:
        votes: 1 right, 0 wrong, -1 unreadable; shape (n, K).

    Returns:
        1 where more votes are right than wrong, 0 where more are wrong or as many are (a tie
        decides nothing), -1 where no vote can be read; shape (n,).

    Reference:
        METHODS A13.
    """
    right, wrong = (votes == RIGHT).sum(axis=1), (votes == WRONG).sum(axis=1)
    return np.where(right + wrong == 0, INVALID, (right > wrong).astype(np.int64))


def balanced_orders(items: int, votes: int, rng: np.random.Generator) -> Ints:
    """Draw who is shown first in each vote, as evenly as can be.

    Args:
        items: number of items.
        votes: K votes an item.

    Returns:
        0 = as given, 1 = swapped; shape (items, votes). Each item has floor or ceil of K/2 swaps.

    Reference:
        METHODS A13 (balanced order).
    """
    base = np.arange(votes) % 2
    shown = np.tile(base, (items, 1))
    if votes % 2:
        shown = np.where(rng.integers(0, 2, size=(items, 1)) == 1, 1 - shown, shown)
    return np.asarray(rng.permuted(shown, axis=1), dtype=np.int64)


def mean_interval(values: Floats) -> tuple[float, float, float]:
    """Return mean and 95 % interval of independent values; NaN ends under two values."""
    n = len(values)
    if not n:
        return math.nan, math.nan, math.nan
    value = float(values.mean())
    if n < 2:
        return value, math.nan, math.nan
    half = Z95 * float(values.std(ddof=1)) / math.sqrt(n)
    return value, value - half, value + half
