"""Integrity: proves that what the store holds fits together."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from atom.errors import PictureError
from atom.records import (
    JUDGE_SCALE,
    Call,
    Checkpoint,
    CriteriaSet,
    Criterion,
    Mapping,
    Picture,
    Replay,
    Response,
    Sample,
    Study,
    StudySample,
    blob_hash,
)
from atom.store.schema import KINDS, table
from atom.store.store import Store
from atom.store.sums import damages


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """What a check found.

    Attributes:
        counts: records by table.
        states: checkpoints by state.
        problems: what doesn't fit, a line each; empty = sound.
    """

    counts: dict[str, int]
    states: dict[str, int]
    problems: tuple[str, ...]


_LINKS = (
    # (child, column, parent, key)
    (Response, "sample_id", Sample, "id"),
    (Response, "call_id", Call, "id"),
    (Replay, "sample_id", Sample, "id"),
    (Replay, "call_id", Call, "id"),
    (Criterion, "sample_id", Sample, "id"),
    (CriteriaSet, "sample_id", Sample, "id"),
    (CriteriaSet, "call_id", Call, "id"),
    (Mapping, "criterion_id", Criterion, "id"),
    (Checkpoint, "criterion_id", Criterion, "id"),
    (Checkpoint, "response_id", Response, "id"),
    (Checkpoint, "call_id", Call, "id"),
    (StudySample, "sample_id", Sample, "id"),
    (StudySample, "study_id", Study, "id"),
    (StudySample, "replay_id", Replay, "id"),
    (StudySample, "criteria_set_id", CriteriaSet, "id"),
)


def check_store(store: Store, *, pictures: bool = True) -> CheckReport:
    """Check the database file, every link between records, every state, and the pictures.

    Args:
        pictures: read every picture file and compare it with its hash.

    Returns:
        Counts and problems.

    Raises:
        CorruptError: the file can't be read as a database at all.
    """
    problems: list[str] = []
    with store.read() as connection:
        if connection.dialect.name == "sqlite":
            verdicts = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            problems += [f"database: {line}" for line in verdicts if line != "ok"]
        for found in damages(connection):
            problems.append(str(found.orig if isinstance(found, sa.exc.DBAPIError) else found))
        counts = {
            kind.table.name: int(
                connection.execute(sa.select(sa.func.count()).select_from(kind.table)).scalar_one()
            )
            for kind in KINDS.values()
        }
        for child, column, parent, key in _LINKS:
            problems += _dangling(connection, table(child), column, table(parent), key)
        checkpoints = table(Checkpoint)
        states = {
            str(state): int(n)
            for state, n in connection.execute(
                sa.select(checkpoints.c.state, sa.func.count()).group_by(checkpoints.c.state)
            )
        }
        wrong = connection.execute(
            sa.select(sa.func.count()).where(
                sa.or_(
                    sa.and_(checkpoints.c.state == "scored", checkpoints.c.value.is_(None)),
                    sa.and_(checkpoints.c.state != "scored", checkpoints.c.value.is_not(None)),
                    sa.and_(
                        checkpoints.c.scale == JUDGE_SCALE.id,
                        checkpoints.c.score.is_(None) != checkpoints.c.value.is_(None),
                    ),
                    sa.and_(checkpoints.c.state != "scored", checkpoints.c.detail == ""),
                )
            )
        ).scalar_one()
    if wrong:
        problems.append(f"{wrong} checkpoints whose state, score and reason don't fit together")
    if pictures:
        problems += _picture_problems(store)
    return CheckReport(counts=counts, states=states, problems=tuple(problems))


def _dangling(
    connection: sa.Connection, child: sa.Table, column: str, parent: sa.Table, key: str
) -> list[str]:
    orphans = (
        sa.select(sa.func.count())
        .select_from(child.outerjoin(parent, child.c[column] == parent.c[key]))
        .where(child.c[column].is_not(None), parent.c[key].is_(None))
    )
    n = connection.execute(orphans).scalar_one()
    if not n:
        return []
    return [f"{n} rows of {child.name} name a {column} that isn't in {parent.name}"]


def _picture_problems(store: Store) -> list[str]:
    problems = []
    for picture in store.select(Picture):
        try:
            data = store.pictures.read(picture.id)
        except PictureError as error:
            problems.append(error.message)
            continue
        if blob_hash(data) != picture.id:
            problems.append(f"picture {picture.id[:12]}... is not what its name says: it changed")
    return problems


def settle(database: Path) -> None:
    """Make a file that can be opened without writing, the same to the byte for equal contents.

    The journal is folded in, rows lie in the order of their keys and not in that in which calls
    happened to end, and what counts transactions begins anew.
    """
    whole = database.with_name(f"{database.name}.whole")
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN")
        for name in _names(connection):
            _put_in_order(connection, name, _key(connection, name))
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'revision'")
        connection.execute("COMMIT")
        connection.execute("DROP TABLE IF EXISTS sqlite_stat1")
        connection.execute("ANALYZE")
        _put_in_order(connection, "sqlite_stat1", ("tbl", "idx"))
        connection.execute("VACUUM INTO ?", (str(whole),))
    with closing(sqlite3.connect(whole, isolation_level=None)) as connection:
        connection.execute("PRAGMA schema_version = 1")
    whole.replace(database)


def _names(connection: sqlite3.Connection) -> list[str]:
    """Return the names of our tables."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in found]


def _key(connection: sqlite3.Connection, name: str) -> tuple[str, ...]:
    """Return the columns of a table's primary key, in its order; all columns where it has none."""
    columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
    keyed = [row for row in columns if row[1]] or columns
    return tuple(column for column, _ in sorted(keyed, key=lambda row: row[1]))


def _put_in_order(connection: sqlite3.Connection, name: str, by: tuple[str, ...]) -> None:
    """Write a table's rows anew, in the order of some columns."""
    order = ", ".join(f'"{column}"' for column in by)
    connection.execute(f'CREATE TEMP TABLE in_order AS SELECT * FROM "{name}" ORDER BY {order}')
    connection.execute(f'DELETE FROM "{name}"')
    connection.execute(f'INSERT INTO "{name}" SELECT * FROM in_order ORDER BY rowid')
    connection.execute("DROP TABLE temp.in_order")


def sqlite_version() -> str:
    """Return the version of the database in a file."""
    return sqlite3.sqlite_version
