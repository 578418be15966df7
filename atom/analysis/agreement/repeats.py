"""Repeated marks put together: a criterion's score on an answer is the mean over judge repeats.

Reference: METHODS T3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.records import FAILED, NOT_APPLICABLE


@dataclass(frozen=True, kw_only=True)
class MergedMarks:
    """One row for each (answer, criterion), arrays of shape (M,), in the order of their keys.

    Attributes:
        first: index of its first row among those that were put together.
        score: mean of its scored marks, 1..5; without any -2 = not applicable, says one of them,
            else 0 = unscored, -1 = all failed. Int8 where every mean is a whole number, else
            float64.
        addressed: at least half of its scored marks say that the answer addresses the step.
        carried: more than half of them say that its error was carried forward.
        marks: scored marks that the score is a mean of.
    """

    first: Ints
    score: NDArray[np.int8] | Floats
    addressed: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    marks: Ints


def merge_repeats(
    key: Ints,
    score: NDArray[np.int8] | Floats,
    addressed: NDArray[np.bool_],
    carried: NDArray[np.bool_],
) -> MergedMarks:
    """Put the marks of each (answer, criterion) together.

    Args:
        key: which (answer, criterion) each mark is of, shape (N,); the marks of one are in the
            order of their repeats.
        score: 1..5, 0 = unscored, -1 = failed, -2 = not applicable, shape (N,).
        addressed: whether the answer says anything about the step, shape (N,).
        carried: whether its error was carried forward, shape (N,).

    Returns:
        `s = sum of scores / number of scored marks`. Marks without a score say nothing, except
        where there is no other.
    """
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    if not len(start):
        return MergedMarks(
            first=start,
            score=score[:0],
            addressed=addressed[:0],
            carried=carried[:0],
            marks=start,
        )
    value: NDArray[Any] = score[order]
    scored = value > 0
    if np.issubdtype(value.dtype, np.integer):
        value = value.astype(np.int64)
    marks = np.add.reduceat(scored.astype(np.int64), start)
    total = np.add.reduceat(np.where(scored, value, 0), start)
    # Without any score the one that tells most does: one unusable reply is more than none.
    told = np.where(value == NOT_APPLICABLE, 1, np.where(scored, FAILED, value))
    code = np.maximum.reduceat(told, start)
    code = np.where(code == 1, NOT_APPLICABLE, code)
    mean = np.where(marks > 0, total / np.maximum(marks, 1), code)
    whole = bool((mean == np.rint(mean)).all())
    first = order[start]

    def share(flag: NDArray[np.bool_]) -> Floats:
        said = np.add.reduceat((flag[order] & scored).astype(np.int64), start)
        return np.asarray(np.where(marks > 0, said / np.maximum(marks, 1), flag[first]))

    return MergedMarks(
        first=first,
        score=mean.astype(np.int8) if whole else mean,
        addressed=share(addressed) >= 0.5,
        carried=share(carried) > 0.5,
        marks=marks,
    )
