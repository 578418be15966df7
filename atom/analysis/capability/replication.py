"""Would a claim hold again in a new study of the same size?

A departure that was noticed is flattered by having been noticed. Partial pooling takes that back;
what is left, with its own uncertainty, says how likely a repetition is to show the same sign.

Reference: METHODS T6.
"""

from __future__ import annotations

import numpy as np
import scipy

from atom.analysis.intervals import Floats
from atom.analysis.shrinkage import ShrunkEstimates

LEVEL = 0.05
"""One-sided level that the repetition is to reach."""
LIKELY = 0.5
"""A claim is made from this probability of replication on."""
SETTLED = 0.8
"""The probability at which a thin claim counts as settled."""
_MOST = 1e6
_STEPS = 60


def replication_probability(pooled: ShrunkEstimates, se: Floats) -> Floats:
    """Return P(a new study of the same size shows the same sign at one-sided .05).

    `Phi((|m| - 1.645 e) / sqrt(v + e^2))`, with m and v the pooled departure and its variance. It
    is at least one half exactly where `|m| >= 1.645 e`.

    Args:
        pooled: the pooled departures, shape (M,).
        se: standard errors e of the departures as they were measured, shape (M,).

    Returns:
        The probability, shape (M,); NaN where nothing is known.

    Reference:
        METHODS T6.
    """
    return _again(np.abs(pooled.value), pooled.variance, se)


def _again(size: Floats, variance: Floats, se: Floats) -> Floats:
    quantile = float(-scipy.special.ndtri(LEVEL))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(scipy.special.ndtr((size - quantile * se) / np.sqrt(variance + se**2)))


def samples_to_settle(
    effect: Floats, pooled: ShrunkEstimates, se: Floats, samples: Floats
) -> Floats:
    """Forecast how many samples a node needs until its claim would be likely to hold again.

    With N' samples the error is `e sqrt(N / N')`; the pooled departure and its variance follow, and
    N' is the first number at which the probability of replication reaches .8.

    Args:
        effect: departures d as measured, shape (M,).
        pooled: the same after partial pooling.
        se: their standard errors e.
        samples: samples N in each node now.

    Returns:
        Samples in all, shape (M,); infinite where what is known now puts .8 out of reach:
        `Phi(|m| / sqrt(v)) < .8`, or no spread at all; NaN where nothing is known.

    Reference:
        METHODS T6.
    """
    known = np.isfinite(effect) & np.isfinite(se) & (samples > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = pooled.spread / (pooled.spread + se**2)
        centre = np.where(share < 1, (pooled.value - share * effect) / (1 - share), 0.0)
        limit = scipy.special.ndtr(np.abs(pooled.value) / np.sqrt(pooled.variance))
    reachable = known & (pooled.spread > 0) & (limit >= SETTLED)

    def at(times: Floats) -> Floats:
        error = se / np.sqrt(times)
        weight = pooled.spread / (pooled.spread + error**2)
        size = np.abs(weight * effect + (1 - weight) * centre)
        return _again(size, weight * error**2, error)

    few, many = np.ones_like(se), np.full_like(se, _MOST)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_STEPS):
            middle = np.sqrt(few * many)
            enough = at(middle) >= SETTLED
            many, few = np.where(enough, middle, many), np.where(enough, few, middle)
    needed = np.where(many < _MOST, np.ceil(samples * many), np.inf)
    return np.where(reachable, needed, np.where(known, np.inf, np.nan))
