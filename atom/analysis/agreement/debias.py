"""People's labels take the judge's error out of its scores.

A few samples are labelled by people, all are scored by the judge. The judge's scores narrow the
interval that the labels alone would give, and the labels move it to where people's scores lie.

Reference: METHODS B13 (cluster PPI++, inverse confusion, Rogan-Gladen); prediction-powered
inference (Angelopoulos et al. 2023, PPI++).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.random import Generator

from atom.analysis.compare.contrasts import moderate
from atom.analysis.intervals import Floats, Ints

MIN_LABELLED: Final = 30
"""Labelled samples below which a score stays "judge-scale" (METHODS F6)."""
POINTS: Final = np.arange(1.0, 6.0)
MAX_CONDITION: Final = 10.0
"""A confusion matrix that is harder to invert than this is not inverted."""
NEAR, FAR = 0.5, 0.05
"""What is added to each count: up to one point off, and further off."""
BOOTSTRAP: Final = 60


@dataclass(frozen=True, kw_only=True)
class DebiasedMean:
    """A mean score, by people's labels and the judge together.

    Values and interval ends are in the unit of what was given. NaN where there's too little.

    Attributes:
        value: the estimate.
        se: its standard error.
        lo: lower end of the interval.
        tuning: how far the judge was relied on, 0..1 (lambda).
        labelled: labelled samples n.
        unlabelled: other samples N.
        human: mean of the labels alone.
        human_lo: lower end of its interval.
        judge: mean of the judge's scores, all samples.
        shift: judge's mean less people's, on the labelled samples.
    """

    value: float
    se: float
    lo: float
    hi: float
    tuning: float
    labelled: int
    unlabelled: int
    human: float
    human_lo: float
    human_hi: float
    judge: float
    shift: float

    @property
    def enough(self) -> bool:
        """Whether so many samples are labelled that "judge-scale" may be lifted."""
        return self.labelled >= MIN_LABELLED


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Sums by sample: labels, judge's scores and rows of each, in the same order."""

    label: Floats
    judge: Floats
    rows: Floats


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What the variance of a tuned estimate is made of."""

    label: float
    judge: float
    both: float
    rest: float
    """Variance of the judge's part on samples without labels."""
    n: int
    rest_n: int

    def tuning(self) -> float:
        """The tuning that makes the variance least."""
        if not self.rest_n:
            return 0.0
        pooled = ((self.n - 1) * self.judge + (self.rest_n - 1) * self.rest) / max(
            self.n + self.rest_n - 2, 1
        )
        if pooled <= 0:
            return 0.0
        return min(max(self.both / (pooled * (1 + self.n / self.rest_n)), 0.0), 1.0)

    def variance(self, tuning: float) -> float:
        own = self.label + tuning**2 * self.judge - 2 * tuning * self.both
        rest = tuning**2 * self.rest / self.rest_n if self.rest_n else 0.0
        return max(own, 0.0) / self.n + rest


def ppi_mean(
    judge: Floats,
    human: Floats,
    cluster: Ints,
    *,
    tuning: float | None = None,
    confidence: float = 0.95,
) -> DebiasedMean:
    """Estimate what people's mean score over all samples would be (cluster PPI++).

    `theta = m_y + lambda (m_U - m_f)`: the labels' mean, moved by how the judge's mean on samples
    without labels differs from its mean on those with. All means are over rows, all variances over
    samples. A sample counts as labelled if any of its rows is; its other rows are left out.

    Args:
        judge: the judge's scores, shape (N,), no NaN.
        human: people's scores, shape (N,); NaN where a row isn't labelled.
        cluster: sample of each row, shape (N,).
        tuning: lambda, 0..1; the best one by the data when None.
        confidence: coverage aimed at.

    Returns:
        The estimate; with fewer than two labelled samples only the judge's mean.

    Reference:
        METHODS B13a.
    """
    mine, rest = _split(judge, human, cluster)
    n, rest_n = len(mine.rows), len(rest.rows)
    judged = float(judge.mean()) if len(judge) else math.nan
    if n < 2:
        return DebiasedMean(
            value=math.nan, se=math.nan, lo=math.nan, hi=math.nan, tuning=math.nan, labelled=n,
            unlabelled=rest_n, human=math.nan, human_lo=math.nan, human_hi=math.nan, judge=judged,
            shift=math.nan,
        )  # fmt: skip
    m_y, m_f = mine.label.sum() / mine.rows.sum(), mine.judge.sum() / mine.rows.sum()
    parts, m_u = _parts(mine, rest)
    lam = parts.tuning() if tuning is None else tuning
    value = m_y + lam * (m_u - m_f) if rest_n else m_y
    se = math.sqrt(parts.variance(lam if rest_n else 0.0))
    q = float(scipy.special.stdtrit(n - 1, 0.5 + confidence / 2))
    alone = math.sqrt(parts.variance(0.0))
    return DebiasedMean(
        value=float(value),
        se=se,
        lo=float(value) - q * se,
        hi=float(value) + q * se,
        tuning=lam if rest_n else 0.0,
        labelled=n,
        unlabelled=rest_n,
        human=float(m_y),
        human_lo=float(m_y) - q * alone,
        human_hi=float(m_y) + q * alone,
        judge=judged,
        shift=float(m_f - m_y),
    )


def labels_needed(
    judge: Floats, human: Floats, cluster: Ints, half_width: float, *, confidence: float = 0.95
) -> int | None:
    """Say how many labelled samples in all would make the interval so narrow.

    It takes the variances that were seen so far and turns unlabelled samples into labelled ones.

    Args:
        judge: as in `ppi_mean`.
        human: as in `ppi_mean`.
        cluster: as in `ppi_mean`.
        half_width: the wanted half width, in the unit of the scores.
        confidence: coverage aimed at.

    Returns:
        The number, at least `MIN_LABELLED`; None when not even labelling every sample is enough,
        or fewer than two samples are labelled by now.
    """
    mine, rest = _split(judge, human, cluster)
    if len(mine.rows) < 2:
        return None
    seen, _ = _parts(mine, rest)
    total = seen.n + seen.rest_n

    def narrow(n: int) -> bool:
        then = _Parts(
            label=seen.label, judge=seen.judge, both=seen.both, rest=seen.rest or seen.judge,
            n=n, rest_n=total - n,
        )  # fmt: skip
        se = math.sqrt(then.variance(then.tuning()))
        return float(scipy.special.stdtrit(n - 1, 0.5 + confidence / 2)) * se <= half_width

    # More labels narrow the interval (by odd variances, to within a hundredth of its width), so
    # halving finds the first number that will do.
    sizes = range(max(min(MIN_LABELLED, total), 2), total + 1)
    at = bisect_left(sizes, True, key=narrow)
    return sizes[at] if at < len(sizes) else None


def _split(judge: Floats, human: Floats, cluster: Ints) -> tuple[_Sums, _Sums]:
    """Return the labelled rows, and those of samples without any label."""
    known = np.isfinite(human)
    labelled = np.isin(cluster, np.unique(cluster[known]))
    mine = _sums(judge[known], human[known], cluster[known])
    rest = _sums(judge[~labelled], judge[~labelled], cluster[~labelled])
    return mine, rest


def _sums(judge: Floats, label: Floats, cluster: Ints) -> _Sums:
    _, number = np.unique(cluster, return_inverse=True)
    return _Sums(
        label=np.bincount(number, weights=label).astype(np.float64),
        judge=np.bincount(number, weights=judge).astype(np.float64),
        rows=np.bincount(number).astype(np.float64),
    )


def _parts(mine: _Sums, rest: _Sums) -> tuple[_Parts, float]:
    """Return the variances of the samples' influences, and the judge's mean without labels."""

    def influence(total: Floats, rows: Floats) -> Floats:
        return np.asarray((total - total.sum() / rows.sum() * rows) / rows.mean())

    y, f = influence(mine.label, mine.rows), influence(mine.judge, mine.rows)
    (label, both), (_, judge) = np.cov(y, f, ddof=1)
    n = len(rest.rows)
    u = influence(rest.judge, rest.rows) if n else np.zeros(0)
    parts = _Parts(
        label=float(label),
        judge=float(judge),
        both=float(both),
        rest=float(np.var(u, ddof=1)) if n > 1 else float(judge),
        n=len(mine.rows),
        rest_n=n,
    )
    return parts, float(rest.judge.sum() / rest.rows.sum()) if n else math.nan


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """What each of the judge's scores stands for, by the confusion that people's labels show.

    Attributes:
        score: `h`, shape (5,): use `h[f]` where the judge said f + 1.
        confusion: P(judge says f | people say y), shape (5, 5), rows y.
        counts: labelled rows by (y, f), shape (5, 5).
        draws: `h` from resampled labelled samples, shape (B, 5).
        samples: labelled samples.
        homogeneous_p: p-value of "one confusion for all groups"; NaN without groups to compare.
        refused: why it can't be used; empty when it can.
    """

    score: Floats
    confusion: Floats
    counts: Ints
    draws: Floats
    samples: int
    homogeneous_p: float
    refused: str


def inverse_confusion(
    judge: Ints,
    human: Ints,
    cluster: Ints,
    group: Ints | None = None,
    *,
    rng: Generator,
    draws: int = BOOTSTRAP,
) -> Inverse:
    """Learn from labelled rows what the judge's scores stand for.

    With C = P(f | y) and `C h = (1, ..., 5)`, `E[h(f) | y] = y` whatever the mix of y: so leaf
    means of h(f) are unbiased where C holds for every leaf.

    Args:
        judge: the judge's scores 1..5 of the labelled rows, all models and leaves, shape (n,).
        human: people's, shape (n,).
        cluster: sample of each row, shape (n,).
        group: root of each row, shape (n,): is the confusion the same under each?
        draws: how often labelled samples are drawn anew.

    Returns:
        The scores; with the reason when they can't be used: too few samples, a score that people
        never gave, or a matrix that can't be inverted safely.

    Reference:
        METHODS B13b.
    """
    counts = _counts(judge, human)
    matrix = _smoothed(counts)
    condition = float(np.linalg.cond(matrix))
    names, number = np.unique(cluster, return_inverse=True)
    samples = len(names)
    refused = _refusal(counts, condition, samples)
    score = np.linalg.solve(matrix, POINTS) if condition < 1e12 else np.full(5, np.nan)
    found = np.empty((0, 5))
    if not refused:
        by_sample = np.zeros((samples, 25), dtype=np.int64)
        np.add.at(by_sample, (number, (human - 1) * 5 + judge - 1), 1)
        picked = rng.multinomial(samples, np.full(samples, 1 / samples), size=draws)
        drawn = (picked @ by_sample).reshape(draws, 5, 5)
        found = np.stack([np.linalg.solve(_smoothed(one), POINTS) for one in drawn])
    return Inverse(
        score=score,
        confusion=matrix,
        counts=counts,
        draws=found,
        samples=samples,
        homogeneous_p=math.nan if group is None else _same_everywhere(judge, human, group),
        refused=refused,
    )


def _counts(judge: Ints, human: Ints) -> Ints:
    key = (np.asarray(human, dtype=np.int64) - 1) * 5 + np.asarray(judge, dtype=np.int64) - 1
    return np.bincount(key, minlength=25).reshape(5, 5).astype(np.int64)


def _smoothed(counts: Ints) -> Floats:
    off = np.abs(POINTS[:, None] - POINTS[None, :])
    raised = counts + np.where(off <= 1, NEAR, FAR)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _refusal(counts: Ints, condition: float, samples: int) -> str:
    if samples < MIN_LABELLED:
        return f"{samples} samples are labelled; at least {MIN_LABELLED} are needed"
    never = [str(int(point)) for point, n in zip(POINTS, counts.sum(axis=1), strict=True) if not n]
    if never:
        return f"people never gave the score {', '.join(never)}, so it's unknown how it is judged"
    if condition > MAX_CONDITION:
        return (
            "the judge's scores tell people's apart too little to be turned back "
            f"(condition number {condition:.0f}, at most {MAX_CONDITION:.0f})"
        )
    return ""


def _same_everywhere(judge: Ints, human: Ints, group: Ints) -> float:
    """Test whether P(judge | people) is one for all groups: likelihood ratio over (y, f) tables.

    Scores are taken as too low, right or too high: single cells would be too thin.
    """
    way = np.sign(judge - human) + 1
    statistic, freedom = 0.0, 0
    for y in range(1, 6):
        here = human == y
        names, number = np.unique(group[here], return_inverse=True)
        table = np.zeros((len(names), 3))
        np.add.at(table, (number, way[here]), 1)
        table = table[table.sum(axis=1) >= 5]
        table = table[:, table.sum(axis=0) > 0]
        if min(table.shape) < 2:
            continue
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        statistic += float(((table - expected) ** 2 / expected).sum())
        freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    return float(scipy.stats.chi2.sf(statistic, freedom)) if freedom else math.nan


@dataclass(frozen=True, kw_only=True)
class DebiasedNodes:
    """Means of M nodes on people's scale, points 1..5, each array of length M; NaN when empty."""

    mean: Floats
    se: Floats
    lo: Floats
    hi: Floats
    raw: Floats
    """Means of the judge's own scores."""


def debiased_nodes(
    judge: Ints,
    node: Ints,
    cluster: Ints,
    n_nodes: int,
    inverse: Inverse,
    level: Ints | None = None,
    *,
    confidence: float = 0.95,
) -> DebiasedNodes:
    """Estimate node means on people's scale.

    The variance is the clusters' (moderated as everywhere) plus that of `h` itself.

    Args:
        judge: the judge's scores 1..5, shape (N,).
        node: node of each row, shape (N,).
        cluster: sample of each row, shape (N,).
        n_nodes: M.
        inverse: what the scores stand for.
        level: nodes of a level share a pool of variances; one level when None.
        confidence: coverage aimed at.

    Raises:
        ValueError: the inverse was refused.
    """
    if inverse.refused:
        raise ValueError(f"can't be used: {inverse.refused}")
    said = np.asarray(judge, dtype=np.int64) - 1
    share = np.bincount(node * 5 + said, minlength=5 * n_nodes).reshape(n_nodes, 5)
    n = share.sum(axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = share / n[:, None]
    mean, raw = part @ inverse.score, part @ POINTS
    key = np.asarray(cluster, dtype=np.int64) * n_nodes + node
    cell, at = np.unique(key, return_inverse=True)
    where = (cell % n_nodes).astype(np.int64)
    residual = np.bincount(at, weights=inverse.score[said] - mean[node])
    groups = np.bincount(where, minlength=n_nodes).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.bincount(where, weights=residual**2, minlength=n_nodes) / n**2
        variance = np.where(groups > 1, variance * groups / (groups - 1), np.nan)
    pool = np.zeros(n_nodes, dtype=np.int64) if level is None else level
    se, df = moderate(variance, groups, n, pool)
    se = np.sqrt(se**2 + np.var(inverse.draws @ part.T, axis=0, ddof=1))
    q = scipy.special.stdtrit(df, 0.5 + confidence / 2)
    return DebiasedNodes(
        mean=mean,
        se=se,
        lo=np.maximum(mean - q * se, 1.0),
        hi=np.minimum(mean + q * se, 5.0),
        raw=raw,
    )
