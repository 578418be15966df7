"""How well methods rank answers as people do; how good criteria and tags are by people's labels.

Everything rests on pairs of answers to one sample. People's order of a pair is a win, a tie or a
loss; a method's is the sign of the difference of two whole numbers, so that ties are exact.

Reference: ATOM 4.1, Tables 1, 2 and 5, Figure 7; METHODS A6 (pairwise accuracy), A7 (hit rate), A8
(criteria quality), B9 (paired comparison).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.compare.paired import PairedGap, paired_gap
from atom.analysis.intervals import Floats, Ints, wilson
from atom.records import Annotation, RankedAnswer

TIE = 0
"""People's or a method's order of two answers that are alike; 1 = the first wins, -1 = it loses."""
FOLDS = 2


@dataclass(frozen=True, kw_only=True)
class PairOrder:
    """What one person says of two answers to a sample.

    Attributes:
        sample: the sample's id.
        first: an answer's id.
        second: the other's.
        order: 1 = the first is better, 0 = a tie, -1 = the second is.
        annotator: who says so.
        adjudicates: given by a third person where two disagreed: then nobody else's counts.
    """

    sample: str
    first: str
    second: str
    order: int
    annotator: str
    adjudicates: bool = False


def ranks_of(label: Annotation) -> tuple[RankedAnswer, ...]:
    """Return what a ranking or a preference says as ranks; nothing for other labels."""
    if label.kind != "preference" or label.ranks:
        return label.ranks
    first, _, second = label.subject_id.partition("/")
    places = {"a": (1, 2), "b": (2, 1), "tie": (1, 1)}.get(label.label)
    if places is None or not first or not second:
        return ()
    return tuple(
        RankedAnswer(response_id=name, rank=rank)
        for name, rank in zip((first, second), places, strict=True)
    )


def orders_of(
    annotations: Iterable[Annotation], sample_of: Mapping[str, str]
) -> tuple[list[PairOrder], int]:
    """Read people's rankings and preferences as orders of pairs.

    Args:
        annotations: labels of any kind; others than rankings and preferences, and skipped ones,
            are passed over.
        sample_of: answer's id → sample's id, for the answers that are compared.

    Returns:
        The orders, the labels taken by time; and how many ranked answers are none of those
        compared.
    """
    orders: list[PairOrder] = []
    foreign = 0
    for label in sorted(annotations, key=lambda each: (each.created, each.id)):
        if label.kind not in ("ranking", "preference") or label.state != "given":
            continue
        ranks = ranks_of(label)
        known = [ranked for ranked in ranks if ranked.response_id in sample_of]
        foreign += len(ranks) - len(known)
        for one, other in combinations(known, 2):
            sample = sample_of[one.response_id]
            if sample != sample_of[other.response_id]:
                continue
            orders.append(
                PairOrder(
                    sample=sample,
                    first=one.response_id,
                    second=other.response_id,
                    order=(other.rank > one.rank) - (other.rank < one.rank),
                    annotator=label.annotator,
                    adjudicates=label.adjudicates,
                )
            )
    return orders, foreign


@dataclass(frozen=True, kw_only=True)
class PeoplePairs:
    """What people together say, one entry a pair, arrays of shape (P,).

    Attributes:
        sample: samples' ids.
        first: the smaller answer id of each pair.
        second: the other.
        order: 1, 0 or -1.
        votes: people behind it.
        agreed: share of two people's orders of one pair that are equal; NaN where nobody's pairs
            meet.
        met: pairs of orders behind `agreed`.
        meetings: the same, by pair of answers.
        equal: those of them that say the same, by pair of answers.
    """

    sample: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    order: Ints
    votes: Ints
    agreed: float
    met: int
    meetings: Ints
    equal: Ints


def people_agreement(pairs: PeoplePairs, cluster: Ints) -> FidelityShare:
    """Return how often two people give a pair the same order, with its cluster interval.

    Orders of one sample's pairs, by the same people, are no independent pieces of evidence: many
    meetings on one sample are still one sample.

    Args:
        cluster: what shares a picture with each pair, non-negative, shape (P,).

    Reference:
        METHODS B9 (clusters).
    """
    hit = np.concatenate(
        [np.arange(n) < same for n, same in zip(pairs.meetings, pairs.equal, strict=True)]
        or [np.zeros(0, dtype=np.bool_)]
    )
    return share_of(hit, np.repeat(cluster, pairs.meetings))


def people_pairs(orders: Iterable[PairOrder]) -> PeoplePairs:
    """Put several people's orders together: the majority of each pair's orders.

    A pair on which no order has most votes is a tie. Where somebody adjudicated, only that counts.
    One person's later word on a pair replaces the earlier one.

    Args:
        orders: in the order in which they were given.
    """
    votes: dict[tuple[str, str, str], dict[tuple[str, bool], int]] = {}
    for each in orders:
        if each.first == each.second:
            continue
        turned = each.second < each.first
        first, second = (each.second, each.first) if turned else (each.first, each.second)
        key = (each.sample, first, second)
        given = votes.setdefault(key, {})
        given[(each.annotator, each.adjudicates)] = -each.order if turned else each.order
    keys = sorted(votes)
    order, count, same, met = [], [], [], []
    for key in keys:
        plain = [said for (_, settles), said in votes[key].items() if not settles]
        settled = [said for (_, settles), said in votes[key].items() if settles]
        said = settled or plain
        order.append(_majority(said))
        count.append(len(said))
        met.append(len(plain) * (len(plain) - 1) // 2)
        same.append(sum(n * (n - 1) // 2 for n in Counter(plain).values()))
    return PeoplePairs(
        sample=tuple(key[0] for key in keys),
        first=tuple(key[1] for key in keys),
        second=tuple(key[2] for key in keys),
        order=np.array(order, dtype=np.int64),
        votes=np.array(count, dtype=np.int64),
        agreed=sum(same) / sum(met) if any(met) else math.nan,
        met=sum(met),
        meetings=np.array(met, dtype=np.int64),
        equal=np.array(same, dtype=np.int64),
    )


def _majority(said: Sequence[int]) -> int:
    ranked = Counter(said).most_common()
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else TIE


@dataclass(frozen=True, kw_only=True)
class FidelityShare:
    """A share with its 95 % interval; NaN where nothing is behind it."""

    value: float
    lo: float
    hi: float
    n: int
    clusters: int


@dataclass(frozen=True, kw_only=True)
class MethodAccuracy:
    """How often a method orders two answers as people do.

    Attributes:
        strict: share over all pairs; one without the method's numbers counts as wrong.
        valid: share over pairs with both numbers.
        invalid: pairs without.
        epsilon: gaps up to this are ties; 0 = exact; the folds' mean where cross-fitted.
        human_ties: share of pairs that people tie: what always calling a tie would reach.
        judge_ties: share of pairs with numbers that the method ties.
        counts: people's order (rows: loss, tie, win of the first) by the method's, shape (3, 3).
        tau: mean Kendall tau-b of the samples; NaN where undefined everywhere.
    """

    strict: FidelityShare
    valid: FidelityShare
    invalid: int
    epsilon: float
    human_ties: float
    judge_ties: float
    counts: Ints
    tau: float


def share_of(hit: NDArray[np.bool_], cluster: Ints) -> FidelityShare:
    """Return a share with its cluster-robust interval (t, clusters - 1 degrees of freedom).

    Without spread between clusters it is Wilson's over clusters: no interval has no width.
    """
    found = paired_gap(hit.astype(np.float64), cluster)
    lo, hi = max(found.lo, 0.0), min(found.hi, 1.0)
    if found.n == 0:
        lo = hi = math.nan
    elif found.clusters < 2 or found.se < 1e-12:
        lo, hi = wilson(found.gap * found.clusters, found.clusters)
    return FidelityShare(value=found.gap, lo=lo, hi=hi, n=found.n, clusters=found.clusters)


def signs(gap: Floats, cluster: Ints, wanted: Ints, rng: Generator | None = None) -> SignsRead:
    """Read a method's orders off its gaps.

    Args:
        gap: the method's number of the first answer less the second's; NaN = one is missing.
        cluster: of each pair, shape (P,).
        wanted: people's order, used for the tolerance alone, shape (P,).
        rng: with one, a tolerance is fitted on one half of the clusters and used on the other, both
            ways round; without, ties are exact.
    """
    epsilon = np.zeros(len(gap))
    if rng is not None and len(gap):
        _, code = np.unique(cluster, return_inverse=True)
        part = (rng.permutation(int(code.max()) + 1) % FOLDS)[code]
        for at in range(FOLDS):
            here = part == at
            if here.any() and (~here).any():
                epsilon[here] = best_epsilon(gap[~here], wanted[~here])
    known = np.isfinite(gap)
    close = np.abs(np.where(known, gap, np.inf)) <= epsilon
    got = np.where(close, TIE, np.sign(np.nan_to_num(gap))).astype(np.int64)
    return SignsRead(got=got, known=known, epsilon=float(epsilon.mean()) if len(gap) else 0.0)


def best_epsilon(gap: Floats, wanted: Ints) -> float:
    """Find the tolerance that orders most of these pairs as people do; the smallest one if several.

    Reference:
        Deutsch et al. 2023, "Ties Matter".
    """
    known = np.isfinite(gap)
    size, order = np.abs(gap[known]), np.argsort(np.abs(gap[known]), kind="stable")
    tie = (wanted[known] == 0)[order]
    signed = (np.sign(gap[known]) == wanted[known])[order]
    if not len(size):
        return 0.0
    # With the k smallest gaps called ties: ties among them plus signs right among the rest.
    gain = (
        np.concatenate([[0], np.cumsum(tie)])
        + signed.sum()
        - np.concatenate([[0], np.cumsum(signed)])
    )
    ends = np.concatenate([[0.0], size[order]])
    # A tolerance calls all gaps of its size ties: only the last of equal gaps can be a cut.
    last = np.append(ends[1:] > ends[:-1], True)
    best = int(np.flatnonzero(last)[np.argmax(gain[last])])
    return float(ends[best])


@dataclass(frozen=True, kw_only=True)
class SignsRead:
    """A method's orders: -1, 0, 1 (meaningless where not known), and the tolerance used."""

    got: Ints
    known: NDArray[np.bool_]
    epsilon: float


def method_accuracy(
    gap: Floats, wanted: Ints, sample: Ints, cluster: Ints, *, rng: Generator | None = None
) -> MethodAccuracy:
    """Hold a method's orders against people's.

    Args:
        gap: the method's number of the first answer less the second's; NaN = one is missing;
            shape (P,).
        wanted: people's order, -1, 0 or 1, shape (P,).
        sample: sample of each pair, non-negative, shape (P,).
        cluster: what shares a picture with it, non-negative, shape (P,).
        rng: see `signs`; none = exact ties.

    Reference:
        METHODS A6. Toy: numbers (3, 3, 4.2), people 3 > 1 = 2: all three pairs right; people
        1 > 2 = 3: none.
    """
    read = signs(gap, cluster, wanted, rng)
    known, right = read.known, read.known & (read.got == wanted)
    pair = (wanted[known] + 1) * 3 + read.got[known] + 1
    return MethodAccuracy(
        strict=share_of(right, cluster),
        valid=share_of(right[known], cluster[known]),
        invalid=int((~known).sum()),
        epsilon=read.epsilon,
        human_ties=float((wanted == 0).mean()) if len(wanted) else math.nan,
        judge_ties=float((read.got[known] == 0).mean()) if known.any() else math.nan,
        counts=np.bincount(pair, minlength=9).reshape(3, 3).astype(np.int64),
        tau=mean_tau(read.got[known], wanted[known], sample[known]),
    )


def mean_tau(got: Ints, wanted: Ints, sample: Ints) -> float:
    """Average Kendall's tau-b over samples, from the pairs that are there.

    `tau_b = sum got wanted / sqrt(sum |got| sum |wanted|)` over a sample's pairs.

    Returns:
        The mean over the samples in which both order anything; NaN without any.
    """
    if not len(got):
        return math.nan
    _, code = np.unique(sample, return_inverse=True)
    together = np.bincount(code, weights=got * wanted)
    mine = np.bincount(code, weights=np.abs(got))
    theirs = np.bincount(code, weights=np.abs(wanted))
    both = mine * theirs > 0
    if not both.any():
        return math.nan
    return float((together[both] / np.sqrt(mine[both] * theirs[both])).mean())


def compare_methods(first: Floats, second: Floats, wanted: Ints, cluster: Ints) -> PairedGap:
    """Compare two methods on the pairs that both have numbers for: accuracy of first less second.

    Args:
        first: gaps of the one method, shape (P,).
        second: gaps of the other, shape (P,).
        wanted: people's order, shape (P,).
        cluster: of each pair, shape (P,).

    Reference:
        METHODS B9 (paired cluster t).
    """
    both = np.isfinite(first) & np.isfinite(second)
    one = np.sign(first[both]).astype(np.int64) == wanted[both]
    other = np.sign(second[both]).astype(np.int64) == wanted[both]
    return paired_gap(one.astype(np.float64) - other.astype(np.float64), cluster[both])
