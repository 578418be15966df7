"""People's words on which of two answers is better: how far they agree, and judges against them.

Reference: METHODS A6, A7; PandaLM (Wang et al., 2024), the tables that its test set is printed by.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.random import Generator

from atom.analysis.agreement.coefficients import confusion, nominal_kappa
from atom.analysis.agreement.fidelity import FidelityShare, share_of
from atom.analysis.agreement.raters import (
    ClassScores,
    UnreadVote,
    alpha_interval,
    class_scores,
    krippendorff_alpha,
    majority,
)
from atom.analysis.compare.paired import PairedGap, paired_gap
from atom.analysis.compare.votes import CONFLICT, UNDECIDED, VOTE_A, VOTE_B, VOTE_TIE
from atom.analysis.intervals import Ints
from atom.analysis.resampling import resample_interval
from atom.records import Judge
from atom.store import Store
from atom.store.labels import given_pairs
from atom.views.lab.preferences import Preferences, compare
from atom.views.study_data import StudyData

TIE, FIRST, SECOND = 0, 1, 2
"""Classes of a pair: a tie, the first answer, the second."""
CLASSES = (TIE, FIRST, SECOND)
UNREAD_WAYS: tuple[UnreadVote, ...] = ("tie", "wrong", "left out")
"""Ways of counting verdicts that couldn't be read; a judge without any has one way only."""
MOST_PAIRS = 10
"""Pairs of annotators that are listed, those with the most in common first."""
CHANCE = 1 / len(CLASSES)
"""What a label at random reaches: accuracy, and each macro average but F1."""
_CODE = {"tie": TIE, "a": FIRST, "b": SECOND}
_TURNED = {FIRST: SECOND, SECOND: FIRST}
_SAID = {VOTE_A: FIRST, VOTE_B: SECOND, VOTE_TIE: TIE, CONFLICT: TIE, UNDECIDED: -1}
_SEED = 20_061


@dataclass(frozen=True, kw_only=True)
class LabelFigure:
    """A number with its 95 % interval over samples; NaN where there is none."""

    value: float
    lo: float
    hi: float
    n: int


@dataclass(frozen=True, kw_only=True)
class TwoAnnotators:
    """Cohen's kappa of two people over the pairs that both labelled."""

    first: str
    second: str
    kappa: LabelFigure


@dataclass(frozen=True, kw_only=True)
class PairJudgeRow:
    """A judge against most people's label, in one way of counting what couldn't be read."""

    judge: str
    scores: ClassScores
    accuracy: FidelityShare


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The judge ahead less the next one, on pairs that both voted on, unread counted as wrong."""

    ahead: str
    behind: str
    gap: PairedGap


@dataclass(frozen=True, kw_only=True)
class PairLabels:
    """What people say of pairs of answers.

    Attributes:
        annotators: who labelled.
        pairs: pairs labelled.
        first: pairs of which most people say that the first answer is better.
        second: pairs whose second answer is.
        ties: pairs that they call a tie.
        open: pairs on which no label has most; judges are not held against them.
        foreign: labels on answers that aren't the study's.
        kappas: agreement of every two annotators, at most `MOST_PAIRS` of them.
        all_kappas: how many two there are.
        alpha: Krippendorff's alpha of all annotators, labels as names; None with one annotator.
        judges: judges that voted on the same pairs, each in every way of counting.
        lead: the most accurate judge beside the next one; None with fewer than two.
        commonest: what always giving the commonest label reaches.
        commonest_label: that label: `FIRST`, `SECOND` or `TIE`.
        conflicts: judges' votes that changed with the order; they count as ties.
        synthetic: whether labels were drawn from the truth.
    """

    annotators: tuple[str, ...]
    labels: int
    pairs: int
    first: int
    second: int
    ties: int
    open: int
    foreign: int
    kappas: tuple[TwoAnnotators, ...]
    all_kappas: int
    alpha: LabelFigure | None
    judges: tuple[PairJudgeRow, ...]
    lead: Lead | None
    commonest: ClassScores
    commonest_label: int
    conflicts: int
    synthetic: bool


@dataclass(frozen=True, kw_only=True)
class LabelledPairs:
    """People's labels and judges' votes of the same pairs, read.

    Attributes:
        places: (first answer's row, second's) -> the pair's place.
        labels: their classes of shape (annotators, pairs); -1 = none.
        most: what most say or somebody settled, shape (pairs,); -1 = no majority.
        settled: how many labels settle a conflict.
        foreign: labels on answers that aren't the study's.
        synthetic: whether labels were drawn from the truth.
        said: judge's name -> its class of each pair: -1 unread, -2 never asked.
        conflicts: judges' votes that changed with the order.
    """

    places: Mapping[tuple[int, int], int]
    annotators: tuple[str, ...]
    labels: Ints
    most: Ints
    settled: int
    foreign: int
    synthetic: bool
    said: Mapping[str, Ints]
    conflicts: int


def labelled(store: Store, data: StudyData) -> LabelledPairs | None:
    """Read people's labels of pairs and the judges' votes on them; None without labels."""
    rows = given_pairs(store, data.study.id, _CODE)
    answer_at = {name: at for at, name in enumerate(data.table.response_ids)}
    places: dict[tuple[int, int], int] = {}
    given: dict[tuple[str, int], int] = {}
    settled: dict[int, int] = {}
    foreign = 0
    synthetic = False
    for subject, annotator, label, adjudicates, note in rows:
        a, b = (answer_at.get(name) for name in subject.partition("/")[::2])
        if a is None or b is None or a == b:
            foreign += 1
            continue
        code = _CODE[label]
        if (b, a) in places:
            a, b, code = b, a, _TURNED.get(code, code)
        pair = places.setdefault((a, b), len(places))
        synthetic = synthetic or note.startswith("synthetic")
        if adjudicates:
            settled[pair] = code
        else:
            given[annotator, pair] = code
    if not places:
        return None
    annotators = tuple(sorted({name for name, _ in given}))
    labels = np.full((len(annotators), len(places)), -1, dtype=np.int64)
    row_of = {name: at for at, name in enumerate(annotators)}
    for (name, pair), code in given.items():
        labels[row_of[name], pair] = code
    most = majority(labels)
    for pair, code in settled.items():
        most[pair] = code
    said, conflicts = _votes(store, data.votes, places)
    return LabelledPairs(
        places=places, annotators=annotators, labels=labels, most=most, settled=len(settled),
        foreign=foreign, synthetic=synthetic, said=said, conflicts=conflicts,
    )  # fmt: skip


def pair_labels(store: Store, data: StudyData) -> PairLabels | None:
    """Hold judges' votes against people's labels of the same pairs.

    Returns:
        The view-model; None where nobody labelled a pair.
    """
    found = labelled(store, data)
    if found is None:
        return None
    annotators, labels, most = found.annotators, found.labels, found.most
    sample = data.table.sample[np.array([a for a, _ in found.places], dtype=np.int64)]
    cluster = data.table.cluster[sample].astype(np.int64)
    rng = np.random.default_rng(_SEED)
    kappas = _kappas(annotators, labels, cluster, rng)
    decided = most >= 0
    commonest = max(CLASSES, key=lambda name: int((most == name).sum()))
    return PairLabels(
        annotators=annotators,
        labels=int((labels >= 0).sum()) + found.settled,
        pairs=len(found.places),
        first=int((most == FIRST).sum()),
        second=int((most == SECOND).sum()),
        ties=int((most == TIE).sum()),
        open=int((~decided).sum()),
        foreign=found.foreign,
        kappas=kappas[:MOST_PAIRS],
        all_kappas=len(kappas),
        alpha=_alpha(labels, cluster, rng) if len(annotators) > 1 else None,
        judges=tuple(
            row for judge, codes in found.said.items() for row in _rows(judge, codes, most, cluster)
        ),
        lead=_lead(found.said, most, cluster),
        commonest=class_scores(
            most[decided], np.full(int(decided.sum()), commonest, dtype=np.int64), CLASSES
        ),
        commonest_label=commonest,
        conflicts=found.conflicts,
        synthetic=found.synthetic,
    )


def _kappas(
    annotators: Sequence[str], labels: Ints, cluster: Ints, rng: Generator
) -> tuple[TwoAnnotators, ...]:
    found = []
    for one, other in combinations(range(len(annotators)), 2):
        both = np.flatnonzero((labels[one] >= 0) & (labels[other] >= 0))
        if len(both):
            found.append((one, other, both))
    found.sort(key=lambda each: -len(each[2]))
    rows = []
    for place, (one, other, both) in enumerate(found):
        first, second = labels[one, both] + 1, labels[other, both] + 1

        def kappa(at: Ints, first: Ints = first, second: Ints = second) -> float:
            return nominal_kappa(confusion(first[at], second[at], len(CLASSES)))

        nan = math.nan
        shown = place < MOST_PAIRS
        lo, hi = resample_interval(kappa, cluster[both], rng) if shown else (nan, nan)
        value = kappa(np.arange(len(both)))
        figure = LabelFigure(value=value, lo=lo, hi=hi, n=len(both))
        rows.append(TwoAnnotators(first=annotators[one], second=annotators[other], kappa=figure))
    return tuple(rows)


def _alpha(labels: Ints, cluster: Ints, rng: Generator) -> LabelFigure | None:
    ratings = np.where(labels >= 0, labels, np.nan).astype(np.float64)
    twice = np.flatnonzero((labels >= 0).sum(axis=0) > 1)
    if not len(twice):
        return None
    ratings = ratings[:, twice]
    lo, hi = alpha_interval(ratings, cluster[twice], rng, "nominal")
    value = krippendorff_alpha(ratings, "nominal")
    return LabelFigure(value=value, lo=lo, hi=hi, n=len(twice))


def _votes(
    store: Store, votes: Preferences | None, places: Mapping[tuple[int, int], int]
) -> tuple[dict[str, Ints], int]:
    """Return each judge's class of each pair: -1 unread, -2 never asked; and order conflicts.

    Both orders count together; of repeats the first one counts.
    """
    if votes is None:
        return {}, 0
    first = votes.repeat == 0
    votes = replace(
        votes, a=votes.a[first], b=votes.b[first], first=votes.first[first],
        verdict=votes.verdict[first], strength=votes.strength[first], judge=votes.judge[first],
        repeat=votes.repeat[first],
    )  # fmt: skip
    together = compare(votes)
    found: dict[int, Ints] = {}
    conflicts = 0
    for a, b, result, judge in zip(
        together.a.tolist(), together.b.tolist(), together.result.tolist(),
        together.judge.tolist(), strict=True,
    ):  # fmt: skip
        code = _SAID[result]
        pair = places.get((a, b))
        if pair is None:
            pair, code = places.get((b, a)), _TURNED.get(code, code)
        if pair is None:
            continue
        conflicts += result == CONFLICT
        mine = found.setdefault(judge, np.full(len(places), -2, dtype=np.int64))
        mine[pair] = code
    known = {judge.id: judge.name for judge in store.get_many(Judge, votes.judges)}
    names = [known.get(name, name) for name in votes.judges]
    twice = {name for name, count in Counter(names).items() if count > 1}
    order = sorted(found, key=lambda judge: (-int((found[judge] > -2).sum()), names[judge]))
    return {
        f"{names[at]} ({votes.judges[at][:6]})" if names[at] in twice else names[at]: found[at]
        for at in order
    }, conflicts


def _lead(said: Mapping[str, Ints], most: Ints, cluster: Ints) -> Lead | None:
    asked = {judge: (codes > -2) & (most >= 0) for judge, codes in said.items()}
    right = {judge: codes == most for judge, codes in said.items()}
    names = [judge for judge, there in asked.items() if there.any()]
    names.sort(key=lambda judge: -float(right[judge][asked[judge]].mean()))
    if len(names) < 2:
        return None
    ahead, behind = names[:2]
    both = asked[ahead] & asked[behind]
    difference = right[ahead][both].astype(np.float64) - right[behind][both]
    return Lead(ahead=ahead, behind=behind, gap=paired_gap(difference, cluster[both]))


def _rows(judge: str, codes: Ints, most: Ints, cluster: Ints) -> tuple[PairJudgeRow, ...]:
    asked = (codes > -2) & (most >= 0)
    if not asked.any():
        return ()
    right, said, group = most[asked], codes[asked], cluster[asked]
    unread = said < 0
    rows = []
    for way in UNREAD_WAYS if unread.any() else ("wrong",):
        hit = right == np.where(unread & (way == "tie"), TIE, said)
        kept = ~unread if way == "left out" else np.ones(len(said), dtype=np.bool_)
        rows.append(
            PairJudgeRow(
                judge=judge,
                scores=class_scores(right, said, CLASSES, unread=way, tie=TIE),
                accuracy=share_of(hit[kept], group[kept]),
            )
        )
    return tuple(rows)
