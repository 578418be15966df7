"""The checkpoints behind a judge's agreement with itself: those that it scored more than once.

Reference: METHODS T3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from atom.analysis.agreement.judge_noise import Ratings
from atom.analysis.layout import Mask
from atom.records import Criterion
from atom.store import Store
from atom.views.study_data import StudyData

MOST: Final = 60
"""Checkpoints that are listed: those that changed most first."""


@dataclass(frozen=True, kw_only=True)
class RescoredCheckpoint:
    """A checkpoint that the judge scored more than once.

    Attributes:
        criterion: the criterion's question; empty where it is gone.
        candidate_id: whose answer it is.
        candidate: that model's name.
        marks: in the order in which they were given, at least two; on a scale that isn't our own
            judges' 1 to 5 they are written on 0-100.
        apart: how far the highest is from the lowest, in points of 1-5.
    """

    sample_id: str
    criterion_id: str
    criterion: str
    candidate_id: str
    candidate: str
    marks: tuple[str, ...]
    apart: float


def asked_again(
    store: Store, data: StudyData, ratings: Ratings, keep: Mask
) -> tuple[RescoredCheckpoint, ...]:
    """List what the judge looked at scored more than once, what changed most first.

    Args:
        store: where the criteria's texts are.
        data: the study, as that judge sees it.
        ratings: all scorings; items are the table's checkpoint rows, judge 0 is the one looked at.
        keep: checkpoint rows that count.

    Returns:
        `MOST` at most.
    """
    mine = (ratings.judge == 0) & (ratings.score > 0) & keep[ratings.item]
    rows = np.flatnonzero(mine)
    rows = rows[np.lexsort((ratings.repeat[rows], ratings.item[rows]))]
    marks: dict[int, list[float]] = {}
    for item, score in zip(ratings.item[rows].tolist(), ratings.score[rows].tolist(), strict=True):
        marks.setdefault(item, []).append(float(score))
    several = [item for item, found in marks.items() if len(found) > 1]
    several.sort(key=lambda item: (min(marks[item]) - max(marks[item]), item))
    table, found = data.table, several[:MOST]
    criteria = {item: table.criterion_ids[int(table.criterion[item])] for item in found}
    words = {one.id: one.question for one in store.get_many(Criterion, set(criteria.values()))}
    models = {item: data.candidates[int(table.model[table.response[item]])] for item in found}
    return tuple(
        RescoredCheckpoint(
            sample_id=table.sample_ids[int(table.sample[table.response[item]])],
            criterion_id=criteria[item],
            criterion=words.get(criteria[item], ""),
            candidate_id=models[item].id,
            candidate=models[item].name,
            marks=tuple(
                f"{one:g}" if table.ours else f"{25 * (one - 1):.0f}" for one in marks[item]
            ),
            apart=max(marks[item]) - min(marks[item]),
        )
        for item in found
    )
