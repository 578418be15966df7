"""Rows of a large table as columns, fast.

A row that SQLite hands to Python costs more than reading it from the disk. So whole tables are
scanned in runs of rows, and each column of a run comes as one text, cut up by Arrow
(design/007-data-path.md).
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from queue import Empty, Queue
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
CHUNK = 50_000
"""Rows that are read in one go."""
_AHEAD = 24
"""Chunks that are fetched before they are asked for, at most."""
_SEPARATOR = "\x1f"
_MAPPED = 1 << 36
"""Most bytes of a store's file that are mapped; the system's own limits come first."""
T = TypeVar("T")


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the garbage collector from walking over millions of new objects, none of it garbage."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


@contextmanager
def mapped(connection: sa.Connection) -> Iterator[None]:
    """Let SQLite read its file as memory: a scan then copies no pages, and takes half the time.

    Only for this reading: while it lasts, no writer can make the file shorter.
    """
    if connection.dialect.name != "sqlite":
        yield
        return
    connection.exec_driver_sql(f"PRAGMA mmap_size = {_MAPPED}").close()
    try:
        yield
    finally:
        connection.exec_driver_sql("PRAGMA mmap_size = 0").close()


@contextmanager
def ahead(items: Iterator[T], *, at_once: bool) -> Iterator[Iterator[T]]:
    """Let a thread of its own fetch items before they are asked for, a few dozen at most.

    SQLite and Arrow work outside of Python's lock, so both of two cores are used.

    Args:
        items: what is fetched; nobody else may touch it, nor what it reads from, meanwhile.
        at_once: whether to do so at all.
    """
    if not at_once:
        yield items
        return
    fetched: Queue[T | BaseException | None] = Queue(_AHEAD)
    leave = threading.Event()

    def fetch() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                if leave.is_set():
                    break
                fetched.put(item)
        except BaseException as error:  # noqa: BLE001 - raised again where the items are used
            end = error
        fetched.put(end)

    def given() -> Iterator[T]:
        while (item := fetched.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    thread = threading.Thread(target=fetch, name="atom-read", daemon=True)
    thread.start()
    try:
        yield given()
    finally:
        leave.set()
        while thread.is_alive():
            with suppress(Empty):
                fetched.get_nowait()
            thread.join(0.01)


Columns: TypeAlias = "list[list[Any]]"


def chunks(connection: sa.Connection, statement: sa.Select[Any]) -> Iterator[Columns]:
    """Read rows as columns, in chunks, as the database's own cursor gives them."""
    cursor = connection.execute(statement).cursor
    while rows := cursor.fetchmany(CHUNK):
        yield [list(column) for column in zip(*rows, strict=True)]


def scanned(
    connection: sa.Connection,
    source: sa.Table,
    columns: Sequence[sa.ColumnElement[Any]],
    *where: sa.ColumnElement[bool],
) -> Iterator[Columns]:
    """Read columns of a whole table, in chunks; SQLite packs each chunk into texts.

    Values come as texts where they are packed. A chunk with a value that holds the separator, or
    with none at all, is read row by row.
    """
    for chunk in packed(connection, source, columns, *where):
        if isinstance(chunk[0], str):
            yield [text[:-1].split(_SEPARATOR) for text in chunk]
        else:
            yield chunk


def packed(
    connection: sa.Connection,
    source: sa.Table,
    columns: Sequence[sa.ColumnElement[Any]],
    *where: sa.ColumnElement[bool],
) -> Iterator[list[Any]]:
    """Read columns of a whole table, in chunks: a text of all values a column, else lists.

    In a text each value has a separator after it.
    """
    plain = sa.select(*columns).select_from(source).where(*where)
    if connection.dialect.name != "sqlite":
        yield from chunks(connection, plain)
        return
    rowid = sa.literal_column(f"{source.name}.rowid", sa.Integer)
    packed = [sa.func.group_concat(column, _SEPARATOR) for column in columns]
    # Each by itself: SQLite finds one end of a table at once, but both together by a scan.
    first, last = (
        connection.execute(sa.select(end(rowid)).select_from(source)).scalar()
        for end in (sa.func.min, sa.func.max)
    )
    for start in range(first or 0, (last or -1) + 1, CHUNK):
        inside = (rowid >= start, rowid < start + CHUNK)
        count, *texts = connection.execute(
            sa.select(sa.func.count(), *packed).select_from(source).where(*where, *inside)
        ).one()
        if not count:
            continue
        whole = [f"{text}{_SEPARATOR}" for text in texts]
        if all(text.count(_SEPARATOR) == count for text in whole):
            yield whole
        else:
            yield from chunks(connection, plain.where(*inside))


def array(values: str | Sequence[Any]) -> pa.Array:
    """Return texts, each with its separator after it, as Arrow has them: cut up, but not copied."""
    text = values if isinstance(values, str) else _SEPARATOR.join([*map(str, values), ""])
    if not isinstance(values, str) and text.count(_SEPARATOR) != len(values):
        # A text that holds the separator itself is written with another sign, wherever it is.
        plain = (str(one).replace(_SEPARATOR, "\ufffd") for one in values)
        text = _SEPARATOR.join([*plain, ""])
    body = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.flatnonzero(body == ord(_SEPARATOR)) + 1
    offsets = np.append(0, ends).astype(np.int64)
    return pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(body))


def arrays(chunks: Iterable[Sequence[Any]], width: int) -> list[list[pa.Array]]:
    """Read chunks as so many columns of Arrow arrays, one array a chunk."""
    made = [[one if isinstance(one, pa.Array) else array(one) for one in chunk] for chunk in chunks]
    return [[chunk[at] for chunk in made] for at in range(width)]


def _bare(parts: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Take the separators off again."""
    return pc.utf8_rtrim(pa.chunked_array(parts, pa.large_string()), _SEPARATOR)


def texts(parts: Sequence[pa.Array]) -> list[str]:
    """Read arrays as texts."""
    return list(_bare(parts).to_pylist())


def numbers(parts: Sequence[pa.Array], kind: pa.DataType) -> NDArray[Any]:
    """Read texts as numbers of a kind; "None" is none where the kind has one."""
    return np.asarray(pc.cast(_bare(parts), kind).to_numpy())


def look_up(parts: Sequence[pa.Array], among: pa.Array) -> Ints:
    """Look texts up in an array; -1 where one isn't there. All arrays are made by `_array`."""
    found = pc.index_in(pa.chunked_array(parts, pa.large_string()), value_set=among)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)


def codes(keys: Sequence[Any], at: Mapping[str, int]) -> Ints:
    """Look keys up; -1 where one isn't known."""
    return np.fromiter(map(at.get, keys, repeat(-1)), dtype=np.int64, count=len(keys))


def whole(chunks: Iterable[Columns], width: int) -> Columns:
    """Put chunks together, into so many columns."""
    found: Columns = [[] for _ in range(width)]
    for chunk in chunks:
        for column, part in zip(found, chunk, strict=True):
            column += part
    return found
