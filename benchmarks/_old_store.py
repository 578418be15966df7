"""A store as an older Atomscope wrote it: its tables, with what they have columns for."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from atom.store.migrate import migrations
from atom.store.schema import import_links

DATABASE = "atomscope.sqlite"


def make_schema(connection: sqlite3.Connection, schema: int) -> None:
    """Make the tables of a schema, as the code of that schema made them."""
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    connection.execute(
        "INSERT INTO meta VALUES ('schema_version', ?), ('revision', '5')", (str(schema),)
    )
    for number, script in migrations():
        if number <= schema:
            connection.executescript(script.replace("BYTEA", "BLOB"))
    connection.commit()


def bring_back(store: Path, old: Path, schema: int) -> None:
    """Copy a store into an older schema; what that has no columns for is left behind.

    So is a table that needs what today's rows no longer say (the account of a run).

    Args:
        store: the folder of a store of today's schema.
        old: the folder to make.
        schema: the schema's number.
    """
    shutil.copytree(store, old, ignore=shutil.ignore_patterns(f"{DATABASE}*"))
    with closing(sqlite3.connect(old / DATABASE)) as connection:
        make_schema(connection, schema)
        connection.execute("ATTACH ? AS today", (f"{store / DATABASE}",))
        tables = connection.execute(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name <> 'meta'"
        ).fetchall()
        for (table,) in tables:
            names = _shared(connection, table)
            order = "" if table == import_links.name else "ORDER BY rowid"  # links have none
            if names:
                connection.execute(
                    f"INSERT INTO main.{table} ({names}) SELECT {names} FROM today.{table} {order}"
                )
        # To migrate counts as one change: so both stores are at the same one in the end.
        connection.execute(
            "UPDATE main.meta SET value = (SELECT CAST(value - 1 AS TEXT) FROM today.meta "
            "WHERE key = 'revision') WHERE key = 'revision'"
        )
        connection.commit()


def _shared(connection: sqlite3.Connection, table: str) -> str:
    """Return the columns that both schemas have, or nothing where the older one needs another."""
    today = {row[1] for row in connection.execute(f"PRAGMA today.table_info({table})")}
    older = connection.execute(f"PRAGMA main.table_info({table})").fetchall()
    lacking = [row for row in older if row[1] not in today]
    if any(needed and default is None for _, _, _, needed, default, _ in lacking):
        return ""
    return ", ".join(f'"{row[1]}"' for row in older if row[1] in today)
