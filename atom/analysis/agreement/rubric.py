"""An answer's value under the rules that came with its criteria: parents, must-haves, penalties.

The plain weighted mean stays what every screen counts with; these readings stand beside it, so that
nobody has to take a rule on trust. A mark that couldn't be read is never a number of its own: it is
left out, or counts as not met where a published figure counts it so (`unread="unmet"`).

Reference: METHODS T2 (dependencies), A1; Davidsonian Scene Graph (DSG), 3.3; HealthBench, 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints

Mask = NDArray[np.bool_]
UnreadRule = Literal["left out", "unmet"]
"""How a mark that couldn't be read counts."""


@dataclass(frozen=True, kw_only=True)
class RubricMarks:
    """Marks with what the criteria declare, rows of shape (N,).

    Attributes:
        response: index of the answer.
        criterion: code of the criterion.
        value: 0 to 1; NaN = couldn't be read, or isn't there.
        weight: positive; of a penalty, what it takes away.
        met: whether it is a number that is met on its scale (4 or more of 1 to 5, a yes).
        applies: False where the criterion doesn't apply to the answer: it is in no figure.
        penalty: True where it takes points away.
        gate: True where it is a must-have.
        cap: what an answer that misses this must-have can reach at most, 0 to 1; 0 = it sinks.
        parents: criteria and those they rest on, as codes, shape (2, P).
        answers: number of answers.
    """

    response: Ints
    criterion: Ints
    value: Floats
    weight: Floats
    met: Mask
    applies: Mask
    penalty: Mask
    gate: Mask
    cap: Floats
    parents: Ints
    answers: int

    @property
    def read(self) -> Mask:
        """Which marks are numbers."""
        return np.asarray(np.isfinite(self.value) & self.applies)


@dataclass(frozen=True, kw_only=True)
class RuleValues:
    """Answers' values by one rule, shape (R,).

    Attributes:
        value: 0 to 1; NaN where nothing can be said.
        touched: marks (or must-haves missed, or penalties taken) that the rule acted on.
    """

    value: Floats
    touched: Ints


def plain(marked: RubricMarks, *, unread: UnreadRule = "left out") -> RuleValues:
    """Return the weighted mean of an answer's marks; what penalises stands in as its opposite.

    A penalty that didn't occur is met: its value is turned round.

    Args:
        unread: how marks that couldn't be read count.
    """
    value = np.where(marked.penalty, 1 - marked.value, marked.value)
    return RuleValues(
        value=_mean(marked, value, unread), touched=np.zeros(marked.answers, dtype=np.int64)
    )


def with_parents(marked: RubricMarks, *, unread: UnreadRule = "left out") -> RuleValues:
    """Return the weighted mean where a criterion counts only if what it rests on holds.

    A child is 0 where any parent's own mark in that answer is other than met; a parent that itself
    rests on a failed one is judged by its own mark, so nothing is passed on. A child whose parent
    doesn't apply doesn't apply either.

    Args:
        unread: how marks that couldn't be read count.

    Returns:
        Values, and how many marks were set to 0.

    Reference:
        METHODS T2, last paragraph; DSG 3.3.
    """
    broken, void = _below(marked)
    hit = broken & marked.read & ~void & (marked.value > 0)
    value = np.where(hit, 0.0, marked.value)
    value = np.where(marked.penalty, 1 - value, value)
    found = _mean(marked, value, unread, ~void)
    touched = np.bincount(marked.response[hit], minlength=marked.answers)
    return RuleValues(value=found, touched=touched.astype(np.int64))


def with_gates(marked: RubricMarks, mean: Floats) -> RuleValues:
    """Bound answers' values by their must-haves: a missed one caps the answer, or sinks it.

    Args:
        mean: the values before, shape (R,).

    Returns:
        Values (NaN where a must-have couldn't be read and none was missed: nobody knows), and how
        many must-haves were missed.
    """
    gate = marked.gate & marked.applies
    missed = gate & marked.read & ~marked.met
    doubtful = gate & ~marked.read
    limit = np.ones(marked.answers)
    np.minimum.at(limit, marked.response[missed], marked.cap[missed])
    value = np.minimum(mean, limit)
    unknown = np.bincount(marked.response[doubtful], minlength=marked.answers) > 0
    lost = np.bincount(marked.response[missed], minlength=marked.answers)
    value[unknown & (lost == 0)] = np.nan
    return RuleValues(value=value, touched=lost.astype(np.int64))


def with_points(marked: RubricMarks, *, unread: UnreadRule = "left out") -> RuleValues:
    """Return points earned less points taken, of the most that can be earned; 0 at least.

    `sum(w x, credits) - sum(w x, penalties)` over `sum(w, credits)`.

    Args:
        unread: how marks that couldn't be read count; left out, their points can't be earned.

    Returns:
        Values (NaN where no point can be earned), and how many penalties took points.

    Reference:
        HealthBench 3.2.
    """
    known = marked.applies if unread == "unmet" else marked.read
    value = np.nan_to_num(marked.value, nan=0.0)
    sign = np.where(marked.penalty, -1.0, 1.0)
    earned = _sum(marked, known * sign * marked.weight * value)
    most = _sum(marked, known * (~marked.penalty) * marked.weight)
    taken = marked.penalty & known & (value > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(most > 0, np.maximum(earned / most, 0.0), np.nan)
    touched = np.bincount(marked.response[taken], minlength=marked.answers)
    return RuleValues(value=np.minimum(share, 1.0), touched=touched.astype(np.int64))


def _below(marked: RubricMarks) -> tuple[Mask, Mask]:
    """Say which marks have a parent that is marked and doesn't hold, or that doesn't apply."""
    n = len(marked.value)
    broken, void = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    if not marked.parents.shape[1] or not n:
        return broken, void
    child, parent = marked.parents.astype(np.int64)
    width = int(max(child.max(), parent.max(), marked.criterion.max())) + 1
    key = marked.response.astype(np.int64) * width + marked.criterion
    order = np.argsort(key, kind="stable")
    holds = marked.met
    rank = np.argsort(child, kind="stable")
    child, parent = child[rank], parent[rank]
    start = np.searchsorted(child, marked.criterion)
    count = np.searchsorted(child, marked.criterion, side="right") - start
    for nth in range(int(count.max(initial=0))):
        has = np.flatnonzero(count > nth)
        wanted = marked.response[has].astype(np.int64) * width + parent[start[has] + nth]
        place = np.minimum(np.searchsorted(key[order], wanted), n - 1)
        above = order[place]
        there = key[above] == wanted
        broken[has] |= there & marked.applies[above] & ~holds[above]
        void[has] |= there & ~marked.applies[above]
    return broken, void


def _sum(marked: RubricMarks, values: Floats) -> Floats:
    total = np.bincount(marked.response, weights=values, minlength=marked.answers)
    return total.astype(np.float64)


def _mean(
    marked: RubricMarks, value: Floats, unread: UnreadRule, more: Mask | None = None
) -> Floats:
    known = marked.applies if unread == "unmet" else marked.read
    known = known if more is None else known & more
    weight = np.where(known, marked.weight, 0.0)
    total = _sum(marked, weight)
    top = _sum(marked, weight * np.nan_to_num(value, nan=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, top / np.where(total > 0, total, 1.0), np.nan)
