"""Two models on what both answered.

Reference: METHODS B9 (paired cluster t, McNemar, sign-flip).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.compare.contrasts import moderate
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.layout import Layout, Mask
from atom.analysis.multiplicity import Control, adjust
from atom.analysis.sums import group_sums


@dataclass(frozen=True, kw_only=True)
class PairedNodes:
    """First model less second, on M nodes; arrays of shape (M,), values on [0, 1].

    Attributes:
        n: shared items in the node (criteria or samples that both have a value for).
        clusters: distinct clusters among them.
        first: the first one's mean over these items; NaN where n = 0.
        second: the second one's mean over the same items.
        gap: mean difference; NaN where n = 0.
        se: moderated cluster-robust standard error.
        df: its degrees of freedom.
        lo: lower end of the interval.
        p: two-sided p-value; NaN under five clusters (not tested).
        adjusted: p after control for multiplicity within the level.
    """

    n: Ints
    clusters: Ints
    first: Floats
    second: Floats
    gap: Floats
    se: Floats
    df: Floats
    lo: Floats
    hi: Floats
    p: Floats
    adjusted: Floats


@dataclass(frozen=True, kw_only=True)
class PairedGap:
    """Mean difference of two models over shared clusters.

    Attributes:
        n: values.
        clusters: clusters G.
        gap: mean difference; NaN where there is nothing.
        se: cluster-robust standard error (CR1); NaN under two clusters.
        lo: lower end of the interval.
        p: two-sided p-value with G - 1 degrees of freedom; NaN under two clusters.
    """

    n: int
    clusters: int
    gap: float
    se: float
    lo: float
    hi: float
    p: float


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """Two models right or wrong on the same samples.

    Attributes:
        first_only: samples that only the first gets right.
        second_only: samples that only the second gets right.
        exact: two-sided exact p-value.
        mid_p: two-sided mid-p-value, the default: the exact one is too careful.
    """

    first_only: int
    second_only: int
    exact: float
    mid_p: float


def paired_gap(
    difference: Floats, cluster: Ints, confidence: float = 0.95, *, bound: float | None = None
) -> PairedGap:
    """Test the mean of paired differences, clusters being independent.

    `V = G/(G-1) sum_c (S_c - d N_c)^2 / n^2`, t with G - 1 degrees of freedom.

    Args:
        difference: first less second, one a shared item, shape (n,).
        cluster: shape (n,), non-negative.
        confidence: coverage of the interval.
        bound: the largest difference that there can be; intervals end there.

    Returns:
        The gap. Where all differences are equal the variance is 0 and no t-test: p is the exact one
        of flipping signs, `2^(1 - G)`, and the interval reaches to `gap (alpha / 2)^(1 / G)`, the
        exact bound on how often such a difference would be seen; without any difference p is 1.

    Reference:
        METHODS B9, B1.
    """
    n = len(difference)
    nan = float("nan")
    if n == 0:
        return PairedGap(n=0, clusters=0, gap=nan, se=nan, lo=nan, hi=nan, p=nan)
    _, code = np.unique(cluster, return_inverse=True)
    total, count = np.bincount(code, weights=difference), np.bincount(code)
    groups = len(total)
    gap = float(difference.mean())
    if groups < 2:
        return PairedGap(n=n, clusters=groups, gap=gap, se=nan, lo=nan, hi=nan, p=nan)
    residual = total - gap * count
    se = float(np.sqrt((residual**2).sum() * groups / (groups - 1))) / n
    half = float(scipy.special.stdtrit(groups - 1, 0.5 + confidence / 2)) * se
    if se < 1e-15:
        p = 1.0 if abs(gap) < 1e-12 else 2.0 ** (1 - groups)
        lo, hi = sorted((gap, gap * (0.5 - confidence / 2) ** (1 / groups)))
    else:
        p = float(2 * scipy.special.stdtr(groups - 1, -abs(gap) / se))
        lo, hi = gap - half, gap + half
    if bound is not None:
        lo, hi = max(lo, -bound), min(hi, bound)
    return PairedGap(n=n, clusters=groups, gap=gap, se=se, lo=lo, hi=hi, p=p)


def paired_nodes(
    layout: Layout,
    first: int,
    second: int,
    rows: Mask | None = None,
    *,
    control: Control = "bh",
    confidence: float = 0.95,
) -> PairedNodes:
    """Compare two models on every node, over the items that both have a value for.

    Args:
        first: model index.
        second: model index.
        rows: bool, shape (n,): rows that count; all when None.
        control: multiplicity control within a level of the tree.
        confidence: coverage of intervals.

    Returns:
        The differences; repeats of an item are averaged first.

    Reference:
        METHODS B9, B5.
    """
    keep = layout.usable(rows)
    other = item_means(layout, keep & (layout.model == second))
    return paired_items(
        layout, keep & (layout.model == first), other, control=control, confidence=confidence
    )


def item_means(layout: Layout, rows: Mask) -> Floats:
    """Average what some rows say of each item, repeats of an item together.

    Args:
        rows: bool, shape (n,): rows that count, those of one model as a rule.

    Returns:
        Shape (n_items,); NaN where no row has a value.
    """
    mine = np.flatnonzero(rows & np.isfinite(layout.value))
    item = layout.item[mine]
    count = np.bincount(item, minlength=layout.n_items)
    with np.errstate(invalid="ignore", divide="ignore"):
        return group_sums(item, layout.value[mine].astype(np.float64), layout.n_items) / count


def paired_items(
    layout: Layout,
    rows: Mask,
    second: Floats,
    *,
    control: Control = "bh",
    confidence: float = 0.95,
) -> PairedNodes:
    """Compare some rows with any other value of the same items, on every node.

    The other value may come from another model, another answer of the same model, or another
    judge: whatever gives one value an item.

    Args:
        rows: bool, shape (n,): rows of the first side, all of one model.
        second: the second side's value of each item, shape (n_items,); NaN = none.
        control: multiplicity control within a level of the tree.
        confidence: coverage of intervals.

    Returns:
        The differences, over items that both sides have a value for.

    Reference:
        METHODS B9, B5.
    """
    m = layout.n_nodes
    pairs = _shared(layout, layout.usable(rows), second)
    # One row an item stands for its difference; it carries it to the nodes.
    total, count = layout.base_sums(pairs.value, pairs.keep)
    cells = layout.cells(total, count)
    node = cells.node % max(m, 1)
    n = group_sums(node, cells.count, m)
    groups = np.bincount(node, minlength=m).astype(np.float64)
    mine = layout.cells(layout.base_sums(pairs.first, pairs.keep)[0], count)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = group_sums(node, cells.total, m) / n
        mean = group_sums(node, mine.total, m) / n
        residual = cells.total - gap[node] * cells.count
        squares = group_sums(node, residual**2, m)
        variance = np.where(groups > 1, squares / n**2 * groups / (groups - 1), np.nan)
        se, df = moderate(variance, groups, n, layout.level)
        half = scipy.special.stdtrit(df, 0.5 + confidence / 2) * se
        flat = np.where(np.abs(gap) < 1e-12, 1.0, 2.0 ** (1 - groups))
        p = np.where(se > 1e-15, 2 * scipy.special.stdtr(df, -np.abs(gap) / se), flat)
    p = np.where((groups >= MIN_CLUSTERS) & np.isfinite(se), p, np.nan)
    return PairedNodes(
        n=n.astype(np.int64),
        clusters=groups.astype(np.int64),
        first=mean,
        second=mean - gap,
        gap=gap,
        se=se,
        df=df,
        lo=np.maximum(gap - half, -1.0),
        hi=np.minimum(gap + half, 1.0),
        p=p,
        adjusted=adjust(p, layout.level, control),
    )


def beyond_margin(gap: Floats, se: Floats, df: Floats, p: Floats, margin: float) -> Floats:
    """Test whether mean differences are larger than a margin, in the direction that they have.

    `p = 2 T_df(-(|d| - margin) / se)`, 1 within the margin; without a margin it is `p` itself.

    Args:
        gap: mean differences d, any shape.
        se: their standard errors; 0 where all differences are equal.
        df: degrees of freedom.
        p: p-values against no difference; NaN = not tested, and stays.
        margin: smallest difference that matters, not negative, in the unit of `gap`.

    Returns:
        P-values, of the same shape.

    Reference:
        METHODS B9, B5.
    """
    if margin == 0:
        return p
    over = np.abs(gap) - margin
    with np.errstate(invalid="ignore", divide="ignore"):
        shifted = np.where(se > 1e-15, 2 * scipy.special.stdtr(df, -over / se), p)
    return np.where(np.isfinite(p), np.where(over > 0, np.minimum(shifted, 1.0), 1.0), np.nan)


@dataclass(frozen=True, kw_only=True)
class _SharedRows:
    """Differences at one row of the first side an item; shape (n,)."""

    value: Floats
    first: Floats
    keep: Mask


def _shared(layout: Layout, keep: Mask, second: Floats) -> _SharedRows:
    first, rows = item_means(layout, keep), np.flatnonzero(keep)
    gap = first - second
    row_of = np.full(layout.n_items, -1, dtype=np.int64)
    row_of[layout.item[rows][::-1]] = rows[::-1]
    both = np.flatnonzero(np.isfinite(gap))
    value, mean = np.zeros(layout.n_rows), np.zeros(layout.n_rows)
    chosen = np.zeros(layout.n_rows, dtype=bool)
    at = row_of[both]
    value[at], mean[at], chosen[at] = gap[both], first[both], True
    return _SharedRows(value=value, first=mean, keep=chosen)


@dataclass(frozen=True, kw_only=True)
class PairedSamples:
    """Two sides on every sample, arrays of shape (S,).

    Attributes:
        first: the first side's weighted mean over the sample's shared items, in [0, 1]; NaN where
            there is no shared item.
        second: the second side's, over the same items.
        weight: total weight of the shared items.
        items: how many they are.
    """

    first: Floats
    second: Floats
    weight: Floats
    items: Ints

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Whether there is a pair at all, shape (S,)."""
        return np.asarray(self.items > 0)

    @property
    def gap(self) -> Floats:
        """First less second; NaN where there is no pair."""
        return np.asarray(self.first - self.second)


def paired_samples(
    sample: Ints, weight: Floats, first: Floats, second: Floats, n_samples: int
) -> PairedSamples:
    """Bring items up to their samples, over the items that both sides have a value for.

    `S = sum w x / sum w` on either side, so that an item that only one side has a value for moves
    neither.

    Args:
        sample: sample of each item, shape (n,).
        weight: weight of each item, positive, shape (n,).
        first: value of each item in [0, 1], NaN = none, shape (n,).
        second: the other side's, shape (n,).
        n_samples: S.

    Returns:
        Both sides by sample.

    Reference:
        METHODS A1, B9.
    """
    both = np.isfinite(first) & np.isfinite(second)
    at, heavy = sample[both], weight[both].astype(np.float64)
    total = group_sums(at, heavy, n_samples)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [group_sums(at, heavy * side[both], n_samples) / total for side in (first, second)]
    return PairedSamples(
        first=means[0],
        second=means[1],
        weight=total,
        items=np.bincount(at, minlength=n_samples).astype(np.int64),
    )


def mcnemar(first_only: int, second_only: int) -> McNemar:
    """Test whether two models are right equally often, on shared independent samples.

    With `B ~ Binomial(b + c, 1/2)`: exact `2 P(B <= min(b, c))`, mid-p the same less
    `P(B = min(b, c))`.

    Args:
        first_only: samples that only the first gets right, b.
        second_only: samples that only the second gets right, c.

    Returns:
        Both p-values, at most 1; 1 where b = c.

    Reference:
        METHODS B9.
    """
    low, n = min(first_only, second_only), first_only + second_only
    even = scipy.stats.binom(n, 0.5)
    tail, point = float(even.cdf(low)), float(even.pmf(low))
    tied = first_only == second_only
    return McNemar(
        first_only=first_only,
        second_only=second_only,
        exact=1.0 if tied else min(1.0, 2 * tail),
        mid_p=1.0 if tied else min(1.0, 2 * tail - point),
    )


def mcnemar_of(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> McNemar:
    """Test two models' right answers on the same samples, shape (S,) each."""
    return mcnemar(int((first & ~second).sum()), int((~first & second).sum()))
