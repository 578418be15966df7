"""Workbooks and Parquet files, as native code reads them: only in a worker.

Nothing here is called but through `atom.foreign.parsers`: a file may ask for more memory than there
is, and then the process that reads it is gone.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from atom.errors import FormatError

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Scalar

ROWS = 64
"""Rows of a Parquet file that are unpacked at once."""
_PIECE = 1 << 20
"""Bytes of rows that are sent at once, and `_MOST_ROWS` at most."""
_MOST_ROWS = 4096
_CELLS = 20_000
"""Cells of a piece of a workbook."""
_MAX_WORKBOOK = 500_000_000
MOST_COLUMNS = 16_384
"""Columns of a table of any kind: as many as a sheet can have."""

Piece = tuple[str | None, list[list[object]]]
"""Rows of a sheet; with the sheet's title where it begins."""


def sheet_rows(stream: BinaryIO, name: str, most: int | None = None) -> Iterator[Piece]:
    """Read a workbook's sheets, one after the other.

    Args:
        most: after how many rows of a sheet, empty ones aside, to go on to the next; None = all.

    Raises:
        FormatError: it can't be read, is locked, or would fill the memory.
    """
    import python_calamine as calamine

    _check_size(stream, name)
    try:
        book = calamine.CalamineWorkbook.from_filelike(stream)
        for at, title in enumerate(book.sheet_names):
            yield title, []
            rows: list[list[object]] = []
            n_cells, n_rows = 0, 0
            for row in book.get_sheet_by_index(at).iter_rows():
                if n_rows == most:
                    break
                rows.append(_cells(row) if n_rows else [str(cell) for cell in row])
                n_rows += row.count("") < len(row)
                n_cells += len(rows[-1]) + 1
                if n_cells >= _CELLS:
                    yield None, rows
                    rows, n_cells = [], 0
            yield None, rows
    except calamine.PasswordError as error:
        raise FormatError(f"{name!r} is locked with a password; save it without one") from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise FormatError(
            f"{name!r} can't be read as an Excel workbook ({first_line(error)}); it may be cut: "
            "get it again, or save it as CSV"
        ) from error


def _cells(row: Sequence[object]) -> list[object]:
    """Return a row's cells up to the last that holds something: the header has the width."""
    if row.count("") == len(row):
        return []
    end = len(row)
    while row[end - 1] == "":
        end -= 1
    return [cell if isinstance(cell, str | bool | int | float) else str(cell) for cell in row[:end]]


def _check_size(stream: BinaryIO, name: str) -> None:
    """Refuse a workbook that unpacks to more than the memory should hold."""
    try:
        with zipfile.ZipFile(stream) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(
            f"{name!r} can't be read as an Excel workbook ({first_line(error)}); it may be cut: "
            "get it again, or save it as CSV"
        ) from error
    if size > _MAX_WORKBOOK:
        raise FormatError(
            f"{name!r} unpacks to {size // 1_000_000} MB; save it as CSV, which is read row by row"
        )
    stream.seek(0)


def parquet_rows(stream: BinaryIO, name: str) -> Iterator[tuple[list[dict[str, object]], str]]:
    """Read a Parquet file: rows, and what broke it where that is so.

    Raises:
        FormatError: nothing of it can be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(stream, buffer_size=1 << 20)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, pa.ArrowMemoryError):
            raise MemoryError from error
        raise FormatError(
            f"{name!r} can't be read as Parquet ({first_line(error)}); the end of the file is "
            "missing or damaged: get it again"
        ) from error
    check_width(len(file.schema_arrow), name)
    rows: list[dict[str, object]] = []
    n_bytes = 0
    try:
        for batch in file.iter_batches(batch_size=ROWS, use_threads=False):
            rows += _plain_rows(batch)
            n_bytes += batch.nbytes
            if n_bytes >= _PIECE or len(rows) >= _MOST_ROWS:
                yield rows, ""
                rows, n_bytes = [], 0
        yield rows, ""
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, pa.ArrowMemoryError):
            raise MemoryError from error
        yield rows, first_line(error)


def _plain_rows(batch: RecordBatch) -> list[dict[str, object]]:
    """Return rows as Python values; a value that Python has none for as the file writes it."""
    try:
        rows: list[dict[str, object]] = batch.to_pylist()
    except (ValueError, OverflowError):
        names = batch.schema.names
        columns = [[_plain(value) for value in column] for column in batch.columns]
        rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return rows


def _plain(value: Scalar) -> object:
    """Return a value; of a time beyond Python's years the number that the file holds."""
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return getattr(value, "value", None)


def check_width(n_columns: int, name: str) -> None:
    """Refuse a table with more columns than any has.

    Raises:
        FormatError: with what may have happened.
    """
    if n_columns > MOST_COLUMNS:
        raise FormatError(
            f"{name!r} has {n_columns:,} columns; at most {MOST_COLUMNS:,} are read: if it lies on "
            "its side, turn it so that each question has a row"
        )


def first_line(error: Exception) -> str:
    """Return the first line of an error's words, cut."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
