"""The store: records in SQLite (WAL) or PostgreSQL, pictures in files beside it.

Writes are short transactions that wait for each other instead of failing (`BEGIN IMMEDIATE` in a
file, a lock on a server); reads never block them. What runs write is theirs alone: on a server they
write side by side (`Store.transact`). Records are named by their content, so adding one twice is no
different from adding it once.
"""

from __future__ import annotations

import secrets
import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import sqlalchemy as sa

from atom.access import Action, guards
from atom.errors import AwayError, HeldError, ReadOnlyError, StoreError
from atom.files import clear_parts
from atom.records import Picture, Record
from atom.settings import picture_address, server_folder
from atom.store.faults import SEALED, gone, told, unwritable
from atom.store.migrate import is_current, migrate
from atom.store.opening import (
    fixed_uri,
    identity,
    is_writable,
    make_database,
    must_hold_something,
    sqlite_engine,
    up_to_date_copy,
)
from atom.store.pictures import PictureFiles
from atom.store.schema import KINDS, Kind
from atom.store.sums import keep_up
from atom.store.team.guard import let_in
from atom.store.together.blobs import blobs_of
from atom.store.together.revisions import (
    StudyMoment,
    bump_all,
    bump_studies,
    fold,
    read_mark,
    stand_at,
)
from atom.store.together.server import (
    Engines,
    Patience,
    lock_store,
    server_engines,
    shown_address,
)
from atom.store.together.writer import Writer as Writer

R = TypeVar("R", bound=Record)
T = TypeVar("T")
AWAY_SECONDS = 60.0
"""Seconds that a run waits for a server that went away, or for a store that another one holds."""
DATABASE = "atomscope.sqlite"
SEAL = "SHA256SUMS"
"""The list of checksums that seals a store's folder."""
_FILLED = ("pictures", "thumbs", "batches")
"""Folders in the store's that files are written into, where killed processes may leave parts."""
_CHUNK = 400


def _close_for_good(_connection: object, record: sa.pool.ConnectionPoolEntry) -> None:
    record.invalidate()


# To make a statement costs more than to run it.


@cache
def _keyed(kind: Kind) -> sa.Select[Any]:
    return sa.select(kind.table).where(
        *(kind.table.c[name] == sa.bindparam(name) for name in kind.key)
    )


@cache
def _among(kind: Kind, column: str) -> sa.Select[Any]:
    ids: sa.BindParameter[Any] = sa.bindparam("ids", expanding=True)
    return sa.select(kind.table).where(kind.table.c[column].in_(ids))


class Store:
    """A store of records and pictures; safe to share between threads.

    Open one with `Store.open`; close it with `close`, or use it in a `with` block.
    """

    def __init__(
        self,
        url: str,
        folder: Path,
        engines: Engines,
        *,
        why: ReadOnlyError | None = None,
    ) -> None:
        self.url = url
        self.folder = folder
        self._write_engine = engines.write
        self._read_engine = engines.read
        self._look_engine = engines.look
        self._why = why
        self._needed: int | None = None
        self._identity = None if "://" in url else identity(folder / DATABASE)
        self._stripe = secrets.token_hex(6)
        self._turn = threading.Lock()
        blobs = blobs_of(folder, picture_address() if self._identity is None else "")
        self.pictures = PictureFiles(blobs, read_only=self.read_only)
        self.guarded = guards(str(folder) if self._identity is not None else url)

    @classmethod
    def open(
        cls, location: str | Path, *, read_only: bool = False, migrating: bool = False
    ) -> Store:
        """Open a store, making or migrating it as needed.

        A store that can't be written where it lies is opened to be read; one of an older schema is
        then read from a copy that is brought up to date.

        Args:
            location: a folder, or a `postgresql://` URL (pictures then lie where `ATOM_FILES` says,
                else in `workspace/`).
            read_only: nothing may be written; the files may lie on a read-only disk. A folder that
                is sealed with checksums is never opened otherwise.
            migrating: bring a deployment's store on a server up to date, which `store migrate`
                alone does: where several replicas run, an older one mustn't find it newer.

        Raises:
            StoreError: it can't be opened; the message says why.
        """
        text = str(location)
        if "://" in text:
            return cls._open_server(text, read_only, migrating)
        folder = Path(text)
        database = folder / DATABASE
        sealed = (folder / SEAL).exists()
        with told(text, database):
            if read_only or sealed:
                if not database.exists():
                    raise StoreError(f"there is no store in {text!r}")
                return cls._open_fixed(text, folder, ReadOnlyError(SEALED), sealed=sealed)
            if not database.exists():
                make_database(database)
            must_hold_something(database)
            if not is_writable(database):
                return cls._open_fixed(text, folder, unwritable(repr(text)), sealed=False)
            uri = f"file:{database.resolve().as_posix()}?mode=rw"
            reading = sqlite_engine(uri, "BEGIN")
            writing = sqlite_engine(uri, "BEGIN IMMEDIATE")
            store = cls(text, folder, Engines(write=writing, read=reading, look=reading))
            store._migrate()
            for place in (folder, *(folder / name for name in _FILLED)):
                clear_parts(place)
            return store

    @classmethod
    def _open_fixed(cls, text: str, folder: Path, why: ReadOnlyError, *, sealed: bool) -> Store:
        database = folder / DATABASE
        must_hold_something(database)
        uri = fixed_uri(database, sealed=sealed)
        engine = sqlite_engine(uri, "BEGIN", read_only=True)
        store = cls(text, folder, Engines(write=None, read=engine, look=engine), why=why)
        with store.read() as connection:
            if is_current(connection, text):
                return store
        store.close()
        copy = up_to_date_copy(uri, database)
        engine = sqlite_engine(fixed_uri(copy, sealed=True), "BEGIN", read_only=True)
        store = cls(text, folder, Engines(write=None, read=engine, look=engine), why=why)
        weakref.finalize(store, shutil.rmtree, copy.parent, ignore_errors=True)
        return store

    @classmethod
    def _open_server(cls, url: str, read_only: bool, migrating: bool) -> Store:
        engines, why = server_engines(url), None
        if read_only:
            why = ReadOnlyError("the store was opened to be read only")
            engines = replace(engines, write=None)
        store = cls(shown_address(url), server_folder(), engines, why=why)
        store.guarded = guards(url)
        try:
            if store.guarded and not read_only and not migrating:
                store._must_be_current()
            elif not read_only:
                store._migrate()
        except BaseException:
            store.close()
            raise
        return store

    def _must_be_current(self) -> None:
        with self.read() as connection:
            if is_current(connection, self.url):
                return
        raise StoreError(
            f"the store {self.url!r} isn't up to date, and in a deployment only `store migrate` "
            "brings it there: run that once, alone, then start the app"
        )

    def _migrate(self) -> None:
        """Bring the schema up to date; a store that is up to date needs no lock."""
        with self.read() as connection:
            if is_current(connection, self.url):
                return
        assert self._write_engine is not None
        with self._told(), self._write_engine.begin() as connection:
            migrate(connection)
            bump_all(connection)

    @property
    def read_only(self) -> bool:
        """Whether nothing may be written."""
        return self._write_engine is None

    def close(self) -> None:
        """Close all connections; one that is in use, when it comes back."""
        for engine in (self._read_engine, self._write_engine):
            if engine is not None:
                sa.event.listen(engine.pool, "checkin", _close_for_good)
                engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Read inside one consistent snapshot; no writer is waited for.

        Raises:
            CorruptError: the file is not a database or is damaged.
            StoreError: it can't be read; the message says why.
        """
        with self._told(), self._read_engine.begin() as connection:
            yield connection

    def patiently(self, job: Callable[[], T]) -> T:
        """Do something that reads the store, or writes it by `transact`; wait for its server.

        Args:
            job: what is done; it may be done several times.

        Raises:
            AwayError: the server didn't answer for `AWAY_SECONDS`.
        """
        patience = Patience(AWAY_SECONDS)
        while True:
            try:
                return job()
            except AwayError:
                if not patience.wait():
                    raise

    @contextmanager
    def write(self, action: Action | None = "edit") -> Iterator[Writer]:
        """Change the store inside one transaction: all of it happens, or nothing.

        Args:
            action: what is done, for a deployment's roles; None = it was let in when it began.

        Raises:
            AccessError: in a deployment, the role of whoever acts doesn't cover it.
            ReadOnlyError: the store is sealed, or can't be written where it lies.
            HeldError: another writer holds the store for too long.
            FullError: the disk is full.
            StoreError: it can't be written; the message says why.
        """
        self.must_be_open()
        assert self._write_engine is not None
        with self._told(), self._write_engine.begin() as connection:
            now = lock_store(connection, shared=False)
            keep_up(connection)
            yield self._writer(connection, now, action)
            bump_all(connection)

    def _writer(self, connection: sa.Connection, now: float, action: Action | None) -> Writer:
        return Writer(connection, now, let_in(connection, action) if self.guarded else None)

    def transact(
        self,
        job: Callable[[Writer], T],
        *,
        alone: bool = False,
        action: Action | None = "edit",
    ) -> T:
        """Change the store inside one transaction; do it again where it was in vain.

        Where others crossed it, or a server was away, it is done again for `AWAY_SECONDS`; it
        takes place once, even where the server went away in the moment of its end. Only the
        studies that the job touches (`Writer.touch`) count as changed.

        Args:
            job: makes the changes; it may be called several times. It changes only what is this
                process's own: on a server others write at the same time.
            alone: nobody else writes at the same time.
            action: as `write` has it.

        Returns:
            What the job returned in the transaction that took place.

        Raises:
            StoreError: as `write` does.
        """
        patience = Patience(AWAY_SECONDS)
        with self._turn:
            while True:
                wrote: tuple[tuple[str, int], ...] = ()
                try:
                    self.must_be_open()
                    assert self._write_engine is not None
                    with self._told(), self._write_engine.begin() as connection:
                        now = lock_store(connection, shared=not alone)
                        keep_up(connection)
                        writer = self._writer(connection, now, action)
                        result = job(writer)
                        wrote = bump_studies(
                            connection, writer.touched, self._stripe, results=writer.results
                        )
                    return result
                except (AwayError, HeldError):
                    if not patience.wait():
                        raise
                    if wrote and self._stands(wrote, patience):
                        return result

    def _stands(self, wrote: tuple[tuple[str, int], ...], patience: Patience) -> bool:
        """Whether a transaction went through although its end wasn't heard of."""
        assert self._write_engine is not None
        while True:
            try:
                with self._told(), self._write_engine.begin() as connection:
                    return stand_at(connection, wrote, self._stripe)
            except AwayError:
                if not patience.wait():
                    raise

    def settle(self) -> None:
        """Leave no trace of having written; called when a run has ended."""

        def job(writer: Writer) -> None:
            fold(writer.connection, self._stripe)

        self.transact(job, alone=True, action=None)
        self._stripe = secrets.token_hex(6)

    def must_be_open(self, sealed: str = SEALED) -> None:
        """Refuse to change what can only be read, and a file that isn't the one that was opened.

        Args:
            sealed: what is said of a store that is sealed, in place of the usual.

        Raises:
            ReadOnlyError: the store is sealed, or can't be written where it lies.
            StoreError: it was moved, deleted or replaced meanwhile.
        """
        if self._why is not None:
            raise ReadOnlyError(sealed if self._why.message == SEALED else self._why.message)
        if self._identity is not None and identity(self.folder / DATABASE) != self._identity:
            raise gone(repr(self.url))

    @property
    def is_stale(self) -> bool:
        """Whether opening it again would give another: replaced, or writable by now."""
        database = self.folder / DATABASE
        if self._identity is not None and identity(database) != self._identity:
            return True
        return self._why is not None and self._why.message != SEALED and is_writable(database)

    @contextmanager
    def expecting(self, n_bytes: int) -> Iterator[None]:
        """Say how much will be written, for what is said of a full disk."""
        before, self._needed = self._needed, n_bytes
        try:
            yield
        finally:
            self._needed = before

    def _told(self) -> AbstractContextManager[None]:
        database = self.folder / DATABASE if self._identity is not None else None
        return told(self.url, database, self._needed)

    def connect_apart(self) -> sa.Connection:
        """Return a connection for temporary tables; whoever takes it closes it for good.

        Raises:
            StoreError: it can't be had.
        """
        engine = self._read_engine if self._identity is not None else self._write_engine
        assert engine is not None
        with self._told():
            return engine.connect()

    @contextmanager
    def write_on(
        self, connection: sa.Connection, action: Action | None = "edit"
    ) -> Iterator[Writer]:
        """Change the store inside one transaction on a connection from `connect_apart`.

        Args:
            action: as `write` has it.

        Raises:
            StoreError: as `write` does.
        """
        self.must_be_open()
        with self._told(), connection.begin():
            # The first statement writes: so the lock is taken before anything is read.
            now = lock_store(connection, shared=False)
            bump_all(connection)
            keep_up(connection)
            yield self._writer(connection, now, action)

    def revision(self, study_id: str | None = None) -> int:
        """Return a number that grows with every change; caches are keyed by it.

        Args:
            study_id: the study that is looked at; None = any change of the store counts.
        """
        return self.mark(study_id).revision

    def mark(self, study_id: str | None = None) -> StudyMoment:
        """Return where a study stands: how often it changed, and what runs have brought."""
        with self.read() as connection:
            return read_mark(connection, study_id)

    def put(self, records: Iterable[Record], action: Action | None = "edit") -> int:
        """Add records in one transaction; returns how many were new."""
        with self.write(action) as writer:
            return writer.put(records)

    def replace(self, records: Iterable[Record], action: Action | None = "edit") -> None:
        """Add or overwrite records in one transaction."""
        with self.write(action) as writer:
            writer.replace(records)

    def get(self, record: type[R], *key: str) -> R | None:
        """Return the record with this key, or None."""
        kind = KINDS[record]
        found = self._records(kind, _keyed(kind), dict(zip(kind.key, key, strict=True)))
        return found[0] if found else None

    def select(
        self,
        record: type[R],
        *where: sa.ColumnElement[bool],
        order_by: Sequence[Any] = (),
        limit: int | None = None,
    ) -> list[R]:
        """Return the records that match all conditions (columns from `schema.table(record)`)."""
        kind = KINDS[record]
        statement = sa.select(kind.table).where(*where).order_by(*order_by).limit(limit)
        return self._records(kind, statement, {})

    def _records(
        self, kind: Kind, statement: sa.Select[Any], values: Mapping[str, Any]
    ) -> list[Any]:
        with self._told(), self._look_engine.connect() as connection:
            rows = connection.execute(statement, values).mappings().all()
        return [kind.from_row(row) for row in rows]  # type: ignore[arg-type]

    def get_many(self, record: type[R], ids: Iterable[str], column: str | None = None) -> list[R]:
        """Return the records whose key (or `column`) is among `ids`, in chunks."""
        kind = KINDS[record]
        statement = _among(kind, column or kind.key[0])
        wanted = list(dict.fromkeys(ids))
        found: list[R] = []
        for start in range(0, len(wanted), _CHUNK):
            found += self._records(kind, statement, {"ids": wanted[start : start + _CHUNK]})
        return found

    def add_picture(self, data: bytes, name: str = "picture") -> Picture:
        """Keep a picture: file, thumbnail and record.

        Raises:
            PictureError: it can't be used.
            ReadOnlyError: the store is sealed.
        """
        self.must_be_open()
        picture = self.pictures.add(data, name)
        self.put([picture])
        return picture
