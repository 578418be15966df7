"""Multi-Crit: does a judge follow several criteria that disagree with each other?

Each item is a pair of answers with a human preference by criterion. A judge's verdict by criterion
is compared with it; unreadable verdicts count as wrong.

Reference: Multi-Crit 3.5; METHODS A12, A13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr

from atom.analysis.intervals import Z95, Floats, Ints, make_cells, node_stats, wilson
from atom.judgebench.rates import INVALID, RIGHT, Macro, Rate, rate

FIRST, SECOND, UNREAD = 0, 1, -1
"""A verdict: the first answer, the second one, or none that can be read."""
CMR_CHANCE = 0.25
"""Two coins both right."""
_MOST_SUBSETS = 200
"""Choices of k among K votes that are averaged over, at most."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class ChanceShare:
    """A share with its chance level.

    Attributes:
        hits: items (or pairs) that count.
        n: all of them.
        value: hits / n; NaN where n = 0.
        lo: lower end of the 95 % interval: Wilson's, over pairs of answers as clusters where one
            pair counts several times (CMR).
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
        return self.above(self.value)

    def above(self, value: float) -> float:
        """Bring a value (or an end of the interval) to the scale of `adjusted`."""
        return (value - self.chance) / (1 - self.chance)


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
    matched: ChanceShare


@dataclass(frozen=True, kw_only=True)
class MultiCrit:
    """What a judge reaches.

    Attributes:
        by_criterion: (name, rate) of each criterion, by name.
        macro: plain mean of the criteria's strict rates (the papers' Avg), items as clusters.
        macro_readable: the same over readable verdicts.
        micro: all verdicts together, items as clusters.
        pacc: items on which every verdict is right.
        tos: items with a conflict on which the judge tells the criteria apart at all.
        cmr: conflicts on which both verdicts are right.
        readable: pacc, tos and cmr over what could be read: items whose verdicts are all readable,
            and conflicts both of whose are.
        conflicts: cmr by pair of criteria, the most frequent pair first.
        invalid: unreadable verdicts.
        verdicts: verdicts asked for.
    """

    by_criterion: tuple[tuple[str, Rate], ...]
    macro: Macro
    macro_readable: Macro
    micro: Rate
    pacc: ChanceShare
    tos: ChanceShare
    cmr: ChanceShare
    readable: tuple[ChanceShare, ChanceShare, ChanceShare]
    conflicts: tuple[ConflictPair, ...]
    invalid: int
    verdicts: int

    @property
    def average(self) -> float:
        """The papers' Avg: the plain mean of the criteria's strict rates."""
        return self.macro.value


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
    frame = make_frame(item, label)
    right = (verdict == label) & (verdict != UNREAD)
    read = verdict != UNREAD
    codes = np.where(read, right.astype(np.int64), INVALID)
    by_criterion = tuple(
        (str(name), rate(codes[names == name], 0.5)) for name in sorted(set(names.tolist()))
    )
    whole = frame.all_of(read)
    both_read = read[frame.first] & read[frame.second]
    every, told, matched = frame.all_of(right), frame.told(verdict), frame.matched(right)
    at = frame.conflicting
    readable = (
        frame.pacc(every, whole),
        frame.tos(told, whole & at),
        frame.cmr(matched, both_read),
    )
    return MultiCrit(
        by_criterion=by_criterion,
        macro=_macro(codes, names, frame.item, np.ones(len(item), dtype=bool)),
        macro_readable=_macro(codes, names, frame.item, read),
        micro=_clustered_rate(codes, frame.item),
        pacc=frame.pacc(every, np.ones(frame.n, dtype=bool)),
        tos=frame.tos(told, at),
        cmr=frame.cmr(matched, np.ones(len(matched), dtype=bool)),
        readable=readable,
        conflicts=_by_pair(names, frame, matched),
        invalid=int((~read).sum()),
        verdicts=len(verdict),
    )


@dataclass(frozen=True, kw_only=True)
class VerdictFrame:
    """Which verdicts belong together.

    Attributes:
        item: item of each verdict, 0 .. n - 1.
        n: items.
        size: verdicts of each item.
        first: of each pair of verdicts that people's labels make a conflict, the one.
        second: the other.
        conflicting: whether an item has such a pair.
    """

    item: Ints
    n: int
    size: Floats
    first: Ints
    second: Ints
    conflicting: Bools

    def all_of(self, holds: Bools) -> Bools:
        """Whether something holds of every verdict of an item, shape (n,)."""
        failing = np.bincount(self.item[~holds], minlength=self.n)
        return np.equal(failing, 0)

    def told(self, verdict: Ints) -> Bools:
        """Whether an item has readable verdicts for either answer, shape (n,)."""
        firsts = np.bincount(self.item[verdict == FIRST], minlength=self.n)
        seconds = np.bincount(self.item[verdict == SECOND], minlength=self.n)
        return np.greater(np.minimum(firsts, seconds), 0)

    def matched(self, right: Bools) -> Bools:
        """Whether both verdicts of a conflict are right, one a conflict."""
        return right[self.first] & right[self.second]

    def pacc(self, every: Bools, among: Bools) -> ChanceShare:
        """Share of items on which all is right, among some."""
        chance = _mean(np.exp2(-self.size[among]))
        return _share(int(every[among].sum()), int(among.sum()), chance)

    def tos(self, told: Bools, among: Bools) -> ChanceShare:
        """Share of items on which criteria are told apart, among some with a conflict."""
        chance = _mean(1 - np.exp2(1 - self.size[among]))
        return _share(int(told[among].sum()), int(among.sum()), chance)

    def cmr(self, matched: Bools, among: Bools) -> ChanceShare:
        """Share of conflicts that are matched, among some; items are clusters."""
        hits = matched[among]
        share = _share(int(hits.sum()), len(hits), CMR_CHANCE)
        lo, hi = _cluster_interval(hits, self.item[self.first[among]])
        return replace(share, lo=lo, hi=hi)


def make_frame(item: Ints, label: Ints) -> VerdictFrame:
    """Sort out which verdicts belong together.

    Args:
        item: item of each verdict, shape (n,).
        label: people's preference, 0 or 1, shape (n,).
    """
    known, dense = np.unique(item, return_inverse=True)
    code = np.asarray(dense, dtype=np.int64)
    order = np.argsort(code, kind="stable")
    size = np.bincount(code, minlength=len(known))
    pairs: list[tuple[int, int]] = []
    for rows in np.split(order, np.cumsum(size)[:-1]) if len(known) else []:
        pairs += [(a, b) for a, b in combinations(rows.tolist(), 2) if label[a] != label[b]]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return VerdictFrame(
        item=code,
        n=len(known),
        size=size.astype(np.float64),
        first=both[:, 0],
        second=both[:, 1],
        conflicting=np.bincount(code[both[:, 0]], minlength=len(known)) > 0,
    )


def _macro(
    codes: Ints,
    names: NDArray[np.object_],
    item: Ints,
    among: Bools,
) -> Macro:
    """Average the criteria's shares; a criterion without a verdict leaves nothing to average."""
    if not len(codes):
        return Macro(value=math.nan, se=math.nan, lo=math.nan, hi=math.nan)
    kinds, place = np.unique(names.astype(str), return_inverse=True)
    count = np.bincount(place[among], minlength=len(kinds))
    if not count.all():
        return Macro(value=math.nan, se=math.nan, lo=math.nan, hi=math.nan)
    criterion = np.asarray(place[among], dtype=np.int64)
    return _share_of_criteria(codes[among] == RIGHT, criterion, item[among])


def criteria_mean(value: Floats, criterion: Ints, item: Ints) -> Macro:
    """Average values over criteria, each counting the same, with items as clusters.

    `m = mean_c mean_{i in c} x`; `V = G/(G-1) sum_g (sum_{i in g} (x_i - m_c) / (C n_c))^2`, g over
    items: verdicts on one pair of answers go together, also across criteria.

    Args:
        value: shape (n,), n > 0.
        criterion: 0 .. C - 1, none empty, shape (n,).
        item: shape (n,), non-negative.

    Returns:
        The mean with its 95 % interval; NaN ends under two items and where nothing varies.

    Reference:
        Multi-Crit Table 3 (Avg); METHODS B1.
    """
    count = np.bincount(criterion)
    means = np.bincount(criterion, weights=value) / count
    weight = 1 / (len(count) * count[criterion])
    mean = float(means.mean())
    left = np.bincount(item, weights=weight * (value - means[criterion]))
    groups = len(np.unique(item))
    if groups < 2:
        return Macro(value=mean, se=math.nan, lo=math.nan, hi=math.nan)
    se = math.sqrt(float((left**2).sum()) * groups / (groups - 1))
    if se < 1e-12:
        return Macro(value=mean, se=se, lo=math.nan, hi=math.nan)
    return Macro(value=mean, se=se, lo=mean - Z95 * se, hi=mean + Z95 * se)


def _share_of_criteria(hits: Bools, criterion: Ints, item: Ints) -> Macro:
    """Average shares over criteria; the interval stays within 0..1."""
    found = criteria_mean(hits.astype(np.float64), criterion, item)
    if found.se < 1e-12:
        lo, hi = _cluster_interval(hits, item)
        return replace(found, lo=lo, hi=hi)
    return replace(found, lo=max(found.lo, 0.0), hi=min(found.hi, 1.0))


def _clustered_rate(codes: Ints, item: Ints) -> Rate:
    found, read = rate(codes, 0.5), codes != INVALID
    lo, hi = _cluster_interval(codes == RIGHT, item)
    valid_lo, valid_hi = _cluster_interval(codes[read] == RIGHT, item[read])
    return replace(found, lo=lo, hi=hi, valid_lo=valid_lo, valid_hi=valid_hi)


def _cluster_interval(hits: Bools, cluster: Ints) -> tuple[float, float]:
    """Return the moderated Wilson interval of a share over clusters; NaN where there is none."""
    if not len(hits):
        return math.nan, math.nan
    nodes = np.zeros(len(hits), dtype=np.int64)
    stats = node_stats(make_cells(hits.astype(np.float64), nodes, cluster, 1), 1)
    return float(stats.lo[0]), float(stats.hi[0])


def _by_pair(
    names: NDArray[np.object_], frame: VerdictFrame, matched: Bools
) -> tuple[ConflictPair, ...]:
    counts: dict[tuple[str, str], list[bool]] = {}
    for a, b, both in zip(frame.first, frame.second, matched, strict=True):
        first, second = sorted((str(names[a]), str(names[b])))
        counts.setdefault((first, second), []).append(bool(both))
    order = sorted(counts.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return tuple(
        ConflictPair(first=a, second=b, matched=_share(sum(hits), len(hits), CMR_CHANCE))
        for (a, b), hits in order
    )


def _share(hits: int, n: int, chance: float) -> ChanceShare:
    lo, hi = wilson(hits, n) if n else (math.nan, math.nan)
    value = hits / n if n else math.nan
    return ChanceShare(hits=hits, n=n, value=value, lo=lo, hi=hi, chance=chance)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


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


@dataclass(frozen=True, kw_only=True)
class MajorityScore:
    """What the majority of k votes reaches, over the ways to choose k of the K that there are.

    Attributes:
        votes: k.
        pacc: mean share of items on which every verdict is right.
        tos: mean share of items with a conflict on which criteria are told apart.
        cmr: mean share of conflicts that are matched.
        average: mean of the criteria's shares.
    """

    votes: int
    pacc: float
    tos: float
    cmr: float
    average: float


def scale_votes(
    item: Ints, criterion: Sequence[str], label: Ints, votes: Ints
) -> tuple[MajorityScore, ...]:
    """Say what fewer votes would have reached.

    All criteria of an item take the same k votes, since these were shown in the same order: mixing
    orders would let a judge that goes by the place seem to tell criteria apart.

    Args:
        item: item of each row, shape (n,).
        criterion: name of its criterion, length n.
        label: 0 or 1, shape (n,).
        votes: 0, 1 or -1; shape (n, K).

    Returns:
        One entry for each odd k up to K, and K itself. Where there are more than 200 ways to
        choose, runs of neighbours (the last followed by the first) stand for them.

    Reference:
        Multi-Crit 4.2 (test-time scaling); METHODS A13.
    """
    most = votes.shape[1]
    frame = make_frame(item, label)
    _, place = np.unique(np.asarray(criterion, dtype=str), return_inverse=True)
    count = np.bincount(place)
    found = []
    for k in sorted({*range(1, most + 1, 2), most} - {0}):
        sums = np.zeros(4)
        chosen = _choices(most, k)
        for columns in chosen:
            verdict = vote_verdicts(votes[:, list(columns)])
            right = (verdict == label) & (verdict != UNREAD)
            sums += (
                _mean(frame.all_of(right).astype(np.float64)),
                _mean(frame.told(verdict)[frame.conflicting].astype(np.float64)),
                _mean(frame.matched(right).astype(np.float64)),
                _mean(np.bincount(place, weights=right) / count),
            )
        pacc, tos, cmr, average = (sums / len(chosen)).tolist()
        found.append(MajorityScore(votes=k, pacc=pacc, tos=tos, cmr=cmr, average=average))
    return tuple(found)


def _choices(most: int, k: int) -> list[tuple[int, ...]]:
    if math.comb(most, k) <= _MOST_SUBSETS:
        return list(combinations(range(most), k))
    return [tuple((start + step) % most for step in range(k)) for start in range(most)]


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
