"""How models stand at an early look, where what is judged was chosen by the looks before.

Choosing where to look by what was seen tilts plain means: a model that is looked at where it is
weak seems weak. Within a node what is judged is a random part, so every (model, node) is weighted
to its share of all that was planned. Where no peer is judged on a criterion, its node's difficulty
stands in for the peers' scores there.

Reference: METHODS T7 (looks), B4 (peer frame, moderation), F3 and T6 (labels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from atom.analysis.capability.diagnosis import (
    CONFIRMED,
    INSUFFICIENT,
    MARGIN,
    MIN_ROWS,
    NOTHING,
    PEER_MODELS,
    STRENGTH,
    SUSPECTED,
)
from atom.analysis.capability.replication import LIKELY, replication_probability
from atom.analysis.compare.contrasts import moderate
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.looks.spending import early_p, early_quantile
from atom.analysis.multiplicity import adjust
from atom.analysis.shrinkage import shrink_to_zero

MIN_EARLY_CLUSTERS = 20
"""Under so many samples no label is given at an early look (METHODS T7)."""
PEER_NOISE = 1.5
"""A mean over m peers is trusted by m / (m + 1.5): its own noise against what it tells."""
_FULL = 1 - 1e-9


class LookRows(Protocol):
    """What a store reads of a study: names, and the columns of `LookMarks`."""

    @property
    def sample_ids(self) -> tuple[str, ...]:
        """Samples, N."""
        ...

    @property
    def leaves(self) -> tuple[object, ...]:
        """Nodes, M."""
        ...

    @property
    def value(self) -> Floats:
        """Marks in [0, 1], shape (K, A)."""
        ...

    @property
    def planned(self) -> Mask:
        """Marks that are planned."""
        ...

    @property
    def sample(self) -> Ints:
        """Sample of each criterion."""
        ...

    @property
    def node(self) -> Ints:
        """Node of each criterion."""
        ...

    @property
    def weight(self) -> Floats:
        """Weight of each criterion."""
        ...


@dataclass(frozen=True, kw_only=True)
class LookMarks:
    """What is planned and what is judged of it: K models, A criteria, N samples, M nodes.

    Attributes:
        value: marks in [0, 1], NaN = not judged, shape (K, A).
        planned: whether a mark is planned at all, shape (K, A).
        sample: sample of each criterion, shape (A,).
        node: node of each criterion, shape (A,).
        n_samples: N.
        n_nodes: M.
        weight: of each criterion in its sample's score, shape (A,); all alike when None.
    """

    value: Floats
    planned: Mask
    sample: Ints
    node: Ints
    n_samples: int
    n_nodes: int
    weight: Floats | None = None

    @classmethod
    def of(cls, rows: LookRows) -> LookMarks:
        """Take what a store read."""
        return cls(
            value=rows.value,
            planned=rows.planned,
            sample=rows.sample,
            node=rows.node,
            n_samples=len(rows.sample_ids),
            n_nodes=len(rows.leaves),
            weight=rows.weight,
        )

    def clusters(self, rows: Mask) -> Floats:
        """Count distinct samples by (model, node), shape (K, M), among rows of shape (K, A)."""
        cell, at = np.unique(self.node * self.n_samples + self.sample, return_inverse=True)
        node = cell // self.n_samples
        return np.stack(
            [
                np.bincount(
                    node[np.bincount(at[of], minlength=len(cell)) > 0], minlength=self.n_nodes
                )
                for of in rows
            ]
        ).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class EarlyStanding:
    """What an early look says; arrays of shape (K, M), values on [0, 1].

    Attributes:
        clusters: distinct samples judged.
        share: share of the planned samples that is judged.
        mean: node means; `lo`, `hi` intervals that hold at all looks together.
        lo: lower ends.
        effect: departures from what peers (under four models: the model's rest) lead one to expect.
        se: their standard errors.
        effect_lo: lower ends of their intervals.
        pooled: departures after partial pooling; `spread` their posterior standard deviation.
        spread: see `pooled`.
        p: one-sided p-values of a weakness beyond the margin that hold at all looks together.
        adjusted: after Benjamini-Hochberg within the model.
        label: int8, index into `weaknesses.LABELS`.
        overall: mean sample scores of the models, each node at its planned share, shape (K,).
        overall_lo: lower ends of their intervals.
        ahead: one-sided p-value that the row's model isn't better than the column's, shape (K, K).
    """

    clusters: Floats
    share: Floats
    mean: Floats
    lo: Floats
    hi: Floats
    effect: Floats
    se: Floats
    effect_lo: Floats
    effect_hi: Floats
    pooled: Floats
    spread: Floats
    p: Floats
    adjusted: Floats
    label: np.ndarray[tuple[int, ...], np.dtype[np.int8]]
    overall: Floats
    overall_lo: Floats
    overall_hi: Floats
    ahead: Floats

    @property
    def open(self) -> Mask:
        """Nodes that may still turn out weak: anything but settled by evidence or by its end."""
        settled = np.isin(self.label, (CONFIRMED, STRENGTH)) | (self.effect_lo >= -MARGIN)
        return ~settled & (self.share < _FULL)


def stand(
    marks: LookMarks, earlier: Sequence[Floats] = (), *, q: float = 0.10, confidence: float = 0.95
) -> EarlyStanding:
    """Say how models stand at a look.

    Args:
        earlier: `share` at the looks before, oldest first, shape (K, M) each.
        q: false discovery rate aimed at, within a model.
        confidence: coverage of intervals over all looks together.

    Returns:
        The standing. A node is `confirmed` where its adjusted p-value is at most q and it is
        likely to hold again; `strength` is the mirror; nothing is said under 20 samples (five,
        once all that was planned is judged).

    Reference:
        METHODS T7.
    """
    has = np.isfinite(marks.value)
    clusters, planned = marks.clusters(has), marks.clusters(marks.planned)
    share = np.where(planned > 0, np.clip(clusters / np.maximum(planned, 1), 0, 1), 1.0)
    shares = [*earlier, share]
    weight = _weights(marks, has)
    parts = _Parts(marks, has, weight)
    mean, mean_se, mean_df = parts.means()
    effect, se, df = parts.contrasts()
    of_model = np.repeat(np.arange(len(mean)), marks.n_nodes)
    rows = parts.effective
    enough = (clusters >= np.where(share >= _FULL, 5, MIN_EARLY_CLUSTERS)) & (rows >= MIN_ROWS)
    enough &= np.isfinite(se) & np.isfinite(effect)

    def control(distance: Floats) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            once = scipy.special.stdtr(df, distance / se)
        p = early_p(np.where(enough, once, np.nan), shares)
        return p, adjust(p.reshape(-1), of_model).reshape(p.shape)

    p, adjusted = control(effect + MARGIN)
    _, strong = control(MARGIN - effect)
    pooled = shrink_to_zero(
        effect.reshape(-1), np.where(enough, se**2, np.nan).reshape(-1), of_model
    )
    again = replication_probability(pooled, se.reshape(-1)).reshape(se.shape) >= LIKELY
    suspected = pooled.probability_below(-MARGIN).reshape(se.shape) >= 0.8
    label = np.full(se.shape, NOTHING, dtype=np.int8)
    label[enough & (suspected | (adjusted <= q))] = SUSPECTED
    label[enough & again & (strong <= q)] = STRENGTH
    label[enough & again & (adjusted <= q)] = CONFIRMED
    label[~enough] = INSUFFICIENT
    wide = early_quantile(shares, confidence)
    half, effect_half = _half(wide, mean_df) * mean_se, _half(wide, df) * se
    overall = parts.overall(shares, confidence)
    return EarlyStanding(
        clusters=clusters,
        share=share,
        mean=mean,
        lo=np.maximum(mean - half, 0),
        hi=np.minimum(mean + half, 1),
        effect=effect,
        se=se,
        effect_lo=effect - effect_half,
        effect_hi=effect + effect_half,
        pooled=pooled.value.reshape(se.shape),
        spread=np.sqrt(pooled.variance).reshape(se.shape),
        p=p,
        adjusted=adjusted,
        label=label,
        overall=overall.mean,
        overall_lo=overall.lo,
        overall_hi=overall.hi,
        ahead=overall.ahead,
    )


def _half(wide: Floats, df: Floats) -> Floats:
    """Turn normal quantiles into ones of t with these degrees of freedom."""
    tail = np.maximum(scipy.special.ndtr(-wide), 1e-12)
    return np.asarray(-scipy.special.stdtrit(np.maximum(df, 1), tail))


def _weights(marks: LookMarks, has: Mask, mass: Floats | None = None) -> Floats:
    """Weight each judged mark so that its (model, node) has its planned share, shape (K, A)."""
    mass = np.ones(len(marks.node)) if mass is None else mass
    weight = np.zeros(has.shape)
    for model, mine in enumerate(has):
        planned = marks.planned[model]
        there = np.bincount(marks.node[mine], mass[mine], minlength=marks.n_nodes)
        wanted = np.bincount(marks.node[planned], mass[planned], minlength=marks.n_nodes)
        scale = wanted / np.where(there > 0, there, 1)
        weight[model, mine] = mass[mine] * scale[marks.node[mine]]
    return weight


@dataclass(frozen=True, kw_only=True)
class _Overall:
    mean: Floats
    lo: Floats
    hi: Floats
    ahead: Floats


class _Parts:
    """Sums by (model, node, sample) that means, contrasts and gaps are made of."""

    def __init__(self, marks: LookMarks, has: Mask, weight: Floats) -> None:
        self._marks, self._has, self._weight = marks, has, weight
        self._y = np.where(has, marks.value, 0.0)
        cell, self._cell_of = np.unique(
            marks.node * marks.n_samples + marks.sample, return_inverse=True
        )
        self._cell_node = cell // marks.n_samples
        self._cell_sample = cell % marks.n_samples
        n = self._by_node(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.effective = np.nan_to_num(n**2 / self._by_node(weight**2))
        self._n = n

    def _by_node(self, values: Floats) -> Floats:
        m = self._marks
        return np.stack([np.bincount(m.node, row, minlength=m.n_nodes) for row in values])

    def _by_cell(self, row: Floats) -> Floats:
        return (
            np.bincount(self._cell_of, row, minlength=len(self._cell_node))
            .astype(np.float64)
            .astype(np.float64)
        )

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return node means, standard errors and degrees of freedom, shape (K, M) each."""
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self._by_node(self._weight * self._y) / self._n
        left = np.nan_to_num(self._y - mean[:, self._marks.node])
        return (mean, *self._moderated(self._influence(left, rest=False)))

    def contrasts(self) -> tuple[Floats, Floats, Floats]:
        """Return departures from the rest of the model, their errors and degrees of freedom."""
        left = self._residuals()
        total = self._by_node(self._weight * left)
        n_rest = self._n.sum(axis=1, keepdims=True) - self._n
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = total / self._n - (total.sum(axis=1, keepdims=True) - total) / n_rest
        return (effect, *self._moderated(self._influence(left, rest=True)))

    def _influence(self, left: Floats, *, rest: bool) -> tuple[Floats, Floats]:
        """Return `sum_c psi_c^2` and the samples judged, by (model, node)."""
        m = self._marks
        squares, groups = np.zeros_like(self._n), np.zeros_like(self._n)
        for model in range(len(left)):
            r = self._by_cell(self._weight[model] * left[model])
            n = self._by_cell(self._weight[model])
            there = self._by_cell(self._has[model].astype(np.float64)) > 0
            groups[model] = np.bincount(self._cell_node[there], minlength=m.n_nodes)
            size = np.maximum(self._n[model], 1e-12)
            total = np.bincount(self._cell_node, r, minlength=m.n_nodes)
            psi = (r - (total / size)[self._cell_node] * n) / size[self._cell_node]
            if not rest:
                np.add.at(squares[model], self._cell_node, psi**2)
                continue
            t = np.bincount(self._cell_sample, r, minlength=m.n_samples)
            k = np.bincount(self._cell_sample, n, minlength=m.n_samples)
            size_rest = np.maximum(self._n[model].sum() - self._n[model], 1e-12)
            mean_rest = (total.sum() - total) / size_rest
            # Samples that don't touch the node: all of them, less those that do.
            whole = t @ t - 2 * mean_rest * (t @ k) + mean_rest**2 * (k @ k)
            node, tc, kc = self._cell_node, t[self._cell_sample], k[self._cell_sample]
            touched = np.bincount(node, (tc - mean_rest[node] * kc) ** 2, minlength=m.n_nodes)
            outside = ((tc - r) - mean_rest[node] * (kc - n)) / size_rest[node]
            own = np.bincount(node, (psi - outside) ** 2, minlength=m.n_nodes)
            squares[model] = own + np.maximum(whole - touched, 0) / size_rest**2
        return squares, groups

    def _moderated(self, found: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        squares, groups = found
        shape = squares.shape
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(groups > 1, squares * groups / (groups - 1), np.nan)
        se, df = moderate(
            variance.reshape(-1),
            groups.reshape(-1),
            self.effective.reshape(-1),
            np.repeat(np.arange(shape[0]), shape[1]),
        )
        return se.reshape(shape), df.reshape(shape)

    def _residuals(self) -> Floats:
        """Take out what peers lead one to expect, shape (K, A); 0 where nothing is judged."""
        m, has, weight = self._marks, self._has, self._weight
        mean = (weight * self._y).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-12)
        away = np.where(has, self._y - mean[:, None], 0.0)
        if len(has) < PEER_MODELS:
            return away
        known = self._n > 0
        of_node = self._by_node(weight * away) / np.where(known, self._n, 1)
        others = np.maximum(known.sum(axis=0) - known, 1)
        hard = ((of_node * known).sum(axis=0) - of_node * known) / others
        count = has.sum(axis=0) - has
        seen = (away.sum(axis=0) - away) / np.maximum(count, 1)
        expected = hard[:, m.node]
        x = expected + np.where(count > 0, (seen - expected) * count / (count + PEER_NOISE), 0.0)
        left = np.zeros(has.shape)
        for model, mine in enumerate(has):
            at, level = x[model, mine], expected[model, mine]
            features = np.stack([np.ones(len(at)), at, at**2, level, level**2])
            mass = features * weight[model, mine]
            inverse = np.linalg.pinv(mass @ features.T, rcond=1e-11, hermitian=True)
            y = self._y[model, mine]
            left[model, mine] = y - (inverse @ (mass @ y)) @ features
        return left

    def overall(self, shares: Sequence[Floats], confidence: float) -> _Overall:
        """Return post-stratified means of the models, and who is ahead of whom."""
        m = self._marks
        weight = _weights(m, self._has, m.weight)
        size = np.maximum(weight.sum(axis=1), 1e-12)
        mean = (weight * self._y).sum(axis=1) / size
        with np.errstate(divide="ignore", invalid="ignore"):
            of_node = np.nan_to_num(self._by_node(weight * self._y) / self._by_node(weight))
        left = weight * np.where(self._has, self._y - of_node[:, m.node], 0.0)
        # The spread between nodes is no error of a stratified mean: the nodes are given.
        rows = [np.bincount(m.sample, row, minlength=m.n_samples) for row in left]
        psi = np.stack(rows) / size[:, None]
        groups = np.maximum((psi != 0).sum(axis=1), 2)
        cov = psi @ psi.T * (groups / (groups - 1)).max()
        mine = [share.mean(axis=1) for share in shares]
        half = early_quantile(mine, confidence) * np.sqrt(np.diag(cov))
        own = np.diag(cov)
        se = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * cov, 1e-12))
        pair = [np.minimum(share[:, None], share[None, :]) for share in mine]
        once = scipy.special.ndtr(-(mean[:, None] - mean[None, :]) / se)
        ahead = early_p(once, pair)
        np.fill_diagonal(ahead, np.nan)
        return _Overall(
            mean=mean, lo=np.maximum(mean - half, 0), hi=np.minimum(mean + half, 1), ahead=ahead
        )


def earlier_shares(marks: LookMarks, judged: Mask, looks: Sequence[Mask]) -> list[Floats]:
    """Return the share of the planned samples that was judged at each look but the last.

    Args:
        judged: answers that are judged now, shape (K, N).
        looks: answers that each look asked for, oldest first, shape (K, N) each.

    Returns:
        Shares of shape (K, M), for `stand`.
    """
    planned = marks.clusters(marks.planned)
    found, later = [], np.zeros(judged.shape, dtype=bool)
    for asked in reversed(looks[1:]):
        later = later | asked
        there = np.isfinite(marks.value) & ~later[:, marks.sample]
        share = np.clip(marks.clusters(there) / np.maximum(planned, 1), 0, 1)
        found.append(np.where(planned > 0, share, 1.0))
    return found[::-1]
