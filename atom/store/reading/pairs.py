"""Pairs of a study's answers whose order is known: by people, by outcome, or by a clear gap.

Reference: METHODS T9.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, get_args

from atom.records import (
    Annotation,
    AnnotationKind,
    CriteriaSet,
    CriterionUse,
    KnownBy,
    KnownPair,
    Side,
    Study,
)
from atom.store.labels import given_pairs, labels_of
from atom.store.standing.answers import compared_answers
from atom.store.standing.criteria import standing_sets
from atom.store.standing.marks import marks_of
from atom.store.standing.members import study_places
from atom.store.standing.outcomes import values_of
from atom.store.store import Store

KNOWN_BY: Final[tuple[KnownBy, ...]] = get_args(KnownBy)
"""In the order in which they count: who people prefer settles a pair, then the final answers."""
GAP: Final = 0.25
"""Of two answers' scores on [0, 1]: from here on the better one is known by them."""


@dataclass(frozen=True, kw_only=True)
class KnownPairs:
    """What a study's answers give.

    Attributes:
        pairs: those whose order is known, by sample in the study's order.
        compared: pairs of answers that were looked at.
        against: pairs whose outcome says the one and whose clear gap of scores the other: left out.
    """

    pairs: tuple[KnownPair, ...] = ()
    compared: int = 0
    against: int = 0
    by: Mapping[KnownBy, int] = field(default_factory=dict)


def known_pairs(
    store: Store, study: Study, by: Collection[KnownBy] = KNOWN_BY, *, gap: float = GAP
) -> KnownPairs:
    """Find the pairs of answers to one sample of which one is known to be better.

    People's preference counts first, then a right answer against a wrong one, then a gap of scores.

    Args:
        by: what may say which one is better.
        gap: least difference of two scores on [0, 1], each the weighted mean of the study's judge's
            marks of the criteria that both answers are marked on.
    """
    answers = compared_answers(store, study)
    ids = [one.id for group in answers.values() for one in group]
    people = people_on_pairs(store, study.id) if "people" in by else {}
    outcome = values_of(store, ids, None)
    worth = _AnswerWorth(store, study, list(answers), ids)
    found: list[KnownPair] = []
    compared = against = 0
    for sample, group in answers.items():
        for one, other in combinations(sorted(answer.id for answer in group), 2):
            compared += 1
            name = Annotation.pair(one, other)
            lead = worth.lead(sample, one, other)
            said = people.get(name)
            if said is not None:
                if said != "tie":
                    found.append(_pair(sample, one, other, said, "people"))
                continue
            right = outcome.get(one), outcome.get(other)
            if "outcome" in by and set(right) == {0.0, 1.0}:
                better: Side = "a" if right[0] else "b"
                if abs(lead) >= gap and (lead > 0) != (better == "a"):
                    against += 1
                else:
                    found.append(_pair(sample, one, other, better, "outcome"))
            elif "score" in by and abs(lead) >= gap and right[0] == right[1]:
                found.append(_pair(sample, one, other, "a" if lead > 0 else "b", "score"))
    counted = Counter(pair.by for pair in found)
    return KnownPairs(
        pairs=tuple(found),
        compared=compared,
        against=against,
        by={name: counted[name] for name in KNOWN_BY if counted[name]},
    )


def _pair(sample: str, one: str, other: str, better: str, by: KnownBy) -> KnownPair:
    side: Side = "a" if better == "a" else "b"
    return KnownPair(sample_id=sample, a=one, b=other, better=side, by=by)


def people_on_pairs(store: Store, study_id: str) -> dict[str, str]:
    """Return what most people say of each pair of answers: `a`, `b` or `tie`; by the pair's name.

    A label that settles a conflict counts alone; a draw of labels says nothing.
    """
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    settled: dict[str, str] = {}
    for subject, _, label, adjudicates, _ in given_pairs(store, study_id, ("a", "b", "tie")):
        one, _, other = subject.partition("/")
        name = Annotation.pair(*sorted((one, other)))
        said = label if one < other or label == "tie" else {"a": "b", "b": "a"}[label]
        if adjudicates:
            settled[name] = said
        votes[name][said] += 1
    ranking: AnnotationKind = "ranking"
    for row in labels_of(store, study_id, (ranking,)):
        if row.state != "given":
            continue
        for first, second in combinations(sorted(row.ranks, key=lambda one: one.response_id), 2):
            name = Annotation.pair(first.response_id, second.response_id)
            step = first.rank - second.rank
            votes[name]["tie" if not step else "a" if step < 0 else "b"] += 1
    found = dict(settled)
    for name, counted in votes.items():
        (most, n), *rest = counted.most_common(2)
        if name not in found and not (rest and rest[0][1] == n):
            found[name] = most
    return found


class _AnswerWorth:
    """What the study's judge's marks make of its answers."""

    def __init__(self, store: Store, study: Study, samples: list[str], ids: list[str]) -> None:
        wanted = set(samples)
        places = [one for one in study_places(store, study.id) if one.sample_id in wanted]
        self._sets: dict[str, CriteriaSet] = standing_sets(store, places)
        marks = marks_of(store, study, ids, study.judge_id) if study.judge_id else {}
        self._values = {
            answer: {name: mark.value for name, mark in points.items() if mark.value is not None}
            for (answer, _), points in marks.items()
        }

    def lead(self, sample: str, one: str, other: str) -> float:
        """Return how far the first answer is ahead, on [-1, 1]; 0 where that isn't known."""
        uses = self._sets[sample].uses if sample in self._sets else ()
        first, second = self._values.get(one, {}), self._values.get(other, {})
        both = [use for use in uses if use.criterion_id in first and use.criterion_id in second]
        total = sum(float(use.weight) for use in both)
        if not total:
            return 0.0
        return sum(_gap(use, first, second) for use in both) / total


def _gap(use: CriterionUse, first: Mapping[str, float], second: Mapping[str, float]) -> float:
    gap = float(use.weight) * (first[use.criterion_id] - second[use.criterion_id])
    return -gap if use.polarity == "penalty" else gap
