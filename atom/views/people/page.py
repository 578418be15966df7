"""Human check: what people are asked, in which order, and how far they have come.

A queue is an order of samples, the same for everybody, so that two people label the same things
early; within a sample, answers come in an order of each person's own, which is stored with every
label. Samples are drawn so that each first part of the order holds the study's roots in their
proportions, or where the judge is least sure.

Reference: ATOM appendices A, C, G, L; METHODS A6-A8, B13; design/017-human-check.md.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from atom.analysis.agreement.debias import MIN_LABELLED
from atom.analysis.intervals import Floats
from atom.analysis.score_table import ScoreTable
from atom.records import (
    Annotation,
    AnnotationKind,
    Checkpoint,
    Criterion,
    Response,
    Sample,
    StudySample,
)
from atom.records.base import content_id
from atom.store import Store
from atom.store import table as columns_of
from atom.store.reading.marks import doubtful_marks
from atom.views.failures.sample import AnswerView, CriterionView, SampleView, sample_view
from atom.views.filters import Filters
from atom.views.lab.hard_pairs import hard_pairs
from atom.views.people.annotations import Standing, Subject
from atom.views.study_data import StudyData
from taxonomy import format_path

QueueName = Literal[
    "scores", "ranking", "criteria", "own", "errors", "pairs", "reports", "conflicts"
]
Pick = Literal["random", "unsure"]
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
REPORTS = 3
"""Reports that are matched blindly."""
DECOYS = 1
"""Models beside theirs that no report is about."""
RAW = 30
"""Questions whose raw answers stand beside a blind report."""
_SEED = "human check"


@dataclass(frozen=True, kw_only=True)
class Item:
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
        keys: labels, a key each, until `wanted` samples are whole.
    """

    whole: int
    wanted: int
    mine: int
    skipped: int
    keys: int = 0


def item_of(
    kind: AnnotationKind,
    subject_id: str,
    *,
    sample_id: str = "",
    criterion_id: str = "",
    response_ids: tuple[str, ...] = (),
) -> Item:
    """Make an item; its id tells nothing about what it is of."""
    return Item(
        id=content_id("human check item", kind, subject_id)[:20],
        kind=kind,
        subject_id=subject_id,
        sample_id=sample_id,
        criterion_id=criterion_id,
        response_ids=response_ids,
    )


def _number(*parts: str) -> float:
    """Return a number 0..1 that depends on these texts alone."""
    digest = hashlib.sha256("\x1f".join((_SEED, *parts)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def shuffled(names: Iterable[str], annotator: str, place: str) -> tuple[str, ...]:
    """Order things in a way of a person's own, the same each time.

    Args:
        names: what is ordered.
        annotator: whose order.
        place: where it is shown, such as the sample's id.
    """
    return tuple(sorted(names, key=lambda name: (_number(annotator, place, name), name)))


# --- which samples --------------------------------------------------------------------------------


def sample_order(store: Store, data: StudyData, pick: Pick) -> tuple[str, ...]:
    """Return the study's samples in the order in which they are labelled.

    Random: drawn by the study's id, so that each first part of the order holds every root in its
    proportion. Unsure: the samples with the largest share of checkpoints where the judge is
    unsure come first (see `unsure_share`).
    """
    table = data.table
    luck = [_number(data.study.id, name) for name in table.sample_ids]
    if pick == "unsure":
        share = unsure_share(store, data)
        places = sorted(range(len(luck)), key=lambda at: (-share[at], luck[at]))
        return tuple(table.sample_ids[at] for at in places)
    strata: dict[str, list[int]] = {}
    for at, root in enumerate(sample_roots(table)):
        strata.setdefault(root, []).append(at)
    due: dict[int, float] = {}
    for root, members in strata.items():
        start = _number(data.study.id, "stratum", root)
        for place, at in enumerate(sorted(members, key=lambda at: luck[at])):
            due[at] = (place + start) / len(members)
    return tuple(table.sample_ids[at] for at in sorted(due, key=lambda at: (due[at], luck[at])))


def sample_roots(table: ScoreTable) -> list[str]:
    """Return each sample's root: the one with most of its checkpoints' weight; empty without."""
    roots = sorted({leaf[0] for leaf in table.leaves})
    if not roots:
        return [""] * len(table.sample_ids)
    of_leaf = np.array([roots.index(leaf[0]) for leaf in table.leaves], dtype=np.int64)
    kept = table.leaf >= 0
    sample = table.sample[table.response[kept]].astype(np.int64)
    key = sample * len(roots) + of_leaf[table.leaf[kept]]
    size = len(table.sample_ids) * len(roots)
    weight = np.bincount(key, weights=table.weight[kept], minlength=size).reshape(-1, len(roots))
    return [
        roots[at] if total > 0 else ""
        for at, total in zip(weight.argmax(axis=1), weight.sum(axis=1), strict=True)
    ]


def unsure_share(store: Store, data: StudyData) -> Floats:
    """Return each sample's share of checkpoints where the judge is unsure, shape (S,).

    Unsure: the score is 3; another judging or another judge gave another score; or the judge
    quotes nothing of the answer though it takes a stand (a score above 1).
    """
    table = data.table
    if not len(table.score):
        return np.zeros(len(table.sample_ids))
    rows: set[tuple[int, int]] = {
        (int(response), int(criterion))
        for response, criterion in zip(
            table.response[table.score == 3], table.criterion[table.score == 3], strict=True
        )
    }
    answers = {name: at for at, name in enumerate(table.response_ids)}
    criteria = {name: at for at, name in enumerate(table.criterion_ids)}
    for answer, criterion in doubtful_marks(store, data.study, data.scale):
        if answer in answers and criterion in criteria:
            rows.add((answers[answer], criteria[criterion]))
    scored = table.score > 0
    samples = len(table.sample_ids)
    total = np.bincount(table.sample[table.response[scored]], minlength=samples)
    doubt = np.zeros(samples)
    if rows:
        of = np.array([answer for answer, _ in rows], dtype=np.int64)
        doubt = np.bincount(table.sample[of], minlength=samples).astype(np.float64)
    share: Floats = np.divide(doubt, total, out=np.zeros(samples), where=total > 0)
    return share


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
) -> tuple[Item, ...]:
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
    found: list[Item] = []
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


def numbered(items: Sequence[Item]) -> tuple[Item, ...]:
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
    store: Store, data: StudyData, stands: Mapping[Subject, Standing]
) -> tuple[Item, ...]:
    """Return where the judge was off: people score it otherwise, or its solution is wrong.

    Args:
        stands: what people say.
    """
    table = data.table
    found: list[tuple[float, Item]] = []
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
    ordered = sorted(found, key=lambda pair: (pair[0], _number(pair[1].id)))
    return tuple(item for _, item in ordered)


def conflict_items(
    store: Store, data: StudyData, clashes: Mapping[Subject, Standing], annotator: str
) -> tuple[tuple[Item, ...], int]:
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
    found: list[Item] = []
    for subject, one in clashes.items():
        if subject in own or subject[0] not in KINDS["conflicts"]:
            continue
        item = _conflict(store, data, subject, one.given, annotator)
        if item is not None:
            found.append(item)
    found.sort(key=lambda item: (data.sample_position.get(item.sample_id, -1), item.kind, item.id))
    return tuple(found), len(own)


def _conflict(
    store: Store, data: StudyData, subject: Subject, given: Sequence[Annotation], annotator: str
) -> Item | None:
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


def pair_items(store: Store, data: StudyData, annotator: str) -> tuple[Item, ...]:
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


def _pair_item(store: Store, data: StudyData, name: str, annotator: str) -> Item | None:
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


# --- blind reports --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BlindProfile:
    """A model's profile without its name.

    Attributes:
        candidate_id: whose it is; never shown.
        scores: (root, mean 0-100, the others' mean) by root, as far as known.
    """

    candidate_id: str
    scores: tuple[tuple[str, float, float], ...]


def profiles(data: StudyData) -> tuple[BlindProfile, ...]:
    """Return each candidate's mean score by root beside the mean of the others."""
    table = data.table
    roots = sorted({leaf[0] for leaf in table.leaves})
    kept = (table.score > 0) & (table.leaf >= 0)
    if not roots or not kept.any():
        return ()
    of_leaf = np.array([roots.index(leaf[0]) for leaf in table.leaves], dtype=np.int64)
    model = table.model[table.response[kept]].astype(np.int64)
    size = len(data.candidates) * len(roots)
    key = model * len(roots) + of_leaf[table.leaf[kept]]
    count = np.bincount(key, table.weight[kept], size).reshape(-1, len(roots))
    total = np.bincount(key, table.weight[kept] * (table.score[kept] - 1.0) * 25, size)
    sums = total.reshape(-1, len(roots))
    found = []
    for at, candidate in enumerate(data.candidates):
        others_n, others = count.sum(axis=0) - count[at], sums.sum(axis=0) - sums[at]
        scores = tuple(
            (root, float(sums[at, r] / count[at, r]), float(others[r] / others_n[r]))
            for r, root in enumerate(roots)
            if count[at, r] and others_n[r]
        )
        if scores:
            found.append(BlindProfile(candidate_id=candidate.id, scores=scores))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class RawAnswers:
    """One question, and what each of several models answered to it.

    Attributes:
        question: its text.
        known: the known answer, with its letter where there is a choice; empty where none is.
        texts: an answer a model, in the order asked for.
    """

    question: str
    known: str
    texts: tuple[str, ...]


def raw_answers(
    store: Store, data: StudyData, candidates: Sequence[str], annotator: str
) -> tuple[RawAnswers, ...]:
    """Draw questions that all of some models answered, with their answers as they were given.

    Args:
        candidates: ids of the models.
        annotator: who looks: everybody has questions of their own.

    Returns:
        At most `RAW` questions; none where no question was answered by all.

    Reference:
        ATOM G.1 (reports are matched to 30 to 50 raw responses).
    """
    table = data.table
    wanted = {data.model_index(one): place for place, one in enumerate(candidates)}
    first = np.flatnonzero(table.answered & (table.repeat == 0))
    given: dict[int, dict[int, str]] = {}
    for at in first.tolist():
        place = wanted.get(int(table.model[at]))
        if place is not None:
            given.setdefault(int(table.sample[at]), {})[place] = table.response_ids[at]
    shared = [table.sample_ids[one] for one, ids in given.items() if len(ids) == len(candidates)]
    drawn = shuffled(shared, annotator, "raw answers")[:RAW]
    ids = [given[data.sample_position[one]] for one in drawn]
    texts = {
        one.id: one.text or ""
        for one in store.get_many(Response, [name for row in ids for name in row.values()])
    }
    samples = {one.id: one for one in store.get_many(Sample, drawn)}
    return tuple(
        RawAnswers(
            question=samples[name].question,
            known=_known_answer(samples[name]),
            texts=tuple(texts.get(row[place], "") for place in range(len(candidates))),
        )
        for name, row in zip(drawn, ids, strict=True)
        if name in samples
    )


def _known_answer(sample: Sample) -> str:
    known = sample.reference or ""
    return f"{chr(65 + sample.choices.index(known))}, {known}" if known in sample.choices else known


def report_items(data: StudyData, annotator: str) -> tuple[Item, ...]:
    """Return the reports that a person matches, three at most, in an order of their own."""
    order = shuffled((one.candidate_id for one in profiles(data)), annotator, "reports")
    if len(order) < 2:
        return ()
    items = [item_of("report", name) for name in order[:REPORTS]]
    return numbered(items)


def report_text(profile: BlindProfile) -> tuple[str, ...]:
    """Write a model's report in sentences, without its name and without a number."""
    gaps = sorted(
        ((own - others, root) for root, own, others in profile.scores), key=lambda pair: pair[0]
    )
    mean = sum(own for _, own, _ in profile.scores) / len(profile.scores)
    group = sum(others for _, _, others in profile.scores) / len(profile.scores)
    lines = [f"On the whole it is {_than(mean - group)} the other models."]
    for gap, root in gaps[:2]:
        lines.append(f"{root}: {_than(gap)} the others.")
    if len(gaps) > 2:
        gap, root = gaps[-1]
        lines.append(f"Its best side against the others is {root}: {_than(gap)} them.")
    by_score = sorted(profile.scores, key=lambda one: one[1])
    if len(by_score) > 1 and by_score[0][0] != by_score[-1][0]:
        lines.append(
            f"Its own highest score is on {by_score[-1][0]}, its lowest on {by_score[0][0]}."
        )
    return tuple(lines)


def _than(gap: float) -> str:
    size = abs(gap)
    if size < 2:
        return "about level with"
    how = "a little " if size < 6 else "clearly " if size < 15 else "far "
    return f"{how}{'ahead of' if gap > 0 else 'behind'}"


# --- words ----------------------------------------------------------------------------------------


def leaf_texts(data: StudyData) -> tuple[str, ...]:
    """Return all leaves of the study's tree as texts, for a search."""
    return tuple(format_path(leaf) for leaf in data.tree.leaves) if data.tree else ()
