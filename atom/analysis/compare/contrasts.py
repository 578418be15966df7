"""A node against the rest of the same model, with a cluster-robust, moderated error.

Reference: METHODS B4 (contrast, moderation, peer residual), G (closed forms).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.intervals import MIN_CLUSTERS, PRIOR_DF, Floats, Ints
from atom.analysis.layout import Layout, Mask
from atom.analysis.moments import Counted, count_rows, linear, pairs_of, quadratic
from atom.analysis.sums import blocks, group_sums

ROUNDING = 1e-13
"""A variance below this share of what it is the difference of is rounding."""
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
        half = scipy.special.stdtrit(self.df, 0.5 + confidence / 2) * self.se
        return self.effect - half, self.effect + half


def contrast_vs_rest(
    layout: Layout, value: Floats, keep: Mask, counted: Counted | None = None
) -> Contrasts:
    """Compare every node of every model with the model's rows outside it.

    `psi_c = sum_{c,l}(y - m_l)/n_l - sum_{c,rest}(y - m_rest)/n_rest`, `V = G/(G-1) sum psi_c^2`;
    clusters that don't touch the node come in by three sums over the model. `V n` is then moderated
    towards the pool of the model's nodes on that level.

    Args:
        layout: rows and nodes.
        value: shape (n,); only kept rows are read.
        keep: shape (n,): rows that count, each in at least one node.
        counted: `count_rows` of the same rows, where it is at hand.

    Returns:
        The contrasts.

    Reference:
        METHODS B4, G.
    """
    k, m = layout.n_models, layout.n_nodes
    found = _contrast_sums(layout, value, keep, counted)
    owner = layout.node_model
    n, groups, mean, rest = found.n, found.groups, found.mean, found.rest
    levels = int(layout.level.max(initial=0)) + 1
    pool = owner * levels + np.tile(layout.level, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = found.squares * groups / (groups - 1)
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
class _ContrastSums:
    """Sums by (model, node), shape (K * M,) each; `squares` is `sum_c psi_c^2`."""

    n: Floats
    groups: Floats
    mean: Floats
    rest: Floats
    squares: Floats


def _contrast_sums(
    layout: Layout, value: Floats, keep: Mask, counted: Counted | None
) -> _ContrastSums:
    """Form the sums of a contrast: by pairs of groups where there are few, else by cells."""
    k = layout.n_models
    units = k * layout.n_clusters
    t = group_sums(layout.unit, np.where(keep, value, 0), units)
    size = group_sums(layout.unit, keep, units)
    owner = layout.node_model
    total = layout.base_totals(value, keep)

    def of_model(values: Floats) -> Floats:
        return np.asarray(values.reshape(k, layout.n_clusters).sum(axis=1)[owner])

    squares_of = (of_model(t * t), of_model(t * size), of_model(size * size))
    pairs = pairs_of(layout)
    if pairs is None:
        return _sums_by_cells(layout, total, layout.base_counts(keep), t, size, of_model)
    counted = counted or count_rows(layout, pairs, keep)
    count, n, s = counted.count, counted.n, linear(layout, total)
    n_rest = of_model(size) - n
    tc, kc = t[layout.base_unit], size[layout.base_unit]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = s / n
        rest = np.where(n_rest > 0, (of_model(t) - s) / n_rest, np.nan)
        # psi_c = a S_c - b N_c - (T_c - mu K_c) / n_rest, with S_c = N_c = 0 where c isn't in n.
        a, b = 1 / n + 1 / n_rest, mean / n + rest / n_rest
        own = a * a * quadratic(layout, pairs, total, total)
        size_part = b * b * counted.squares
        all_units = squares_of[0] - 2 * rest * squares_of[1] + rest**2 * squares_of[2]
        squares = (
            own
            - 2 * a * b * quadratic(layout, pairs, total, count)
            + size_part
            - 2 * a / n_rest * (linear(layout, total * tc) - rest * linear(layout, total * kc))
            + 2 * b / n_rest * (linear(layout, count * tc) - rest * linear(layout, count * kc))
            + all_units / n_rest**2
        )
        # What is left by rounding alone is no variance.
        floor = ROUNDING * (own + size_part + (squares_of[0] + rest**2 * squares_of[2]) / n_rest**2)
        squares = np.where(squares <= floor, 0.0, squares)
    return _ContrastSums(n=n, groups=counted.groups, mean=mean, rest=rest, squares=squares)


def _sums_by_cells(
    layout: Layout,
    base_total: Floats,
    base_count: Floats,
    t: Floats,
    size: Floats,
    of_model: Callable[[Floats], Floats],
) -> _ContrastSums:
    k, m = layout.n_models, layout.n_nodes
    cells = layout.cells(base_total, base_count)
    n, total, groups, touched, squares = np.zeros((5, k * m))
    for part in blocks(len(cells.node)):
        node = cells.node[part].astype(np.intp)
        n += np.bincount(node, weights=cells.count[part], minlength=k * m)
        total += np.bincount(node, weights=cells.total[part], minlength=k * m)
        groups += np.bincount(node, minlength=k * m)
    n_rest = of_model(size) - n
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        rest = np.where(n_rest > 0, (of_model(t) - total) / n_rest, np.nan)
        per_row, per_rest = 1 / n, 1 / n_rest
        for part in blocks(len(cells.node)):
            node, unit = cells.node[part].astype(np.intp), cells.cluster[part]
            s, c, tc, kc = cells.total[part], cells.count[part], t[unit], size[unit]
            inside = (s - mean[node] * c) * per_row[node]
            away = rest[node]
            outside = ((tc - s) - away * (kc - c)) * per_rest[node]
            squares += np.bincount(node, weights=(inside - outside) ** 2, minlength=k * m)
            touched += np.bincount(node, weights=(tc - away * kc) ** 2, minlength=k * m)
        full = of_model(t * t) - 2 * rest * of_model(t * size) + rest**2 * of_model(size * size)
        untouched = np.maximum(full - touched, 0) / n_rest**2
    return _ContrastSums(n=n, groups=groups, mean=mean, rest=rest, squares=squares + untouched)


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
    peers = _peer_scores(layout, keep) if layout.single else _peer_sums(layout, keep)
    x, taking_part = peers.x, peers.keep
    residual = np.full(layout.n_rows, np.nan)
    group = layout.group_of_row
    means = _group_means(layout, x, taking_part) if group is None else None
    seen = _groups_seen(layout, taking_part) if group is None else None
    for number, rows in enumerate(layout.rows_of_model):
        taking = taking_part[rows]
        y = np.where(taking, layout.value[rows], 0).astype(np.float64)
        if group is not None:
            fitted = _residual_by_group(y, x[rows], group[rows], taking, layout.n_groups)
            residual[rows] = np.where(taking, fitted, np.nan)
        elif means is not None and seen is not None:
            at = _indices(rows)[taking]
            fit = _residual if seen[number] >= MIN_GROUPS else _residual_few_groups
            residual[at] = fit(y[taking], x[at], means[at])
    return PeerResiduals(value=residual, keep=taking_part, without_peers=peers.without)


@dataclass(frozen=True, kw_only=True)
class _Peers:
    """Mean of the other models on each row's item.

    Attributes:
        x: shape (n,); 0 where the row doesn't take part.
        keep: rows that take part, shape (n,).
        without: rows of each model that no other model has a value for, shape (K,).
    """

    x: Floats
    keep: Mask
    without: Ints


def _peer_scores(layout: Layout, keep: Mask) -> _Peers:
    """Look at the peers where a model has at most one row of an item.

    A model's own share of an item is then its row, and adding by index needs no sums by item.
    """
    totals = np.zeros(layout.n_items)
    counts = np.zeros(layout.n_items, dtype=np.int32)
    x = np.zeros(layout.n_rows)
    taking_part = np.zeros(layout.n_rows, dtype=bool)
    without = np.zeros(layout.n_models, dtype=np.int64)
    for rows in layout.rows_of_model:
        kept, item = keep[rows], layout.item[rows]
        y = np.where(kept, layout.value[rows], 0).astype(np.float64)
        mean = y.sum() / max(np.count_nonzero(kept), 1)
        x[rows] = np.where(kept, y - mean, 0)
        totals[item] += x[rows]
        counts[item] += kept
    for number, rows in enumerate(layout.rows_of_model):
        kept, item = keep[rows], layout.item[rows]
        others = counts[item] - kept
        taking = kept & (others > 0)
        without[number] = np.count_nonzero(kept) - np.count_nonzero(taking)
        taking_part[rows] = taking
        x[rows] = np.where(taking, (totals[item] - x[rows]) / np.maximum(others, 1), 0)
    return _Peers(x=x, keep=taking_part, without=without)


def _peer_sums(layout: Layout, keep: Mask) -> _Peers:
    """Look at the peers where a model may have several rows of an item."""
    k, items = layout.n_models, layout.n_items
    totals, counts = np.zeros(items), np.zeros(items)
    own: list[tuple[Floats, Floats]] = []
    for rows in layout.rows_of_model:
        kept, item = keep[rows], layout.item[rows]
        y = np.where(kept, layout.value[rows], 0).astype(np.float64)
        mean = y.sum() / max(np.count_nonzero(kept), 1)
        own.append(
            (group_sums(item, np.where(kept, y - mean, 0), items), group_sums(item, kept, items))
        )
        totals += own[-1][0]
        counts += own[-1][1]
    x = np.zeros(layout.n_rows)
    taking_part = np.zeros(layout.n_rows, dtype=bool)
    without = np.zeros(k, dtype=np.int64)
    for number, (rows, (total, count)) in enumerate(zip(layout.rows_of_model, own, strict=True)):
        item = layout.item[rows]
        # Peers by item first: a look-up a row instead of four.
        others = counts - count
        mean_of_others = (totals - total) / np.maximum(others, 1)
        kept = keep[rows]
        taking = kept & (others > 0)[item]
        without[number] = np.count_nonzero(kept) - np.count_nonzero(taking)
        taking_part[rows] = taking
        x[rows] = np.where(taking, mean_of_others[item], 0)
    return _Peers(x=x, keep=taking_part, without=without)


def _indices(rows: slice | Ints) -> Ints:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def _residual_by_group(
    y: Floats, x: Floats, group: NDArray[np.int16], taking: Mask, n_groups: int
) -> Floats:
    """Return the residuals where each row has one group, so that M is a number a group.

    The same least squares as `_residual`, or `_residual_few_groups`, from sums by group. Rows that
    don't take part have y = x = 0; what is returned for them means nothing.
    """
    at = group.astype(np.intp)
    n, sum_x = group_sums(at, taking, n_groups), group_sums(at, x, n_groups)
    mean = sum_x / np.maximum(n, 1)
    if (n > 0).sum() < MIN_GROUPS:
        found = np.full(len(y), np.nan)
        found[taking] = _residual_few_groups(y[taking], x[taking], mean[at[taking]])
        return found
    square = x * x
    sum_square, sum_y = group_sums(at, square, n_groups), group_sums(at, y, n_groups)
    powers = np.stack([np.ones(n_groups), mean, mean * mean])
    by_group = np.stack([n, sum_x, sum_square])
    # Rows and columns 1, X, X^2 | M, M^2.
    gram = np.empty((5, 5))
    gram[0, :3] = gram[:3, 0] = by_group.sum(axis=1)
    gram[1, 1], gram[2, 2] = sum_square.sum(), np.einsum("i,i->", square, square)
    gram[1, 2] = gram[2, 1] = np.einsum("i,i->", x, square)
    gram[:3, 3:] = by_group @ powers[1:].T
    gram[3:, :3] = gram[:3, 3:].T
    gram[3:, 3:] = (powers[1:] * n) @ powers[1:].T
    products = [sum_y.sum(), np.einsum("i,i->", x, y), np.einsum("i,i->", square, y)]
    fitted = np.linalg.pinv(gram, rcond=1e-11, hermitian=True) @ [*products, *(powers[1:] @ sum_y)]
    level = fitted[0] + fitted[3:] @ powers[1:]
    return np.asarray(y - x * (fitted[1] + fitted[2] * x) - level[at])


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
