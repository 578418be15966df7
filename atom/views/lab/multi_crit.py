"""Which criteria a judge confuses: its share of resolved conflicts by pair of criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from atom.judgebench.base import BenchResult, MetricRow
from atom.judgebench.multi_crit.figures import AGAINST, CONFLICT

Standing = Literal["above", "level", "below"]


@dataclass(frozen=True, kw_only=True)
class CriteriaConflict:
    """Two criteria that people decide differently on the same pairs of answers.

    Attributes:
        value: percent of these conflicts in which the judge has both verdicts right.
        lo: lower end of the 95 % interval.
        chance: percent that a coin reaches.
    """

    value: float
    lo: float
    hi: float
    n: int
    chance: float

    @property
    def standing(self) -> Standing:
        """Whether the interval lies above chance, holds it, or lies below."""
        if self.lo > self.chance:
            return "above"
        return "below" if self.hi < self.chance else "level"


@dataclass(frozen=True, kw_only=True)
class ConflictMatrix:
    """All pairs of criteria of one split.

    Attributes:
        split: as figures name it; empty where there is none.
        names: the criteria, in the published order.
        cells: by (earlier, later) place in `names`; pairs without a conflict are left out.
    """

    split: str
    names: tuple[str, ...]
    cells: Mapping[tuple[int, int], CriteriaConflict]


def conflict_matrices(result: BenchResult) -> tuple[ConflictMatrix, ...]:
    """Lay conflicts out by criteria, a matrix a split.

    Reference:
        Multi-Crit Figure 9 (counts of conflicts), 3.5 (CMR).
    """
    found: dict[str, list[MetricRow]] = {}
    names: dict[str, list[str]] = {}
    for table in result.tables:
        for row in table.rows:
            if row.metric == CONFLICT:
                found.setdefault(row.group, []).append(row)
            elif row.metric == "criterion_accuracy":
                listed = names.setdefault(row.group, [])
                if row.label not in listed:
                    listed.append(row.label)
    matrices = []
    for split, rows in found.items():
        place = {name: at for at, name in enumerate(names.get(split, []))}
        cells: dict[tuple[int, int], CriteriaConflict] = {}
        for row in rows:
            first, _, second = row.label.partition(AGAINST)
            if first in place and second in place:
                at = tuple(sorted((place[first], place[second])))
                cells[at[0], at[1]] = CriteriaConflict(
                    value=row.value, lo=row.lo, hi=row.hi, n=row.n, chance=row.chance
                )
        matrices.append(ConflictMatrix(split=split, names=tuple(place), cells=cells))
    return tuple(matrices)
