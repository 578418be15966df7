"""How a database in a file is opened: made whole, found writable or not, read without a lock."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from atom.errors import CorruptError, PlaceError, StoreError
from atom.files import free_bytes, in_words, new_file
from atom.store.migrate import migrate
from atom.store.sums import let_go, teach

BUSY_SECONDS = 30.0
"""Seconds that a writer waits for another one; readers wait for nobody but a lone owner."""
LONE_SECONDS = 5.0
"""Seconds that a reader waits where another process keeps the whole file for itself."""
PAGE = 8192
"""Bytes of a page of a new store: each page that an import fills is written and read as one."""
MOST_COPIED = 4_000_000_000
"""Bytes of an old store that are copied, to be read up to date."""


def sqlite_engine(uri: str, begin: str, *, read_only: bool = False) -> sa.Engine:
    """Return an engine whose transactions begin as said.

    Args:
        uri: of the file, with its mode.
        begin: `BEGIN` for readers, `BEGIN IMMEDIATE` for writers.
        read_only: nothing about the file may change.
    """
    writes = begin != "BEGIN"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri,
            uri=True,
            timeout=BUSY_SECONDS if writes else LONE_SECONDS,
            check_same_thread=False,
            isolation_level=None,
        )
        teach(connection)
        try:
            if not read_only:
                _use_journal(connection, BUSY_SECONDS if writes else 0.0)
                connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    engine = sa.create_engine(
        "sqlite+pysqlite://", creator=connect, poolclass=sa.QueuePool, pool_size=8, max_overflow=32
    )

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    sa.event.listen(engine, "rollback", let_go)
    return engine


def _use_journal(connection: sqlite3.Connection, patience: float) -> None:
    """Let readers and a writer not wait for each other, unless that is so already.

    Changing the mode needs a lock that the busy timeout doesn't cover; a reader can do without.
    """
    deadline = time.monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if not patience:
                return
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def make_database(database: Path) -> None:
    """Make an empty store, whole or not at all; one that another process made meanwhile stays.

    Raises:
        StoreError: it can't be made there.
    """
    try:
        with new_file(database) as part:
            uri = f"file:{part.resolve().as_posix()}?mode=rwc"
            with (
                closing(sqlite3.connect(":memory:")) as empty,
                closing(sqlite3.connect(uri, uri=True)) as made,
            ):
                empty.deserialize(_empty_store())
                empty.backup(made)
                _use_journal(made, BUSY_SECONDS)
    except PlaceError as error:
        if not database.exists():
            raise StoreError(f"the store can't be made: {error.message}") from error


@cache
def _empty_store() -> bytes:
    """Return the file of a store that holds nothing; to make its tables takes far the longest."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        memory.execute(f"PRAGMA page_size = {PAGE}")
        engine = sa.create_engine(
            "sqlite+pysqlite://", creator=lambda: memory, poolclass=sa.StaticPool
        )
        teach(memory)
        with engine.begin() as connection:
            migrate(connection)
        return memory.serialize()


def must_hold_something(database: Path) -> None:
    """Refuse an empty file: a store is made whole, so this one was cut.

    Raises:
        CorruptError: it holds nothing.
    """
    if database.exists() and database.stat().st_size == 0:
        raise CorruptError(
            f"the file of the store {str(database.parent)!r} is empty (0 bytes): put a backup in "
            "its place, or delete the file to begin anew"
        )


def is_writable(database: Path) -> bool:
    """Whether a database and the folder that its journal goes into can be written."""
    effective = os.access in os.supports_effective_ids
    return all(
        os.access(place, os.W_OK, effective_ids=effective) for place in (database, database.parent)
    )


def identity(database: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one at the same place; None where there is none."""
    try:
        state = database.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def fixed_uri(database: Path, *, sealed: bool) -> str:
    """Return the URI of a file that is only read.

    Args:
        database: the file.
        sealed: whether nobody else writes it either.
    """
    journal, shared = (database.with_name(f"{database.name}-{end}") for end in ("wal", "shm"))
    used = shared.exists() or (journal.exists() and journal.stat().st_size > 0)
    alone = sealed or not used
    return f"file:{database.resolve().as_posix()}?mode=ro" + ("&immutable=1" if alone else "")


def up_to_date_copy(uri: str, database: Path) -> Path:
    """Copy an old store that can't be changed, and bring the copy up to date.

    Args:
        uri: of the file, to be read.
        database: the file.

    Returns:
        The copy, alone in a folder for temporary files; whoever asked deletes that.

    Raises:
        StoreError: it's too large for that.
    """
    size = database.stat().st_size
    free = free_bytes(Path(tempfile.gettempdir())) or 0
    if size > MOST_COPIED or 2 * size > free:
        raise StoreError(
            f"the store {str(database.parent)!r} was written by an older Atomscope, and with "
            f"{in_words(size)} it is too large to be read from a copy: open it once where it can "
            "be written"
        )
    folder = Path(tempfile.mkdtemp(prefix="atomscope-"))
    copy = folder / database.name
    try:
        with (
            closing(sqlite3.connect(uri, uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        engine = sqlite_engine(f"file:{copy.as_posix()}?mode=rw", "BEGIN IMMEDIATE")
        with engine.begin() as connection:
            migrate(connection)
        engine.dispose()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return copy
