"""A judge's figures as one table: for the Judge lab, the `judge` commands and their CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.display import numbers, writers
from atom.display.estimate import Estimate, Unit
from atom.display.table import Column, Table, data
from atom.judgebench.base import BenchResult, MetricRow, MetricTable

FIGURE, OF, BAR, VALUE, GUESSING, N, COUNTING = (
    "Figure", "Of", "Value, guessing dashed", "Value (95 %)", "Guessing", "n", "Counting",
)  # fmt: skip
JUDGE: Final = "Judge"
HEADLINE: Final = "headline"
_GROUPS = {"comp_feedback": "comparison", "meta_feedback": "feedback on feedback"}


@dataclass(frozen=True, kw_only=True)
class JudgeFigure:
    """A figure of a judge, and where it stands.

    Attributes:
        row: the figure.
        judge: the judge's id.
        name: the judge's name.
        table: the heading that the figure is under.
        again: whether the line above is the same figure of another judge.
    """

    row: MetricRow
    judge: str = ""
    name: str = ""
    table: str = HEADLINE
    again: bool = False


def estimate(row: MetricRow) -> Estimate:
    """Return a figure with its interval, in the unit that it is read in."""
    return _measured(row, row.value, row.lo, row.hi)


def chance(row: MetricRow) -> Estimate:
    """Return what guessing gives."""
    return _measured(row, row.chance)


def _measured(row: MetricRow, value: float, lo: float = math.nan, hi: float = math.nan) -> Estimate:
    hundred = row.unit == "correlation" and max(abs(value), abs(row.value)) > 1
    whole = row.unit in ("words", "count")
    unit: Unit = "score" if row.unit == "percent" or hundred else "count" if whole else "plain"
    return Estimate(value=value, lo=lo, hi=hi, n=row.n, unit=unit)


def group_words(group: str) -> str:
    """Write a part of the data as a reader knows it; published names have underscores."""
    return _GROUPS.get(group, group.replace("_", " "))


def figures(told: Sequence[JudgeFigure], title: str, *, judges: bool = False) -> Table[JudgeFigure]:
    """Table figures.

    Args:
        title: their heading.
        judges: whether they are of several judges.
    """
    columns = (
        Column[JudgeFigure](title="", of=lambda one: one.name, name="judge", seen="data"),
        *data("table"),
        Column[JudgeFigure](title=FIGURE, of=lambda one: one.row.label, name="figure", width="24%"),
        Column[JudgeFigure](title="", of=lambda one: one.row.metric, name="metric", seen="data"),
        Column[JudgeFigure](title=OF, of=lambda one: one.row.group, write=group_words, name="group",
                            spare=True),
        Column[JudgeFigure](title=JUDGE, of=lambda one: one.name,
                            seen="everywhere" if judges else "data"),
        Column[JudgeFigure](title=BAR, of=lambda one: "", seen="screen", width="22%", broad=True,
                            term="chance level"),
        Column[JudgeFigure](title=VALUE, of=lambda one: estimate(one.row), name="value",
                            ends=("lo", "hi"), number=True),
        Column[JudgeFigure](title=GUESSING, of=lambda one: chance(one.row), name="chance",
                            number=True, spare=True),
        Column[JudgeFigure](title=N, of=lambda one: one.row.n, name="n", number=True),
        Column[JudgeFigure](title="", of=lambda one: one.row.invalid, name="unread", seen="data"),
        Column[JudgeFigure](title="Unread", of=_unread, number=True),
        Column[JudgeFigure](title=COUNTING, of=lambda one: one.row.rule, name="counting",
                            spare=True),
        Column[JudgeFigure](title="", of=lambda one: one.row.unit, name="unit", seen="data"),
        Column[JudgeFigure](title="", of=lambda one: one.row.note, name="note", seen="data"),
    )  # fmt: skip
    return Table(label=title, columns=columns, rows=told)


def of_table(table: MetricTable, judge: str = "", name: str = "") -> Table[JudgeFigure]:
    """Table what stands under one heading of one judge."""
    told = [JudgeFigure(row=row, judge=judge, name=name, table=table.title) for row in table.rows]
    return figures(told, table.title)


def of_result(
    result: BenchResult, judge: str = "", name: str = ""
) -> tuple[Table[JudgeFigure], ...]:
    """Table all of one judge, the headline first."""
    parts = (MetricTable(title=HEADLINE, rows=result.headline), *result.tables)
    return tuple(of_table(part, judge, name) for part in parts)


def board_csv(results: Mapping[str, BenchResult], names: Mapping[str, str]) -> str:
    """Write the headline figures of all judges as CSV."""
    return writers.csv(*(of_result(result, judge, names.get(judge, judge))[0]
                         for judge, result in results.items()))  # fmt: skip


def of_judges(
    lines: Iterable[Mapping[str, MetricRow]], names: Mapping[str, str]
) -> Table[JudgeFigure]:
    """Table headline figures, each of all judges that have it.

    Args:
        lines: a figure a line: judge's id -> its figure.
        names: judge's id -> name.
    """
    told = [
        JudgeFigure(row=row, judge=judge, name=names[judge], again=bool(at))
        for line in lines
        for at, (judge, row) in enumerate(line.items())
    ]
    return figures(told, "Headline figures of every judge", judges=True)


def _unread(one: JudgeFigure) -> str:
    row = one.row
    share = f" ({numbers.share(row.invalid / row.n)})" if row.invalid and row.n else ""
    return f"{row.invalid:,}{share}"
