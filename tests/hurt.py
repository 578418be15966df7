"""Stores that can't be written or read: each hurt is a context around a store's folder."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from atom.store import opening
from atom.store.store import DATABASE

WAIT = 0.2
_VERSION_3 = 0x20080522
_ALL = 0xFFFFFFFF


@contextmanager
def plain_rights() -> Iterator[None]:
    """Let permission bits count for root as well, in this thread and those that it starts."""
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    held, less = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, held) == 0
    # Effective, permitted, inheritable, twice. Bits 1 and 2 pass over permissions.
    less[:] = [held[0] & _ALL & ~0b110, *held[1:]]
    assert libc.capset(head, less) == 0
    try:
        yield
    finally:
        assert libc.capset(head, held) == 0


def clean(folder: Path) -> None:
    """Close a store's journal, as the last one to leave does."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def closed_folder(folder: Path) -> Iterator[None]:
    """Nothing in the folder can be written."""
    clean(folder)
    places = [folder, *folder.rglob("*")]
    modes = {place: place.stat().st_mode for place in places}
    for place in reversed(places):
        place.chmod(modes[place] & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    try:
        with plain_rights():
            yield
    finally:
        for place in places:
            place.chmod(modes[place])


@contextmanager
def closed_file(folder: Path) -> Iterator[None]:
    """The database's file can't be written, its folder can."""
    clean(folder)
    database = folder / DATABASE
    mode = database.stat().st_mode
    database.chmod(stat.S_IRUSR)
    try:
        with plain_rights():
            yield
    finally:
        database.chmod(mode)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Another process is writing, and doesn't come to its end."""
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Another process keeps the whole file for itself."""
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """The database has no page left and can't grow by one, as on a full disk."""
    clean(folder)
    usual = sqlite3.connect
    with closing(usual(folder / DATABASE)) as connection:
        connection.execute("VACUUM")

    def connect(*words: object, **more: object) -> sqlite3.Connection:
        connection = usual(*words, **more)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening.sqlite3, "connect", connect)
        yield


@contextmanager
def empty(folder: Path) -> Iterator[None]:
    """The database's file was cut to nothing."""
    (folder / DATABASE).write_bytes(b"")
    yield


@contextmanager
def noise(folder: Path) -> Iterator[None]:
    """The database's file is something else."""
    (folder / DATABASE).write_bytes(b"this is no database " * 500)
    yield


@contextmanager
def torn(folder: Path) -> Iterator[None]:
    """The middle of the database's file was overwritten."""
    clean(folder)
    data = bytearray((folder / DATABASE).read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = b"\xa5" * third
    (folder / DATABASE).write_bytes(bytes(data))
    yield


@contextmanager
def newer(folder: Path) -> Iterator[None]:
    """A newer Atomscope wrote it."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
        connection.commit()
    yield


@contextmanager
def foreign(folder: Path) -> Iterator[None]:
    """The file is a database of another program."""
    for place in folder.glob(f"{DATABASE}*"):
        place.unlink()
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
        connection.commit()
    yield


Hurt = Callable[[Path], "contextmanager[None]"]
READABLE = (closed_folder, closed_file, locked, full)
"""What can still be read."""
LOST = (alone, empty, noise, torn, newer, foreign)
"""What can't be read, or not all of it."""


@contextmanager
def impatient() -> Iterator[None]:
    """Wait for nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "BUSY_SECONDS", WAIT)
        patch.setattr(opening, "LONE_SECONDS", WAIT)
        yield
