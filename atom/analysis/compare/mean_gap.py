"""Two sets of rows held against each other, whether or not they share clusters.

Two slices of one model share no sample, some, or all; one slice of two models shares all. One
closed form covers them: each cluster's part in the difference of the two means.

Reference: METHODS B4 (influence of a cluster), G.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class MeanGap:
    """Mean of the first set less mean of the second.

    Attributes:
        gap: NaN where either is empty.
        first: the first mean.
        second: the second mean.
        n: rows of each.
        clusters: clusters of each.
        shared: clusters that both have rows of.
        se: cluster-robust standard error; NaN under two clusters on either side.
        df: degrees of freedom of its t test.
        p: two-sided; NaN under five clusters on either side.
    """

    gap: float
    first: float
    second: float
    n: tuple[int, int]
    clusters: tuple[int, int]
    shared: int
    se: float
    df: float
    p: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the ends of the gap's interval; NaN where there is no error."""
        if not math.isfinite(self.se):
            return math.nan, math.nan
        half = float(scipy.special.stdtrit(self.df, 0.5 + confidence / 2)) * self.se
        return self.gap - half, self.gap + half


def apart(first: Floats, first_cluster: Ints, second: Floats, second_cluster: Ints) -> MeanGap:
    """Compare two sets of rows.

    With `u_c = sum_{c, first} (y - m_1) / n_1` and `v_c` likewise, of `G_1` and `G_2` clusters,
    `V = G_1/(G_1-1) sum u_c^2 + G_2/(G_2-1) sum v_c^2 - 2 k sum u_c v_c`, `k` the root of both
    factors' product; without shared clusters the last sum is nothing, and it is Welch's error. Its
    degrees of freedom are Satterthwaite's of the first two parts; where all clusters are shared
    they are no more than `G - 1`.

    Args:
        first: values, shape (n,).
        first_cluster: cluster of each, shape (n,).
        second: values, shape (m,).
        second_cluster: cluster of each, shape (m,).

    Reference:
        METHODS B4; Welch 1947.
    """
    size = int(max(first_cluster.max(initial=-1), second_cluster.max(initial=-1))) + 1
    one, other = _part(first, first_cluster, size), _part(second, second_cluster, size)
    (m1, u, g1), (m2, v, g2) = one, other
    shared = int(np.count_nonzero(_there(first_cluster, size) & _there(second_cluster, size)))
    se = df = p = math.nan
    if min(g1, g2) > 1:
        f1, f2 = g1 / (g1 - 1), g2 / (g2 - 1)
        a, b = f1 * float(u @ u), f2 * float(v @ v)
        variance = a + b - 2 * math.sqrt(f1 * f2) * float(u @ v)
        se = math.sqrt(max(variance, 0.0))
        # Nothing varies: any df says the same.
        df = (a + b) ** 2 / (a**2 / (g1 - 1) + b**2 / (g2 - 1)) if a + b > 0 else float(g1 + g2 - 2)
        if shared == g1 == g2:
            df = min(df, g1 - 1.0)
    gap = m1 - m2
    if min(g1, g2) >= MIN_CLUSTERS:
        p = float(2 * scipy.special.stdtr(df, -abs(gap) / se)) if se > 0 else float(gap == 0)
    return MeanGap(gap=gap, first=m1, second=m2, n=(len(first), len(second)), clusters=(g1, g2),
                   shared=shared, se=se, df=df, p=p)  # fmt: skip


def _there(cluster: Ints, size: int) -> np.ndarray:
    return np.bincount(cluster, minlength=size) > 0


def _part(value: Floats, cluster: Ints, size: int) -> tuple[float, Floats, int]:
    """Return the mean, each cluster's part in it, and how many clusters there are."""
    if not len(value):
        return math.nan, np.zeros(size), 0
    mean = float(value.mean())
    part = np.bincount(cluster, value - mean, size) / len(value)
    return mean, part, int(np.count_nonzero(_there(cluster, size)))
