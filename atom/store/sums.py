"""A checksum a row: what tells a store that was changed behind our back from one that wasn't.

Every row of a record keeps a checksum of its other columns, written with the row. It is made by
triggers that live in our own connections and nowhere else: so whatever way a row of ours is
written, its checksum follows, and whatever another program or a failing disk changes, it doesn't
(design/031). A server's database has checksums of its own; there this does nothing.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import sqlalchemy as sa

from atom.store.schema import KINDS, Kind

COLUMN = "row_sum"
FUNCTION = "atom_sum"
_OF_BYTES = "atom_crc"
_APART = ("real", "bytes")
"""Columns that go in one by one: SQLite's way to write decimals isn't exact."""
_READY = "atom_sums"
_BETWEEN = "\x00"
"""Stands in no text that is stored."""
_NAMED = 3
"""Damaged records that are named; the rest is counted."""


def row_sum(words: str | bytes, *rest: float | bytes | None) -> int:
    """Return the checksum of a row.

    Formula: CRC-32 of the texts and whole numbers of the row, each quoted, one after the other;
    then, one by one, of its other values. A number is the same with and without a point.

    Args:
        words: the quoted texts and whole numbers; as bytes where they may be no texts.
        rest: decimals and bytes.
    """
    found = zlib.crc32(words.encode() if isinstance(words, str) else words)
    for value in rest:
        if isinstance(value, float):
            value = _number(value)
        found = zlib.crc32(value if isinstance(value, bytes) else repr(value).encode(), found)
    return found


def teach(connection: sqlite3.Connection) -> None:
    """Let a connection work checksums out."""
    connection.create_function(FUNCTION, -1, row_sum, deterministic=True)
    connection.create_function(_OF_BYTES, 1, zlib.crc32, deterministic=True)


def call(
    kind: Kind, prefix: str = "", *, raw: bool = False, given: Collection[str] | None = None
) -> str:
    """Return the SQL that works out the checksum of a row of this kind.

    SQLite puts texts and whole numbers together, which costs a fifth of handing each to Python.

    Args:
        kind: the kind; its columns go in by name, so that their order in code is free.
        prefix: before each column, `NEW.`.
        raw: take texts as bytes: those of a damaged row may be no texts.
        given: the columns that are read; the others hold nothing. None = all.
    """
    names = sorted(kind.columns)
    cells = {
        name: f'{prefix}"{name}"' if given is None or name in given else "NULL" for name in names
    }
    plain = [cells[name] for name in names if _is_plain(kind, name)]
    words = f"printf('{','.join(['%Q'] * len(plain))}', {', '.join(plain)})"
    apart = [cells[name] for name in names if not _is_plain(kind, name)]
    if not apart:  # then nothing of ours stands between SQLite and the sum
        return f"{_OF_BYTES}(CAST({words} AS BLOB))"
    return f"{FUNCTION}({', '.join([f'CAST({words} AS BLOB)' if raw else words, *apart])})"


def of_columns(kind: Kind, columns: Sequence[Sequence[Any]]) -> list[int | None]:
    """Return the checksums of rows that aren't written yet, column by column.

    That takes a third of the time of asking SQLite to quote each row.

    Args:
        columns: their cells as they will be stored, in the order of the kind's columns; texts
            without NUL.

    Returns:
        For each row what `call` would give; all None where a cell is of a kind that isn't known
        here, so that the trigger works them out.
    """
    cells = dict(zip(kind.columns, columns, strict=True))
    names = sorted(cells)
    try:
        whole, varying = _template([cells[name] for name in names if _is_plain(kind, name)])
        tails = [
            {value: _tail(value) for value in set(cells[name])}
            for name in names
            if not _is_plain(kind, name)
        ]
    except TypeError:
        return [None] * len(columns[0])
    words = map(whole.__mod__, zip(*varying, strict=True)) if varying else repeat(whole % ())
    found = list(map(zlib.crc32, map(str.encode, islice(words, len(columns[0])))))
    for name, tail in zip((n for n in names if not _is_plain(kind, n)), tails, strict=True):
        found = list(map(zlib.crc32, map(tail.__getitem__, cells[name]), found))
    return list(found)


def _is_plain(kind: Kind, name: str) -> bool:
    return kind.columns[name] not in _APART


def _template(columns: Sequence[Sequence[Any]]) -> tuple[str, list[Sequence[str]]]:
    """Return the quoted cells of a row, with a gap for each column whose cells differ."""
    parts: list[str] = []
    varying: list[Sequence[str]] = []
    for column in columns:
        if column.count(column[0]) == len(column):
            parts.append(_quoted(column[0]).replace("%", "%%"))
        elif set(map(type, column)) == {str}:
            parts.append("'%s'")
            texts = _BETWEEN.join(column)
            same = "'" not in texts
            varying.append(column if same else texts.replace("'", "''").split(_BETWEEN))
        else:
            parts.append("%s")
            varying.append(list(map(_quoted, column)))
    return ",".join(parts), varying


def _quoted(value: object) -> str:
    """Quote a cell as SQLite's `%Q` does."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int):
        return f"'{int(value)}'"
    raise TypeError(value)


def _tail(value: object) -> bytes:
    if value is None or isinstance(value, int | float):
        found = None if value is None or value != value else float(value)
        return b"None" if found is None else _number(found)
    raise TypeError(value)


def _number(value: float) -> bytes:
    return repr(int(value) if value.is_integer() else value).encode()


def keep_up(connection: sa.Connection) -> None:
    """See to it that whatever this connection writes from now on carries its checksum."""
    if connection.dialect.name != "sqlite" or connection.info.get(_READY):
        return
    for kind in KINDS.values():
        changed = ", ".join(f'"{name}"' for name in kind.columns)
        connection.exec_driver_sql(_put_trigger(kind))
        connection.exec_driver_sql(
            f"CREATE TEMP TRIGGER IF NOT EXISTS {kind.table.name}_set AFTER UPDATE OF {changed} "
            f"ON {kind.table.name} {_set_sum(kind)}"
        )
    connection.info[_READY] = True


def let_go(connection: sa.Connection) -> None:
    """Note that a transaction was taken back: the triggers that it made went with it."""
    if not connection.invalidated:  # else they went with the connection
        connection.info.pop(_READY, None)


def without_trigger(kind: Kind) -> tuple[str, str]:
    """Return what stops and what resumes working out checksums of new rows of a kind.

    For a statement whose rows bring theirs: where a trigger might look, SQLite makes a copy of all
    rows before it writes the first, a fifth of the time.
    """
    return f"DROP TRIGGER IF EXISTS temp.{kind.table.name}_put", _put_trigger(kind)


def _put_trigger(kind: Kind) -> str:
    table = kind.table.name
    return (
        f"CREATE TEMP TRIGGER IF NOT EXISTS {table}_put AFTER INSERT ON {table} "
        f"WHEN NEW.{COLUMN} IS NULL {_set_sum(kind)}"
    )


def _set_sum(kind: Kind) -> str:
    return (
        f"BEGIN UPDATE {kind.table.name} SET {COLUMN} = {call(kind, 'NEW.')} "
        "WHERE rowid = NEW.rowid; END"
    )


def columns_of(connection: sa.Connection) -> dict[str, set[str]]:
    """Return the columns of each record's table, as the database has them now."""
    found = {}
    for kind in KINDS.values():
        rows = connection.exec_driver_sql(f"PRAGMA table_info({kind.table.name})").all()
        found[kind.table.name] = {str(row[1]) for row in rows}
    return found


def fill(connection: sa.Connection, before: dict[str, set[str]]) -> None:
    """Give every row its checksum after a migration, where it has none or the columns are others.

    Args:
        before: the columns of each table before the migration.
    """
    for name, columns in columns_of(connection).items():
        kind = next(kind for kind in KINDS.values() if kind.table.name == name)
        if COLUMN not in columns:
            connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN {COLUMN} INTEGER")
        if COLUMN not in columns or columns != before[name]:
            connection.exec_driver_sql(f"UPDATE {name} SET {COLUMN} = {call(kind)}")


# --- what isn't what was written -----------------------------------------------------------------

_WORDS = {
    "samples": "questions",
    "responses": "answers",
    "checkpoints": "scores",
    "calls": "calls with their replies",
    "replays": "solutions by a judge",
    "criteria_sets": "sets of criteria",
    "mappings": "places of criteria in a tree",
    "outcomes": "verdicts right or wrong",
    "study_samples": "places of questions in a study",
    "study_candidates": "places of models in a study",
    "preferences": "votes",
    "annotations": "people's labels",
}
_STUDY_OF = {
    "study_id": "SELECT d.study_id",
    "sample_id": "SELECT p.study_id FROM study_samples p WHERE p.sample_id = d.sample_id",
    "response_id": "SELECT p.study_id FROM responses r JOIN study_samples p "
    "ON p.sample_id = r.sample_id WHERE r.id = d.response_id",
    "criterion_id": "SELECT p.study_id FROM criteria c JOIN study_samples p "
    "ON p.sample_id = c.sample_id WHERE c.id = d.criterion_id",
}
"""How a damaged row tells which studies it touches, the first column that it has."""
_OWN = {
    "studies": "SELECT d.id",
    "samples": "SELECT p.study_id FROM study_samples p WHERE p.sample_id = d.id",
}


@dataclass(frozen=True, kw_only=True)
class Damage:
    """Rows of one table that aren't what was written.

    Args:
        n: how many.
        keys: the first of them, by their keys.
        studies: names of studies that they touch, as far as they can be told.
    """

    table: str
    n: int
    keys: tuple[str, ...]
    studies: tuple[str, ...]

    def __str__(self) -> str:
        keys = ", ".join(map(repr, self.keys)) + (", ..." if self.n > len(self.keys) else "")
        what = _WORDS.get(self.table, self.table)
        touched = f" of {', '.join(map(repr, self.studies))}" if self.studies else ""
        rows = "1 row" if self.n == 1 else f"{self.n:,} rows"
        return (
            f"{what}{touched} aren't what was written: damaged, or changed by another program "
            f"({rows} of {self.table}: {keys})"
        )


def damages(connection: sa.Connection) -> Iterator[Damage | sa.exc.DBAPIError]:
    """Find rows that aren't what was written, table by table; name a table that can't be read."""
    if connection.dialect.name != "sqlite":
        return
    for kind in KINDS.values():
        try:
            found = _damage(connection, kind)
        except sa.exc.DBAPIError as error:
            yield error
            continue
        if found is not None:
            yield found


def _damage(connection: sa.Connection, kind: Kind) -> Damage | None:
    table = kind.table.name
    key = ", ".join(f'CAST("{name}" AS BLOB)' for name in kind.key)
    wrong = f"{COLUMN} IS NULL OR {COLUMN} <> {call(kind, raw=True)}"
    rows = connection.exec_driver_sql(f"SELECT rowid, {key} FROM {table} WHERE {wrong}").all()
    if not rows:
        return None
    keys = tuple(" ".join(_shown(cell) for cell in row[1:]) for row in rows[:_NAMED])
    studies = _touched(connection, kind, [int(row[0]) for row in rows])
    return Damage(table=table, n=len(rows), keys=keys, studies=studies)


def _touched(connection: sa.Connection, kind: Kind, rows: Sequence[int]) -> tuple[str, ...]:
    table = kind.table.name
    inner = _OWN.get(table) or next(
        (sql for name, sql in _STUDY_OF.items() if name in kind.columns), None
    )
    if inner is None:
        return ()
    named: set[str] = set()
    with suppress(sa.exc.DBAPIError):
        for start in range(0, len(rows), 500):
            listed = ", ".join(map(str, rows[start : start + 500]))
            found = connection.exec_driver_sql(
                f"SELECT DISTINCT CAST(s.name AS BLOB) FROM {table} d, studies s "
                f"WHERE d.rowid IN ({listed}) AND s.id IN ({inner})"
            )
            named |= {_shown(name) for (name,) in found}
    return tuple(sorted(named))


def _shown(cell: object) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
