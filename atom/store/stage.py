"""The temporary table of one kind of record, on its way into the store.

Most columns of an import hold one value in all of its rows (`imported`, nothing, an empty text).
Such a column isn't written row by row, which costs more than half of the time: it is shown by a
view, and becomes a column of the table with the first row that says something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import sqlalchemy as sa

from atom.records.rows import Columns, Row
from atom.store import sums
from atom.store.schema import Kind, plain_cell

_ROWS_A_STATEMENT = 50
_LONGEST_CONSTANT = 200
_UNQUOTABLE = frozenset("'%\\\x00")


class CellWriter:
    """Writes the cells of rows of one kind, column by column.

    Args:
        kind: how its records are stored.
    """

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        columns = kind.table.columns
        self._nested = tuple(at for at, name in enumerate(columns.keys()) if name in kind.nested)
        self._texts = tuple(
            at
            for at, column in enumerate(columns)
            if isinstance(column.type, sa.Text) and column.name not in kind.nested
        )
        self._last: dict[int, tuple[Any, str]] = {}

    def of(self, rows: Sequence[Row]) -> Columns:
        """Return one row or more, given as their values in the order of their fields."""
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        for at in self._nested:
            columns[at] = self._cells(at, columns[at])
        return Columns(kind=self._kind.record, cells=columns)

    def finished(self, given: Columns, *, summed: bool) -> Columns:
        """Return what goes into the store: texts as it takes them, with the checksums it keeps.

        Args:
            given: rows; what is done already isn't done again.
            summed: whether the store keeps checksums.
        """
        columns = list(given.cells)
        if not given.is_plain:
            for at in self._texts:
                if not _is_plain(columns[at]):
                    columns[at] = [plain_cell(text) if text else text for text in columns[at]]
        found = given.sums
        if summed and found is None:
            found = sums.of_columns(self._kind, columns)
        return Columns(kind=given.kind, cells=columns, is_plain=True, sums=found)

    def _cells(self, at: int, values: Sequence[Any]) -> list[str | None]:
        """Write a column of nested values, of which most hold one in all of their rows."""
        if len(set(map(id, values))) == 1:
            return [None if values[0] is None else self._cell(at, values[0])] * len(values)
        return [None if value is None else self._cell(at, value) for value in values]

    def _cell(self, at: int, value: Any) -> str:
        """Write a nested value; the same one often stands in row after row."""
        if value.__class__ is tuple and not value:
            return "[]"
        last = self._last.get(at)
        # Records are compared by name alone: to compare what they hold costs more than to write it.
        comparable = value.__class__ is tuple and value[0].__class__ is str
        if last is None or not (last[0] is value or (comparable and last[0] == value)):
            last = self._last[at] = (value, plain_cell(value))
        return last[1]


class RowStage:
    """Gathers rows of one kind, numbered in the order met; `name` shows them whole.

    Args:
        kind: how its records are stored.
        connection: whose temporary tables are used.
    """

    def __init__(self, kind: Kind, connection: sa.Connection) -> None:
        self.kind = kind
        self.name = f"staged_{kind.table.name}"
        self.columns = tuple(kind.table.columns.keys())
        self.sum = sums.COLUMN if connection.dialect.name == "sqlite" else None
        """The column with each row's checksum, where the store keeps them."""
        self.is_summed = self.sum is not None
        """Whether all rows bring their checksums."""
        self.rows = 0
        self._connection = connection
        self._table = f"rows_{kind.table.name}"
        self._written: list[int] = []
        self._constants: dict[int, object] = dict.fromkeys(range(len(self.columns)))
        self._is_shown = False
        self._since = 0
        self._has_view = False
        self._cells = CellWriter(kind)

    def add(self, rows: Sequence[Row]) -> None:
        """Take records in: their values, in the order of their fields."""
        if rows:
            self.put(self._cells.of(rows))

    def put(self, given: Columns) -> None:
        """Take in rows, one or more, whose nested values are texts already."""
        done = self._cells.finished(given, summed=self.sum is not None)
        columns = done.cells
        n = len(columns[0])
        self._widen(columns)
        own: list[Sequence[Any]] = [range(self.rows, self.rows + n)]
        if done.sums is not None:
            own.append(done.sums)
            self.is_summed &= done.sums[0] is not None
        self._insert([*(columns[at] for at in self._written), *own])
        self.rows += n

    def show(self, since: int = 0) -> None:
        """Let `name` show all columns of rows; to be called before it is read.

        Args:
            since: the number of the first row that is shown.
        """
        if self._is_shown and since == self._since:
            return
        self._since = since
        self._drop_view()
        if not self.rows:
            self._make_table()
        shown = ", ".join(
            f"CAST({self._literal(at)} AS {self._type(at)}) AS {self._quoted(at)}"
            if at in self._constants
            else self._quoted(at)
            for at in range(len(self.columns))
        )
        self._connection.exec_driver_sql(
            f"CREATE TEMPORARY VIEW {self.name} AS SELECT {shown}, {', '.join(self._own)} "
            f"FROM {self._table}{f' WHERE seq >= {since}' if since else ''}"
        )
        self._is_shown = self._has_view = True

    def _drop_view(self) -> None:
        """Take the view away: a server keeps a table that one hangs on."""
        if self._has_view:
            self._connection.exec_driver_sql(f"DROP VIEW {self.name}")
        self._is_shown = self._has_view = False

    @property
    def _own(self) -> list[str]:
        """Columns of ours beside the record's."""
        return ["seq"] if self.sum is None else ["seq", self.sum]

    @property
    def order(self) -> str:
        """What sorts the rows by their key; of equal keys the one that came first comes first."""
        varying = [
            f'"{name}"' for name in self.kind.key if self.columns.index(name) in self._written
        ]
        return ", ".join((*varying, "seq"))

    def same_key(self, one: str, other: str) -> str:
        """Return the condition that two rows have one key."""
        return " AND ".join(f'{one}."{name}" = {other}."{name}"' for name in self.kind.key)

    def _widen(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write those columns from now on that don't hold one value any longer."""
        if not self.rows:
            self._constants = {at: cells[0] for at, cells in enumerate(columns)}
        changed = [
            at
            for at, value in self._constants.items()
            if columns[at].count(value) < len(columns[at]) or not _can_be_constant(value)
        ]
        if not self.rows:
            self._written = changed
            self._make_table()
        else:
            for at in changed:
                self._connection.exec_driver_sql(
                    f"ALTER TABLE {self._table} ADD COLUMN {self._quoted(at)} {self._type(at)} "
                    f"DEFAULT {self._literal(at)}"
                )
            self._written += changed
            self._is_shown &= not changed
        for at in changed:
            del self._constants[at]

    def _make_table(self) -> None:
        self._drop_view()
        written = [f"{self._quoted(at)} {self._type(at)}" for at in self._written]
        sum_ = [f"{name} INTEGER" for name in self._own[1:]]
        self._connection.exec_driver_sql(f"DROP TABLE IF EXISTS {self._table}")
        self._connection.exec_driver_sql(
            f"CREATE TEMPORARY TABLE {self._table} "
            f"({', '.join(['seq INTEGER PRIMARY KEY', *sum_, *written])})"
        )

    def _insert(self, columns: Sequence[Sequence[Any]]) -> None:
        """Insert many rows a statement, and what is left over one by one."""
        mark = "?" if self._connection.dialect.name == "sqlite" else "%s"
        names = ", ".join([*map(self._quoted, self._written), *self._own])
        one = f"({', '.join([mark] * len(columns))})"
        rows = list(zip(*columns, strict=True))
        whole = len(rows) - len(rows) % _ROWS_A_STATEMENT
        if whole:
            self._connection.exec_driver_sql(
                f"INSERT INTO {self._table} ({names}) VALUES "
                f"{', '.join([one] * _ROWS_A_STATEMENT)}",
                [
                    tuple(chain.from_iterable(rows[at : at + _ROWS_A_STATEMENT]))
                    for at in range(0, whole, _ROWS_A_STATEMENT)
                ],
            )
        if whole < len(rows):
            self._connection.exec_driver_sql(
                f"INSERT INTO {self._table} ({names}) VALUES {one}", rows[whole:]
            )

    def _quoted(self, at: int) -> str:
        return f'"{self.columns[at]}"'

    def _type(self, at: int) -> str:
        column = self.kind.table.columns[self.columns[at]]
        return column.type.compile(self._connection.dialect)

    def _literal(self, at: int) -> str:
        value: Any = self._constants[at]
        if value is None:
            return "NULL"
        return f"'{value}'" if isinstance(value, str) else str(int(value))


def _can_be_constant(value: object) -> bool:
    """Whether a value can stand in a statement; numbers are few enough to be written."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_CONSTANT and _UNQUOTABLE.isdisjoint(value)
    return value is None or value.__class__ in (int, bool)


def _is_plain(texts: Iterable[str | None]) -> bool:
    """Whether databases take all of these as they are."""
    whole = "".join(filter(None, texts))
    return whole.isascii() and "\x00" not in whole
