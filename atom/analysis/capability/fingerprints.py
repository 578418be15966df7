"""Fingerprints: a model's profile over capabilities, and whether it is the model's own.

A profile is real when half of the samples finds the same model in the other half.

Reference: ATOM Figure 4; METHODS B17.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from atom.analysis.compare.contrasts import moderate
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Layout, Mask
from atom.analysis.sums import group_sums

PRIOR_VARIANCE = 0.02 / 16
"""Added to sampling variances in the weights: 0.02 in points, here on [0, 1]."""
_ROUNDING = 1e-12
"""Share of a sum of squares below which a spread about the mean is nothing but rounding."""


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """Profiles of K models over L groups (leaves or labels), arrays of shape (K, L).

    Attributes:
        n: rows.
        value: mean difference to the other models on the same items, less the model's own mean
            difference, on [0, 1]; NaN where n = 0.
        variance: moderated cluster-robust sampling variance.
    """

    n: Ints
    value: Floats
    variance: Floats


@dataclass(frozen=True, kw_only=True)
class Identification:
    """How well halves of the samples recognise models.

    Attributes:
        top1: share of (split, model) that the other half names rightly.
        chance: 1 / K.
        similarity: mean precision-weighted correlation of a model's profile in one half (rows) with
            a model's in the other (columns), symmetrised, shape (K, K); the diagonal is a profile's
            own repeatability; NaN where never defined.
        pairwise: share of splits in which the pair is told apart (two-way forced choice, chance
            0.5), shape (K, K); NaN on the diagonal.
        named: shape (K, K): share of splits in which the row's model is named as the column's.
        splits: number of random halves.
    """

    top1: float
    chance: float
    similarity: Floats
    pairwise: Floats
    named: Floats
    splits: int

    @property
    def two_way(self) -> float:
        """Mean of `pairwise` over pairs; NaN for one model."""
        known = np.isfinite(self.pairwise)
        return float(self.pairwise[known].mean()) if known.any() else float("nan")


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Sums by (unit, group) of item-centred values; all of shape (B,)."""

    cluster: Ints
    node: Ints
    total: Floats
    count: Floats


def profiles(layout: Layout, rows: Mask | None = None) -> Profiles:
    """Compute every model's profile.

    Args:
        rows: bool, shape (n,): rows that count; all when None.

    Reference:
        METHODS B17.
    """
    return _profiles(layout, _centred_sums(layout, layout.usable(rows)))


def identify(
    layout: Layout, rng: Generator, *, splits: int = 50, rows: Mask | None = None
) -> Identification:
    """Identify each model in one random half of the samples by its profile in the other.

    Per half: values less their item's mean over models, averaged by leaf, less the model's mean.
    Similarity is the correlation with weights `W_l = 1 / (v1 + v2 + 0.02 points^2)`. A model is
    named as the most similar one of the other half; a pair is told apart where
    `S_aa + S_bb > S_ab + S_ba`.

    Args:
        splits: number of random halves.
        rows: bool, shape (n,): rows that count; all when None.

    Returns:
        The accuracies; with fewer than two models or clusters they are undefined.

    Reference:
        METHODS B17.
    """
    k = layout.n_models
    sums = _centred_sums(layout, layout.usable(rows))
    clusters = np.unique(sums.cluster)
    similarity, known = np.zeros((k, k)), np.zeros((k, k))
    pairwise, named = np.zeros((k, k)), np.zeros((k, k))
    usable = k > 1 and len(clusters) > 1
    for _ in range(splits if usable else 0):
        first = np.zeros(layout.n_clusters, dtype=bool)
        first[rng.permutation(clusters)[: len(clusters) // 2]] = True
        inside = first[sums.cluster]
        s = _similarity(
            _profiles(layout, _part(sums, inside)), _profiles(layout, _part(sums, ~inside))
        )
        found = np.isfinite(s)
        similarity += np.where(found, s, 0)
        known += found
        filled = np.where(found, s, -2.0)
        for matrix in (filled, filled.T):
            named[np.arange(k), matrix.argmax(axis=1)] += 0.5
        own = np.diag(filled)
        gap = own[:, None] + own[None, :] - filled - filled.T
        pairwise += np.where(np.abs(gap) < 1e-12, 0.5, gap > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (similarity + similarity.T) / (known + known.T)
        pairwise = pairwise / (splits if usable else 0)
        named = named / (splits if usable else 0)
    np.fill_diagonal(pairwise, np.nan)
    return Identification(
        top1=float(np.diag(named).mean()) if k else float("nan"),
        chance=1 / k if k else float("nan"),
        similarity=mean,
        pairwise=pairwise,
        named=named,
        splits=splits,
    )


def _centred_sums(layout: Layout, keep: Mask) -> _Sums:
    """Sum values less their item's mean over models; items of one model alone are left out."""
    index = np.flatnonzero(keep)
    value = layout.value[index].astype(np.float64)
    item = layout.item[index]
    pair = item.astype(np.int64) * layout.n_models + layout.model[index]
    # Models count alike on an item, however often one answered it.
    size = layout.n_items * layout.n_models
    count = np.bincount(pair, minlength=size).reshape(layout.n_items, layout.n_models)
    total = group_sums(pair, value, size).reshape(layout.n_items, layout.n_models)
    present = (count > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        item_mean = np.where(count > 0, total / count, 0).sum(axis=1) / present
    shared = present[item] > 1
    centred = np.zeros(layout.n_rows)
    centred[index[shared]] = value[shared] - item_mean[item[shared]]
    taking_part = np.zeros(layout.n_rows, dtype=bool)
    taking_part[index[shared]] = True
    base_total, base_count = layout.base_sums(centred, taking_part)
    filled = np.flatnonzero(base_count > 0)
    # The cluster of a (unit, group): every pair of it holds the same unit.
    unit = np.zeros(len(base_count), dtype=np.int64)
    unit[layout.pair_base] = layout.unit[layout.pair_row]
    return _Sums(
        cluster=unit[filled] % max(layout.n_clusters, 1),
        node=layout.base_group[filled].astype(np.int64),
        total=base_total[filled],
        count=base_count[filled],
    )


def _part(sums: _Sums, inside: Mask) -> _Sums:
    return _Sums(
        cluster=sums.cluster[inside],
        node=sums.node[inside],
        total=sums.total[inside],
        count=sums.count[inside],
    )


def _profiles(layout: Layout, sums: _Sums) -> Profiles:
    k, groups = layout.n_models, layout.n_groups
    size = k * groups
    n = group_sums(sums.node, sums.count, size)
    total = group_sums(sums.node, sums.total, size)
    units = np.bincount(sums.node, minlength=size).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        residual = sums.total - mean[sums.node] * sums.count
        squares = group_sums(sums.node, residual**2, size)
        variance = np.where(units > 1, squares / n**2 * units / (units - 1), np.nan)
        se, _ = moderate(variance, units, n, np.repeat(np.arange(k), groups))
        whole = total.reshape(k, groups).sum(axis=1) / n.reshape(k, groups).sum(axis=1)
    return Profiles(
        n=n.reshape(k, groups).astype(np.int64),
        value=mean.reshape(k, groups) - whole[:, None],
        variance=np.asarray(se**2).reshape(k, groups),
    )


def _similarity(one: Profiles, other: Profiles) -> Floats:
    """Return the weighted correlation of each profile with each, shape (K, K).

    By weighted sums, so that of the weights (K, K, L) hardly more than themselves is held.
    """
    (a, va), (b, vb) = _weighable(one), _weighable(other)
    w = 1 / (va[:, None, :] + vb[None, :, :] + PRIOR_VARIANCE)
    mass, sum_a, square_a = np.moveaxis(w @ _powers(a), 2, 0)
    sum_b, square_b = np.moveaxis(w.transpose(1, 0, 2) @ _powers(b), 2, 0)[1:].transpose(0, 2, 1)
    w *= b
    product = (w @ a[:, :, None])[:, :, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        spread_a, spread_b = square_a - sum_a**2 / mass, square_b - sum_b**2 / mass
        # What is left where all is equal, as in a profile of one group, is rounding.
        spread = (spread_a > _ROUNDING * square_a) & (spread_b > _ROUNDING * square_b)
        r = (product - sum_a * sum_b / mass) / np.sqrt(np.where(spread, spread_a * spread_b, 1))
    return np.asarray(np.where(spread, np.clip(r, -1, 1), np.nan))


def _weighable(found: Profiles) -> tuple[Floats, Floats]:
    """Return values and variances, shape (K, L); infinite variance where there is no value."""
    known = np.isfinite(found.value) & np.isfinite(found.variance)
    return np.where(known, found.value, 0), np.where(known, found.variance, np.inf)


def _powers(values: Floats) -> Floats:
    return np.stack([np.ones_like(values), values, values**2], axis=2)
