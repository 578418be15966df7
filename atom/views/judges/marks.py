"""The marks of all judges of a study, people together among them, and what two of them share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.rubric import UnreadRule
from atom.analysis.intervals import Floats, Ints
from atom.records import UNSCORED, Judge
from atom.store.people import ALL_PEOPLE, PEOPLE
from atom.views.filters import Filters, answers_kept
from atom.views.people.rubric import Rule, marked, ruled, rules_declared
from atom.views.study_data import StudyData
from taxonomy import Path

MOST_PEOPLE = "most-people"
"""Stands for what most people say."""
TOGETHER = (ALL_PEOPLE, Judge(id=MOST_PEOPLE, name="Most people", kind="person"))


@dataclass(frozen=True, kw_only=True)
class ValuedMarks:
    """The marks of one judge that have a value, arrays of shape (n,).

    Attributes:
        key: answer x width + criterion, ascending.
        value: 0 to 1.
    """

    key: Ints
    value: Floats


@dataclass(frozen=True, kw_only=True)
class AllJudgesMarks:
    """What all judges of a study gave, under one numbering of answers and criteria.

    Attributes:
        data: the study as it is looked at, whose answers are numbered.
        criterion_ids: criteria that any judge marked.
        leaf: where each hangs, as an index into `leaves`; -1 = nowhere.
        leaves: the capabilities.
        marks: judge's id -> its marks; `PEOPLE` and `MOST_PEOPLE` among them where there are
            several people.
        unread: judge's id -> how many of its marks couldn't be read.
        worth: (judge's id, rule) -> what each answer is worth, 0 to 1, NaN = not known; shape (R,).
    """

    data: StudyData
    criterion_ids: tuple[str, ...]
    leaf: Ints
    leaves: tuple[Path, ...]
    marks: Mapping[str, ValuedMarks]
    unread: Mapping[str, int]
    worth: Mapping[tuple[str, Rule], Floats]

    @property
    def width(self) -> int:
        """Number of criteria, by which keys are made."""
        return max(len(self.criterion_ids), 1)

    def answer(self, key: Ints) -> Ints:
        """Return the answers that keys are about."""
        return key // self.width

    def criterion(self, key: Ints) -> Ints:
        """Return the criteria that keys are about."""
        return key % self.width

    def cluster(self, key: Ints) -> Ints:
        """Return what each mark shares its pictures with."""
        table = self.data.table
        return table.cluster[table.sample[self.answer(key)]].astype(np.int64)

    def kept(self, key: Ints, filters: Filters) -> NDArray[np.bool_]:
        """Say which marks the filters keep: of answers kept, under the root chosen."""
        keep = answers_kept(self.data, filters)[self.answer(key)]
        return keep & self.under((filters.root,), key) if filters.root else keep

    def under(self, node: Path, key: Ints) -> NDArray[np.bool_]:
        """Say which marks hang under a capability; all when the path is empty."""
        if not node:
            return np.ones(len(key), dtype=np.bool_)
        inside = np.array([leaf[: len(node)] == node for leaf in self.leaves] + [False])
        return np.asarray(inside[self.leaf[self.criterion(key)]])


def everyone(
    data: StudyData,
    seen: Mapping[str, StudyData],
    people: Collection[str],
    unread: UnreadRule = "left out",
) -> AllJudgesMarks:
    """Put the marks of a study's judges under one numbering.

    Args:
        seen: judge's id -> the study as that judge sees it.
        people: ids of those judges who are people; several are put together, too.
        unread: how marks that couldn't be read count.
    """
    answers = {name: at for at, name in enumerate(data.table.response_ids)}
    criteria: dict[str, int] = {}
    leaves: dict[Path, int] = {}
    hangs: dict[int, int] = {}
    parts: dict[str, tuple[Ints, Ints, Floats]] = {}
    lost: dict[str, int] = {}
    worth: dict[tuple[str, Rule], Floats] = {}
    for judge, one in seen.items():
        table = one.table
        answer = np.array([answers.get(name, -1) for name in table.response_ids] or [-1])
        number = np.array(
            [criteria.setdefault(name, len(criteria)) for name in table.criterion_ids] or [-1]
        )
        leaf = np.array([leaves.setdefault(path, len(leaves)) for path in table.leaves] + [-1])
        hangs.update(zip(number[table.criterion].tolist(), leaf[table.leaf].tolist(), strict=True))
        value = table.value
        silent = table.score == UNSCORED
        lost[judge] = int(silent.sum())
        if unread == "unmet":
            value = np.where(silent, table.penalty[table.criterion].astype(np.float64), value)
        marks_ = marked(one)
        for rule in rules_declared(one):
            whole = np.full(len(answers), np.nan)
            known = answer[: len(table.response_ids)] >= 0
            found = ruled(marks_, rule, unread).value
            whole[answer[: len(found)][known]] = found[known]
            worth[judge, rule] = whole
        if judge == PEOPLE:
            continue
        at = np.flatnonzero(np.isfinite(value) & (answer[table.response] >= 0))
        parts[judge] = answer[table.response[at]], number[table.criterion[at]], value[at]
    width = max(len(criteria), 1)
    marks = {
        judge: _given(answer.astype(np.int64) * width + criterion, value)
        for judge, (answer, criterion, value) in parts.items()
    }
    persons = [marks[judge] for judge in people if judge in marks]
    if len(persons) > 1:
        marks[PEOPLE] = _together(persons)
        marks[MOST_PEOPLE] = _majority(persons)
    return AllJudgesMarks(
        data=data,
        criterion_ids=tuple(criteria),
        leaf=np.array([hangs.get(at, -1) for at in range(len(criteria))] or [-1], dtype=np.int64),
        leaves=tuple(leaves),
        marks=marks,
        unread=lost,
        worth=worth,
    )


def _given(key: Ints, value: Floats) -> ValuedMarks:
    order = np.argsort(key, kind="stable")
    return ValuedMarks(key=key[order], value=value[order])


def _together(persons: Sequence[ValuedMarks]) -> ValuedMarks:
    """Return the mean of people's marks of each criterion on each answer."""
    key, of = np.unique(np.concatenate([one.key for one in persons]), return_inverse=True)
    total = np.bincount(of, weights=np.concatenate([one.value for one in persons]))
    return ValuedMarks(key=key, value=total / np.bincount(of))


def _majority(persons: Sequence[ValuedMarks]) -> ValuedMarks:
    """Return the value that most people give; nothing where two values share the lead."""
    key, of = np.unique(np.concatenate([one.key for one in persons]), return_inverse=True)
    values, code = np.unique(np.concatenate([one.value for one in persons]), return_inverse=True)
    cell, count = np.unique(of * len(values) + code, return_counts=True)
    thing = cell // max(len(values), 1)
    most = np.zeros(len(key), dtype=np.int64)
    np.maximum.at(most, thing, count)
    leads = count == most[thing]
    alone = np.bincount(thing[leads], minlength=len(key)) == 1
    chosen = cell[leads & alone[thing]]
    return ValuedMarks(key=key[chosen // len(values)], value=values[chosen % len(values)])


@dataclass(frozen=True, kw_only=True)
class SharedMarks:
    """What two judges both marked, arrays of shape (n,): the key, and the value of each."""

    key: Ints
    first: Floats
    second: Floats

    def only(self, rows: NDArray[np.bool_] | Ints) -> SharedMarks:
        """Keep some."""
        return SharedMarks(key=self.key[rows], first=self.first[rows], second=self.second[rows])


def shared_marks(first: ValuedMarks, second: ValuedMarks) -> SharedMarks:
    """Find the criteria of answers that two judges both gave a value."""
    key, one, other = np.intersect1d(first.key, second.key, return_indices=True)
    return SharedMarks(key=key, first=first.value[one], second=second.value[other])
