"""A node against the rest of the same model, with a cluster-robust, moderated error.

Reference: METHODS B4 (contrast, moderation), G (closed forms).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.grounds import ROUNDING, Moments, cell_moments, unit_moments
from atom.analysis.intervals import MIN_CLUSTERS, PRIOR_DF, Floats, Ints
from atom.analysis.layout import Layout, Mask
from atom.analysis.merged import Additive
from atom.analysis.moments import RowCounts, count_rows, linear, pairs_of, quadratic
from atom.analysis.sums import group_sums


@dataclass(frozen=True, kw_only=True)
class Contrasts:
    """Departures of K models on M nodes, arrays of shape (K, M).

    Attributes:
        n: rows in the node.
        clusters: distinct clusters in the node.
        effect: node mean less the mean of the model's other rows; NaN where either is empty.
        se: moderated cluster-robust standard error.
        df: degrees of freedom of its t test.
    """

    n: Ints
    clusters: Ints
    effect: Floats
    se: Floats
    df: Floats

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the effect's interval."""
        half = scipy.special.stdtrit(self.df, 0.5 + confidence / 2) * self.se
        return self.effect - half, self.effect + half


def contrasts_of(nodes: Layout, sums: ContrastSums) -> Contrasts:
    """Compare every node with the rest, from the sums of all parts.

    Args:
        nodes: a layout of the same models and nodes; its rows aren't read.
    """
    k, m = nodes.n_models, nodes.n_nodes
    n, groups = sums.nodes.n, sums.nodes.groups
    mean, rest, squares = _squares(sums, nodes.node_model)
    levels = int(nodes.level.max(initial=0)) + 1
    pool = nodes.node_model * levels + np.tile(nodes.level, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares * groups / (groups - 1)
    se, df = moderate(np.where(groups > 1, variance, np.nan), groups, n, pool)

    def shaped(values: Floats) -> Floats:
        return values.reshape(k, m)

    return Contrasts(
        n=shaped(n).astype(np.int64),
        clusters=shaped(groups).astype(np.int64),
        effect=shaped(mean - rest),
        se=shaped(np.where(np.isfinite(mean - rest), se, np.nan)),
        df=shaped(df),
    )


@dataclass(frozen=True, kw_only=True)
class ContrastSums(Additive):
    """What contrasts are made of: S, N of a cluster in a node, T, K of it in the whole model.

    Attributes:
        nodes: moments by (model, node), shape (K * M,).
        st: `sum S T`, of the clusters in the node.
        sk: `sum S K`.
        ct: `sum N T`.
        ck: `sum N K`.
        model: moments by model, shape (K,).
    """

    nodes: Moments
    st: Floats
    sk: Floats
    ct: Floats
    ck: Floats
    model: Moments


def contrast_sums(
    layout: Layout, value: Floats, keep: Mask, counted: RowCounts | None = None
) -> ContrastSums:
    """Form the sums of a contrast: by pairs of groups where there are few, else by cells.

    Args:
        layout: rows and nodes of one part.
        value: shape (n,), 0 where a row isn't kept.
        keep: shape (n,): rows that count, each in at least one node.
        counted: `count_rows` of the same rows, where it is at hand.
    """
    k = layout.n_models
    units = k * layout.n_clusters
    t = group_sums(layout.unit, value, units)
    size = group_sums(layout.unit, keep, units)
    shape = k, layout.n_clusters
    model = unit_moments(t.reshape(shape), size.reshape(shape))
    total = layout.base_totals(value, keep)
    pairs = pairs_of(layout)
    if pairs is None:
        return _sums_by_cells(layout, total, layout.base_counts(keep), t, size, model)
    counted = counted or count_rows(layout, pairs, keep)
    count = counted.count
    tc, kc = t[layout.base_unit], size[layout.base_unit]
    return ContrastSums(
        nodes=Moments(
            n=counted.n,
            total=linear(layout, total),
            groups=counted.groups,
            ss=quadratic(layout, pairs, total, total),
            sc=quadratic(layout, pairs, total, count),
            cc=counted.squares,
        ),
        st=linear(layout, total * tc),
        sk=linear(layout, total * kc),
        ct=linear(layout, count * tc),
        ck=linear(layout, count * kc),
        model=model,
    )


def _sums_by_cells(
    layout: Layout, base_total: Floats, base_count: Floats, t: Floats, size: Floats, model: Moments
) -> ContrastSums:
    cells = layout.cells(base_total, base_count)
    km = layout.n_models * layout.n_nodes
    nodes = cell_moments(cells, km)
    node, unit = cells.node.astype(np.intp), cells.cluster

    def by_node(values: Floats) -> Floats:
        return group_sums(node, values, km)

    s, c, tc, kc = cells.total, cells.count, t[unit], size[unit]
    return ContrastSums(nodes=nodes, st=by_node(s * tc), sk=by_node(s * kc), ct=by_node(c * tc),
                        ck=by_node(c * kc), model=model)  # fmt: skip


def _squares(sums: ContrastSums, owner: Ints) -> tuple[Floats, Floats, Floats]:
    """Return, by (model, node), node means, means of the rest, and `sum_c psi_c^2`.

    Args:
        owner: model of each (model, node).
    """
    one, whole = sums.nodes, sums.model
    n, s = one.n, one.total
    n_rest = whole.n[owner] - n
    tt, tk, kk = whole.ss[owner], whole.sc[owner], whole.cc[owner]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = s / n
        rest = np.where(n_rest > 0, (whole.total[owner] - s) / n_rest, np.nan)
        # psi_c = a S_c - b N_c - (T_c - mu K_c) / n_rest, with S_c = N_c = 0 where c isn't in n.
        a, b = 1 / n + 1 / n_rest, mean / n + rest / n_rest
        own, size_part = a * a * one.ss, b * b * one.cc
        squares = (
            own
            - 2 * a * b * one.sc
            + size_part
            - 2 * a / n_rest * (sums.st - rest * sums.sk)
            + 2 * b / n_rest * (sums.ct - rest * sums.ck)
            + (tt - 2 * rest * tk + rest**2 * kk) / n_rest**2
        )
        # What is left by rounding alone is no variance.
        floor = ROUNDING * (own + size_part + (tt + rest**2 * kk) / n_rest**2)
        squares = np.where(squares <= floor, 0.0, squares)
    return mean, rest, squares


def moderate(variance: Floats, clusters: Floats, n: Floats, pool: Ints) -> tuple[Floats, Floats]:
    """Shrink variances of means towards their pool, as limma does.

    `s2 = V n`; `s2_0` = its (G - 1)-weighted mean over the pool's nodes with G >= 5;
    `s2~ = (d0 s2_0 + (G - 1) s2) / (d0 + G - 1)`; `se = sqrt(s2~ / n)`.

    Args:
        variance: V of each node's estimate, shape (M,); NaN = unknown.
        clusters: G, shape (M,).
        n: rows, shape (M,).
        pool: 0-based pool of each node, shape (M,).

    Returns:
        Standard errors (NaN where neither the node nor its pool is known) and degrees of freedom.

    Reference:
        METHODS B4, G.
    """
    size = int(pool.max(initial=-1)) + 1
    s2 = variance * n
    known = np.isfinite(s2) & (clusters > 1)
    weight = np.where(known & (clusters >= MIN_CLUSTERS), clusters - 1, 0.0)
    weights = group_sums(pool, weight, size)
    sums = group_sums(pool, weight * np.nan_to_num(s2), size)
    pooled = (sums / np.where(weights > 0, weights, 1))[pool]
    d0 = np.where(weights > 0, PRIOR_DF, 0.0)[pool]
    own = np.where(known, clusters - 1, 0.0)
    df = d0 + own
    with np.errstate(divide="ignore", invalid="ignore"):
        moderated = (d0 * pooled + own * np.nan_to_num(s2)) / df
        se = np.sqrt(moderated / n)
    return np.where((df > 0) & (n > 0), se, np.nan), np.maximum(df, 1.0)
