"""Answers by the rules that came with their criteria, beside the plain weighted mean.

Dependencies (a child counts only where its parents hold), must-haves (a missed one caps or sinks
the answer) and penalties (points taken, none below zero) are declared by whoever wrote the rubric;
here each stands beside the plain reading, so that it can be seen what it does.

Reference: METHODS T2, last paragraph; DSG 3.3; HealthBench 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.rubric import (
    RubricMarks,
    RuleValues,
    UnreadRule,
    plain,
    with_gates,
    with_parents,
    with_points,
)
from atom.analysis.compare.paired import PairedGap, paired_gap
from atom.analysis.intervals import Floats
from atom.display.estimate import Estimate
from atom.views.filters import Filters, answers_kept
from atom.views.study_data import StudyData

Rule = Literal["plain", "parents", "gates", "points"]
"""How an answer's marks become its value."""
TITLES: Mapping[Rule, str] = {
    "plain": "As marked",
    "parents": "Children only where parents hold",
    "gates": "With must-haves",
    "points": "Points, penalties taken off",
}


@dataclass(frozen=True, kw_only=True)
class RuleCell:
    """One model by one rule.

    Attributes:
        estimate: mean of its answers' values, 0-100.
        touched: marks set to 0, must-haves missed, or penalties taken.
        less: mean difference to the plain reading, points of 0-100, on answers that have both.
        unread: the same mean with marks that couldn't be read counted as not met, 0-100.
    """

    estimate: Estimate
    touched: int
    less: PairedGap
    unread: float


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """One model.

    Attributes:
        model: its place in the study.
        cells: rule -> its figures.
        filters: leads to its answers.
    """

    model: int
    name: str
    cells: Mapping[Rule, RuleCell]
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class RubricView:
    """Models by rules.

    Attributes:
        rules: those that any criterion declares, the plain reading first.
        rows: models with marks, in the study's order.
        children: criteria that rest on others.
        must_haves: criteria that must be met.
        caps: different values that a missed must-have caps an answer at, 0 = it sinks.
        penalties: criteria that take points away.
        unread: marks that couldn't be read, of those kept.
        void: marks that don't apply, of those kept.
    """

    rules: tuple[Rule, ...]
    rows: tuple[RuleRow, ...]
    children: int
    must_haves: int
    caps: tuple[float, ...]
    penalties: int
    unread: int
    void: int


def marked(data: StudyData) -> RubricMarks:
    """Put a study's marks together with what its criteria declare, those aside at last.

    Args:
        data: the study as a judge sees it.
    """
    table = data.table
    criterion = np.concatenate([table.criterion, table.aside[1]]).astype(np.int64)
    takes = table.penalty[criterion]
    none = np.full(table.aside.shape[1], np.nan)
    better = np.concatenate([table.value, none])
    return RubricMarks(
        response=np.concatenate([table.response, table.aside[0]]).astype(np.int64),
        criterion=criterion,
        value=np.where(takes, 1 - better, better),
        weight=np.concatenate([table.weight.astype(np.float64), np.ones(len(none))]),
        met=np.append(table.passes, np.zeros(len(none), dtype=np.bool_)),
        applies=np.append(np.ones(len(table.value), dtype=np.bool_), ~np.isnan(none)),
        penalty=takes,
        gate=table.gate[criterion] < 1,
        cap=table.gate[criterion].astype(np.float64),
        parents=table.parents.astype(np.int64),
        answers=len(table.sample),
    )


def ruled(marks: RubricMarks, rule: Rule, unread: UnreadRule = "left out") -> RuleValues:
    """Return answers' values by a rule.

    Args:
        unread: how marks that couldn't be read count.
    """
    if rule == "parents":
        return with_parents(marks, unread=unread)
    if rule == "points":
        return with_points(marks, unread=unread)
    found = plain(marks, unread=unread)
    return with_gates(marks, found.value) if rule == "gates" else found


def rules_declared(data: StudyData) -> tuple[Rule, ...]:
    """Return the rules that a study's criteria declare, the plain reading first."""
    table = data.table
    declared: Mapping[Rule, bool] = {
        "plain": True,
        "parents": bool(table.parents.shape[1]),
        "gates": bool((table.gate < 1).any()),
        "points": table.any_penalty,
    }
    return tuple(rule for rule, there in declared.items() if there)


def rubric_view(data: StudyData, filters: Filters) -> RubricView | None:
    """Hold the declared rules beside the plain reading, model by model.

    Args:
        data: the study as a judge sees it.
        filters: what narrows it; the root keeps the marks, too.

    Returns:
        None where no criterion declares a rule, or nothing is marked.
    """
    rules = rules_declared(data)
    if len(rules) < 2 or not len(data.table.score):
        return None
    table, marks = data.table, marked(data)
    if filters.root:
        leaf = np.concatenate([table.leaf, table.aside[2]])
        inside = [path[:1] == (filters.root,) for path in table.leaves]
        marks = _only(marks, np.array([*inside, False])[leaf])
    keep = answers_kept(data, filters)
    values = {rule: ruled(marks, rule) for rule in rules}
    strict = {rule: ruled(marks, rule, "unmet") for rule in rules}
    here = keep[marks.response]
    gates = table.gate[table.gate < 1]
    return RubricView(
        rules=rules,
        rows=_rows(data, filters, keep, values, strict),
        children=len(np.unique(table.parents[0])),
        must_haves=len(gates),
        caps=tuple(np.unique(gates.astype(np.float64).round(6)).tolist()),
        penalties=int(table.penalty.sum()),
        unread=int((here & marks.applies & ~marks.read).sum()),
        void=int((here & ~marks.applies).sum()),
    )


def _only(marks: RubricMarks, rows: NDArray[np.bool_]) -> RubricMarks:
    """Keep some marks; parents that are left out bind nobody."""
    names = ("response", "criterion", "value", "weight", "met", "applies", "penalty", "gate", "cap")
    return RubricMarks(
        **{name: getattr(marks, name)[rows] for name in names},
        parents=marks.parents,
        answers=marks.answers,
    )


def _rows(
    data: StudyData,
    filters: Filters,
    keep: NDArray[np.bool_],
    values: Mapping[Rule, RuleValues],
    strict: Mapping[Rule, RuleValues],
) -> tuple[RuleRow, ...]:
    table = data.table
    rows = []
    for number, candidate in enumerate(data.candidates):
        mine = keep & (table.model == number)
        if not np.isfinite(values["plain"].value[mine]).any():
            continue
        cluster = table.cluster[table.sample[mine]].astype(np.int64)
        cells = {
            rule: RuleCell(
                estimate=_mean(one.value[mine], cluster),
                touched=int(one.touched[mine].sum()),
                less=_less(one.value[mine], values["plain"].value[mine], cluster),
                unread=_plain_mean(strict[rule].value[mine]),
            )
            for rule, one in values.items()
        }
        chain = filters.but(model=candidate.id)
        rows.append(RuleRow(model=number, name=candidate.name, cells=cells, filters=chain))
    return tuple(rows)


def _mean(value: Floats, cluster: NDArray[np.int64]) -> Estimate:
    known = np.isfinite(value)
    found = paired_gap(100 * value[known], cluster[known])
    return Estimate(
        value=found.gap,
        lo=max(found.lo, 0.0),
        hi=min(found.hi, 100.0),
        n=found.n,
        samples=found.clusters,
    )


def _less(value: Floats, base: Floats, cluster: NDArray[np.int64]) -> PairedGap:
    both = np.isfinite(value) & np.isfinite(base)
    return paired_gap(100 * (value - base)[both], cluster[both])


def _plain_mean(value: Floats) -> float:
    known = value[np.isfinite(value)]
    return 100 * float(known.mean()) if len(known) else float("nan")
