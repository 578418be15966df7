"""How far a panel's judges are apart on a checkpoint, for tables that go through the samples.

Reference: METHODS T5.
"""

from __future__ import annotations

import numpy as np

from atom.views.study_data import StudyData


class JudgesApart:
    """Finds checkpoints' disagreement by answer and criterion."""

    def __init__(self, data: StudyData) -> None:
        table = data.table
        self._told = table.disagreement if table.apart is not None else None
        if self._told is None:
            return
        self._answers = {name: at for at, name in enumerate(table.response_ids)}
        self._criteria = {name: at for at, name in enumerate(table.criterion_ids)}
        self._width = max(len(self._criteria), 1)
        key = table.response.astype(np.int64) * self._width + table.criterion
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]

    def points(self, answer: str, criterion: str) -> float | None:
        """Return the standard deviation over judges, in points of 0-100; None with one judge."""
        if self._told is None:
            return None
        row, column = self._answers.get(answer), self._criteria.get(criterion)
        if row is None or column is None:
            return None
        wanted = row * self._width + column
        at = int(np.searchsorted(self._key, wanted))
        if at == len(self._key) or self._key[at] != wanted:
            return None
        value = 100 * float(self._told[self._order[at]])
        return round(value, 3) if np.isfinite(value) else None
