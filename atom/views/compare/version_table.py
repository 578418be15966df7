"""What a later version changed as a table, for the screen, the command, its JSON and the note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.display import numbers
from atom.display.estimate import Estimate
from atom.display.table import Column, Table, data
from atom.views.compare.versions import VersionChange, VersionStep
from taxonomy import format_path

GLYPHS: Final[Mapping[str, str]] = {"worse": "▼", "better": "▲"}
_UNITS = {"process": "score", "outcome": "right", "preference": "votes won"}


def place(one: VersionChange) -> str:
    """Write where a change is: a capability's path, a label, or `WHOLE`."""
    return format_path(one.path) if one.path else one.name


def told(step: VersionStep) -> tuple[VersionChange, ...]:
    """Choose what a reader is told: the whole, then what got worse and better."""
    found = (*step.regressed, *step.found("better"))
    return (step.whole, *(one for one in found if one is not step.whole))


def changes(step: VersionStep, rows: Sequence[VersionChange]) -> Table[VersionChange]:
    """Table changes from the earlier version to the later one.

    Args:
        step: which says what the numbers are.
    """
    unit = _UNITS.get(step.measure, "value")
    columns = (
        Column[VersionChange](title=step.unit,
                              of=lambda one: f"{GLYPHS.get(one.verdict, '')} {place(one)}",
                              write=str.strip, width="36%"),
        *data("name", "path"),
        Column[VersionChange](title=f"{unit} before", of=lambda one: one.before, name="before",
                              write=numbers.score, number=True),
        Column[VersionChange](title="after", of=lambda one: one.after, name="after",
                              write=numbers.score, number=True),
        Column[VersionChange](title="difference (95 %)", of=_gap, name="gap", ends=("lo", "hi"),
                              number=True),
        *data("p"),
        Column[VersionChange](title="p", of=lambda one: one.adjusted, name="adjusted",
                              write=numbers.p_value, number=True, broad=True),
        Column[VersionChange](title="fixed", of=lambda one: one.fixed, name="fixed", number=True),
        Column[VersionChange](title="broken", of=lambda one: one.broke, name="broke", number=True),
        Column[VersionChange](title="samples", of=lambda one: one.samples, name="samples",
                              number=True, broad=True),
        *data("verdict"),
    )  # fmt: skip
    return Table(label="What got worse and better", columns=columns, rows=rows)


def _gap(one: VersionChange) -> Estimate:
    return Estimate(value=one.gap, lo=one.lo, hi=one.hi, samples=one.samples, unit="gap")
