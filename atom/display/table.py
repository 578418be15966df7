"""A table as a value: each column is declared once, and every writer reads the same rows.

A screen, a command, a CSV and a report can only differ in what they leave out, never in what a cell
says: `write` is the one place that turns a value into text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from atom.display import numbers
from atom.display.estimate import Estimate

R = TypeVar("R")
Value: TypeAlias = "str | int | float | bool | tuple[str, ...] | Estimate | None"


Visibility: TypeAlias = Literal["everywhere", "screen", "text", "data"]
_EMPTY: Final = ("", numbers.NONE)


def words(value: Value) -> str:
    """Write a value as it is read: `1,200`, `0.41`, `62.1 (58.4–65.7)`, `–` where there is none."""
    if value is None:
        return numbers.NONE
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return "\n".join(value)
    return numbers.plain(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, kw_only=True)
class Column(Generic[R]):
    """A column.

    Attributes:
        title: its heading; of a column that is only data, empty.
        of: the cell's value of a row.
        write: turns the value into the text that people read.
        name: what CSV and JSON call it; empty = people only.
        ends: what these call both ends of an estimate's interval; left out where empty.
        seen: where people see it; only on a `screen` (a bar) or in `text`; nowhere, since it is
            `data`.
        when: people don't see it otherwise.
        spare: people don't see it where no row has anything in it.
        number: right-aligned.
        term: the glossary's word for it, which the heading explains.
        broad: left out where a screen is narrow.
        width: CSS width on a screen.
    """

    title: str
    of: Callable[[R], Value]
    write: Callable[[Any], str] = words
    name: str = ""
    ends: tuple[str, ...] = ()
    seen: Visibility = "everywhere"
    when: bool = True
    spare: bool = False
    number: bool = False
    term: str = ""
    broad: bool = False
    width: str | None = None

    def text(self, row: R) -> str:
        """Write a row's cell."""
        return self.write(self.of(row))

    @property
    def names(self) -> tuple[str, ...]:
        """What CSV and JSON hold of it."""
        return (self.name, *self.ends) if self.name else ()

    def data(self, row: R) -> dict[str, object]:
        """Return what CSV and JSON hold of a row: a value by name, None where it isn't known."""
        value = self.of(row)
        whole = (value.value, value.lo, value.hi) if isinstance(value, Estimate) else (value,)
        found = dict(zip(self.names, whole, strict=False))
        return {name: _finite(found.get(name)) for name in self.names}


def data(*names: str) -> tuple[Column[Any], ...]:
    """Declare columns for CSV and JSON alone, each the row's attribute of that name."""
    return tuple(Column(title="", of=attrgetter(name), name=name, seen="data") for name in names)


@dataclass(frozen=True, kw_only=True)
class Table(Generic[R]):
    """Rows under declared columns.

    Attributes:
        label: what it shows.
        columns: left to right.
        rows: top to bottom.
    """

    label: str
    columns: tuple[Column[R], ...]
    rows: Sequence[R]

    def shown(self, on: Literal["screen", "text"]) -> tuple[Column[R], ...]:
        """Return the columns that people see on a screen, or in text of any kind."""
        return tuple(
            column
            for column in self.columns
            if column.when
            and column.seen in ("everywhere", on)
            and not (column.spare and all(column.text(row) in _EMPTY for row in self.rows))
        )

    @property
    def documents(self) -> list[dict[str, object]]:
        """The rows as JSON has them."""
        return [
            {name: one for column in self.columns for name, one in column.data(row).items()}
            for row in self.rows
        ]

    @property
    def names(self) -> list[str]:
        """The names of all that CSV and JSON hold."""
        return [name for column in self.columns for name in column.names]


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
