"""Several people's labels: how far they agree, what most of them say, and a judge against it.

Reference: METHODS A7 (kappa), B12 (reliability); Krippendorff 2011, "Computing Krippendorff's
alpha-reliability".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.random import Generator

from atom.analysis.agreement.coefficients import confusion, nominal_kappa
from atom.analysis.capability.criteria_health import ordinal_alpha
from atom.analysis.intervals import Floats, Ints
from atom.analysis.resampling import LEAST_CLUSTERS, percentiles

Level = Literal["nominal", "ordinal", "interval"]
"""What a rating's values mean: names, places in an order, or distances."""
UnreadVote = Literal["tie", "wrong", "left out"]
"""How a verdict that couldn't be read is counted: as a tie, as a wrong one, or not at all."""


@dataclass(frozen=True, kw_only=True)
class ClassScores:
    """A judge's classes against the right ones; each mean is over the right ones' classes.

    Attributes:
        n: things counted.
        unread: verdicts that couldn't be read, counted as `counted` says.
        accuracy: share judged right; NaN where n = 0.
        precision: mean over classes of the share of a class's verdicts that are right; 0 for a
            class that was never given.
        recall: mean over classes of the share of a class that was found.
        f1: mean over classes of the harmonic mean of the two.
    """

    n: int
    unread: int
    counted: UnreadVote
    accuracy: float
    precision: float
    recall: float
    f1: float


def class_scores(
    right: Ints, said: Ints, classes: Sequence[int], *, unread: UnreadVote = "wrong", tie: int = 0
) -> ClassScores:
    """Score a judge's classes by macro averages.

    Args:
        right: the right class of each thing, shape (n,).
        said: the judge's, -1 where it couldn't be read; shape (n,).
        classes: the classes that are averaged over.
        unread: what a verdict that couldn't be read counts as.

    Returns:
        The scores. Toy: right (1, 1, 2), said (1, 2, 2): accuracy 2/3, precision (1 + 1/2)/2,
        recall (1/2 + 1)/2, F1 (2/3 + 2/3)/2.
    """
    missing = said < 0
    n_unread = int(missing.sum())
    if unread == "tie":
        said = np.where(missing, tie, said)
    elif unread == "left out":
        right, said = right[~missing], said[~missing]
    n = len(right)
    if not n:
        nan = math.nan
        return ClassScores(
            n=0, unread=n_unread, counted=unread, accuracy=nan, precision=nan, recall=nan, f1=nan
        )
    precision, recall, f1 = [], [], []
    for name in classes:
        hits = float(((right == name) & (said == name)).sum())
        given, there = float((said == name).sum()), float((right == name).sum())
        precision.append(hits / given if given else 0.0)
        recall.append(hits / there if there else 0.0)
        f1.append(2 * hits / (given + there) if given + there else 0.0)
    return ClassScores(
        n=n,
        unread=n_unread,
        counted=unread,
        accuracy=float((right == said).mean()),
        precision=float(np.mean(precision)),
        recall=float(np.mean(recall)),
        f1=float(np.mean(f1)),
    )


def majority(labels: Ints) -> Ints:
    """Return the class that most raters give to each thing.

    Args:
        labels: classes from 0, -1 where a rater gave none; shape (raters, n).

    Returns:
        Classes, shape (n,); -1 where two share the lead or nobody rated.
    """
    most = int(labels.max(initial=-1)) + 1
    if most == 0:
        return np.full(labels.shape[1], -1, dtype=np.int64)
    counts = np.stack([(labels == name).sum(axis=0) for name in range(most)])
    best = counts.max(axis=0)
    alone = (counts == best).sum(axis=0) == 1
    return np.where(alone & (best > 0), counts.argmax(axis=0), -1).astype(np.int64)


def rater_kappas(labels: Ints) -> Floats:
    """Return Cohen's kappa of every two raters over what both rated.

    Args:
        labels: classes from 0, -1 where a rater gave none; shape (raters, n).

    Returns:
        Symmetric, shape (raters, raters), 1 on the diagonal; NaN where chance agreement is
        complete.
    """
    raters, classes = len(labels), int(labels.max(initial=0)) + 1
    found = np.eye(raters)
    for a in range(raters):
        for b in range(a):
            counts = confusion(labels[a] + 1, labels[b] + 1, classes)
            found[a, b] = found[b, a] = nominal_kappa(counts)
    return found


def krippendorff_alpha(ratings: Floats, level: Level = "ordinal") -> float:
    """Return Krippendorff's alpha over any number of raters with any ratings missing.

    `alpha = 1 - D_o / D_e` over the coincidence matrix `C`, in which a thing with m ratings adds
    `1/(m - 1)` for each ordered pair of them; things with one rating say nothing.

    Args:
        ratings: a value of each rater for each thing, NaN where there is none; shape
            (raters, n).
        level: what the values mean.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less; NaN where all ratings are equal
        or no thing has two.

    Reference:
        METHODS B12.
    """
    values = np.unique(ratings[np.isfinite(ratings)])
    if len(values) < 2:
        return math.nan
    counts, weighted = _coinciding(ratings, values)
    coincidence = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    return _alpha_of(coincidence, values, level)


def alpha_interval(
    ratings: Floats,
    cluster: Ints,
    rng: Generator,
    level: Level = "ordinal",
    *,
    draws: int = 400,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Bound Krippendorff's alpha by drawing clusters of things with replacement.

    Args:
        ratings: as in `krippendorff_alpha`, shape (raters, n).
        cluster: cluster of each thing, shape (n,).
        level: what the values mean.
        draws: resamples.
        confidence: coverage of the percentile interval.

    Returns:
        Its ends; NaN under `LEAST_CLUSTERS` clusters or where half of the draws have no alpha.

    Reference:
        METHODS B3, B12.
    """
    values = np.unique(ratings[np.isfinite(ratings)])
    _, code = np.unique(cluster, return_inverse=True)
    clusters = int(code.max(initial=-1)) + 1
    if len(values) < 2 or clusters < LEAST_CLUSTERS:
        return math.nan, math.nan
    counts, weighted = _coinciding(ratings, values)
    each = weighted[:, :, None] * counts[:, None, :]
    at = np.arange(len(values))
    each[:, at, at] -= weighted
    by_cluster = np.zeros((clusters, len(values) ** 2))
    np.add.at(by_cluster, code, each.reshape(len(each), -1))
    found = []
    for _ in range(draws):
        weight = np.bincount(rng.integers(0, clusters, clusters), minlength=clusters)
        drawn = (weight @ by_cluster).reshape(len(values), len(values))
        found.append(_alpha_of(drawn, values, level))
    return percentiles(found, confidence)


def _coinciding(ratings: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return how often each thing was given each value, and that over (ratings - 1).

    Both are 0 for things with fewer than two ratings; shape (n, values).
    """
    counts = np.stack([(ratings == value).sum(axis=0) for value in values], axis=1).astype(float)
    size = counts.sum(axis=1)
    counts[size < 2] = 0
    return counts, counts / np.maximum(size - 1, 1)[:, None]


def _alpha_of(coincidence: Floats, values: Floats, level: Level) -> float:
    if level == "ordinal":
        return ordinal_alpha(coincidence)
    gap = np.subtract.outer(values, values) ** 2
    if level == "nominal":
        gap = (gap > 0).astype(float)
    total = coincidence.sum(axis=0)
    n = float(total.sum())
    expected = float((np.outer(total, total) * gap).sum())
    return 1 - (n - 1) * float((coincidence * gap).sum()) / expected if expected else math.nan


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation over the things that both have; NaN under three or constant.

    Args:
        first: values, NaN = none; shape (n,).
        second: the same, shape (n,).
    """
    both = np.isfinite(first) & np.isfinite(second)
    a, b = first[both], second[both]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(scipy.stats.spearmanr(a, b).statistic)
