"""A node against the rest of the same model, with a cluster-robust, moderated error.

Reference: METHODS B4 (contrast, moderation, peer residual), G (closed forms).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from atom.analysis.intervals import MIN_CLUSTERS, PRIOR_DF, Floats, Ints
from atom.analysis.layout import Layout, Mask
from atom.analysis.sums import group_sums

MIN_GROUPS = 10
"""From this many groups on the peer regression may bend with the groups' difficulty."""


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
        half = stdtrit(self.df, 0.5 + confidence / 2) * self.se
        return self.effect - half, self.effect + half


def contrast_vs_rest(layout: Layout, value: Floats, keep: Mask) -> Contrasts:
    """Compare every node of every model with the model's rows outside it.

    `psi_c = sum_{c,l}(y - m_l)/n_l - sum_{c,rest}(y - m_rest)/n_rest`, `V = G/(G-1) sum psi_c^2`;
    clusters that don't touch the node come in by three sums over the model. `V n` is then moderated
    towards the pool of the model's nodes on that level.

    Args:
        layout: rows and nodes.
        value: shape (n,); only kept rows are read.
        keep: shape (n,): rows that count, each in at least one node.

    Returns:
        The contrasts.

    Reference:
        METHODS B4, G.
    """
    k, m = layout.n_models, layout.n_nodes
    cells = layout.cells(*layout.base_sums(value, keep))
    units = k * layout.n_clusters
    unit_model = np.repeat(np.arange(k), layout.n_clusters)
    t = group_sums(layout.unit[keep], value[keep], units)
    size = np.bincount(layout.unit[keep], minlength=units).astype(np.float64)
    owner = layout.node_model

    def of_model(values: Floats) -> Floats:
        return group_sums(unit_model, values, k)[owner]

    def of_node(values: Floats) -> Floats:
        return group_sums(cells.node, values, k * m)

    n, total, groups = of_node(cells.count), of_node(cells.total), of_node(np.ones(len(cells.node)))
    n_rest = of_model(size) - n
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        rest = np.where(n_rest > 0, (of_model(t) - total) / n_rest, np.nan)
        node, tc, kc = cells.node, t[cells.cluster], size[cells.cluster]
        inside = (cells.total - mean[node] * cells.count) / n[node]
        outside = ((tc - cells.total) - rest[node] * (kc - cells.count)) / n_rest[node]
        full = of_model(t * t) - 2 * rest * of_model(t * size) + rest**2 * of_model(size * size)
        untouched = np.maximum(full - of_node((tc - rest[node] * kc) ** 2), 0) / n_rest**2
        variance = (of_node((inside - outside) ** 2) + untouched) * groups / (groups - 1)
    levels = int(layout.level.max(initial=0)) + 1
    pool = owner * levels + np.tile(layout.level, k)
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


@dataclass(frozen=True, kw_only=True)
class PeerResiduals:
    """What is left of a row's value after its peers' performance is accounted for.

    Attributes:
        value: residuals, shape (n,); NaN where the row doesn't take part.
        keep: rows that take part, shape (n,).
        without_peers: rows of each model that no other model has a value for, shape (K,).
    """

    value: Floats
    keep: Mask
    without_peers: Ints


def peer_residuals(layout: Layout, keep: Mask) -> PeerResiduals:
    """Take out of each row what the other models' scores predict for it.

    `X` = mean of the other models on the row's item (each less its own overall mean, so that it
    matters little who is missing), `M` = mean of X over the row's group; per model, least squares
    of y on (1, X, X^2, M, M^2). Under ten groups M and its square could follow the group means
    themselves, weakness and all, so the slope on M is then fixed at 1: y - M on (1, X - M).

    Args:
        layout: rows and nodes.
        keep: rows that count, shape (n,).

    Returns:
        The residuals, in the unit of the values.

    Reference:
        METHODS B4 (peer residual).
    """
    k = layout.n_models
    index = np.flatnonzero(keep)
    y = layout.value[index].astype(np.float64)
    model, item = layout.model[index], layout.item[index].astype(np.int64)
    size = np.bincount(model, minlength=k)
    own_mean = group_sums(model, y, k) / np.maximum(size, 1)
    centred = y - own_mean[model]
    cell = item * k + model
    cell_total = group_sums(cell, centred, layout.n_items * k)
    cell_count = np.bincount(cell, minlength=layout.n_items * k)
    others = cell_count.reshape(layout.n_items, k).sum(axis=1)[item] - cell_count[cell]
    totals = cell_total.reshape(layout.n_items, k).sum(axis=1)[item] - cell_total[cell]
    has_peers = others > 0
    without = np.bincount(model[~has_peers], minlength=k).astype(np.int64)
    index, y, model = index[has_peers], y[has_peers], model[has_peers]
    taking_part = np.zeros(layout.n_rows, dtype=bool)
    taking_part[index] = True
    x = np.zeros(layout.n_rows)
    x[index] = totals[has_peers] / others[has_peers]
    group = _group_means(layout, x, taking_part)[index]
    x = x[index]
    groups = _groups_seen(layout, taking_part)
    residual = np.full(layout.n_rows, np.nan)
    for number in range(k):
        mine = np.flatnonzero(model == number)
        fit = _residual if groups[number] >= MIN_GROUPS else _residual_few_groups
        residual[index[mine]] = fit(y[mine], x[mine], group[mine])
    return PeerResiduals(value=residual, keep=taking_part, without_peers=without)


def _residual(y: Floats, x: Floats, group: Floats) -> Floats:
    """Return the residuals of y on (1, X, X^2, M, M^2)."""
    features = np.stack([np.ones(len(y)), x, x**2, group, group**2])
    # Normal equations; the pseudo-inverse drops what can't be told apart (say, peers that all
    # score the same).
    inverse = np.linalg.pinv(features @ features.T, rcond=1e-11, hermitian=True)
    return np.asarray(y - (inverse @ (features @ y)) @ features)


def _residual_few_groups(y: Floats, x: Floats, group: Floats) -> Floats:
    """Return the residuals of y - M on (1, X - M)."""
    if not len(y):
        return y
    target, within = y - group, x - group
    target, within = target - target.mean(), within - within.mean()
    mass = float(within @ within)
    slope = float(within @ target) / mass if mass > 1e-12 else 0.0
    return np.asarray(target - slope * within)


def _groups_seen(layout: Layout, keep: Mask) -> Ints:
    """Count each model's groups with rows that take part, shape (K,)."""
    base = layout.pair_base[keep[layout.pair_row]]
    seen = np.zeros(layout.n_models * layout.n_groups, dtype=bool)
    seen[layout.base_group[base]] = True
    return np.asarray(seen.reshape(layout.n_models, layout.n_groups).sum(axis=1))


def _group_means(layout: Layout, x: Floats, keep: Mask) -> Floats:
    """Return each row's group mean of x within its model; over several groups, their mean."""
    total, count = layout.base_sums(x, keep)
    size = layout.n_models * layout.n_groups
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = group_sums(layout.base_group, total, size) / group_sums(
            layout.base_group, count, size
        )
    inside = keep[layout.pair_row]
    row = layout.pair_row[inside]
    of_pair = mean[layout.base_group[layout.pair_base[inside]]]
    groups = np.maximum(np.bincount(row, minlength=layout.n_rows), 1)
    return np.asarray(group_sums(row, of_pair, layout.n_rows) / groups)
