"""A store, taken whole to another place: between a folder and a PostgreSQL server, either way.

Rows go over in one transaction that ends only where a digest of every table is the same on both
sides; so whatever is cut short leaves an empty store. Files go first, each whole or not at all, and
are found again by the next try. Design: design/062-a-store-moves-whole.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from atom.errors import CorruptError, PictureError, StoreError
from atom.files import write_file
from atom.records import Picture, blob_hash
from atom.store.migrate import schema_version
from atom.store.pictures import PictureFiles
from atom.store.schema import meta, metadata, table
from atom.store.store import DATABASE, Store
from atom.store.sums import damages

Progress = Callable[[str, int, int], None]
"""Told what is copied, how many are there, and of how many."""
BESIDE = ("batches", "runs", "inductions")
"""Folders of a store whose files go over as they are; snapshots and previews are made anew."""
ENDPOINTS = "endpoints.yaml"
_CHUNK = 5_000
_NOT = frozenset({meta.name})
"""Tables that each store has for itself."""
_SPACE = 2**128


@dataclass(frozen=True, kw_only=True)
class CopyResult:
    """What a copy took over.

    Attributes:
        rows: how many, by table; tables that hold nothing are left out.
        pictures: picture files that are there now.
        files: other files that are there now: runs' logs, batches, the list of endpoints.
        missing: pictures whose file the source lacks, or whose file isn't what its name says.
    """

    rows: dict[str, int]
    pictures: int
    files: int
    missing: tuple[str, ...]


def open_source(location: str) -> Store:
    """Open a store that is to be copied.

    Raises:
        StoreError: there is none.
    """
    if "://" not in location:
        if not (Path(location) / DATABASE).exists():
            raise StoreError(f"there is no store in {location!r}: name a folder that holds one")
        return Store.open(location)
    store = Store.open(location, read_only=True)
    with store.read() as connection:
        held = schema_version(connection)
    store.close()
    if not held:
        raise StoreError(f"there is no store at {store.url!r}: check the database's name")
    return Store.open(location)


def bring_up_to_date(location: str) -> tuple[int, int]:
    """Make a store, or bring the one that is there up to date.

    Returns:
        The numbers of its schema before and now; 0 where there was none.

    Raises:
        StoreError: it can't be.
    """
    before = 0
    if "://" in location or (Path(location) / DATABASE).exists():
        with Store.open(location, read_only=True) as store, store.read() as connection:
            before = schema_version(connection)
    with Store.open(location, migrating=True) as store, store.read() as connection:
        return before, schema_version(connection)


def copy_store(source: Store, target: Store, progress: Progress | None = None) -> CopyResult:
    """Copy a store's rows and files into an empty one.

    Args:
        source: what is copied, as it stands at one moment; it may be in use.
        target: an empty store; it stays empty unless everything arrived.
        progress: told how far it is.

    Raises:
        StoreError: the target isn't empty or can't hold it, or the two are one.
        CorruptError: a row of the source, or what arrived, isn't what was written.
        ReadOnlyError: the target can't be written.
    """
    target.must_be_open()
    tell = progress or (lambda what, done, total: None)
    if _place(source) == _place(target):
        raise StoreError(f"{source.url!r} can't be copied onto itself: name another place")
    with source.read() as reading:
        with target.read() as connection:
            _must_be_empty(connection, target.url)
        for found in damages(reading):
            raise CorruptError(f"{found}: `store check` tells more; put a backup in its place")
        pictures, missing = _copy_pictures(reading, source, target, tell)
        files = _copy_files(source.folder, target.folder, tell)
        with target.write() as writer:
            _must_be_empty(writer.connection, target.url)
            rows = _copy_rows(reading, writer.connection, tell)
    return CopyResult(rows=rows, pictures=pictures, files=files, missing=missing)


def _place(store: Store) -> str:
    return store.url if "://" in store.url else str(store.folder.resolve())


def _tables() -> list[sa.Table]:
    return [one for one in metadata.sorted_tables if one.name not in _NOT]


def _must_be_empty(connection: sa.Connection, url: str) -> None:
    for one in _tables():
        if connection.execute(sa.select(sa.literal(1)).select_from(one).limit(1)).first():
            raise StoreError(
                f"{url!r} isn't empty (it has {one.name}): copy into a new folder or an empty "
                "database; nothing was changed"
            )


# --- rows ----------------------------------------------------------------------------------------


class Digest:
    """A sum over rows that is the same in whatever order they come, and on every database."""

    def __init__(self) -> None:
        self.n = 0
        self._sum = 0

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows.

        Formula: the sum of BLAKE2b-128 over the rows' texts, modulo 2^128.
        """
        for row in rows:
            # Nought has two signs, and SQLite keeps one.
            cells = [cell + 0.0 if isinstance(cell, float) else cell for cell in row]
            found = blake2b(repr(cells).encode("utf-8", "backslashreplace"), digest_size=16)
            self._sum = (self._sum + int.from_bytes(found.digest())) % _SPACE
            self.n += 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and (self.n, self._sum) == (other.n, other._sum)

    __hash__ = None  # type: ignore[assignment]


def _copy_rows(source: sa.Connection, target: sa.Connection, tell: Progress) -> dict[str, int]:
    counts = {one.name: _count(source, one) for one in _tables()}
    total, done = sum(counts.values()), 0
    for one in _tables():
        sent, arrived = Digest(), Digest()
        for rows in _read(source, one):
            _put(target, one, rows)
            sent.add(rows)
            done += len(rows)
            tell(f"rows of {one.name}", done, total)
        for rows in _read(target, one):
            arrived.add(rows)
        if sent != arrived:
            raise CorruptError(
                f"the rows of {one.name} didn't arrive as they were sent ({sent.n:,} sent, "
                f"{arrived.n:,} there): nothing was copied; try again, or check the disk"
            )
    if target.dialect.name == "postgresql":
        target.exec_driver_sql("ANALYZE")
    return {name: n for name, n in counts.items() if n}


def _count(connection: sa.Connection, one: sa.Table) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(one)).scalar_one())


def _read(connection: sa.Connection, one: sa.Table) -> Iterator[Sequence[sa.Row[Any]]]:
    options = {"yield_per": _CHUNK}
    yield from connection.execute(sa.select(one), execution_options=options).partitions()


def _put(connection: sa.Connection, one: sa.Table, rows: Sequence[sa.Row[Any]]) -> None:
    if connection.dialect.name == "sqlite":
        connection.execute(sa.insert(one), [row._asdict() for row in rows])
        return
    quote = connection.dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in one.columns)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {one.name} ({names}) FROM STDIN") as pipe:
        for row in rows:
            pipe.write_row(row)


# --- files ---------------------------------------------------------------------------------------


def _copy_pictures(
    connection: sa.Connection, source: Store, target: Store, tell: Progress
) -> tuple[int, tuple[str, ...]]:
    ids = [str(one) for one in connection.execute(sa.select(table(Picture).c.id)).scalars()]
    missing: list[str] = []
    for done, name in enumerate(ids, 1):
        if not _copy_picture(source.pictures, target.pictures, name):
            missing.append(name)
        tell("pictures", done, len(ids))
    return len(ids) - len(missing), tuple(missing)


def _copy_picture(source: PictureFiles, target: PictureFiles, name: str) -> bool:
    """Copy a picture unless its file there is right already; False where there is no right one."""
    for files in (target, source):
        try:
            right = blob_hash(files.read(name)) == name
        except PictureError:
            right = False
        if right:
            break
    if right and files is source:
        target.forget(name)
        target.copy_from(source, name)
    return right


def _copy_files(source: Path, target: Path, tell: Progress) -> int:
    """Copy what lies beside the pictures; two stores on servers may share one folder."""
    if source.resolve() == target.resolve():
        return 0
    own = [path for name in BESIDE for path in sorted((source / name).rglob("*"))]
    own = [path for path in (*own, source / ENDPOINTS) if path.is_file()]
    own = [path for path in own if not path.is_symlink() and not path.name.endswith(".part")]
    listed = target / ENDPOINTS
    ours = listed.read_bytes() if source / ENDPOINTS in own and listed.exists() else None
    if ours is not None and ours != (source / ENDPOINTS).read_bytes():
        raise StoreError(
            f"{str(listed)!r} lists other endpoints than the store that is copied: move that file "
            "away; nothing was changed"
        )
    for done, path in enumerate(own, 1):
        write_file(target / path.relative_to(source), path.read_bytes())
        tell("other files", done, len(own))
    return len(own)
