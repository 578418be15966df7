"""Node means with cluster-robust, moderated Wilson intervals.

The cluster is the sample (or the set of samples that share pictures): checkpoints of one sample
share a picture, a difficulty and one answer, and are never treated as independent.

Reference: METHODS B1 (CR1 standard error), B2 (moderated Wilson), G (closed forms).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.sums import blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Z95 = 1.959963984540054
"""Normal quantile of a two-sided 95 % interval."""
PRIOR_DF = 10.0
"""Weight of the level's pooled dispersion, in degrees of freedom (d0)."""
MIN_DISPERSION = 0.3
MIN_CLUSTERS = 5
"""Nodes with fewer clusters don't enter the pool, and are labelled insufficient."""


@dataclass(frozen=True, kw_only=True)
class NodeStats:
    """Statistics of M nodes, each array of length M.

    Attributes:
        n: values (checkpoints) in the node.
        clusters: distinct clusters (samples) in the node.
        mean: mean value in [0, 1]; NaN where n = 0.
        se: cluster-robust standard error (CR1); NaN where fewer than two clusters.
        lo: lower end of the interval; NaN where n = 0.
        hi: upper end of the interval; NaN where n = 0.
    """

    n: Ints
    clusters: Ints
    mean: Floats
    se: Floats
    lo: Floats
    hi: Floats


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Sums by (cluster, node): one row each, at most one sort to make.

    Attributes:
        cluster: cluster index, shape (C,).
        node: node index, shape (C,).
        total: sum of values, shape (C,).
        count: number of values, shape (C,).
    """

    cluster: NDArray[np.integer]
    node: NDArray[np.integer]
    total: Floats
    count: Floats


def make_cells(value: Floats, node: Ints, cluster: Ints, n_nodes: int) -> Cells:
    """Sum values by (cluster, node).

    Args:
        value: shape (N,), in [0, 1].
        node: shape (N,), in 0..n_nodes-1.
        cluster: shape (N,), non-negative.
        n_nodes: number of nodes M.

    Returns:
        The cells, in order of (cluster, node).
    """
    key = cluster.astype(np.int64) * n_nodes + node
    unique, inverse = np.unique(key, return_inverse=True)
    return Cells(
        cluster=unique // n_nodes,
        node=unique % n_nodes,
        total=np.bincount(inverse, weights=value, minlength=len(unique)).astype(np.float64),
        count=np.bincount(inverse, minlength=len(unique)).astype(np.float64),
    )


def node_stats(
    cells: Cells, n_nodes: int, level: Ints | None = None, confidence: float = 0.95
) -> NodeStats:
    """Estimate node means with moderated Wilson intervals.

    `V = G/(G-1) sum_c (S_c - m N_c)^2 / n^2`; dispersion `phi = V n / (m (1-m))` is shrunk towards
    the level's pool `phi_0` with `d0 = 10` degrees of freedom; Wilson's interval is then taken at
    `n_eff = n / phi` with Student's quantile of `G - 1 + d0` degrees of freedom.

    Args:
        cells: sums by (cluster, node) of values in [0, 1].
        n_nodes: number of nodes M.
        level: tree level of each node, shape (M,): nodes of a level share a pool; one level when
            None.
        confidence: coverage aimed at, in (0, 1).

    Returns:
        The statistics; empty nodes have n = 0 and NaN elsewhere.

    Reference:
        METHODS B1, B2; degenerate cases: METHODS G.
    """
    return stats_of_sums(*cell_sums(cells, n_nodes), level, confidence)


def cell_sums(cells: Cells, n_nodes: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return by node, as `stats_of_sums` takes them: values, their sum, clusters, squares."""
    n, total, groups, squares = np.zeros((4, n_nodes))
    for part in blocks(len(cells.node)):
        node = cells.node[part].astype(np.intp)
        n += np.bincount(node, weights=cells.count[part], minlength=n_nodes)
        total += np.bincount(node, weights=cells.total[part], minlength=n_nodes)
        groups += np.bincount(node, minlength=n_nodes)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        for part in blocks(len(cells.node)):
            node = cells.node[part].astype(np.intp)
            residual = cells.total[part] - mean[node] * cells.count[part]
            squares += np.bincount(node, weights=residual * residual, minlength=n_nodes)
    return n, total, groups, squares


def stats_of_sums(
    n: Floats,
    total: Floats,
    groups: Floats,
    squares: Floats,
    level: Ints | None = None,
    confidence: float = 0.95,
) -> NodeStats:
    """Estimate node means from sums by node, arrays of shape (M,).

    Args:
        n: number of values.
        groups: distinct clusters.
        squares: `sum_c (S_c - m N_c)^2`.
        level: see `node_stats`.
        confidence: coverage aimed at.
    """
    level = np.zeros(len(n), dtype=np.int64) if level is None else level
    mean, variance = mean_variance(n, total, groups, squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        binomial = mean * (1 - mean)
        dispersion = np.where(binomial > 1e-12, variance * n / binomial, np.nan)
    moderated = moderate_dispersion(dispersion, binomial, groups, level)
    df = np.maximum(groups, 1) - 1 + PRIOR_DF
    q = scipy.special.stdtrit(df, 0.5 + confidence / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = n / moderated
        shrink = 1 + q**2 / effective
        centre = (mean + q**2 / (2 * effective)) / shrink
        half = q * np.sqrt(binomial / effective + q**2 / (4 * effective**2)) / shrink
    return NodeStats(
        n=n.astype(np.int64),
        clusters=groups.astype(np.int64),
        mean=mean,
        se=np.sqrt(variance),
        lo=np.clip(centre - half, 0, 1),
        hi=np.clip(centre + half, 0, 1),
    )


def mean_variance(
    n: Floats, total: Floats, groups: Floats, squares: Floats
) -> tuple[Floats, Floats]:
    """Return means and their CR1 variances (NaN under two clusters) from sums by node."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(groups > 1, squares / n**2 * groups / (groups - 1), np.nan)
        return total / n, variance


def moderate_dispersion(
    dispersion: Floats, binomial: Floats, groups: Floats, level: Ints
) -> Floats:
    """Shrink each node's dispersion towards its level's pool; 1 where nothing is known."""
    usable = (groups >= MIN_CLUSTERS) & np.isfinite(dispersion)
    weight = np.where(usable, (groups - 1) * binomial, 0.0)
    levels = int(level.max()) + 1 if len(level) else 0
    weights = np.bincount(level, weights=weight, minlength=levels)
    sums = np.bincount(level, weights=weight * np.nan_to_num(dispersion), minlength=levels)
    pool = np.where(weights > 0, sums / np.where(weights > 0, weights, 1), 1.0)[level]
    own_df = np.where(np.isfinite(dispersion), np.maximum(groups - 1, 0), 0.0)
    own = np.nan_to_num(dispersion)
    return np.maximum(MIN_DISPERSION, (PRIOR_DF * pool + own_df * own) / (PRIOR_DF + own_df))


def wilson(hits: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share of independent trials; (NaN, NaN) where n = 0."""
    if n == 0:
        return float("nan"), float("nan")
    q = float(scipy.special.stdtrit(1e9, 0.5 + confidence / 2))
    p = hits / n
    centre = (p + q * q / (2 * n)) / (1 + q * q / n)
    half = q * float(np.sqrt(p * (1 - p) / n + q * q / (4 * n * n))) / (1 + q * q / n)
    return max(0.0, centre - half), min(1.0, centre + half)
