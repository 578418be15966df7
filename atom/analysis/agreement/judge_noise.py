"""How much of a number's uncertainty is the judge's: samples, repeats and judges apart.

A mean is uncertain because other samples could have been drawn (sample part), because the same
judge says something else when asked again (repeat part), and because another judge would have been
kinder or stricter (judge part). The first two shrink with samples; a judge's shift doesn't, since
it sits in every sample alike.

Reference: METHODS B1, B2 (the interval that this reduces to), B10 (how many more), B12, B20, D3.
Formula, reasons and measured coverage: `design/013-judge-noise.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy

from atom.analysis.intervals import (
    MIN_CLUSTERS,
    PRIOR_DF,
    Cells,
    Floats,
    Ints,
    cell_sums,
    make_cells,
    mean_variance,
    moderate_dispersion,
)
from atom.analysis.layout import Mask

Advice = Literal["samples", "judge", "either", "unknown"]
"""What would narrow an interval more: as many samples again, or a judge without noise."""
CLOSE = 0.10
"""The two help alike when they leave variances this close, as a share of the whole."""
_DOUBLED = 30
"""A forecast stops at a billion times the samples."""


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Scores of I checkpoints by J judges, asked once or more often.

    Attributes:
        item: checkpoint of each score, 0..I-1, shape (V,).
        judge: 0..J-1, shape (V,); 0 is the judge whose scores the study shows.
        repeat: 0 = asked for the first time, shape (V,).
        score: 1..5; 0 or less = none, shape (V,). On a scale that isn't our own judges'
            `1 + 4 value`.
        cluster: of each checkpoint, shape (I,): one model's share of one sample.
        judges: J.
    """

    item: Ints
    judge: Ints
    repeat: Ints
    score: Ints | Floats
    cluster: Ints
    judges: int

    @property
    def items(self) -> int:
        """Number of checkpoints I."""
        return len(self.cluster)


@dataclass(frozen=True, kw_only=True)
class NoiseSplit:
    """M nodes' means with the parts of their variance, arrays of shape (M,), on [0, 1].

    Attributes:
        n: checkpoints in the node.
        clusters: samples.
        mean: NaN where n = 0.
        lo: lower end of the 95 % interval, all parts included.
        plain_lo: lower end of the interval without the judges' shift (METHODS B2).
        samples: variance that only other samples would remove.
        repeats: variance of asking again; NaN where nobody was asked twice.
        judges: variance between judges, their shift included; NaN with one judge.
        shift: the part of `judges` that more samples don't shrink; 0 with one judge.
        shifts: its parts, each (variance, degrees of freedom) by node.
        dispersion: of the mean over clusters, moderated (METHODS B2).
        judges_used: J.
        repeats_known: whether any checkpoint was scored twice by one judge.
        together: correlation of the noise of checkpoints that were scored in one call.
    """

    n: Ints
    clusters: Ints
    mean: Floats
    lo: Floats
    hi: Floats
    plain_lo: Floats
    plain_hi: Floats
    samples: Floats
    repeats: Floats
    judges: Floats
    shift: Floats
    shifts: tuple[tuple[Floats, Floats], ...]
    dispersion: Floats
    judges_used: int
    repeats_known: bool
    together: float

    @property
    def separable(self) -> bool:
        """Whether any of the judge's noise can be told from the samples'."""
        return self.repeats_known or self.judges_used > 1

    @property
    def total(self) -> Floats:
        """The whole variance, shape (M,)."""
        return self.samples + np.nan_to_num(self.repeats) + np.nan_to_num(self.judges)

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What would help each node more: twice the samples, or a judge without noise."""
        if not self.separable:
            return tuple(_advise(math.nan, math.nan) for _ in self.n)
        with np.errstate(divide="ignore", invalid="ignore"):
            twice = ((self.total - self.shift) / 2 + self.shift) / self.total
            clean = self.samples / self.total
        return tuple(_advise(float(a), float(b)) for a, b in zip(twice, clean, strict=True))

    def needed(self, half_width: float) -> Floats:
        """Forecast how many samples a node needs for an interval of plus or minus so much.

        The interval is that of `lo` and `hi`, with its own quantile, at G times as many clusters
        of the same dispersion; the judges' shift stays as it is. So a node needs no more than it
        has just where half of `hi - lo` is no more than `half_width`. Infinite where no number of
        samples does it: the judges' shift alone is wider.

        Args:
            half_width: h, in the unit of the means.

        Returns:
            Samples in all, shape (M,), at least those that are there; NaN where nothing is known.

        Reference:
            METHODS B10 (its logic for a mean).
        """
        there = self.clusters.astype(np.float64)

        def reached(samples: Floats) -> Mask:
            with np.errstate(divide="ignore", invalid="ignore"):
                n = self.n * samples / there
            base = _Base(n=n, clusters=samples, mean=self.mean, dispersion=self.dispersion)
            lo, hi = base.interval(self.shifts)
            return np.asarray((hi - lo) / 2 <= half_width)

        enough = (self.hi - self.lo) / 2 <= half_width
        short, wanted = there.copy(), there.copy()
        open_ = ~enough
        for _ in range(_DOUBLED):
            if not open_.any():
                break
            wanted = np.where(open_, wanted * 2, wanted)
            open_ &= ~reached(wanted)
            short = np.where(open_, wanted, short)
        never = open_
        while (gap := ~enough & ~never & (wanted - short > 1)).any():
            middle = np.floor((short + wanted) / 2)
            down = reached(middle)
            wanted = np.where(gap & down, middle, wanted)
            short = np.where(gap & ~down, middle, short)
        known = np.isfinite(self.hi - self.lo) & (self.n > 0)
        return np.where(known, np.where(never, np.inf, wanted), np.nan)


def _advise(twice: float, clean: float) -> Advice:
    if not (math.isfinite(twice) and math.isfinite(clean)):
        return "unknown"
    if abs(twice - clean) <= CLOSE:
        return "either"
    return "samples" if twice < clean else "judge"


def split_noise(
    ratings: Ratings, node: Ints, n_nodes: int, *, judge: int | None = None
) -> NoiseSplit:
    """Estimate node means with intervals that hold the judge's noise, and split the variance.

    `V = S + R + I + B`: what METHODS B2 measures over clusters is `S + R + I` (samples, repeats,
    and how far judges differ on single checkpoints); `B` is the spread of the judges' mean shifts,
    divided by the judges averaged over. With one judge `B` is unknown and left out: with one
    repeat, too, the interval is exactly that of METHODS B2.

    Args:
        node: node of each checkpoint, shape (I,); -1 = in none. Nodes are of one depth: their
            dispersions share a pool. Give each model nodes of its own.
        n_nodes: number of nodes M.
        judge: whose means are wanted: `B` is then one judge's whole shift; None = the mean over
            all judges, on the checkpoints that all of them scored.

    Reference:
        METHODS B2; `design/013-judge-noise.md`.
    """
    table = _Means.of(ratings, node)
    keep = table.common if judge is None else table.known[:, judge]
    averaged = ratings.judges if judge is None else 1
    own = table.mean if judge is None else table.by_judge[:, judge]
    keep = keep & (node >= 0)
    at, cluster = node[keep].astype(np.int64), ratings.cluster[keep].astype(np.int64)
    cells = make_cells(own[keep], at, cluster, n_nodes)
    base = _Base.of(cells, n_nodes)
    repeat_part, together = _repeat_part(table, keep, cells, base, node, n_nodes, judge)
    item_part, shifts = _judge_part(table, node, base, n_nodes, averaged)
    shift = sum((part for part, _ in shifts), np.zeros(n_nodes))
    lo, hi = base.interval(shifts)
    plain_lo, plain_hi = base.interval([])
    known_repeats = bool(np.isfinite(repeat_part).any())
    noise = np.nan_to_num(repeat_part) + np.nan_to_num(item_part)
    # Noise can't be more than what the clusters show: the estimates are scaled down to it.
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(noise > base.variance, base.variance / noise, 1.0)
    return NoiseSplit(
        n=base.n.astype(np.int64),
        clusters=base.clusters.astype(np.int64),
        mean=base.mean,
        lo=lo,
        hi=hi,
        plain_lo=plain_lo,
        plain_hi=plain_hi,
        samples=np.maximum(base.variance - noise * scale, 0),
        repeats=repeat_part * scale,
        judges=item_part * scale + shift,
        shift=shift,
        shifts=tuple(shifts),
        dispersion=base.dispersion,
        judges_used=ratings.judges if ratings.judges > 1 and table.common.any() else 1,
        repeats_known=known_repeats,
        together=together,
    )


@dataclass(frozen=True, kw_only=True)
class _Means:
    """Scores averaged over repeats, on [0, 1]; shapes (I, J) and (I,).

    Attributes:
        by_judge: mean of each judge's repeats; NaN = none.
        times: how often each judge scored it.
        within: sum of squares around `by_judge`.
        gap: difference of the first two repeats over sqrt(2); NaN = fewer than two.
        mean: over judges; NaN unless all scored it.
        cluster: of each checkpoint.
    """

    by_judge: Floats
    times: Floats
    within: Floats
    gap: Floats
    mean: Floats
    cluster: Ints

    @property
    def known(self) -> Mask:
        """Who scored what, shape (I, J)."""
        return np.asarray(self.times > 0)

    @property
    def common(self) -> Mask:
        """What every judge scored, shape (I,)."""
        return np.asarray((self.times > 0).all(axis=1))

    @classmethod
    def of(cls, ratings: Ratings, node: Ints) -> _Means:
        if len(node) != ratings.items:
            raise ValueError(f"{len(node)} nodes for {ratings.items} checkpoints; they must match")
        form = ratings.items, ratings.judges
        size = ratings.items * ratings.judges
        good = ratings.score > 0
        key = (ratings.item[good] * ratings.judges + ratings.judge[good]).astype(np.int64)
        value = (ratings.score[good] - 1) / 4
        times = np.bincount(key, minlength=size).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.bincount(key, weights=value, minlength=size) / times
        within = np.bincount(key, weights=(value - mean[key]) ** 2, minlength=size)
        order = np.lexsort((ratings.repeat[good], key))
        sorted_key, sorted_value = key[order], value[order]
        start = np.flatnonzero(np.append(True, sorted_key[1:] != sorted_key[:-1])[: len(order)])
        twice = start[times[sorted_key[start]] > 1] if len(start) else start
        gap = np.full(size, np.nan)
        gap[sorted_key[twice]] = (sorted_value[twice + 1] - sorted_value[twice]) / math.sqrt(2)
        by_judge = mean.reshape(form)
        return cls(
            by_judge=by_judge,
            times=times.reshape(form),
            within=within.astype(np.float64).reshape(form),
            gap=gap.reshape(form),
            mean=by_judge.mean(axis=1) if ratings.judges else np.full(ratings.items, np.nan),
            cluster=ratings.cluster,
        )


@dataclass(frozen=True, kw_only=True)
class _Base:
    """What METHODS B2 makes of the means, arrays of shape (M,)."""

    n: Floats
    clusters: Floats
    mean: Floats
    dispersion: Floats

    @classmethod
    def of(cls, cells: Cells, n_nodes: int) -> _Base:
        n, total, clusters, squares = cell_sums(cells, n_nodes)
        mean, raw = mean_variance(n, total, clusters, squares)
        with np.errstate(divide="ignore", invalid="ignore"):
            binomial = mean * (1 - mean)
            dispersion = np.where(binomial > 1e-12, raw * n / binomial, np.nan)
        level = np.zeros(n_nodes, dtype=np.int64)
        moderated = moderate_dispersion(dispersion, binomial, clusters, level)
        return cls(n=n, clusters=clusters, mean=mean, dispersion=moderated)

    @property
    def variance(self) -> Floats:
        """Moderated variance of the mean over clusters."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.dispersion * self.mean * (1 - self.mean) / self.n)

    def interval(self, extra: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """Take Wilson's interval with further variances, each with its degrees of freedom.

        Degrees of freedom by Satterthwaite: `(sum v)^2 / sum (v^2 / df)`.
        """
        variance = self.variance
        own_df = np.maximum(self.clusters, 1) - 1 + PRIOR_DF
        added = sum((part for part, _ in extra), np.zeros(len(self.n)))
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = variance**2 / own_df + sum(part**2 / df for part, df in extra)
            df = np.where(added > 0, (variance + added) ** 2 / squares, own_df)
            q = scipy.special.stdtrit(df, 0.975)
            binomial = self.mean * (1 - self.mean)
            spread = self.dispersion + np.where(added > 0, added * self.n / binomial, 0.0)
            effective = self.n / spread
            shrink = 1 + q**2 / effective
            centre = (self.mean + q**2 / (2 * effective)) / shrink
            half = q * np.sqrt(binomial / effective + q**2 / (4 * effective**2)) / shrink
        return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def _repeat_part(
    table: _Means,
    keep: Mask,
    cells: Cells,
    base: _Base,
    node: Ints,
    n_nodes: int,
    judge: int | None,
) -> tuple[Floats, float]:
    """Return the variance of asking again, by node, and how far noise goes together in a call."""
    columns = slice(None) if judge is None else slice(judge, judge + 1)
    times, within = table.times[:, columns], table.within[:, columns]
    twice = (times > 1) & (node >= 0)[:, None]
    if not twice.any():
        return np.full(n_nodes, np.nan), math.nan
    at = np.broadcast_to(node[:, None], times.shape)
    df = np.bincount(at[twice], weights=times[twice] - 1, minlength=n_nodes)
    squares = np.bincount(at[twice], weights=within[twice], minlength=n_nodes)
    pool = squares.sum() / df.sum()
    noise = (PRIOR_DF * pool + squares) / (PRIOR_DF + df)
    width = times.shape[1]
    share = (1 / times[keep]).sum(axis=1) / width**2
    counted = np.bincount(node[keep], weights=share, minlength=n_nodes)
    together = _together(table.gap[:, columns], node, table.cluster)
    pairs = np.bincount(
        cells.node.astype(np.int64), weights=cells.count * (cells.count - 1), minlength=n_nodes
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        deff = 1 + together * pairs / base.n
        return np.asarray(noise * counted / base.n**2 * deff), together


def _together(gap: Floats, node: Ints, cluster: Ints) -> float:
    """Return the correlation of two checkpoints' noise in one cluster, within [0, 1].

    `rho = sum_c ((sum d)^2 - sum d^2) / sum_c (N_c - 1) sum d^2` over the differences d of repeats;
    0 where no cluster has two.
    """
    item, who = np.nonzero(np.isfinite(gap) & (node >= 0)[:, None])
    value = gap[item, who]
    width = gap.shape[1]
    key = (cluster[item].astype(np.int64) * (int(node.max(initial=0)) + 1) + node[item]) * width
    _, code = np.unique(key + who, return_inverse=True)
    count = np.bincount(code)
    total = np.bincount(code, weights=value)
    squares = np.bincount(code, weights=value**2)
    chance = float(((count - 1) * squares).sum())
    return min(max(float((total**2 - squares).sum()) / chance, 0.0), 1.0) if chance > 0 else 0.0


def _judge_part(
    table: _Means, node: Ints, base: _Base, n_nodes: int, averaged: int
) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Return how far judges differ on single checkpoints, and the spread of their shifts.

    Both are estimated on checkpoints that all judges scored. A judge's shift has a part that is the
    same in every node (J - 1 degrees of freedom) and one that is the node's own; each is the spread
    of the judges' means less what single checkpoints' differences make of it.

    Returns:
        Variance by node; and for each part of the shift (variance, degrees of freedom) by node.
    """
    judges = table.times.shape[1]
    both = table.common & (node >= 0)
    if judges < 2 or not both.any():
        return np.full(n_nodes, np.nan), []
    at = node[both].astype(np.int64)
    cluster = table.cluster[both].astype(np.int64)
    off = table.by_judge[both] - table.mean[both][:, None]
    means, errors, ns, groups = _columns(off, at, cluster, n_nodes)
    whole, whole_error, _, _ = _columns(off, np.zeros_like(at), cluster, 1)
    free = judges - 1
    common = max(float((whole**2).sum() - np.nansum(whole_error)) / free, 0.0)
    with np.errstate(invalid="ignore"):
        spread = ((means - whole) ** 2).sum(axis=1) - errors.sum(axis=1)
    usable = np.isfinite(spread) & (groups >= MIN_CLUSTERS)
    pool = float(spread[usable].sum()) / (free * max(int(usable.sum()), 1))
    own_df = np.where(usable, free, 0)
    own = np.maximum(
        (PRIOR_DF * pool + np.where(usable, np.nan_to_num(spread), 0)) / (PRIOR_DF + own_df), 0
    )
    residual = off - means[at]
    single = np.bincount(at, weights=(residual**2).sum(axis=1), minlength=n_nodes)
    df = np.maximum(ns - 1, 0) * free
    level = single.sum() / max(float(df.sum()), 1.0)
    differ = (PRIOR_DF * level + single) / (PRIOR_DF + df)
    # What asking again explains is the repeats' part already.
    again = (table.times > 1) & both[:, None]
    if again.any():
        noise = table.within[again].sum() / (table.times[again] - 1).sum()
        differ = np.maximum(differ - noise * float((1 / table.times[both]).mean()), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        item_part = np.where(base.n > 0, differ / (averaged * base.n), np.nan)
    nodes = max(int(usable.sum()) - 1, 1)
    return item_part, [
        (np.full(n_nodes, common / averaged), np.full(n_nodes, float(free))),
        (own / averaged, np.full(n_nodes, float(free * nodes))),
    ]


def _columns(
    value: Floats, node: Ints, cluster: Ints, n_nodes: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return each column's node means and their CR1 variances, and rows and clusters by node."""
    sums = [cell_sums(make_cells(column, node, cluster, n_nodes), n_nodes) for column in value.T]
    means, errors = zip(*(mean_variance(*one) for one in sums), strict=True)
    n, _, clusters, _ = sums[0]
    return np.stack(means, axis=1), np.stack(errors, axis=1), n, clusters


def first_two(ratings: Ratings, judge: int) -> Ints | Floats:
    """Return a judge's first two usable scores of each checkpoint, 0 = none; shape (I, 2).

    `atom.analysis.agreement.coefficients` compares the two (test-retest), or the first ones of two
    judges.

    Reference:
        METHODS B12.
    """
    mine = np.flatnonzero((ratings.judge == judge) & (ratings.score > 0))
    order = mine[np.lexsort((ratings.repeat[mine], ratings.item[mine]))]
    item = ratings.item[order]
    start = np.append(True, item[1:] != item[:-1])[: len(item)]
    first = np.flatnonzero(start)
    wide: Any = np.zeros_like(ratings.score, shape=(ratings.items, 2))
    wide[item[first], 0] = ratings.score[order[first]]
    second = first + 1
    second = second[second < len(item)]
    second = second[~start[second]]
    wide[item[second], 1] = ratings.score[order[second]]
    return np.asarray(wide)
