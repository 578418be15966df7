"""People's labels, read: what stands, where people disagree, how far they agree.

Reference: METHODS A7 (kappa), A8 (criteria quality), B12 (alpha), B13 (what the labels are for).
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from atom.analysis.agreement.raters import krippendorff_alpha, rater_kappas
from atom.display.csv_text import csv_text
from atom.records import PICKED, Annotation, AnnotationKind
from atom.store import Store
from atom.store.labels import everything_said, labels_of
from taxonomy import fold, parse_path

LabelSubject: TypeAlias = "tuple[AnnotationKind, str]"
"""What was labelled: (kind, subject's id)."""
LEAST_SURE = f"{PICKED}where the judge is least sure"
"""Note of a label whose sample wasn't drawn at random; it must not debias a mean."""
CLOSE = 1.0
"""Two scores 1..5 this close are taken as one, their mean; further apart is a conflict."""
State = Literal["single", "agreed", "adjudicated", "conflict"]
_NUMBERS: Mapping[str, float] = {"score": CLOSE, "accuracy": 0.0, "necessity": 0.0}
COLUMNS = ("kind", "subject_id", "annotator", "value", "label", "ranks", "shown", "state",
           "adjudicates", "note", "created")  # fmt: skip
"""Columns of a file of labels."""


@dataclass(frozen=True, kw_only=True)
class LabelStanding:
    """What people say of one thing.

    Attributes:
        state: `single` (one person), `agreed`, `adjudicated` (a third settled it), `conflict`.
        label: the label that stands, its value the mean where scores lie close; None in a
            conflict.
        given: all labels on it, first people's, then the one that settles.
    """

    state: State
    label: Annotation | None
    given: tuple[Annotation, ...]

    @property
    def value(self) -> float | None:
        """The number that stands; None in a conflict and where the kind has none."""
        return self.label.value if self.label is not None else None


@dataclass(frozen=True, kw_only=True)
class KindAgreement:
    """How far people agree on one kind of label.

    Attributes:
        people: annotators with labels of it.
        both: things that two or more labelled.
        exact: share of pairs of labels on one thing that are equal; NaN without any.
        kappa: mean of Cohen's kappa over pairs of people; NaN where undefined.
        alpha: Krippendorff's alpha: ordinal for numbers, nominal for words; NaN where undefined.
        conflicts: things on which people disagree and nobody has settled it.
        settled: things that a third settled.
    """

    kind: AnnotationKind
    people: int
    labels: int
    both: int
    exact: float
    kappa: float
    alpha: float
    conflicts: int
    settled: int


def load_annotations(
    store: Store, study_id: str, kind: AnnotationKind | None = None
) -> tuple[Annotation, ...]:
    """Read a study's labels, the oldest first.

    Args:
        kind: only this kind; None = all.
    """
    return tuple(labels_of(store, study_id, [] if kind is None else [kind]))


def load_everything(store: Store, study_id: str) -> tuple[Annotation, ...]:
    """Read what people said without being asked, too: flags, notes and saved slices."""
    return tuple(everything_said(store, study_id))


def says(label: Annotation) -> object:
    """Return what a label says, in a form that can be compared."""
    if label.kind in _NUMBERS:
        return label.value
    if label.kind == "mapping":
        return fold(parse_path(label.label))
    if label.kind == "ranking":
        return tuple(sorted((rank.response_id, rank.rank) for rank in _dense(label)))
    return label.label.strip().casefold()


def standing(annotations: Iterable[Annotation]) -> dict[LabelSubject, LabelStanding]:
    """Say what stands for each thing that was labelled: adjudicated, else agreed, else nothing.

    Labels that were skipped say nothing. Scores up to one point apart are agreed, and their mean
    stands; anything else must be equal.

    Args:
        annotations: labels of one study.
    """
    by_subject: dict[LabelSubject, list[Annotation]] = defaultdict(list)
    for label in annotations:
        if label.state == "given":
            by_subject[label.kind, label.subject_id].append(label)
    return {subject: _stands(labels) for subject, labels in by_subject.items()}


def _stands(labels: Sequence[Annotation]) -> LabelStanding:
    first = [label for label in labels if not label.adjudicates]
    third = [label for label in labels if label.adjudicates]
    given = (*first, *third)
    if third:
        last = max(third, key=lambda label: (label.created, label.id))
        return LabelStanding(state="adjudicated", label=last, given=given)
    if len(first) == 1:
        return LabelStanding(state="single", label=first[0], given=given)
    apart = _NUMBERS.get(first[0].kind)
    values = [label.value for label in first if label.value is not None]
    if apart is not None and len(values) == len(first):
        if max(values) - min(values) > apart:
            return LabelStanding(state="conflict", label=None, given=given)
        mean = first[0].model_copy(update={"value": sum(values) / len(values)})
        return LabelStanding(state="agreed", label=mean, given=given)
    if len({says(label) for label in first}) > 1:
        return LabelStanding(state="conflict", label=None, given=given)
    return LabelStanding(state="agreed", label=first[0], given=given)


@dataclass(frozen=True, kw_only=True)
class _Place:
    response_id: str
    rank: int


def _dense(label: Annotation) -> list[_Place]:
    """Return the places of a ranking as 1, 2, 3 ... without gaps."""
    places = sorted({rank.rank for rank in label.ranks})
    return [
        _Place(response_id=rank.response_id, rank=places.index(rank.rank) + 1)
        for rank in label.ranks
    ]


def conflicts(annotations: Iterable[Annotation]) -> dict[LabelSubject, LabelStanding]:
    """Return the things on which people disagree and nobody has settled it."""
    return {key: one for key, one in standing(annotations).items() if one.state == "conflict"}


def people_of(annotations: Iterable[Annotation]) -> tuple[str, ...]:
    """Return the annotators, the busiest first."""
    count: dict[str, int] = defaultdict(int)
    for label in annotations:
        count[label.annotator] += 1
    return tuple(sorted(count, key=lambda name: (-count[name], name)))


def agreement_of(
    annotations: Iterable[Annotation],
    kind: AnnotationKind,
    stands: Mapping[LabelSubject, LabelStanding] | None = None,
) -> KindAgreement:
    """Say how far people agree on one kind of label; a third's labels are left out.

    Rankings are compared by pairs of answers (better, worse, tie), everything else by thing.

    Args:
        annotations: labels of one study.
        stands: what stands for each thing, where that is known already.
    """
    given = [label for label in annotations if label.kind == kind and label.state == "given"]
    known = standing(given) if stands is None else stands
    states = [one.state for (what, _), one in known.items() if what == kind]
    first = [label for label in given if not label.adjudicates]
    cells = _ranked_pairs(first) if kind == "ranking" else _plain(first)
    people = sorted({who for who, _, _ in cells})
    things = sorted({what for _, what, _ in cells})
    ratings = np.full((len(people), len(things)), np.nan)
    row = {name: at for at, name in enumerate(people)}
    column = {name: at for at, name in enumerate(things)}
    for who, what, code in cells:
        ratings[row[who], column[what]] = code
    seen = np.isfinite(ratings)
    both = int((seen.sum(axis=0) > 1).sum())
    same, pairs = 0, 0
    for a, b in combinations(range(len(people)), 2):
        met = seen[a] & seen[b]
        pairs += int(met.sum())
        same += int((ratings[a, met] == ratings[b, met]).sum())
    kappa = math.nan
    if both:
        kappas = rater_kappas(np.where(seen, ratings, -1).astype(np.int64))
        found = kappas[np.triu_indices(len(people), 1)]
        defined = found[np.isfinite(found)]
        kappa = float(defined.mean()) if len(defined) else math.nan
    level: Literal["nominal", "ordinal"] = (
        "ordinal" if kind in _NUMBERS or kind == "ranking" else "nominal"
    )
    return KindAgreement(
        kind=kind,
        people=len(people),
        labels=len(given),
        both=both,
        exact=same / pairs if pairs else math.nan,
        kappa=kappa,
        alpha=krippendorff_alpha(ratings, level) if both else math.nan,
        conflicts=states.count("conflict"),
        settled=states.count("adjudicated"),
    )


def _plain(labels: Sequence[Annotation]) -> list[tuple[str, str, int]]:
    """Return (person, thing, code) of labels that say one thing each."""
    words = sorted({repr(says(label)) for label in labels if label.kind not in _NUMBERS})
    code = {word: at for at, word in enumerate(words)}

    def number(label: Annotation) -> int:
        if label.kind in _NUMBERS and label.value is not None:
            return int(label.value)
        return code[repr(says(label))]

    return [(label.annotator, label.subject_id, number(label)) for label in labels]


def _ranked_pairs(labels: Sequence[Annotation]) -> list[tuple[str, str, int]]:
    """Return (person, pair of answers, 0 worse | 1 tie | 2 better) of rankings."""
    cells = []
    for label in labels:
        places = sorted(label.ranks, key=lambda rank: rank.response_id)
        for one, other in combinations(places, 2):
            order = int(np.sign(other.rank - one.rank)) + 1
            pair = Annotation.pair(one.response_id, other.response_id)
            cells.append((label.annotator, pair, order))
    return cells


# --- files ----------------------------------------------------------------------------------------


def annotations_csv(annotations: Iterable[Annotation]) -> str:
    """Write labels as CSV, a row each; the page reads it back (`engine.annotations`)."""

    def line(label: Annotation) -> tuple[object, ...]:
        ranks = [rank.model_dump() for rank in label.ranks]
        return (
            label.kind,
            label.subject_id,
            label.annotator,
            "" if label.value is None else label.value,
            label.label,
            json.dumps(ranks, separators=(",", ":")),
            json.dumps(list(label.shown), separators=(",", ":")),
            label.state,
            "true" if label.adjudicates else "false",
            label.note,
            label.created,
        )

    return csv_text(COLUMNS, map(line, annotations))
