"""A study's texts, read once for as long as it is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atom.records import Checkpoint
from atom.store import Store
from atom.store.reading.texts import StudyTexts, read_texts
from atom.views.study_data import StudyData


def texts_of(store: Store, data: StudyData) -> StudyTexts:
    """Return a study's texts, read once and kept with its table."""
    table = data.table

    def read() -> StudyTexts:
        return read_texts(
            store,
            data.judge.id if data.judge else None,
            samples=table.sample_ids,
            criteria=table.criterion_ids,
            answers=table.response_ids,
            response=table.response.astype(np.int64),
            criterion=table.criterion.astype(np.int64),
        )

    return table.kept.get("texts", read)


def reasons_at(store: Store, data: StudyData, rows: Sequence[int]) -> dict[int, str]:
    """Read why checkpoints have their scores, as it was written.

    Args:
        rows: the checkpoints, by index.

    Returns:
        By index; the judge's own words go before another's.
    """
    table = data.table
    pair = {
        (table.response_ids[table.response[at]], table.criterion_ids[table.criterion[at]]): at
        for at in rows
    }
    judge = data.judge.id if data.judge else ""
    points = store.get_many(Checkpoint, {answer for answer, _ in pair}, "response_id")
    told: dict[int, str] = {}
    for point in points:
        at = pair.get((point.response_id, point.criterion_id))
        if at is not None and (point.judge_id == judge or at not in told):
            told[at] = point.reason or point.detail
    return told
