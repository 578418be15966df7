"""How far a judge's marks move with the picture, for the lab, the command and its CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from atom.analysis.agreement.sight import GROUPS, MOVED, Group, MarkShift
from atom.analysis.agreement.sight import SightMean as Share
from atom.display.estimate import Estimate, Unit
from atom.display.table import Column, Table, Value
from atom.records import SHOWN_WORDS, PictureCondition
from atom.views.lab.sight import GROUP_WORDS, SightView, shown_figures

Line: TypeAlias = "tuple[PictureCondition, Group, MarkShift]"
CRITERIA: Final = "Criteria"


def sight_table(view: SightView) -> Table[Line]:
    """Table what people are shown: both kinds of criteria where they can be told apart."""
    return _table(view, shown_figures(view))


def every(view: SightView) -> Table[Line]:
    """Table all figures, for a file."""
    groups = GROUPS if view.sight.led == "visual" else ("all",)
    every_ = ((name, group, view.sight.by[name, group]) for name in MOVED for group in groups)
    return _table(view, [line for line in every_ if line[2].n])


def moved(one: MarkShift) -> Estimate:
    """Return the share of marks that changed sides."""
    return _measured(one, one.moved, "share")


def _table(view: SightView, lines: list[Line]) -> Table[Line]:
    columns = (
        Column[Line](title="", of=lambda _: view.judge, name="judge", seen="data"),
        Column[Line](title="Marked", of=lambda one: one[0], write=lambda name: SHOWN_WORDS[name],
                     name="shown"),
        Column[Line](title=CRITERIA, of=lambda one: one[1], write=lambda group: GROUP_WORDS[group],
                     name="criteria"),
        _figure("", lambda one: one.n, "marks"),
        _figure("", lambda one: one.clusters, "questions"),
        _figure("Changed sides (95 %)", moved, "moved"),
        _figure("No mark", lambda one: Estimate(value=one.silent, n=one.n, unit="share"), "silent"),
        _figure("", lambda one: _measured(one, one.shift, "plain"), "shift"),
        _figure("Mean shift, 1–5 (95 %)", _shift, term="mean shift"),
        _figure("", lambda one: one.size.value, "size"),
        _figure("", lambda one: _measured(one, one.excess, "plain"), "excess"),
        _figure("Marks", lambda one: one.n, broad=True),
    )  # fmt: skip
    return Table(label="How far marks move", columns=columns, rows=lines)


def _figure(
    title: str,
    of: Callable[[MarkShift], Value],
    name: str = "",
    *,
    term: str = "",
    broad: bool = False,
) -> Column[Line]:
    whole = name in ("moved", "shift", "excess")
    return Column(
        title=title,
        of=lambda line: of(line[2]),
        name=name,
        ends=(f"{name}_lo", f"{name}_hi") if whole else (),
        seen="everywhere" if title else "data",
        number=True,
        term=term,
        broad=broad,
    )


def _measured(one: MarkShift, share: Share, unit: Unit) -> Estimate:
    return Estimate(value=share.value, lo=share.lo, hi=share.hi, n=one.n, unit=unit)


def _shift(one: MarkShift) -> Estimate:
    """Return the mean change on 1-5: four steps for the whole of the scale."""
    value, lo, hi = (4 * x for x in (one.shift.value, one.shift.lo, one.shift.hi))
    return Estimate(value=value, lo=lo, hi=hi, n=one.n, unit="shift")
