"""Whether a criterion's marks run against all others: a sign that its polarity is reversed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from atom.formats.judgments.scales import sounds_bad

_MOST_CRITERIA = 200
_MOST_MARKS = 5_000_000
_LEAST_ANSWERS = 20
_REVERSED = -0.3
_MOST_LINES = 8


class Directions:
    """Gathers values by criterion and answer."""

    def __init__(self) -> None:
        self._criterion = array("l")
        self._answer = array("l")
        self._value = array("d")
        self._answers: dict[str, int] = {}

    def add(self, criterion: int, response_id: str, value: float) -> None:
        """Take a mark's value.

        Args:
            criterion: the number of the criterion's wording.
            value: from 0 to 1, 1 being what the map calls best.
        """
        if criterion < _MOST_CRITERIA and len(self._value) < _MOST_MARKS:
            self._criterion.append(criterion)
            self._answer.append(self._answers.setdefault(response_id, len(self._answers)))
            self._value.append(value)

    def doubtful(self, texts: Sequence[str]) -> list[str]:
        """Say of which criteria a high mark may be a bad one, a line each.

        A criterion is named where its values correlate with the mean of all others of the same
        answers at -.3 or less, over 20 answers or more.

        Args:
            texts: each criterion's wording, by its number.
        """
        criterion = np.frombuffer(self._criterion, dtype=np.int64)
        answer = np.frombuffer(self._answer, dtype=np.int64)
        value = np.frombuffer(self._value, dtype=np.float64)
        if not len(value):
            return []
        n_answers = len(self._answers)
        total = np.bincount(answer, value, n_answers)
        count = np.bincount(answer, minlength=n_answers)
        lines = []
        for at in np.unique(criterion):
            mine = criterion == at
            own_total = np.bincount(answer[mine], value[mine], n_answers)
            own_count = np.bincount(answer[mine], minlength=n_answers)
            both = (own_count > 0) & (count > own_count)
            r = _correlation(
                own_total[both] / own_count[both],
                (total[both] - own_total[both]) / (count[both] - own_count[both]),
            )
            if r is not None and r <= _REVERSED:
                worded = " (so does its wording)" if sounds_bad(texts[at]) else ""
                lines.append(
                    f"a high mark of {texts[at][:80]!r} may be a bad one{worded}: its marks fall "
                    f"where all others rise (r = {r:.2f}, {int(both.sum()):,} answers); if so, "
                    "declare `polarity: lower` or `penalty: true` for it"
                )
        return lines[:_MOST_LINES]


def _correlation(a: np.ndarray, b: np.ndarray) -> float | None:
    if len(a) < _LEAST_ANSWERS or not a.std() or not b.std():
        return None
    return float(np.corrcoef(a, b)[0, 1])
