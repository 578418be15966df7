"""Read files whose rows each stand for themselves, and say which kind of row each is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from atom.errors import FormatError
from atom.formats.base import ImportFile, Reading, ReadOptions
from atom.formats.intake.batch import Batch
from atom.formats.intake.collector import Collector, UnreadRows
from atom.formats.intake.maker import Maker
from atom.formats.layout import find_layout
from atom.formats.rows import Row, read_rows

T = TypeVar("T")


def rows_of(
    file: ImportFile, collector: Collector, *, count: bool = True, most: int | None = None
) -> Iterator[Row]:
    """Read a file's rows, noting how it was read; counts them unless told not to.

    Args:
        collector: told how it was read, and of what can't be.
        count: whether the rows count as read.
        most: how many are wanted, for those who only look ahead.

    Raises:
        FormatError: nothing of it can be read.
    """
    layout = find_layout(file)
    for note in layout.notes:
        collector.note(note)
    for row in read_rows(file, layout, UnreadRows(collector), most=most):
        collector.rows += count
        yield row


def refuse(file: ImportFile, expected: str) -> FormatError:
    """Make the error for a file without one usable row."""
    return FormatError(f"{file.name!r} holds nothing that can be used; {expected} are expected")


def unknown_score(file: ImportFile, name: str, known: Sequence[str]) -> FormatError:
    """Make the error for a score that a reader asks for and a log hasn't."""
    there = ", ".join(map(repr, known[:12])) or "none"
    return FormatError(
        f"{file.name!r} has no score {name!r:.80}; it has {there}: name one of these with --score, "
        "or leave it out"
    )


@dataclass(frozen=True, kw_only=True)
class SortedRow:
    """A row of a known kind, and the file that it stands in."""

    kind: str
    file: ImportFile
    row: Row


def sort_rows(
    files: Sequence[ImportFile],
    collector: Collector,
    kinds: Mapping[str, Sequence[str]],
    expected: str,
) -> Iterator[SortedRow]:
    """Read files and say of each row what it is, by the keys that it has.

    Args:
        files: what to read, in order.
        collector: told of rows that are none of these.
        kinds: kind -> keys that all of its rows have; the first kind that fits counts.
        expected: what the files should hold, for messages.

    Raises:
        FormatError: a file has no row of any kind.
    """
    for file in files:
        usable = 0
        for row in rows_of(file, collector):
            kind = next(
                (kind for kind, keys in kinds.items() if all(key in row.values for key in keys)),
                None,
            )
            if kind is None:
                collector.skip(row.place, f"it has not the fields of {expected}")
                continue
            usable += 1
            yield SortedRow(kind=kind, file=file, row=row)
        if not usable:
            raise refuse(file, expected)


def names_keys(head: bytes, *keys: str) -> bool:
    """Whether a file's first bytes name all these keys, as JSON or in a table's first line."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        return all(f'"{key}"' in text for key in keys)
    first = text.split("\n", 1)[0]
    cells = {cell.strip().strip('"') for cell in re.split(r"[,\t;]", first)}
    return all(key in cells for key in keys)


class Limit:
    """Counts what a preview may still read."""

    def __init__(self, options: ReadOptions, collector: Collector, what: str = "rows") -> None:
        self._left = options.limit
        self._options = options
        self.collector = collector
        self._what = what

    def reached(self) -> bool:
        """Count one; says whether it is one too many."""
        if self._left is None:
            return False
        if self._left <= 0:
            self.collector.note(f"stopped after {self._options.limit} {self._what}, as asked")
            return True
        self._left -= 1
        return False


def in_batches(
    found: Iterable[T],
    take: Callable[[T], None],
    limit: Limit,
    *,
    end: Callable[[bool], None] | None = None,
) -> Iterator[Batch]:
    """Make records of what was found, one after the other, and hand them on in batches.

    Args:
        found: rows, or questions with all that belongs to them.
        take: makes records of one.
        limit: after how many to stop.
        end: called after the last one with whether nothing was left out.
    """
    collector = limit.collector
    whole = True
    for one in found:
        if limit.reached():
            whole = False
            break
        take(one)
        if collector.is_full:
            yield collector.flush()
    if end is not None:
        end(whole)
    yield collector.flush()


def row_by_row(
    rows: Iterator[SortedRow],
    take: Callable[[SortedRow, Maker], None],
    options: ReadOptions,
    collector: Collector,
    *,
    what: str = "rows",
    end: Callable[[bool], None] | None = None,
) -> Reading:
    """Read files of which each row stands for itself, in memory that doesn't grow with them.

    Args:
        rows: from `sort_rows`.
        take: makes records of a row.
        what: what a row is, for messages.
        end: as for `in_batches`.

    Raises:
        FormatError: the first file has no usable row.
    """
    maker = Maker(collector, options)
    first = next(rows)  # a file without a usable row is refused here, not halfway
    return Reading(
        in_batches(
            chain([first], rows),
            lambda found: take(found, maker),
            Limit(options, collector, what),
            end=end,
        ),
        collector,
    )
