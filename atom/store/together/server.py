"""Stores on a PostgreSQL server: their address without its password, locks, and patience.

A store in a file has one writer at a time. On a server many write at once; whatever was written
for one writer stays right by a lock over the whole store (`LOCK`): alone for a change by hand,
shared for runs, which change only rows that are theirs.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from atom.errors import StoreError
from atom.settings import without_password

LOCK = 0x61746F6E
"""The advisory lock of whoever changes the store: alone, or shared with other runs."""
LOCK_SECONDS = 30
"""Seconds that a transaction waits for another one's locks, as a writer of a file does."""
_SCHEME = "postgresql+psycopg"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
_RESTED: Final = 1.0
"""Seconds unused after which a connection is looked at before it is used again."""
_CLOCK: Final = sa.text("SELECT extract(epoch FROM clock_timestamp())::float8")
_ALONE, _BESIDE = (
    sa.text(
        f"SELECT pg_advisory_xact_lock{how}({LOCK}), extract(epoch FROM clock_timestamp())::float8"
    )
    for how in ("", "_shared")
)


@dataclass(frozen=True, kw_only=True)
class Engines:
    """The engines of a store; they share their connections.

    Args:
        write: for changes; None = nothing may be written.
        read: for several statements that are to see one moment.
        look: for a single statement, which sees one moment by itself: a server then has one thing
            to answer, not three, and keeps what it made ready of the statement.
    """

    write: sa.Engine | None
    read: sa.Engine
    look: sa.Engine


def server_engines(url: str) -> Engines:
    """Return the engines for a server's store.

    Raises:
        StoreError: the address can't be used.
    """
    try:
        address = sa.make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername=_SCHEME)
        engine = sa.create_engine(
            address,
            pool_size=8,
            max_overflow=32,
            connect_args={"options": f"-c lock_timeout={LOCK_SECONDS}s"},
        )
    except (sa.exc.ArgumentError, ImportError, ValueError) as error:
        raise StoreError(
            f"can't use the store's address {shown_address(url)!r} "
            f"({without_password(str(error))}); a folder or postgresql://user@host/name is "
            "allowed (PostgreSQL needs `pip install 'psycopg[binary]'`)"
        ) from None
    _look_after_rest(engine)
    # Options of an engine that has such options already would give way to those.
    return Engines(
        write=engine,
        read=engine.execution_options(isolation_level="REPEATABLE READ"),
        look=engine.execution_options(isolation_level="AUTOCOMMIT"),
    )


def _look_after_rest(engine: sa.Engine) -> None:
    """Leave out connections that broke while nobody used them; one just used isn't asked again."""

    def rest(_connection: object, record: sa.pool.ConnectionPoolEntry) -> None:
        record.info["rested"] = time.monotonic()

    def look(connection: Any, record: sa.pool.ConnectionPoolEntry, _proxy: object) -> None:
        rested = record.info.get("rested")
        if rested is None or time.monotonic() - rested < _RESTED:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise sa.exc.InvalidatePoolError from error  # the pool then makes a new one

    sa.event.listen(engine, "checkin", rest)
    sa.event.listen(engine, "checkout", look)


def shown_address(url: str) -> str:
    """Return an address as it may be shown, logged and compared: without its password."""
    try:
        address = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        return without_password(url)
    hidden = {name: "***" for name in address.query if "password" in name.lower()}
    return address.update_query_dict(hidden).render_as_string(hide_password=True)


def insert_into(dialect: str, target: sa.Table) -> Any:
    """Return an insert that can say what happens where a row's key is there already.

    Args:
        dialect: the database's, by its name.
    """
    return (postgresql.insert if dialect == "postgresql" else sqlite.insert)(target)


def insert_new(connection: sa.Connection, target: sa.Table) -> Any:
    """Return an insert that leaves a row as it is whose key is there already; it is made once."""
    return _insert_new(connection.dialect.name, target)


def insert_over(connection: sa.Connection, target: sa.Table) -> Any:
    """Return an insert that overwrites a row whose key is there already; it is made once."""
    return _insert_over(connection.dialect.name, target)


# To make a statement costs more than to run it.


@cache
def _insert_new(dialect: str, target: sa.Table) -> Any:
    return insert_into(dialect, target).on_conflict_do_nothing()


@cache
def _insert_over(dialect: str, target: sa.Table) -> Any:
    statement = insert_into(dialect, target)
    rest = [column.name for column in target.columns if not column.primary_key]
    return statement.on_conflict_do_update(
        index_elements=list(target.primary_key.columns),
        set_={name: statement.excluded[name] for name in rest},
    )


def clock_of(connection: sa.Connection) -> float:
    """Return the time by a server's clock, which all who use it share; this computer's in a file.

    Returns:
        Seconds since the epoch.
    """
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(connection.execute(_CLOCK).scalar_one())


def lock_store(connection: sa.Connection, *, shared: bool) -> float:
    """Wait for the turn to change a store; the lock ends with the transaction.

    Args:
        shared: beside others that say so, too; only what is this process's own may be changed.

    Returns:
        The time, as `clock_of` does.
    """
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(connection.execute(_BESIDE if shared else _ALONE).one()[1])


class Patience:
    """Pauses between tries, longer each time, until so many seconds have passed."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._pause = _FIRST_PAUSE

    def wait(self) -> bool:
        """Pause; False, at once, where the time is over."""
        if time.monotonic() >= self._until:
            return False
        time.sleep(self._pause * (0.5 + random.random()))
        self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        return True
