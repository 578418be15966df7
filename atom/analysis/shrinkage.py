"""Partial pooling: small nodes borrow strength from the rest.

Reference: METHODS B7 (normal empirical Bayes, DerSimonian-Laird spread).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.intervals import Floats, Ints
from atom.analysis.sums import group_sums

TINY = 1e-12
"""Variance under which a node counts as exactly known."""


@dataclass(frozen=True, kw_only=True)
class ShrunkEstimates:
    """Pooled estimates, in the unit of what went in.

    Attributes:
        value: posterior means; NaN where neither the node nor anything above it is known.
        variance: posterior variances.
        spread: tau^2 used for each node.
    """

    value: Floats
    variance: Floats
    spread: Floats

    def probability_below(self, bound: float) -> Floats:
        """Return P(true value < bound) by the normal distribution."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(scipy.special.ndtr((bound - self.value) / np.sqrt(self.variance)))


def shrink_to_zero(effect: Floats, variance: Floats, family: Ints) -> ShrunkEstimates:
    """Shrink departures towards none, each family by its own spread.

    `tau^2 = max(0, (sum w d^2 - m) / sum w)` with w = 1/v over a family's m effects;
    `B = tau^2 / (tau^2 + v)`, value `B d`, variance `B v`.

    Args:
        effect: departures d, shape (M,); NaN = unknown.
        variance: sampling variances v, shape (M,).
        family: 0-based family of each effect, shape (M,).

    Returns:
        The pooled departures; NaN stays NaN.

    Reference:
        METHODS B7.
    """
    size = int(family.max(initial=-1)) + 1
    known = np.isfinite(effect) & np.isfinite(variance)
    w = np.where(known, 1 / np.maximum(np.nan_to_num(variance), TINY), 0.0)
    weight = group_sums(family, w, size)
    q = group_sums(family, w * np.nan_to_num(effect) ** 2, size)
    count = group_sums(family, known, size)
    spread = np.maximum(0, (q - count) / np.where(weight > 0, weight, 1))[family]
    return _posterior(effect, variance, spread, np.zeros_like(effect), np.zeros_like(effect))


def shrink_flat(mean: Floats, variance: Floats, family: Ints) -> ShrunkEstimates:
    """Shrink means towards their family's precision-weighted mean.

    Args:
        mean: shape (M,); NaN = unknown.
        variance: sampling variances, shape (M,).
        family: 0-based family of each mean (say, the model), shape (M,).

    Returns:
        The pooled means; an unknown mean gets its family's.

    Reference:
        METHODS B7.
    """
    size = int(family.max(initial=-1)) + 1
    spread, centre, centre_variance = _dersimonian_laird(mean, variance, family, size)
    return _posterior(mean, variance, spread[family], centre[family], centre_variance[family])


def _dersimonian_laird(
    mean: Floats, variance: Floats, family: Ints, size: int, *, pooled: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return tau^2, centre and its variance by family; one tau^2 for all when pooled."""
    known = np.isfinite(mean) & np.isfinite(variance)
    w = np.where(known, 1 / np.maximum(np.nan_to_num(variance), TINY), 0.0)
    y = np.nan_to_num(mean)

    def total(values: Floats) -> Floats:
        return group_sums(family, values, size)

    weight, squares = total(w), total(w * w)
    with np.errstate(divide="ignore", invalid="ignore"):
        fixed = total(w * y) / weight
        q = total(w * (y - np.nan_to_num(fixed)[family]) ** 2)
        c = np.where(weight > 0, weight - squares / weight, 0.0)
        df = np.maximum(total(known.astype(np.float64)) - 1, 0)
        if pooled:
            q, c, df = (np.full(size, part.sum()) for part in (q, c, df))
        spread = np.where(c > TINY, np.maximum(0, (q - df) / c), 0.0)
        precise = np.where(known, 1 / np.maximum(np.nan_to_num(variance) + spread[family], TINY), 0)
        precision = total(precise)
        return spread, total(precise * y) / precision, 1 / precision


def _posterior(
    mean: Floats, variance: Floats, spread: Floats, centre: Floats, centre_variance: Floats
) -> ShrunkEstimates:
    known = np.isfinite(mean) & np.isfinite(variance)
    v = np.where(known, np.maximum(np.nan_to_num(variance), TINY), np.inf)
    b = spread / (spread + v)
    value = b * np.nan_to_num(mean) + (1 - b) * centre
    own = np.where(known, b * np.where(known, v, 0), spread)
    return ShrunkEstimates(
        value=np.where(known | (centre_variance > 0), value, np.nan),
        variance=own + (1 - b) ** 2 * centre_variance,
        spread=spread,
    )
