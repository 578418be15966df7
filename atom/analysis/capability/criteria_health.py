"""Are the criteria any good? Ceilings, floors, discrimination, twins, a judge's second thoughts.

Reference: issue text (criterion health); METHODS B12 (repeats: exact agreement, ordinal alpha).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable
from atom.analysis.sums import group_sums

_WORD = re.compile(r"\w+")
SCORES = 5


LEAST = 3
"""Answers from which on something is said of a criterion."""
FLAT = 0.95
"""Share of answers at one end from which on a criterion tells nobody apart."""


@dataclass(frozen=True, kw_only=True)
class CriteriaHealth:
    """Health of C criteria, arrays of shape (C,).

    Attributes:
        n: scored answers.
        unscored: unscored or failed checkpoints.
        mean: on [0, 1]; NaN where n = 0.
        ceiling: share of scored answers at 5.
        floor: share of scored answers at 1.
        discrimination: correlation, over answers, of the criterion's score with the weighted score
            of the rest of its sample; NaN under three answers or where either is constant.
    """

    n: Ints
    unscored: Ints
    mean: Floats
    ceiling: Floats
    floor: Floats
    discrimination: Floats

    @property
    def passed_by_all(self) -> Mask:
        """Criteria that all but all answers pass: they tell nobody apart."""
        return np.asarray((self.n >= LEAST) & (self.ceiling >= FLAT))

    @property
    def failed_by_all(self) -> Mask:
        """Criteria that all but all answers fail."""
        return np.asarray((self.n >= LEAST) & (self.floor >= FLAT))

    @property
    def backwards(self) -> Mask:
        """Criteria that the better answers fail: the correlation lies below zero.

        Few answers correlate below zero by chance. So the upper end of the 95 % interval must lie
        below it, too: `tanh(atanh(r) + 1.96 / sqrt(n - 3))` (Fisher's z).
        """
        r = np.clip(self.discrimination, -0.999999, 0.999999)
        with np.errstate(invalid="ignore", divide="ignore"):
            upper = np.tanh(np.arctanh(r) + 1.96 / np.sqrt(np.maximum(self.n - 3, 0)))
        return np.asarray((self.n > LEAST) & (np.nan_to_num(upper, nan=1.0) < 0))


@dataclass(frozen=True, kw_only=True)
class Twins:
    """Pairs of criteria of one sample that ask nearly the same; arrays of shape (P,).

    Attributes:
        first: criterion index.
        second: criterion index, larger.
        overlap: share of words in common (Jaccard), 0..1.
    """

    first: Ints
    second: Ints
    overlap: Floats


def criteria_health(table: ScoreTable, rows: Mask | None = None) -> CriteriaHealth:
    """Look at every criterion over the answers that it was scored on.

    Args:
        rows: bool, shape (N,): checkpoints that count; all when None.

    Returns:
        The health; O(N).
    """
    keep = np.ones(len(table.score), dtype=bool) if rows is None else rows
    c = len(table.criterion_ids)
    good = np.flatnonzero(keep & (table.score > 0))
    criterion, response = table.criterion[good], table.response[good]
    score = table.score[good].astype(np.float64)
    weight = table.weight[good].astype(np.float64)
    n = np.bincount(criterion, minlength=c)
    mass = group_sums(response, weight, len(table.sample))
    total = group_sums(response, weight * score, len(table.sample))
    with np.errstate(invalid="ignore", divide="ignore"):
        left = mass[response] - weight
        rest = np.where(left > 0, (total[response] - weight * score) / left, np.nan)
        mean = group_sums(criterion, score, c) / n
        ceiling = group_sums(criterion, score == SCORES, c) / n
        floor = group_sums(criterion, score == 1, c) / n
    known = np.isfinite(rest)
    return CriteriaHealth(
        n=n.astype(np.int64),
        unscored=np.bincount(table.criterion[keep & (table.score <= 0)], minlength=c).astype(
            np.int64
        ),
        mean=(mean - 1) / (SCORES - 1),
        ceiling=ceiling,
        floor=floor,
        discrimination=_correlation(criterion[known], score[known], rest[known], c),
    )


def _correlation(group: NDArray[np.int32], a: Floats, b: Floats, size: int) -> Floats:
    """Return the correlation of a and b within each group; NaN under three values."""

    def mean_of(values: Floats) -> Floats:
        return group_sums(group, values, size) / n

    with np.errstate(invalid="ignore", divide="ignore"):
        n = np.bincount(group, minlength=size).astype(np.float64)
        da, db = a - mean_of(a)[group], b - mean_of(b)[group]
        scale = np.sqrt(mean_of(da * da) * mean_of(db * db))
        return np.where((n >= 3) & (scale > 1e-9), mean_of(da * db) / scale, np.nan)


def near_duplicates(texts: Sequence[str], sample: Ints, *, least_overlap: float = 0.8) -> Twins:
    """Find criteria of one sample that ask nearly the same, by their words.

    Args:
        texts: each criterion's question (with its ground truth, if that should count), length C.
        sample: sample of each criterion, shape (C,).
        least_overlap: Jaccard overlap of word sets from which on a pair counts.

    Returns:
        The pairs, largest overlap first.
    """
    empty = np.zeros(0, dtype=np.int64)
    if len(texts) != len(sample):
        raise ValueError(f"{len(texts)} texts for {len(sample)} criteria; they must match")
    words = [set(_WORD.findall(text.casefold())) for text in texts]
    code = {word: number for number, word in enumerate(sorted(set().union(*words)))}
    sizes = np.array([len(each) for each in words], dtype=np.int64)
    column = np.array([code[word] for each in words for word in sorted(each)], dtype=np.int64)
    starts = np.r_[0, np.cumsum(sizes)]
    bag = scipy.sparse.csr_array(
        (np.ones(len(column)), column, starts), shape=(len(texts), max(len(code), 1))
    )
    first, second = pairs_within(sample)
    if not len(first):
        return Twins(first=empty, second=empty, overlap=np.zeros(0))
    common = np.asarray((bag[first] * bag[second]).sum(axis=1)).reshape(-1)
    union = sizes[first] + sizes[second] - common
    overlap = np.where(union > 0, common / np.maximum(union, 1), 0.0)
    found = np.flatnonzero(overlap >= least_overlap)
    order = found[np.argsort(-overlap[found], kind="stable")]
    return Twins(first=first[order], second=second[order], overlap=overlap[order])


def pairs_within(sample: Ints) -> tuple[Ints, Ints]:
    """List all pairs of indices with the same sample, smaller index first."""
    order = np.argsort(sample, kind="stable")
    grouped = sample[order]
    firsts, seconds = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    step = 1
    while step < len(grouped):
        same = np.flatnonzero(grouped[step:] == grouped[:-step])
        if not len(same):
            break
        firsts.append(order[same])
        seconds.append(order[same + step])
        step += 1
    return np.concatenate(firsts), np.concatenate(seconds)


def ordinal_alpha(coincidence: Floats) -> float:
    """Return Krippendorff's alpha for ordered values from a coincidence matrix.

    `alpha = 1 - (n - 1) sum C D / sum (n_i n_j - [i = j] n_i) D`, with
    `D_ij = (sum_{v=i..j} n_v - (n_i + n_j)/2)^2`.

    Args:
        coincidence: symmetric, shape (V, V), values in order.

    Returns:
        1 for perfect agreement, 0 for chance; NaN where all scores are equal or there are none.

    Reference:
        METHODS B12, G.
    """
    margin = coincidence.sum(axis=1)
    upper = np.cumsum(margin)
    middle = upper - margin / 2
    distance = np.subtract.outer(middle, middle) ** 2
    expected = float((np.outer(margin, margin) * distance).sum())
    if expected <= 0:
        return float("nan")
    return 1 - (float(margin.sum()) - 1) * float((coincidence * distance).sum()) / expected
