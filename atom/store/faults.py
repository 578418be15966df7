"""What went wrong with a store, in one clear sentence: the one place that reads databases' words.

Whatever a database or a disk raises while a store is opened, read or written becomes an error of
ours that says what happened and what to do; what isn't known here is a bug, and stays as it is.
"""

from __future__ import annotations

import errno
import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from atom.errors import (
    AtomError,
    AwayError,
    CorruptError,
    FullError,
    HeldError,
    PlaceError,
    ReadOnlyError,
    StoreError,
)
from atom.files import free_bytes, full_words, is_full
from atom.settings import without_password

LEAST_ROOM = 32_000_000
"""Bytes that a store is said to need where nobody knows how much is being written."""
SEALED = "this study is sealed; copy it, and change your own copy"
_NO_ROOM = 1_000_000
"""Bytes; where so few are free, a disk that fails is taken for a full one."""
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_CLOSED = "can't be opened: does it belong to somebody else, or is its folder closed?"
_OTHERS = {
    sqlite3.SQLITE_IOERR: "lies on a disk that fails: check the disk",
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_NOMEM: "asks for more memory than there is",
    sqlite3.SQLITE_TOOBIG: "is given a value that is too large",
}
_CROSSED = {"40P01", "40001", "55P03"}
"""A deadlock, a transaction that another one crossed, a lock that was waited for in vain."""
_AWAY = {"08", "57P01", "57P02", "57P03", "53300"}
"""No connection; the server goes, went or isn't up yet; too many are connected."""
_UNREADABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ESTALE}


@contextmanager
def told(place: str, database: Path | None = None, needed: int | None = None) -> Iterator[None]:
    """Turn whatever a database or a disk raises inside into a sentence.

    Args:
        place: what the user calls the store.
        database: its file, where it is one.
        needed: bytes that are being written, where that is known.

    Raises:
        StoreError: what went wrong; errors that aren't the store's pass.
    """
    try:
        yield
    except AtomError:
        raise
    except OverflowError as error:
        raise StoreError(
            "a number is too large to be kept (beyond 9.2 × 10^18): check what was given"
        ) from error
    except UnicodeDecodeError as error:
        # A damaged name or text that SQLite puts into its own words.
        raise damaged(repr(place), "a text in it is no text") from error
    except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
        found = fault_of(error, place, database, needed)
        if found is None:
            raise
        raise found from error


def fault_of(
    error: BaseException, place: str, database: Path | None = None, needed: int | None = None
) -> AtomError | None:
    """Say what an error of a database or a disk means; None where it is none of theirs.

    Args:
        place: what the user calls the store.
        database: its file, where it is one.
        needed: bytes that are being written, where that is known.
    """
    origin = getattr(error, "orig", None) or error
    where = repr(without_password(place))
    if isinstance(origin, sqlite3.Error):
        return _of_sqlite(origin, where, database, needed)
    if isinstance(error, sa.exc.TimeoutError):
        return HeldError(f"the store {where} is asked by too many at once: try again in a moment")
    if isinstance(error, sa.exc.DBAPIError):
        return _of_server(error, where)
    if isinstance(error, OSError):
        return _of_system(error, where, database, needed)
    return None


def _of_server(error: sa.exc.DBAPIError, where: str) -> StoreError:
    state = str(getattr(error.orig, "sqlstate", None) or "")
    words = without_password(_first_line(error.orig or error))
    if state in _CROSSED:
        return HeldError(
            f"another process changes the same in the store {where} ({words}): try again; nothing "
            "was changed"
        )
    if error.connection_invalidated or state[:2] in _AWAY or state in _AWAY:
        return AwayError(
            f"the server of the store {where} doesn't answer ({words}): is it running?"
        )
    if not state and isinstance(error, sa.exc.OperationalError):
        return AwayError(
            f"the server of the store {where} can't be reached ({words}): is it running, and is "
            "its address right?"
        )
    return StoreError(f"the server of the store {where} refuses ({words})")


def _of_sqlite(
    error: sqlite3.Error, where: str, database: Path | None, needed: int | None
) -> StoreError | None:
    code = getattr(error, "sqlite_errorcode", None)
    words = str(error)
    if "Could not decode to UTF-8" in words:
        return damaged(where, "a text in it is no text")
    if code is None:
        return None
    kind = code & 0xFF
    if kind == sqlite3.SQLITE_FULL or (kind == sqlite3.SQLITE_IOERR and _no_room(database)):
        return _full(where, database, needed)
    if code == sqlite3.SQLITE_READONLY_DBMOVED or not (database is None or database.exists()):
        return gone(where)
    if kind == sqlite3.SQLITE_READONLY:
        return unwritable(where)
    if kind in _DAMAGED or (kind == sqlite3.SQLITE_ERROR and "no such " in words):
        return damaged(where, words)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return HeldError(
            f"another process holds the store {where} and doesn't let go: wait for its end, then "
            "try again; nothing was changed"
        )
    told_of = _OTHERS.get(kind)
    return None if told_of is None else StoreError(f"the store {where} {told_of} ({words})")


def _no_room(database: Path | None) -> bool:
    free = None if database is None else free_bytes(database.parent)
    return free is not None and free < _NO_ROOM


def _of_system(
    error: OSError, where: str, database: Path | None, needed: int | None
) -> AtomError | None:
    named = f"{str(error.filename)!r}" if error.filename else f"the store {where}"
    if is_full(error):
        return _full(where, database, needed)
    if error.errno in _UNREADABLE:
        return PlaceError(f"{named} can't be used ({error.strerror}): give yourself the right to")
    if error.errno in _GONE:
        return StoreError(f"{named} isn't there any more ({error.strerror}): was it moved?")
    if error.errno is None:
        return None
    return StoreError(f"{named} can't be used ({error.strerror or error})")


def _full(where: str, database: Path | None, needed: int | None) -> FullError:
    folder = Path() if database is None else database.parent
    words = full_words(folder, max(needed or 0, LEAST_ROOM))
    return FullError(f"the store {where} can't be written: {words}; nothing was changed")


def gone(where: str) -> StoreError:
    """Say that a store isn't where it was."""
    return StoreError(
        f"the store {where} isn't there any more: it was moved, replaced or deleted meanwhile. "
        "Bring it back, or name its new place with --store"
    )


def unwritable(where: str) -> ReadOnlyError:
    """Say that a store can only be read where it lies."""
    return ReadOnlyError(
        f"the store {where} can only be read: its file, its folder or its disk isn't writable; "
        "make it writable, or copy the folder to a place that is"
    )


def damaged(where: str, words: str) -> CorruptError:
    """Say that a store's file isn't what was written."""
    return CorruptError(
        f"the store {where} is damaged ({words}): put a backup in its place; `store check` says "
        "what is hurt"
    )


def damaged_record(table: str, key: str, error: Exception) -> CorruptError:
    """Say that one record can't be read."""
    return CorruptError(
        f"the record {key!r} in {table!r} is damaged ({_reason(error)}): put a backup in its "
        "place; `store check` says what else is hurt"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, zlib.error):
        return "its text can't be unpacked"
    if isinstance(error, json.JSONDecodeError):
        return "a nested value in it is no JSON"
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is no text"
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
