"""Whether a judge reads all groups by the same confusion.

Reference: METHODS D5 (C homogeneity); Cameron, Gelbach and Miller 2008 (wild cluster bootstrap-t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.capability.criteria_health import SCORES
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints

SEED = 5
DRAWS = 499, 9_999
"""Sign patterns drawn: the second number where the first show that p is small."""
_SURE = 25
_CELLS = 1_000_000
_NOTHING = 1e-12


@dataclass(frozen=True, kw_only=True)
class RootHomogeneity:
    """Whether the judge reads all roots by one and the same confusion.

    Attributes:
        statistic: largest |t| of a branch against the rest, at equal truths; inf = nothing but
            the difference is left.
        p: that any branch differs so much (in score, or in share exactly right) without
            differences, at least 1 in 10,000; NaN = not tested.
        roots: branches compared.
    """

    statistic: float
    p: float
    roots: int


def homogeneity(truth: Ints, said: Ints, group: Ints, cluster: Ints) -> RootHomogeneity:
    """Test whether a judge reads all groups by the same confusion.

    Each group is held against the rest at equal truths: residuals `e = y - mean(y | truth)` on
    `z = 1[group] - share(group | truth)` give `d = sum z e / sum z^2` and, with cluster sums
    `v_c` of `z (e - z d)`, `t = sum z e / sqrt(sum v_c^2)`. The statistic is the largest |t| over
    the groups, for the score itself and for whether it is exactly right. Its distribution without
    differences comes from turning round the signs of whole clusters' `e` (wild cluster bootstrap
    under the null): that keeps its size with few clusters, and loses no power where a judge makes
    no other errors, for which a variance taken under the null would hold the difference itself.

    Args:
        truth: 1..5, shape (n,).
        said: 1..5, shape (n,).
        group: shape (n,); groups of fewer than five clusters are left out.
        cluster: shape (n,).

    Returns:
        The test; p = 1 where the judge makes no errors at all.

    Reference:
        METHODS D5 (C homogeneity); Cameron, Gelbach and Miller 2008 (wild cluster bootstrap-t).
    """
    groups = [
        int(one)
        for one in np.unique(group)
        if len(np.unique(cluster[group == one])) >= MIN_CLUSTERS
    ]
    if len(groups) < 2:
        return RootHomogeneity(statistic=math.nan, p=math.nan, roots=len(groups))
    kept = np.isin(group, groups)
    truth, said, group = truth[kept], said[kept], group[kept]
    _, code = np.unique(cluster[kept], return_inverse=True)
    code = code.reshape(-1)
    at_truth = np.bincount(truth, minlength=SCORES + 1)

    def residual(value: Floats) -> Floats:
        total = np.bincount(truth, weights=value, minlength=SCORES + 1)
        return np.asarray(value - (total / np.maximum(at_truth, 1))[truth])

    # Of two groups the one's t is the other's.
    looked = groups if len(groups) > 2 else groups[:1]
    shifts = [residual((group == one).astype(np.float64)) for one in looked]
    errors = [residual(said.astype(np.float64)), residual((said == truth).astype(np.float64))]
    tests = [
        _Shift.of(z, e, truth, code)
        for z in shifts
        for e in errors
        if np.abs(e).max() > _NOTHING and np.abs(z).max() > _NOTHING
    ]
    if not tests:
        return RootHomogeneity(statistic=0.0, p=1.0, roots=len(groups))
    clusters = int(code.max()) + 1
    found = _largest(tests, np.ones((1, clusters)))[0]
    return RootHomogeneity(
        statistic=float(found), p=_turned(tests, float(found), clusters), roots=len(groups)
    )


@dataclass(frozen=True, kw_only=True)
class _Shift:
    """Sums by cluster from which one group's t follows for any signs; shapes (C,) and (C, 6).

    Attributes:
        score: sum of z e.
        weight: sum of z^2.
        lean: sum of z, by truth.
        error: sum of e over the truth's count, by truth.
    """

    score: Floats
    weight: Floats
    lean: Floats
    error: Floats

    @classmethod
    def of(cls, z: Floats, e: Floats, truth: Ints, code: Ints) -> _Shift:
        clusters, width = int(code.max()) + 1, SCORES + 1
        place = code * width + truth
        count = np.maximum(np.bincount(truth, minlength=width), 1)
        size = clusters * width
        lean = np.bincount(place, weights=z, minlength=size).astype(np.float64)
        error = np.bincount(place, weights=e, minlength=size).astype(np.float64)
        return cls(
            score=np.bincount(code, weights=z * e, minlength=clusters).astype(np.float64),
            weight=np.bincount(code, weights=z * z, minlength=clusters).astype(np.float64),
            lean=lean.reshape(clusters, width),
            error=error.reshape(clusters, width) / count,
        )

    def t(self, signs: Floats) -> Floats:
        """Return |t| for signs of shape (B, C); infinite where nothing but the shift is left."""
        top = signs @ self.score
        left = signs * self.score
        left -= (signs @ self.error) @ self.lean.T
        left -= np.outer(top / self.weight.sum(), self.weight)
        below = np.einsum("bc,bc->b", left, left)
        total = float((self.score**2).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(top) / np.sqrt(below)
        # Rounding leaves a little of a variance that is 0.
        t = np.where(below > _NOTHING * total, t, np.inf)
        return np.asarray(np.where(top**2 > _NOTHING * total, t, 0.0))


def _largest(tests: Sequence[_Shift], signs: Floats) -> Floats:
    return np.asarray(np.max([one.t(signs) for one in tests], axis=0))


def _turned(tests: Sequence[_Shift], found: float, clusters: int) -> float:
    """Return the share of sign patterns whose statistic is as large; few draws where p is large."""
    rng = np.random.default_rng(SEED)
    reached, drawn = 0, 0
    for most in DRAWS:
        while drawn < most:
            size = min(most - drawn, max(1, _CELLS // clusters))
            signs = (rng.integers(0, 2, (size, clusters)) * 2 - 1).astype(np.float64)
            reached += int((_largest(tests, signs) >= found * (1 - 1e-9)).sum())
            drawn += size
        if reached > _SURE:
            break
    return (1 + reached) / (1 + drawn)
