"""People's scores of a study's checkpoints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import Floats, Ints
from atom.records import PICKED, PICKED_HERE
from atom.store import Store
from atom.store.reading.marks import HUMAN_CHECK, PersonMark, person_marks, subjects_of_marks
from atom.views.people.annotations import LabelStanding, load_annotations, standing
from atom.views.study_data import StudyData, rows_about


@dataclass(frozen=True, kw_only=True)
class Labels:
    """People's scores of a study's checkpoints.

    Attributes:
        row: rows of the score table that people scored, shape (n,), ascending.
        value: people's score of each, 1..5, shape (n,); the mean where people's lie close.
        people: how many people labelled.
        conflicts: checkpoints on which people disagree and nobody has settled it; left out.
        settled: checkpoints that a third person settled.
        picked: checkpoints labelled only because the judge was unsure; left out.
        astray: checkpoints that aren't in the study any more (other criteria, other answers).
        unscored: checkpoints that the judge gave no score, so that there is nothing to compare.
    """

    row: Ints
    value: Floats
    people: int = 0
    conflicts: int = 0
    settled: int = 0
    picked: int = 0
    astray: int = 0
    unscored: int = 0


def no_labels() -> Labels:
    """Return no labels at all."""
    return Labels(row=np.zeros(0, dtype=np.int64), value=np.zeros(0))


def load_labels(store: Store, data: StudyData) -> Labels:
    """Read people's scores and find the checkpoints that they belong to.

    A label is about a criterion and an answer: it holds for whichever judge is looked at. So do
    marks of people who are judges of the study; several are averaged.
    """
    # `<sample>/<criterion>` is a rating of something else (`atom.views.people.ratings`).
    given = [
        label
        for label in load_annotations(store, data.study.id, "score")
        if "/" not in label.subject_id
    ]
    # What was said with the judge's score in sight neither counts here nor unsettles what does.
    blind = [label for label in given if label.note != PICKED_HERE]
    stands = {subject: one for (_, subject), one in standing(blind).items()}
    marks = _person_marks(store, data)
    if not given and not marks:
        return no_labels()
    kept = {key: one for key, one in stands.items() if not _picked(one)}
    values = {key: one.value for key, one in kept.items() if one.value is not None}
    about = subjects_of_marks(store, sorted(values))
    things = [(about.get(key), values[key]) for key in sorted(values)]
    rows, astray = _rows_of(
        data, [*things, *(((one.response_id, one.criterion_id), one.value) for one in marks)]
    )
    row = np.array(sorted(rows), dtype=np.int64)
    value = np.array([float(np.mean(rows[int(at)])) for at in row])
    scored = data.table.score[row] > 0
    return Labels(
        row=row[scored],
        value=value[scored],
        people=len({label.annotator for label in given if label.state == "given"})
        + len({one.judge_id for one in marks}),
        conflicts=sum(one.state == "conflict" for one in kept.values()),
        settled=sum(one.state == "adjudicated" for one in kept.values()),
        picked=len({label.subject_id for label in given if label.state == "given"} - set(kept)),
        astray=astray,
        unscored=int((~scored).sum()),
    )


def _picked(one: LabelStanding) -> bool:
    """Say whether a checkpoint was labelled only because it was picked, not drawn."""
    first = [label for label in one.given if not label.adjudicates] or one.given
    return all(label.note.startswith(PICKED) for label in first)


def _person_marks(store: Store, data: StudyData) -> list[PersonMark]:
    """Read marks that came with people as judges, as scores of 1..5; they need no judge's mark.

    Looked at through people they aren't held against themselves.
    """
    if data.judge is not None and data.judge.kind == "person":
        return []
    table = data.table
    turned = {table.criterion_ids[at] for at in np.flatnonzero(table.penalty)}
    return [
        one._replace(value=1 + 4 * (1 - one.value if one.criterion_id in turned else one.value))
        for one in person_marks(store, data.study, but=HUMAN_CHECK)
    ]


def _rows_of(
    data: StudyData, things: Sequence[tuple[tuple[str, str] | None, float]]
) -> tuple[dict[int, list[float]], int]:
    """Return the scores of each row of the score table, and how many have no row.

    Args:
        things: (answer, criterion), None = not known any more; and its score, 1..5.
    """
    found: dict[int, list[float]] = defaultdict(list)
    rows = rows_about(data, [about for about, _ in things])
    for row, (_, score) in zip(rows.tolist(), things, strict=True):
        if row >= 0:
            found[row].append(score)
    return found, int((rows < 0).sum())
