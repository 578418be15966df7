"""What is left of a model's scores after its peers' performance is accounted for.

Reference: METHODS B4 (peer residual).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.analysis.grounds import CountedRows
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Layout, Mask
from atom.analysis.merged import Adder, Additive
from atom.analysis.sums import group_sums

MIN_GROUPS = 10
"""From this many groups on the peer regression may bend with the groups' difficulty."""
FEATURES = 5
"""1, X, X^2, M, M^2."""


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


@dataclass(frozen=True, kw_only=True)
class PeerFit:
    """The regressions of K models on their peers, found from the sums of all parts.

    Attributes:
        means: each model's own mean, shape (K,).
        of_group: mean of X by model and group, shape (K, G); 0 where there is none.
        coefficients: of (1, X, X^2, M, M^2) by model, shape (K, 5).
        without: rows of each model that no other model has a value for, shape (K,).
    """

    means: Floats
    of_group: Floats
    coefficients: Floats
    without: Ints


@dataclass(frozen=True, kw_only=True)
class PeerSums(Additive):
    """What the regressions are made of, where each row has one group.

    Attributes:
        n: rows that take part, by model and group, shape (K, G); a row in each of its groups.
        x: sum of X, likewise.
        square: sum of X^2, shape (K, G).
        y: sum of the values, shape (K, G).
        powers: sums of X^3, X^4, X y, X^2 y by model, shape (K, 4).
        without: rows of each model that no other model has a value for, shape (K,).
        several: whether a row may be in several groups: `PeerProducts` are needed then.
    """

    n: Floats
    x: Floats
    square: Floats
    y: Floats
    powers: Floats
    without: Ints
    several: bool


@dataclass(frozen=True, kw_only=True)
class PeerProducts(Additive):
    """Normal equations of the regressions, row by row: the features' with each other and with y.

    Attributes:
        gram: shape (K, 5, 5).
        with_y: shape (K, 5).
    """

    gram: Floats
    with_y: Floats


def fit_peers(adder: Adder, means: Floats) -> PeerFit:
    """Fit every model's values by its peers'.

    `X` = mean of the other models on the row's item (each less its own overall mean, so that it
    matters little who is missing), `M` = mean of X over the row's group; per model, least squares
    of y on (1, X, X^2, M, M^2). Under ten groups M and its square could follow the group means
    themselves, weakness and all, so the slope on M is then fixed at 1: y - M on (1, X - M).

    Args:
        adder: adds up over the parts' `CountedRows`.
        means: each model's own mean over all parts, shape (K,).

    Reference:
        METHODS B4 (peer residual).
    """
    sums: PeerSums = adder(peer_sums, means)
    of_group = np.asarray(sums.x / np.maximum(sums.n, 1))
    found: PeerProducts = (
        adder(peer_products, means, of_group) if sums.several else _products(sums, of_group)
    )
    many = (sums.n > 0).sum(axis=1) >= MIN_GROUPS
    coefficients = np.array(
        [
            _bent(gram, with_y) if bends else _straight(gram, with_y)
            for gram, with_y, bends in zip(found.gram, found.with_y, many, strict=True)
        ]
    ).reshape(-1, FEATURES)
    return PeerFit(means=means, of_group=of_group, coefficients=coefficients, without=sums.without)


def residuals(grounds: CountedRows, fit: PeerFit) -> PeerResiduals:
    """Take out of a part's rows what the fit predicts for them."""
    layout = grounds.layout
    peers, y = _peers(grounds, fit.means), grounds.values
    place = layout.place_of_row
    value = np.full(layout.n_rows, np.nan)
    means = None if place is not None else _means_of_rows(layout, fit.of_group, peers.keep)
    powers = np.stack([np.ones_like(fit.of_group), fit.of_group, fit.of_group**2])
    level = np.einsum("kf,fkg->kg", fit.coefficients[:, [0, 3, 4]], powers).reshape(-1)
    for (base, slope, bend, by_mean, by_square), rows in zip(
        fit.coefficients, layout.rows_of_model, strict=True
    ):
        x = peers.x[rows]
        if means is None and place is not None:
            at = level[place[rows]]
        else:
            assert means is not None
            at = base + (by_mean + by_square * means[rows]) * means[rows]
        value[rows] = y[rows] - x * (slope + bend * x) - at
    value[~peers.keep] = np.nan
    return PeerResiduals(value=value, keep=peers.keep, without_peers=peers.without)


def peer_sums(grounds: CountedRows, means: Floats) -> PeerSums:
    """Sum what a part's peers say, by model and group.

    Args:
        means: each model's own mean over all parts, shape (K,).
    """
    layout, y = grounds.layout, grounds.values
    peers = _peers(grounds, means)
    shape = layout.n_models, layout.n_groups
    size = shape[0] * shape[1]
    place = layout.place_of_row
    powers = np.zeros((layout.n_models, 4))
    if place is None:
        total, count = layout.base_sums(peers.x, peers.keep)
        nothing = np.zeros(shape)
        return PeerSums(
            n=group_sums(layout.base_group, count, size).reshape(shape),
            x=group_sums(layout.base_group, total, size).reshape(shape),
            square=nothing, y=nothing, powers=powers, without=peers.without, several=True,
        )  # fmt: skip
    taking = y if peers.keep is grounds.keep else np.where(peers.keep, y, 0.0)
    square = peers.x * peers.x
    for number, rows in enumerate(layout.rows_of_model):
        x, x2, y_ = peers.x[rows], square[rows], taking[rows]
        powers[number] = [
            np.einsum("i,i->", one, other) for one, other in ((x, x2), (x2, x2), (x, y_), (x2, y_))
        ]

    def by_group(values: Floats | Mask) -> Floats:
        return group_sums(place, values, size).reshape(shape)

    return PeerSums(
        n=by_group(peers.keep), x=by_group(peers.x), square=by_group(square), y=by_group(taking),
        powers=powers, without=peers.without, several=False,
    )  # fmt: skip


def peer_products(grounds: CountedRows, means: Floats, of_group: Floats) -> PeerProducts:
    """Form a part's normal equations row by row.

    Args:
        means: each model's own mean over all parts, shape (K,).
        of_group: mean of X by model and group over all parts, shape (K, G).
    """
    layout = grounds.layout
    peers = _peers(grounds, means)
    mean = _means_of_rows(layout, of_group, peers.keep)
    gram = np.zeros((layout.n_models, FEATURES, FEATURES))
    with_y = np.zeros((layout.n_models, FEATURES))
    for number, rows in enumerate(layout.rows_of_model):
        taking = peers.keep[rows]
        x, m, y = peers.x[rows][taking], mean[rows][taking], grounds.values[rows][taking]
        features = np.stack([np.ones(len(x)), x, x**2, m, m**2])
        gram[number], with_y[number] = features @ features.T, features @ y
    return PeerProducts(gram=gram, with_y=with_y)


def _products(sums: PeerSums, of_group: Floats) -> PeerProducts:
    """Form the normal equations from sums by group: M is then a number a group."""
    k = len(sums.n)
    by_group = np.stack([sums.n, sums.x, sums.square], axis=1)
    bends = np.stack([of_group, of_group**2], axis=1)
    gram = np.empty((k, FEATURES, FEATURES))
    gram[:, 0, :3] = gram[:, :3, 0] = by_group.sum(axis=2)
    gram[:, 1, 1] = gram[:, 0, 2]
    gram[:, 1, 2] = gram[:, 2, 1] = sums.powers[:, 0]
    gram[:, 2, 2] = sums.powers[:, 1]
    gram[:, :3, 3:] = by_group @ bends.transpose(0, 2, 1)
    gram[:, 3:, :3] = gram[:, :3, 3:].transpose(0, 2, 1)
    gram[:, 3:, 3:] = (bends * sums.n[:, None, :]) @ bends.transpose(0, 2, 1)
    with_y = np.concatenate(
        [
            sums.y.sum(axis=1)[:, None],
            sums.powers[:, 2:],
            np.einsum("kfg,kg->kf", bends, sums.y),
        ],
        axis=1,
    )
    return PeerProducts(gram=gram, with_y=with_y)


def _bent(gram: Floats, with_y: Floats) -> Floats:
    """Return the least squares of y on (1, X, X^2, M, M^2)."""
    # The pseudo-inverse drops what can't be told apart (say, peers that all score the same).
    return np.asarray(np.linalg.pinv(gram, rcond=1e-11, hermitian=True) @ with_y)


def _straight(gram: Floats, with_y: Floats) -> Floats:
    """Return the least squares of y - M on (1, X - M), written as coefficients of all five."""
    n = gram[0, 0]
    if not n:
        return np.zeros(FEATURES)
    within, target = (gram[0, 1] - gram[0, 3]) / n, (with_y[0] - gram[0, 3]) / n
    mass = gram[1, 1] - 2 * gram[1, 3] + gram[3, 3] - n * within**2
    along = with_y[1] - gram[1, 3] - with_y[3] + gram[3, 3] - n * within * target
    # What is left by rounding alone is no spread.
    slope = along / mass if mass > 1e-12 * max(1.0, gram[1, 1]) else 0.0
    return np.array([target - slope * within, slope, 0.0, 1 - slope, 0.0])


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


def _peers(grounds: CountedRows, means: Floats) -> _Peers:
    look = _peer_scores if grounds.layout.single else _peer_sums
    return grounds.kept.get(("peers", means.tobytes()), lambda: look(grounds, means))


def _peer_scores(grounds: CountedRows, means: Floats) -> _Peers:
    """Look at the peers where a model has at most one row of an item.

    A model's own share of an item is then its row, and adding by index needs no sums by item.
    """
    layout, keep = grounds.layout, grounds.keep
    totals = np.zeros(layout.n_items)
    counts = np.zeros(layout.n_items, dtype=np.int32)
    x = np.zeros(layout.n_rows)
    taking_part = np.zeros(layout.n_rows, dtype=bool)
    without = np.zeros(layout.n_models, dtype=np.int64)
    for number, rows in enumerate(layout.rows_of_model):
        kept, item = keep[rows], layout.item[rows]
        x[rows] = np.where(kept, grounds.values[rows] - means[number], 0)
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


def _peer_sums(grounds: CountedRows, means: Floats) -> _Peers:
    """Look at the peers where a model may have several rows of an item."""
    layout, keep = grounds.layout, grounds.keep
    k, items = layout.n_models, layout.n_items
    totals, counts = np.zeros(items), np.zeros(items)
    own: list[tuple[Floats, Floats]] = []
    for number, rows in enumerate(layout.rows_of_model):
        kept, item = keep[rows], layout.item[rows]
        less = np.where(kept, grounds.values[rows] - means[number], 0)
        own.append((group_sums(item, less, items), group_sums(item, kept, items)))
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


def _means_of_rows(layout: Layout, of_group: Floats, keep: Mask) -> Floats:
    """Return each row's M; over several groups, their mean."""
    inside = keep[layout.pair_row]
    row = layout.pair_row[inside]
    of_pair = of_group.reshape(-1)[layout.base_group[layout.pair_base[inside]]]
    groups = np.maximum(np.bincount(row, minlength=layout.n_rows), 1)
    return np.asarray(group_sums(row, of_pair, layout.n_rows) / groups)
