"""Multi-Crit: does a judge follow several criteria that disagree with each other?

Each item is a pair of answers with a human preference by criterion. A judge's verdict by criterion
is compared with it; unreadable verdicts count as wrong.

Reference: Multi-Crit 3.5; METHODS A12, A13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import pearsonr

from atom.analysis import wilson
from atom.analysis.intervals import Ints
from atom.judgebench.rates import INVALID, Rate, rate

FIRST, SECOND, UNREAD = 0, 1, -1
"""A verdict: the first answer, the second one, or none that can be read."""
CMR_CHANCE = 0.25
"""Two coins both right."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share with its chance level.

    Attributes:
        hits: items (or pairs) that count.
        n: all of them.
        value: hits / n; NaN where n = 0.
        lo: lower end of the 95 % Wilson interval.
        hi: upper end.
        chance: level of a coin-flipping judge on these items.
    """

    hits: int
    n: int
    value: float
    lo: float
    hi: float
    chance: float

    @property
    def adjusted(self) -> float:
        """Return `(value - chance) / (1 - chance)`: 0 at chance, 1 for a perfect judge."""
        return (self.value - self.chance) / (1 - self.chance)


@dataclass(frozen=True, kw_only=True)
class ConflictPair:
    """Two criteria on which people prefer different answers of the same pair.

    Attributes:
        first: name of the criterion that comes first in the alphabet.
        second: name of the other.
        matched: the share of such conflicts in which both verdicts are right.
    """

    first: str
    second: str
    matched: Share


@dataclass(frozen=True, kw_only=True)
class MultiCrit:
    """What a judge reaches.

    Attributes:
        by_criterion: (name, rate) of each criterion, by name.
        average: plain mean of the criteria's strict rates (the papers' Avg).
        pacc: items on which every verdict is right.
        tos: items with a conflict on which the judge tells the criteria apart at all.
        cmr: conflicts on which both verdicts are right.
        conflicts: cmr by pair of criteria, the most frequent pair first.
        invalid: unreadable verdicts.
        verdicts: verdicts asked for.
    """

    by_criterion: tuple[tuple[str, Rate], ...]
    average: float
    pacc: Share
    tos: Share
    cmr: Share
    conflicts: tuple[ConflictPair, ...]
    invalid: int
    verdicts: int


def multi_crit(item: Ints, criterion: Sequence[str], label: Ints, verdict: Ints) -> MultiCrit:
    """Score a judge's verdicts by criterion.

    Args:
        item: item of each verdict, non-negative, shape (n,).
        criterion: name of its criterion, length n; once an item.
        label: people's preference: 0 first, 1 second; shape (n,).
        verdict: the judge's: 0, 1, or -1 unreadable; shape (n,).

    Returns:
        The metrics, each with its chance level.

    Raises:
        ValueError: lengths differ, or an item has a criterion twice.

    Reference:
        Multi-Crit 3.5 (PAcc, TOS, CMR over unordered pairs); METHODS A12. Toy: (aab, abb), (ab,
        ab), (bb, bb) gives PAcc 2/3, TOS 1, CMR 2/3.
    """
    if not len(item) == len(criterion) == len(label) == len(verdict):
        raise ValueError("item, criterion, label and verdict must have one length")
    names = np.asarray(criterion, dtype=object)
    if len({(int(i), str(c)) for i, c in zip(item, criterion, strict=True)}) < len(item):
        raise ValueError("an item names a criterion twice: give each verdict once")
    right = (verdict == label) & (verdict != UNREAD)
    codes = np.where(verdict == UNREAD, INVALID, right.astype(np.int64))
    by_criterion = tuple(
        (str(name), rate(codes[names == name], 0.5)) for name in sorted(set(names.tolist()))
    )
    groups = [np.flatnonzero(item == code) for code in np.unique(item)]
    conflicting = [rows for rows in groups if len(set(label[rows].tolist())) > 1]
    pairs = [pair for rows in conflicting for pair in _pairs(rows, label)]
    told = sum(len(set(verdict[rows].tolist()) - {UNREAD}) > 1 for rows in conflicting)
    matched = [bool(right[a] and right[b]) for a, b in pairs]
    return MultiCrit(
        by_criterion=by_criterion,
        average=float(np.mean([one.strict for _, one in by_criterion]))
        if by_criterion
        else math.nan,
        pacc=_share(
            sum(bool(right[rows].all()) for rows in groups),
            len(groups),
            _mean([2.0 ** -len(rows) for rows in groups]),
        ),
        tos=_share(told, len(conflicting), _mean([1 - 2.0 ** (1 - len(r)) for r in conflicting])),
        cmr=_share(sum(matched), len(pairs), CMR_CHANCE),
        conflicts=_by_pair(names, pairs, matched),
        invalid=int((verdict == UNREAD).sum()),
        verdicts=len(verdict),
    )


def _pairs(rows: Ints, label: Ints) -> list[tuple[int, int]]:
    """List the unordered pairs of an item's criteria whose labels differ."""
    return [
        (int(a), int(b))
        for at, a in enumerate(rows)
        for b in rows[at + 1 :]
        if label[a] != label[b]
    ]


def _by_pair(
    names: np.ndarray[tuple[int, ...], np.dtype[np.object_]],
    pairs: Sequence[tuple[int, int]],
    matched: Sequence[bool],
) -> tuple[ConflictPair, ...]:
    counts: dict[tuple[str, str], list[bool]] = {}
    for (a, b), both in zip(pairs, matched, strict=True):
        first, second = sorted((str(names[a]), str(names[b])))
        counts.setdefault((first, second), []).append(both)
    order = sorted(counts.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return tuple(
        ConflictPair(first=a, second=b, matched=_share(sum(hits), len(hits), CMR_CHANCE))
        for (a, b), hits in order
    )


def _share(hits: int, n: int, chance: float) -> Share:
    lo, hi = wilson(hits, n) if n else (math.nan, math.nan)
    value = hits / n if n else math.nan
    return Share(hits=hits, n=n, value=value, lo=lo, hi=hi, chance=chance)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def vote_verdicts(votes: Ints) -> Ints:
    """Bring K verdicts a row down to one.

    Args:
        votes: 0, 1 or -1 unreadable; shape (n, K).

    Returns:
        The majority of the readable ones; -1 where none can be read or they tie; shape (n,).

    Reference:
        Multi-Crit 5 (test-time scaling); METHODS A13.
    """
    first, second = (votes == FIRST).sum(axis=1), (votes == SECOND).sum(axis=1)
    return np.where(first == second, UNREAD, (second > first).astype(np.int64))


def agreement_correlation(judge: Sequence[float], people: Sequence[float]) -> float:
    """Correlate a judge's accuracy by criterion with how far people agree on it.

    Args:
        judge: accuracy, one a criterion.
        people: agreement between people on the same criteria, such as a kappa.

    Returns:
        Pearson's r; NaN under three criteria or where either is constant.

    Reference:
        Multi-Crit 5 (best judge against human agreement).
    """
    x, y = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(pearsonr(x, y).statistic)
