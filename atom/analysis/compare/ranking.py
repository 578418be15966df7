"""Rankings that say which ranks the data can tell apart.

Reference: METHODS B11 (rank sets by Holm over paired cluster tests), G (joint covariance).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import scipy

from atom.analysis.intervals import Floats, Ints
from atom.analysis.merged import Additive

ROUNDING = 1e-13
"""A variance below this share of what it is the difference of is rounding."""
SAME = 1e-12
"""Means closer than this are equal."""


@dataclass(frozen=True, kw_only=True)
class RankSets:
    """The ranks that each of K models may hold, arrays of shape (K,).

    Attributes:
        best: 1 + number of models that are significantly better.
        worst: K - number of models that are significantly worse.
    """

    best: Ints
    worst: Ints


def rank_sets_of(p: Floats, gap: Floats, alpha: float = 0.05) -> RankSets:
    """Bound every model's rank from comparisons of all pairs, by Holm.

    Args:
        p: two-sided p-values, shape (K, K).
        gap: row's mean less column's, shape (K, K).
        alpha: level of the simultaneous statement.
    """
    k = len(p)
    better = np.zeros((k, k), dtype=bool)
    tests = [
        (float(p[a, b]), a, b) if gap[a, b] > 0 else (float(p[a, b]), b, a)
        for a in range(k)
        for b in range(a + 1, k)
        if abs(gap[a, b]) >= SAME
    ]
    pairs = k * (k - 1) // 2
    for number, (chance, winner, loser) in enumerate(sorted(tests)):
        if chance * (pairs - number) > alpha:
            break
        better[winner, loser] = True
    return RankSets(
        best=1 + better.sum(axis=0).astype(np.int64), worst=k - better.sum(axis=1).astype(np.int64)
    )


@dataclass(frozen=True, kw_only=True)
class PairSums(Additive):
    """Sums over the clusters that two models both answered, arrays of shape (K, K).

    S and N are the sum and the number of a cluster's scores: of the row's model where one is named,
    of the row's and the column's where two are.
    """

    groups: Floats
    n: Floats
    s: Floats
    ss: Floats
    sn: Floats
    nn: Floats
    s_s: Floats
    s_n: Floats
    n_n: Floats

    def of(self, models: Ints) -> PairSums:
        """Return the sums of some models alone."""
        at = np.ix_(models, models)
        return PairSums(**{one.name: getattr(self, one.name)[at] for one in fields(self)})


def pair_sums(total: Floats, count: Floats) -> PairSums:
    """Form the sums of every pair of models.

    All sums over shared clusters are products of (model, cluster) matrices, so that no pair needs a
    pass of its own.

    Args:
        total: sum of scores by (model, cluster), shape (K, G).
        count: number of scores by (model, cluster), shape (K, G); 0 = not answered.
    """
    s, c = np.ascontiguousarray(total), np.ascontiguousarray(count)
    seen = (c > 0).astype(np.float64)
    return PairSums(
        groups=seen @ seen.T, n=c @ seen.T, s=s @ seen.T, ss=(s * s) @ seen.T,
        sn=(s * c) @ seen.T, nn=(c * c) @ seen.T, s_s=s @ s.T, s_n=s @ c.T, n_n=c @ c.T,
    )  # fmt: skip


def paired(sums: PairSums) -> tuple[Floats, Floats]:
    """Compare every pair of models on the clusters that both answered.

    Returns:
        Two-sided p-values of the mean differences and the differences (row less column), shape
        (K, K); a difference of 0 where fewer than two clusters are shared.
    """
    groups, n, ss, nn = sums.groups, sums.n, sums.ss, sums.nn
    enough = groups >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums.s / n
        own = (ss - 2 * mean * sums.sn + mean**2 * nn) / n**2
        size = (ss + mean**2 * nn) / n**2
        cross = sums.s_s - mean.T * sums.s_n - mean * sums.s_n.T + mean * mean.T * sums.n_n
        squares = own + own.T - 2 * cross / (n * n.T)
        squares = np.where(squares <= ROUNDING * (size + size.T), 0.0, squares)
        se = np.sqrt(squares * groups / (groups - 1))
        gap = np.where(enough, mean - mean.T, 0.0)
        # Without any variance there is no t-test: the exact test of flipping signs stands in.
        exact = np.where(np.abs(gap) < ROUNDING, 1.0, 2.0 ** (1 - groups))
        p = np.where(
            se == 0, exact, 2 * scipy.special.stdtr(np.maximum(groups - 1, 1), -np.abs(gap) / se)
        )
    return np.where(enough, p, 1.0), gap
