"""Human check: what people are asked, in which order, and how far they have come.

A queue is an order of samples, the same for everybody, so that two people label the same things
early; within a sample, answers come in an order of each person's own, which is stored with every
label. Samples are drawn so that each first part of the order holds the study's roots in their
proportions, or where the judge is least sure.

Reference: ATOM appendices A, C, G, L; METHODS A6-A8, B13; design/017-human-check.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.records import Annotation, AnnotationKind, Checkpoint, Criterion, Response, StudySample
from atom.records.base import content_id
from atom.store import Store
from atom.store import table as columns_of
from atom.views.failures.sample import AnswerView, CriterionView, SampleView, sample_view
from atom.views.filters import Filters
from atom.views.lab.hard_pairs import hard_pairs
from atom.views.people.annotations import LabelStanding, LabelSubject
from atom.views.people.sample_order import number_of, shuffled
from atom.views.study_data import StudyData
from taxonomy import format_path

QueueName = Literal[
    "scores", "ranking", "criteria", "own", "errors", "pairs", "reports", "conflicts"
]
QUEUES: Mapping[QueueName, str] = {
    "scores": "Scores",
    "ranking": "Rankings",
    "criteria": "Criteria",
    "own": "Own criteria",
    "errors": "Judge’s errors",
    "pairs": "Hard pairs",
    "reports": "Blind reports",
    "conflicts": "Conflicts",
}
"""The queues, in the order of their tabs: name → title."""
KINDS: Mapping[QueueName, tuple[AnnotationKind, ...]] = {
    "scores": ("score",),
    "ranking": ("ranking",),
    "criteria": ("accuracy", "necessity", "mapping"),
    "own": ("wanted", "match", "written"),
    "errors": ("error_type",),
    "pairs": ("preference",),
    "reports": ("report",),
    "conflicts": (
        "score", "ranking", "accuracy", "necessity", "mapping", "error_type", "preference",
    ),
}  # fmt: skip
ERROR_TYPES: tuple[str, ...] = (
    "overlooks something in the picture",
    "sees something that isn't in the picture",
    "misreads the answer",
    "reasons or calculates wrongly",
    "lacks the knowledge",
    "too kind: gives credit for less than the truth",
    "too strict: asks for more than the truth",
    "the criterion or its truth is wrong",
    "no error: the judge is right",
)
"""What a judge got wrong, in words; a press of 1..9."""
WANTED = MIN_LABELLED
"""Labelled samples that lift "judge-scale"."""


@dataclass(frozen=True, kw_only=True)
class LabelItem:
    """One thing that a person is asked.

    Attributes:
        id: what the browser calls it; it tells nothing about whose answer it is.
        kind: what is asked.
        subject_id: what it is asked about, as `Annotation` names it.
        sample_id: its sample; empty for reports.
        criterion_id: its criterion, where it is about one.
        response_ids: the answers that are shown, in the order shown.
        at: 1-based place within its sample.
        of: items of its sample.
    """

    id: str
    kind: AnnotationKind
    subject_id: str
    sample_id: str = ""
    criterion_id: str = ""
    response_ids: tuple[str, ...] = ()
    at: int = 1
    of: int = 1


@dataclass(frozen=True, kw_only=True)
class LabelProgress:
    """How far labelling has come.

    Attributes:
        whole: samples with every checkpoint labelled by somebody and no conflict among them.
        wanted: samples that lift "judge-scale".
        mine: labels of this person in this queue.
        skipped: things that they skipped.
        keys: labels, a key each, until `wanted` samples, or all that are here, are whole.
        there: samples that can be labelled at all.
    """

    whole: int
    wanted: int
    mine: int
    skipped: int
    keys: int
    there: int


def item_of(
    kind: AnnotationKind,
    subject_id: str,
    *,
    sample_id: str = "",
    criterion_id: str = "",
    response_ids: tuple[str, ...] = (),
) -> LabelItem:
    """Make an item; its id tells nothing about what it is of."""
    return LabelItem(
        id=content_id("human check item", kind, subject_id)[:20],
        kind=kind,
        subject_id=subject_id,
        sample_id=sample_id,
        criterion_id=criterion_id,
        response_ids=response_ids,
    )


# --- the items of a sample ------------------------------------------------------------------------


def read_sample(store: Store, data: StudyData, sample_id: str) -> SampleView | None:
    """Read a sample with its answers, criteria and checkpoints."""
    return sample_view(store, data, Filters(sample=sample_id))


def answers_of(view: SampleView) -> tuple[AnswerView, ...]:
    """Return the first answer of each candidate that gave one."""
    return tuple(
        answer
        for answer in view.answers
        if answer.response.repeat == 0 and answer.response.state == "scored"
    )


def items_of(
    view: SampleView, queue: QueueName, annotator: str, only: str | None = None
) -> tuple[LabelItem, ...]:
    """Return what a person is asked about one sample.

    Args:
        queue: `scores`, `ranking` or `criteria`.
        annotator: who, for the order of answers.
        only: scores of this candidate's answers alone; None = all.
    """
    sample = view.sample.id
    ids = [
        answer.response.id
        for answer in answers_of(view)
        if only is None or queue != "scores" or answer.candidate.id == only
    ]
    order = shuffled(ids, annotator, sample)
    found: list[LabelItem] = []
    if queue == "ranking" and len(order) > 1:
        found.append(item_of("ranking", sample, sample_id=sample, response_ids=order))
    elif queue == "scores":
        points = scored_points(view)
        for response in order:
            for one in view.criteria:
                point = points.get((one.criterion.id, response))
                if point is not None:
                    found.append(
                        item_of("score", point.key, sample_id=sample,
                              criterion_id=one.criterion.id, response_ids=(response,))
                    )  # fmt: skip
    elif queue == "criteria":
        for one in view.criteria:
            kinds: list[AnnotationKind] = ["accuracy", "necessity"]
            if one.leaf:
                kinds.append("mapping")
            found += [
                item_of(kind, one.criterion.id, sample_id=sample, criterion_id=one.criterion.id)
                for kind in kinds
            ]
    return numbered(found)


def numbered(items: Sequence[LabelItem]) -> tuple[LabelItem, ...]:
    """Say of each item which of its sample's it is."""
    total = Counter(item.sample_id for item in items)
    seen: Counter[str] = Counter()
    found = []
    for item in items:
        seen[item.sample_id] += 1
        found.append(replace(item, at=seen[item.sample_id], of=total[item.sample_id]))
    return tuple(found)


def scored_points(view: SampleView) -> dict[tuple[str, str], Checkpoint]:
    """Return a sample's scored checkpoints by (criterion, answer)."""
    return {
        (point.criterion_id, point.response_id): point
        for one in view.criteria
        for mark in one.marks
        if (point := mark.checkpoint) is not None and point.state == "scored"
    }


def find_criterion(view: SampleView, criterion_id: str) -> CriterionView | None:
    """Return a criterion of a sample by id."""
    return next((one for one in view.criteria if one.criterion.id == criterion_id), None)


# --- errors and conflicts -------------------------------------------------------------------------


def error_items(
    store: Store, data: StudyData, stands: Mapping[LabelSubject, LabelStanding]
) -> tuple[LabelItem, ...]:
    """Return where the judge was off: people score it otherwise, or its solution is wrong.

    Args:
        stands: what people say.
    """
    table = data.table
    found: list[tuple[float, LabelItem]] = []
    labelled = {
        subject: one.value
        for (kind, subject), one in stands.items()
        if kind == "score" and one.value is not None
    }
    points = store.get_many(Checkpoint, labelled)
    answers = {
        response.id: response
        for response in store.get_many(Response, {point.response_id for point in points})
    }
    for point in points:
        answer, value = answers.get(point.response_id), labelled[point.key]
        gap = abs((point.points or 0) - value)
        if answer is None or point.points is None or gap < 1:
            continue
        item = item_of("error_type", point.key, sample_id=answer.sample_id,
                     criterion_id=point.criterion_id, response_ids=(answer.id,))  # fmt: skip
        found.append((-gap, item))
    wrong = [table.sample_ids[at] for at in np.flatnonzero(table.quarantined)]
    for sample_id in wrong:
        place = store.get(StudySample, data.study.id, sample_id)
        if place is not None and place.replay_id:
            found.append((0.0, item_of("error_type", place.replay_id, sample_id=sample_id)))
    ordered = sorted(found, key=lambda pair: (pair[0], number_of(pair[1].id)))
    return tuple(item for _, item in ordered)


def conflict_items(
    store: Store, data: StudyData, clashes: Mapping[LabelSubject, LabelStanding], annotator: str
) -> tuple[tuple[LabelItem, ...], int]:
    """Return the conflicts that this person can settle, and how many they can't (a part in them).

    Args:
        clashes: conflicts, as `annotations.conflicts` finds them.
        annotator: who settles.
    """
    own = {
        subject
        for subject, one in clashes.items()
        if any(label.annotator == annotator for label in one.given)
    }
    found: list[LabelItem] = []
    for subject, one in clashes.items():
        if subject in own or subject[0] not in KINDS["conflicts"]:
            continue
        item = _conflict(store, data, subject, one.given, annotator)
        if item is not None:
            found.append(item)
    found.sort(key=lambda item: (data.sample_position.get(item.sample_id, -1), item.kind, item.id))
    return tuple(found), len(own)


def _conflict(
    store: Store,
    data: StudyData,
    subject: LabelSubject,
    given: Sequence[Annotation],
    annotator: str,
) -> LabelItem | None:
    kind, name = subject
    if kind == "ranking":
        if name not in data.sample_position:
            return None
        ids = sorted({rank.response_id for label in given for rank in label.ranks})
        order = shuffled(ids, annotator, name)
        return item_of("ranking", name, sample_id=name, response_ids=order)
    if kind == "preference":
        return _pair_item(store, data, name, annotator)
    point = store.get(Checkpoint, name)
    if point is not None:
        answer = store.get(Response, point.response_id)
        if answer is None or answer.sample_id not in data.sample_position:
            return None
        return item_of(kind, name, sample_id=answer.sample_id, criterion_id=point.criterion_id,
                     response_ids=(answer.id,))  # fmt: skip
    place = columns_of(StudySample).c
    if kind == "error_type":
        rows = store.select(StudySample, place.study_id == data.study.id, place.replay_id == name)
        return item_of(kind, name, sample_id=rows[0].sample_id) if rows else None
    sample_id = criterion_sample(store, name)
    if sample_id is None or sample_id not in data.sample_position:
        return None
    return item_of(kind, name, sample_id=sample_id, criterion_id=name)


def pair_items(store: Store, data: StudyData, annotator: str) -> tuple[LabelItem, ...]:
    """Return the hard pairs of the newest run that looked for them, in the order of its draw.

    Args:
        annotator: who says which is better: everybody has an order of showing of their own.
    """
    found = hard_pairs(store, data)
    items = [
        item
        for case in (found.hard if found is not None else ())
        if (item := _pair_item(store, data, case.pair.name, annotator)) is not None
    ]
    return tuple(items)


def _pair_item(store: Store, data: StudyData, name: str, annotator: str) -> LabelItem | None:
    ids = name.split("/")
    answers = store.get_many(Response, ids)
    samples = {one.sample_id for one in answers} & data.sample_position.keys()
    if len(ids) != 2 or len(answers) != 2 or len(samples) != 1:
        return None
    order = shuffled(ids, annotator, name)
    return item_of("preference", name, sample_id=samples.pop(), response_ids=order)


def criterion_sample(store: Store, criterion_id: str) -> str | None:
    """Return the sample of a criterion; None where there is no such criterion."""
    found = store.get(Criterion, criterion_id)
    return None if found is None else found.sample_id


# --- words ----------------------------------------------------------------------------------------


def leaf_texts(data: StudyData) -> tuple[str, ...]:
    """Return all leaves of the study's tree as texts, for a search."""
    return tuple(format_path(leaf) for leaf in data.tree.leaves) if data.tree else ()
