"""VL-RewardBench: does a judge prefer the better of two answers?

Everything here is computed from votes that are right, wrong or unreadable, however they were made.

Reference: VL-RewardBench 3 and 4; METHODS A13-A16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import betabinom, binom, binomtest, hypergeom, pearsonr, spearmanr

from atom.analysis.intervals import Z95, Floats, Ints, wilson
from atom.analysis.multiplicity import adjust
from atom.judgebench.rates import (
    INVALID,
    RIGHT,
    WRONG,
    Macro,
    Rate,
    macro,
    majority,
    rate,
)

CHANCE = 0.5
"""A coin picks the preferred answer half the time, by majority of any odd number of votes, too."""
ABSENT = -2
"""A vote that isn't there: not asked yet, or its call failed."""
SIZES = (1, 3, 5, 7, 9)
"""Numbers of votes at which scaling is shown."""


@dataclass(frozen=True, kw_only=True)
class CategoryAccuracy:
    """Accuracy by category and over all.

    Attributes:
        categories: their names, sorted.
        by_category: one rate a category.
        overall: all items together.
        macro: unweighted mean over categories of the strict rates.
    """

    categories: tuple[str, ...]
    by_category: tuple[Rate, ...]
    overall: Rate
    macro: Macro


def accuracy(votes: Ints, category: Sequence[str]) -> CategoryAccuracy:
    """Score a judge's votes by majority, an unreadable or undecided item counted as wrong.

    Args:
        votes: 1 right, 0 wrong, -1 unreadable, -2 not there; shape (n, K).
        category: each item's category, length n.

    Returns:
        The accuracy; its `valid_only` leaves items out that have no readable vote. The chance
        level is a half for an odd number of votes, and less for an even one, which may tie.

    Raises:
        ValueError: lengths differ.

    Reference:
        VL-RewardBench 3.2 (majority of K, overall and macro accuracy); METHODS A13, A14.
    """
    return _accuracy(majority(votes), category, coin_chance(votes))


def coin_chance(votes: Ints) -> Floats:
    """Return each item's chance to be right by a majority of coin flips, a tie being wrong.

    Args:
        votes: -2 = not there, all else is a vote; shape (n, K).

    Returns:
        `P(more than k/2 of k flips are right)` for each item's own k, shape (n,); 0 without votes.
    """
    count = (votes != ABSENT).sum(axis=1)
    return np.asarray(binom.sf(count // 2, count, 0.5), dtype=np.float64)


def released_accuracy(votes: Ints, category: Sequence[str]) -> CategoryAccuracy:
    """Score votes as the released code does: undecided items leave the denominator.

    An item with any unreadable vote is dropped, and so is one whose votes tie. Compare with
    `accuracy`, which counts both as wrong.

    Reference:
        VL-RewardBench's `cal.py` (METHODS, flags).
    """
    right, wrong = (votes == RIGHT).sum(axis=1), (votes == WRONG).sum(axis=1)
    clean = (votes != INVALID).all(axis=1) & (right != wrong)
    kept = np.flatnonzero(clean)
    names = [category[int(at)] for at in kept]
    return _accuracy((right > wrong)[kept].astype(np.int64), names, np.full(len(kept), CHANCE))


def _accuracy(codes: Ints, category: Sequence[str], chance: Floats) -> CategoryAccuracy:
    if len(codes) != len(category):
        raise ValueError(f"{len(codes)} items and {len(category)} categories; they must match")
    label = np.asarray(category, dtype=object)
    names = tuple(sorted({str(name) for name in category}))
    rates = tuple(rate(codes[label == name], _mean(chance[label == name])) for name in names)
    return CategoryAccuracy(
        categories=names,
        by_category=rates,
        overall=rate(codes, _mean(chance)),
        macro=macro([r.strict for r in rates], [r.n for r in rates]),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def majority_probability(p: Floats | float, votes: int) -> Floats:
    """Return the chance that a majority of K independent votes is right.

    `sum_{j > K/2} C(K, j) p^j (1 - p)^(K - j)`.

    Args:
        p: chance that one vote is right, 0..1, any shape.
        votes: K, odd.

    Raises:
        ValueError: K is even or less than 1.

    Reference:
        METHODS A13: p = .6, K = 5 gives .68256.
    """
    _check_odd(votes)
    return np.asarray(binom.sf(votes // 2, votes, p), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class ScalingPoint:
    """Accuracy of a majority of K votes.

    Attributes:
        votes: K.
        measured: expected accuracy over all ways to take K of the votes that there are.
        lo: lower end of the 95 % interval over items; as wide as Wilson's where all are alike.
        independent: closed form from each item's share of right votes, as if votes were
            independent draws; biased upwards in spread, so it stands beside `measured`.
    """

    votes: int
    measured: float
    lo: float
    hi: float
    independent: float


def scaling(
    votes: Ints, sizes: Sequence[int] = SIZES, category: Sequence[str] | None = None
) -> tuple[ScalingPoint, ...]:
    """Measure what more votes an item would bring.

    Items with unreadable votes count those as wrong. With fewer votes than K nothing is measured.

    Args:
        votes: 1 right, 0 wrong, -1 unreadable; shape (n, V), all of them there.
        sizes: odd numbers K.
        category: each item's category; then the unweighted mean over categories is measured.

    Returns:
        One point for each K up to V.

    Raises:
        ValueError: a K is even.

    Reference:
        VL-RewardBench 4.2 (test-time scaling; its figure shows the macro average); METHODS A13,
        A14.
    """
    n, there = votes.shape
    label = np.asarray([""] * n if category is None else category, dtype=object)
    groups = [label == name for name in sorted({str(name) for name in label})]
    right = (votes == RIGHT).sum(axis=1)
    points = []
    for size in sizes:
        _check_odd(size)
        if size > there or not n:
            continue
        each = np.asarray(hypergeom.sf(size // 2, there, right, size), dtype=np.float64)
        closed = majority_probability(right / there, size)
        value = float(np.mean([each[mask].mean() for mask in groups]))
        half = Z95 * math.hypot(*(_standard_error(each[mask]) for mask in groups)) / len(groups)
        if half == 0:
            half = wilson(0, n)[1]
        points.append(
            ScalingPoint(
                votes=size,
                measured=value,
                lo=max(value - half, 0.0),
                hi=min(value + half, 1.0),
                independent=float(np.mean([closed[mask].mean() for mask in groups])),
            )
        )
    return tuple(points)


def closed_form(votes: Ints, size: int) -> float:
    """Foretell the accuracy of a majority of K votes, whether or not so many were asked.

    Each pair has a chance p of a right vote, and votes are independent given p. Over pairs p
    follows a Beta distribution with the mean and the second moment that the votes give without
    bias, `E[p] = mean r/V`, `E[p^2] = mean r(r - 1)/(V(V - 1))`; K votes are then beta-binomial.
    (Taking each pair's share r/V for its p, as `ScalingPoint.independent` does, counts the noise of
    few votes as a difference between pairs.)

    Args:
        votes: 1 right, 0 wrong, -1 unreadable, all of them there; shape (n, V), V at least 2.
        size: K, odd.

    Returns:
        The expected accuracy; NaN without pairs, or with fewer than two votes a pair.

    Reference:
        METHODS A13 (closed form; Beta mixtures .625 -> .664, .375 -> .335 at K = 5).
    """
    _check_odd(size)
    n, there = votes.shape
    if not n or there < 2:
        return math.nan
    right = (votes == RIGHT).sum(axis=1)
    mean = float(right.mean()) / there
    spread = float((right * (right - 1)).mean()) / (there * (there - 1)) - mean**2
    most = mean * (1 - mean)
    if spread <= 1e-12:
        return float(majority_probability(mean, size))
    if spread >= most - 1e-12:
        return float(mean)
    weight = most / spread - 1
    return float(betabinom.sf(size // 2, size, mean * weight, (1 - mean) * weight))


def _standard_error(values: Floats) -> float:
    """Return the standard error of a mean; NaN of a single value."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def _check_odd(votes: int) -> None:
    if votes < 1 or votes % 2 == 0:
        raise ValueError(f"{votes} votes: an odd number is needed, so that no vote ties")


@dataclass(frozen=True, kw_only=True)
class ErrorType:
    """How often a judge errs on items of one error type.

    Attributes:
        rate: share of *wrong* verdicts (`right` counts them) among its items.
        p: two-sided p-value against the judge's error rate on all tagged items.
        adjusted: the same after Benjamini-Hochberg over types.
    """

    name: str
    rate: Rate
    p: float
    adjusted: float


def error_types(codes: Ints, tags: Sequence[Sequence[str]]) -> tuple[ErrorType, ...]:
    """Compare error rates over error types; an item may carry several.

    Args:
        codes: 1 right, 0 wrong, -1 unreadable (an error, too); shape (n,).
        tags: each item's types, length n.

    Returns:
        One a type, the highest error rate first.

    Reference:
        VL-RewardBench 4.1; METHODS A15.
    """
    names = sorted({name for each in tags for name in each})
    tagged = np.array([bool(each) for each in tags], dtype=bool)
    if not names:
        return ()
    base = float((codes[tagged] != RIGHT).mean())
    rates, p_values = [], []
    for name in names:
        mine = np.array([name in each for each in tags], dtype=bool)
        wrong = (codes[mine] != RIGHT).astype(np.int64)
        rates.append(rate(wrong))
        p_values.append(binomtest(int(wrong.sum()), len(wrong), base).pvalue if base else math.nan)
    adjusted = adjust(np.asarray(p_values, dtype=np.float64), np.zeros(len(names), dtype=np.int64))
    found = [
        ErrorType(name=name, rate=one, p=float(p), adjusted=float(q))
        for name, one, p, q in zip(names, rates, p_values, adjusted, strict=True)
    ]
    return tuple(sorted(found, key=lambda item: (-item.rate.strict, item.name)))


def pointwise_codes(better: Floats, worse: Floats) -> Ints:
    """Turn scores given to each answer alone into verdicts.

    Args:
        better: score of each pair's better answer; NaN = unreadable.
        worse: score of the other.

    Returns:
        1 where the better one scores higher, 0 where it doesn't (equal scores decide nothing),
        -1 where either can't be read.

    Reference:
        VL-RewardBench 4 (pointwise against pairwise).
    """
    known = np.isfinite(better) & np.isfinite(worse)
    return np.where(known, (better > worse).astype(np.int64), INVALID)


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """A correlation over judges.

    Attributes:
        n: judges.
        pearson: NaN under three judges or where a value is constant.
        spearman: the same.
        lo: lower end of Pearson's 95 % interval (Fisher z); NaN under four judges.
    """

    n: int
    pearson: float
    spearman: float
    lo: float
    hi: float


def best_of_n_correlation(judge_accuracy: Floats, best_of_n: Floats) -> Correlation:
    """Correlate judges' accuracies with what picking the best of N by them brings.

    Args:
        best_of_n: accuracy of the answers that each judge picks.

    Returns:
        The correlation; with few judges its interval is wide, which is the point of showing it.

    Reference:
        VL-RewardBench 5 (Best-of-N).
    """
    good = np.isfinite(judge_accuracy) & np.isfinite(best_of_n)
    x, y = judge_accuracy[good], best_of_n[good]
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        nan = math.nan
        return Correlation(n=n, pearson=nan, spearman=nan, lo=nan, hi=nan)
    r = float(pearsonr(x, y).statistic)
    lo = hi = math.nan
    if n > 3:
        z, half = np.arctanh(min(max(r, -0.999999), 0.999999)), Z95 / math.sqrt(n - 3)
        lo, hi = float(np.tanh(z - half)), float(np.tanh(z + half))
    return Correlation(n=n, pearson=r, spearman=float(spearmanr(x, y).statistic), lo=lo, hi=hi)
