"""What the readers of the benchmarks' files share: rows, and what is left out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from atom.formats.base import ImportFile
from atom.formats.cells import is_missing, to_number
from atom.formats.intake.collector import Collector
from atom.formats.layout import find_layout
from atom.formats.pictures import PictureData, place_picture
from atom.formats.rows import Problems, Row, read_rows
from atom.judgebench.base import LoadedItems, LoadOptions
from atom.judgebench.words import count
from atom.records import BenchItem, PictureSlot

IMPORTED: Final = "imported"
"""Stands for the prompt in verdicts whose replies were made elsewhere."""
_MOST_REPEATS: Final = 1000


class Unusable(Exception):
    """A row or a reply that is left out, with the reason."""


class ReadingNotes:
    """Gathers what is left out and what the reader should know; a `Problems`."""

    def __init__(self) -> None:
        self.skipped: list[str] = []
        self._notes: dict[str, None] = {}
        self._tallies: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def skip(self, place: str, reason: str) -> None:
        """Note a row that is left out."""
        self.skipped.append(f"{place}: {reason}")

    def note(self, text: str) -> None:
        """Note something once."""
        self._notes[text] = None

    broken = note

    def tally(self, text: str, place: str) -> None:
        """Count something that may happen often."""
        self._tallies[text] += 1
        self._first.setdefault(text, place)

    def notes(self) -> tuple[str, ...]:
        """Return all notes, a line each."""
        counted = (
            f"{count(n, 'row')}: {text} (first: {self._first[text]})"
            for text, n in self._tallies.items()
        )
        return (*self._notes, *counted)


def rows_of(files: Sequence[ImportFile], problems: Problems) -> Iterator[tuple[ImportFile, Row]]:
    """Read the rows of tables, one file after the other.

    Raises:
        FormatError: nothing of a file can be read.
    """
    for file in files:
        layout = find_layout(file)
        for note in layout.notes:
            problems.note(note)
        for row in read_rows(file, layout, problems):
            yield file, row


class ItemReader:
    """Turns rows into items, where each row stands for itself.

    Args:
        options: set, column map, pictures, limit.
        out: gathers what is left out and what the reader should know.
    """

    noun = "item"
    """What an item is called in notes."""

    def __init__(self, options: LoadOptions, out: Collector) -> None:
        self.items: list[BenchItem] = []
        self._options = options
        self._out = out
        self._pictures: dict[str, PictureData] = {}

    def _item(self, row: Row) -> BenchItem | None:
        """Make a row's item; None for a row that says something of other rows' items.

        Raises:
            Unusable: the row can't be one.
        """
        raise NotImplementedError

    def read(self, files: Sequence[ImportFile]) -> None:
        """Take the files' rows in, as many as are wanted.

        Raises:
            FormatError: nothing of a file can be read.
        """
        for _, row in rows_of(files, self._out):
            limit = self._options.limit
            if limit is not None and len(self.items) >= limit:
                self._out.note(f"only the first {limit} {self.noun}s were read, as asked")
                return
            try:
                item = self._item(row)
            except Unusable as why:
                self._out.skip(row.place, str(why))
            else:
                if item is not None:
                    self.items.append(item)

    def _slot(self, cell: object, name: str = "") -> PictureSlot | None:
        """Fill a picture's place; None where a cell gives nothing and no name is known."""
        placed = place_picture(cell, self._options.pictures, name)
        if placed is None:
            return None
        picture = placed.look.picture
        if picture is None:
            self._out.missing_picture(placed.name or "embedded", placed.look.reason)
        else:
            self._pictures.setdefault(picture.id, picture)
        return PictureSlot(name=placed.name, picture_id=picture.id if picture else None)

    def finish(self) -> LoadedItems:
        """Return what came of it all."""
        report = self._out.report()
        notes = [*report.notes]
        if report.n_skipped:
            rows = len(self.items) + report.n_skipped
            notes.append(f"left out: {report.n_skipped:,} of {count(rows, 'row')}")
        if report.n_missing_pictures:
            first = ", ".join(report.missing_pictures[:3])
            notes.append(
                f"pictures that weren't found: {report.n_missing_pictures:,} (first: {first}); "
                "their items can't be asked until the set is taken in with them"
            )
        return LoadedItems(
            items=tuple(self.items),
            pictures=tuple(self._pictures.values()),
            skipped=report.skipped,
            notes=tuple(notes),
        )


def repeat_of(value: object) -> int | None:
    """Read which of several replies to one question this is; None where that isn't said.

    Raises:
        Unusable: it is said, but is no number from 0 on.
    """
    if is_missing(value):
        return None
    number = to_number(value)
    if number is None or not number.is_integer() or not 0 <= number < _MOST_REPEATS:
        raise Unusable(f"`repeat` is {str(value)[:20]!r}; 0, 1, 2, ... is expected")
    return int(number)
