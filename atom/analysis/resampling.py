"""Intervals by drawing whole clusters again, for figures that have no closed form.

Reference: METHODS B3 (cluster bootstrap).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from atom.analysis.intervals import Ints

LEAST_CLUSTERS = 5
"""Under so many clusters draws say nothing."""


def resample_interval(
    statistic: Callable[[Ints], float],
    cluster: Ints,
    rng: Generator,
    *,
    draws: int = 400,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Bound a figure by drawing clusters with replacement.

    Args:
        statistic: computes the figure from the indices of things drawn, some of them twice.
        cluster: cluster of each thing, shape (n,).
        confidence: coverage of the percentile interval.

    Returns:
        Its ends; NaN under `LEAST_CLUSTERS` clusters or where half of the draws have no figure.
    """
    _, code = np.unique(cluster, return_inverse=True)
    order = np.argsort(code, kind="stable")
    size = np.bincount(code, minlength=1)
    start = np.cumsum(size) - size
    if len(cluster) == 0 or len(size) < LEAST_CLUSTERS:
        return math.nan, math.nan
    found = []
    for _ in range(draws):
        drawn = rng.integers(0, len(size), len(size))
        count = size[drawn]
        # Each drawn cluster's own places, one run after another.
        within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        found.append(statistic(order[np.repeat(start[drawn], count) + within]))
    return percentiles(found, confidence)


def percentiles(found: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the middle of drawn figures; NaN where half of them are undefined."""
    known = np.array([value for value in found if math.isfinite(value)])
    if len(known) < max(1, len(found) / 2):
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    lo, hi = np.quantile(known, [tail, 1 - tail])
    return float(lo), float(hi)
