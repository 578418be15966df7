"""Rankings that say which ranks the data can tell apart.

Reference: METHODS B11 (rank sets by Holm over paired cluster tests), G (joint covariance).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from atom.analysis.intervals import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class RankSets:
    """The ranks that each of K models may hold, arrays of shape (K,).

    Attributes:
        best: 1 + number of models that are significantly better.
        worst: K - number of models that are significantly worse.
    """

    best: Ints
    worst: Ints


def rank_sets(total: Floats, count: Floats, alpha: float = 0.05) -> RankSets:
    """Bound every model's rank with simultaneous coverage.

    Each pair of models is compared by a cluster t test on the clusters that both answered; Holm's
    step-down over all pairs controls the error.

    Args:
        total: sum of scores by (cluster, model), shape (G, K).
        count: number of scores by (cluster, model), shape (G, K); 0 = not answered.
        alpha: level of the simultaneous statement.

    Returns:
        The rank sets; models that share fewer than two clusters are never told apart.

    Reference:
        METHODS B11.
    """
    k = total.shape[1]
    better = np.zeros((k, k), dtype=bool)
    tests: list[tuple[float, int, int]] = []
    for a in range(k):
        for b in range(a + 1, k):
            p, sign = _paired(total[:, [a, b]], count[:, [a, b]])
            if sign:
                tests.append((p, a, b) if sign > 0 else (p, b, a))
    pairs = k * (k - 1) // 2
    for number, (p, winner, loser) in enumerate(sorted(tests)):
        if p * (pairs - number) > alpha:
            break
        better[winner, loser] = True
    return RankSets(
        best=1 + better.sum(axis=0).astype(np.int64), worst=k - better.sum(axis=1).astype(np.int64)
    )


def _paired(total: Floats, count: Floats) -> tuple[float, int]:
    """Return the two-sided p-value of the mean difference on shared clusters, and its sign."""
    shared = (count > 0).all(axis=1)
    groups = int(shared.sum())
    if groups < 2:
        return 1.0, 0
    total, count = total[shared], count[shared]
    n = count.sum(axis=0)
    mean = total.sum(axis=0) / n
    influence = (total - mean * count) / n
    difference = influence[:, 0] - influence[:, 1]
    se = float(np.sqrt((difference**2).sum() * groups / (groups - 1)))
    gap = float(mean[0] - mean[1])
    if abs(gap) < 1e-12:
        return 1.0, 0
    p = 0.0 if se == 0 else 2 * float(stdtr(groups - 1, -abs(gap) / se))
    return p, 1 if gap > 0 else -1
