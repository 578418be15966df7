"""Numbered migrations: SQL files applied once, in order, each in one transaction.

A new file is made at once by `newest.sql`, which says what all of them come to: made one after the
other, they take five times as long. `make schema` writes it anew; where somebody forgot that,
the later migrations are still applied.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from atom.errors import CorruptError, StoreError
from atom.store.sums import columns_of, fill, teach

_FOLDER = Path(__file__).parent / "migrations"
_NEWEST = _FOLDER / "newest.sql"
MIGRATING = 0x61746F6D
"""The advisory lock under which a PostgreSQL store is brought up to date ("atom")."""


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """List (number, SQL) of all migrations in order; read once, not for every store."""
    return tuple(
        (int(path.name[:4]), path.read_text(encoding="utf-8"))
        for path in sorted(_FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    )


def schema_version(connection: sa.Connection) -> int:
    """Return the number of the last migration that was applied; 0 for an empty database."""
    if not sa.inspect(connection).has_table("meta"):
        return 0
    value = connection.execute(
        sa.text("SELECT value FROM meta WHERE key = 'schema_version'")
    ).scalar()
    try:
        return int(value or 0)
    except ValueError:
        raise CorruptError(
            f"the store is damaged (its schema is {str(value)[:20]!r}): put a backup in its place"
        ) from None


def is_current(connection: sa.Connection, place: str) -> bool:
    """Say whether a store has the newest schema.

    Args:
        place: what the user calls it.

    Raises:
        StoreError: it was written by a newer Atomscope.
        CorruptError: it holds no store.
    """
    current, newest = schema_version(connection), migrations()[-1][0]
    if current > newest:
        raise StoreError(
            f"this store has schema {current}, this Atomscope knows up to {newest}: "
            "update Atomscope, or choose another store with --store"
        )
    if current == 0 and connection.dialect.name == "sqlite":
        raise CorruptError(
            f"the file of the store {place!r} holds no store: put a backup in its place, or move "
            "the file away to begin anew"
        )
    return current == newest


def migrate(connection: sa.Connection, *, stepwise: bool = False) -> int:
    """Bring the schema up to date, inside the caller's transaction.

    Args:
        stepwise: make a new file by every migration, too.

    Returns:
        The version it has now.
    """
    if connection.dialect.name == "postgresql":
        # Of several first starts at once one makes the tables; the others find them made.
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATING})
    in_file = connection.dialect.name == "sqlite"
    current = schema_version(connection)
    steps = migrations()
    if current == 0:
        connection.execute(sa.text("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"))
        connection.execute(
            sa.text("INSERT INTO meta VALUES ('schema_version', '0'), ('revision', '0')")
        )
        if in_file and not stepwise:
            script = _NEWEST.read_text(encoding="utf-8")
            current = int(script.split(maxsplit=2)[1])
            _apply(connection, current, script)
    before = columns_of(connection) if in_file else {}
    for number, script in steps:
        if number > current:
            ours, theirs = ("BYTEA", "BLOB") if in_file else (" WITHOUT ROWID", "")
            _apply(connection, number, script.replace(ours, theirs))
    if in_file:
        fill(connection, before)
    return steps[-1][0]


def _apply(connection: sa.Connection, number: int, script: str) -> None:
    script = re.sub(r"(?m)^--.*$", "", script)
    for statement in filter(None, (part.strip() for part in re.split(r";\s*\n", script))):
        connection.exec_driver_sql(statement.rstrip(";"))
    connection.execute(
        sa.text("UPDATE meta SET value = :n WHERE key = 'schema_version'"), {"n": str(number)}
    )


def newest() -> str:
    """Return what `newest.sql` should hold: the tables and indices that all migrations come to."""
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    sa.event.listen(engine, "connect", lambda raw, _: teach(raw))
    with engine.begin() as connection:
        number = migrate(connection, stepwise=True)
        made = connection.exec_driver_sql(
            "SELECT sql FROM sqlite_master WHERE sql <> '' AND name <> 'meta' ORDER BY rowid"
        ).scalars()
        head = f"-- {number} is the last of the migrations, which come to this; see `make schema`."
        return "\n".join([head, *(f"{statement};" for statement in made), ""])
