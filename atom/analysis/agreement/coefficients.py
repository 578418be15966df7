"""Two raters on the same things: a judge with itself, with another judge, with people.

Reference: METHODS A7 (kappa), B12 (reliability), B20 (minimal detectable change).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from atom.analysis.capability.criteria_health import ordinal_alpha
from atom.analysis.intervals import Z95, Ints, make_cells, node_stats


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of two raters on a scale of ordered values.

    Attributes:
        n: things that both rated.
        clusters: distinct clusters among them.
        exact: share rated the same; NaN where n = 0.
        exact_lo: lower end of its 95 % interval (METHODS B2, over clusters).
        adjacent: share rated the same or one apart.
        kappa: quadratically weighted kappa; NaN where both give one value to everything.
        alpha: Krippendorff's alpha for ordered values.
        alpha_lo: lower end of its 95 % interval, by resampling clusters; NaN without resamples.
        shift: mean of the second rater less the first: one is more lenient.
        noise: standard deviation of one rating around its own mean, sd(difference) / sqrt(2).
    """

    n: int
    clusters: int
    exact: float
    exact_lo: float
    exact_hi: float
    adjacent: float
    kappa: float
    alpha: float
    alpha_lo: float
    alpha_hi: float
    shift: float
    noise: float

    @property
    def detectable_change(self) -> float:
        """Smallest change of one rating that isn't noise: `1.96 sqrt(2) noise` (METHODS B20)."""
        return Z95 * math.sqrt(2) * self.noise


def confusion(first: Ints, second: Ints, values: int) -> Ints:
    """Count pairs of ratings, shape (values, values): row = first rater.

    Args:
        first: 1..values; 0 or less = not rated, the pair is left out; shape (n,).
        second: the same, shape (n,).
        values: number of ordered values.
    """
    both = (first > 0) & (second > 0)
    key = (first[both].astype(np.int64) - 1) * values + second[both].astype(np.int64) - 1
    return np.bincount(key, minlength=values * values).reshape(values, values).astype(np.int64)


def weighted_kappa(counts: Ints) -> float:
    """Return Cohen's kappa with quadratic weights; NaN where both raters give one value only.

    Reference:
        METHODS B12.
    """
    n = counts.sum()
    values = len(counts)
    gap = np.subtract.outer(np.arange(values), np.arange(values)).astype(np.float64) ** 2
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(n, 1)
    chance = float((gap * expected).sum())
    return 1 - float((gap * counts).sum()) / chance if n and chance > 0 else math.nan


def nominal_kappa(counts: Ints) -> float:
    """Return Cohen's kappa without weights; NaN where chance agreement is complete.

    Reference:
        METHODS A7.
    """
    n = float(counts.sum())
    if not n:
        return math.nan
    chance = float((counts.sum(axis=1) * counts.sum(axis=0)).sum()) / n**2
    return (float(np.trace(counts)) / n - chance) / (1 - chance) if chance < 1 else math.nan


def agreement(
    first: Ints,
    second: Ints,
    cluster: Ints,
    *,
    values: int = 5,
    rng: Generator | None = None,
    resamples: int = 400,
) -> Agreement:
    """Compare two raters.

    Args:
        first: 1..values; 0 or less = not rated; shape (n,).
        second: the same, shape (n,).
        cluster: cluster of each thing (its sample), shape (n,).
        values: number of ordered values.
        rng: randomness for the interval of alpha; none = no interval.
        resamples: how many times clusters are drawn.

    Returns:
        The agreement over the things that both rated.

    Reference:
        METHODS B12.
    """
    both = (first > 0) & (second > 0)
    a, b = first[both].astype(np.int64), second[both].astype(np.int64)
    _, code = np.unique(cluster[both], return_inverse=True)
    clusters = int(code.max(initial=-1)) + 1
    counts = confusion(a, b, values)
    gap = (b - a).astype(np.float64)
    alpha = ordinal_alpha((counts + counts.T).astype(np.float64))
    lo, hi = _alpha_interval(a, b, code, clusters, values, rng, resamples)
    nan = math.nan
    same = node_stats(
        make_cells((gap == 0).astype(np.float64), np.zeros(len(a), dtype=np.int64), code, 1), 1
    )
    return Agreement(
        n=len(a),
        clusters=clusters,
        exact=float((gap == 0).mean()) if len(a) else nan,
        exact_lo=float(same.lo[0]),
        exact_hi=float(same.hi[0]),
        adjacent=float((np.abs(gap) <= 1).mean()) if len(a) else nan,
        kappa=weighted_kappa(counts),
        alpha=alpha,
        alpha_lo=lo,
        alpha_hi=hi,
        shift=float(gap.mean()) if len(a) else nan,
        noise=float(gap.std(ddof=1)) / math.sqrt(2) if len(a) > 1 else nan,
    )


def _alpha_interval(
    a: Ints, b: Ints, code: Ints, clusters: int, values: int, rng: Generator | None, resamples: int
) -> tuple[float, float]:
    if rng is None or clusters < 2:
        return math.nan, math.nan
    cells = values * values
    key = code * cells + (a - 1) * values + b - 1
    table = np.bincount(key, minlength=clusters * cells).reshape(clusters, cells)
    drawn = []
    for _ in range(resamples):
        weight = np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)
        counts = (weight @ table).reshape(values, values)
        drawn.append(ordinal_alpha((counts + counts.T).astype(np.float64)))
    known = np.asarray([value for value in drawn if math.isfinite(value)])
    if not len(known):
        return math.nan, math.nan
    lo, hi = np.quantile(known, [0.025, 0.975])
    return float(lo), float(hi)
