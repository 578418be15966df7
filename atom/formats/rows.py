"""Read the rows of a table file one by one: CSV, JSON lines, JSON, Parquet, Excel.

What can't be read is told to a `Problems`; rows before a break are kept.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, zip_longest
from typing import BinaryIO, NamedTuple, Protocol, TextIO

from atom.errors import FormatError
from atom.foreign.native import MOST_COLUMNS, Piece, check_width, parquet_rows, sheet_rows
from atom.foreign.parsers import ParserLimits, parse_rows, time_for
from atom.formats.base import ImportFile
from atom.formats.json_scan import BrokenJsonError, JsonScanner, decode, plain_object
from atom.formats.layout import FileLayout

_FIELD_LIMIT = 64_000_000
_TOO_LONG = "this line is longer than 64 MB"
_PIECE = 1 << 16
"""Characters that are cut into lines at once."""
_END = "\x1e\x1eend of table\x1e\x1e"


class Row(NamedTuple):
    """One row: where it stands and what its cells hold."""

    place: str
    values: dict[str, object]


_row: Callable[[tuple[str, dict[str, object]]], Row] = partial(tuple.__new__, Row)
"""Makes a row of a pair, in a third of the time that a call by name takes."""


class Problems(Protocol):
    """Takes what can't be read."""

    def skip(self, place: str, reason: str) -> None:
        """Note a row that is left out."""
        ...

    def note(self, text: str) -> None:
        """Note something once."""
        ...

    def broken(self, text: str) -> None:
        """Note that a file breaks off."""
        ...


class NoProblems:
    """Takes what is told elsewhere: whoever only looks ahead meets it again later."""

    first = ""
    """What went wrong first, for a file of which nothing can be read."""

    def skip(self, place: str, reason: str) -> None:
        """Keep the first."""
        self.first = self.first or f"{place}: {reason}"

    def note(self, text: str) -> None:
        """Do nothing."""

    def broken(self, text: str) -> None:
        """Keep the first."""
        self.first = self.first or text


NO_ROWS = (
    "no row was found in the files; a table with a header line, JSON or JSON lines are expected, "
    "best in UTF-8"
)
"""What is said of files that hold nothing."""


def read_rows(
    file: ImportFile, layout: FileLayout, problems: Problems, *, most: int | None = None
) -> Iterator[Row]:
    """Read a file's rows, in memory that doesn't grow with it.

    Args:
        layout: how its rows are laid out.
        problems: told of what can't be read.
        most: how many rows are wanted, for those who only look ahead: of a workbook's sheets the
            others aren't brought over.

    Raises:
        FormatError: nothing of it can be read.
    """
    if layout.kind in ("parquet", "excel"):
        with file.open() as stream:
            if layout.kind == "parquet":
                yield from _parquet(stream, file.name, problems)
            else:
                yield from _excel(stream, file.name, problems, most)
        return
    with (
        file.open() as stream,
        io.TextIOWrapper(stream, encoding=layout.encoding, errors="replace", newline="") as text,
    ):
        if layout.kind == "csv":
            yield from _csv(text, layout.delimiter, file.name, problems)
        elif layout.kind == "jsonl":
            yield from _json_lines(text, file.name, problems)
        else:
            yield from _json(text, file.name, problems)


def _header(cells: list[str], name: str, problems: Problems) -> list[str]:
    check_width(len(cells), name)
    names: dict[str, int] = {}
    """How often each was met."""
    for at, cell in enumerate(cells, start=1):
        column = cell.strip().lstrip("\ufeff") or f"column {at}"
        if column in names:
            n = names[column] + 1
            while f"{column} ({n})" in names:
                n += 1
            names[column] = n
            if n == 2:
                problems.note(
                    f"{name}: two columns are called {column!r}; the later is '{column} ({n})'"
                )
            column = f"{column} ({n})"
        names[column] = 1
    return list(names)


def _csv(text: TextIO, delimiter: str, name: str, problems: Problems) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), _FIELD_LIMIT))
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            place = f"{name} line {line}"
            line = reader.line_num + 1
            if not cells:
                continue
            if cells == [_END]:
                return
            if any(cell.endswith(_END) for cell in cells[-1:]):
                problems.skip(place, "a quote that opens here never closes; the file may be cut")
                return
            if header is None:
                if cells[0][:4].lower() == "sep=" and len(cells) <= 2:
                    continue
                header = _header(cells, name, problems)
                continue
            if not any(cell and not cell.isspace() for cell in cells):
                continue  # a line of separators alone holds as little as an empty one
            extra = any(cell.strip() for cell in cells[len(header) :])
            if extra:
                problems.skip(
                    place, f"it has {len(cells):,} cells where the header has {len(header)}"
                )
            elif len(cells) < len(header) and lines.is_cut:
                problems.skip(place, "the file breaks off in this row")
            else:
                yield _row((place, dict(zip(header, cells, strict=False))))
    except csv.Error as error:
        problems.skip(
            f"{name} line {line}", f"the table breaks off ({error}); rows before are kept"
        )


class _Lines(Iterator[str]):
    """The lines of a text, then a last one of our own, which an open quote would swallow."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._ended = False
        self.is_cut = False
        """Whether the line given last has no line end."""

    def __next__(self) -> str:
        line = self._text.readline(_FIELD_LIMIT)
        if len(line) == _FIELD_LIMIT:
            raise csv.Error(_TOO_LONG)
        if line:
            self.is_cut = not line.endswith(("\n", "\r"))
            return line if not self.is_cut else line + "\n"
        if self._ended:
            raise StopIteration
        self._ended = True
        return _END


def _json_lines(text: TextIO, name: str, problems: Problems) -> Iterator[Row]:
    number = 0
    for lines, is_whole in _lines_in_pieces(text):
        for line in lines:
            number += 1
            found = plain_object(line) if len(line) < _FIELD_LIMIT else None
            if found is not None and len(found) <= MOST_COLUMNS:
                yield _row((f"{name} line {number}", found))
                continue
            if len(line) >= _FIELD_LIMIT:
                problems.broken(f"{name} line {number}: {_TOO_LONG}; the rows before are kept")
                return
            stripped = line.strip().lstrip("\ufeff")
            if not stripped:
                continue
            place = f"{name} line {number}"
            try:
                value = decode(stripped)
            except RecursionError:
                problems.skip(place, "it is nested too deeply")
                continue
            except ValueError as error:
                told = f"no JSON: {error}" if is_whole else "the file breaks off in this line"
                problems.skip(place, told)
                continue
            if row := _object(place, value, problems):
                yield row


def _lines_in_pieces(text: TextIO) -> Iterator[tuple[list[str], bool]]:
    """Give a text's lines without their ends, many at once: to ask for each costs twice as much.

    Yields:
        Some lines, and whether they had ends, which only the text's last line may not have. A line
        that is too long is the last one given, and not all of it.
    """
    held: list[str] = []
    length = 0
    while piece := text.read(_PIECE):
        if "\r" in piece:
            piece += text.read(1) if piece.endswith("\r") else ""
            piece = piece.replace("\r\n", "\n").replace("\r", "\n")
        lines = piece.split("\n")
        if len(lines) > 1:
            lines[0] = "".join((*held, lines[0]))
            held, length = [], 0
            yield lines[:-1], True
        held.append(lines[-1])
        length += len(lines[-1])
        if length >= _FIELD_LIMIT:
            break
    if length:
        yield ["".join(held)], False


def _json(text: TextIO, name: str, problems: Problems) -> Iterator[Row]:
    scanner = JsonScanner(text)
    number = 0
    try:
        if scanner.peek() == "[":
            for value in scanner.items():
                number += 1
                if row := _object(f"{name} row {number}", value, problems):
                    yield row
            return
        for key in scanner.each_key():
            if scanner.peek() == "[":
                for value in scanner.items():
                    number += 1
                    if isinstance(value, dict) and len(value) <= MOST_COLUMNS:
                        yield Row(place=f"{name} row {number}", values=value)
                continue
            value = scanner.value()
            if isinstance(value, dict):
                number += 1
                place = f"{name} {key!r:.80}"
                if row := _object(place, {"id": key, **value}, problems):
                    yield row
    except BrokenJsonError as error:
        if not number:
            raise FormatError(
                f"{name!r} can't be read as JSON: {error.reason}; a list of objects, an object "
                "of objects or JSON lines are expected"
            ) from error
        problems.broken(
            f"{name}: the file {'breaks off' if error.at_end else 'is broken'} after row {number} "
            f"({error.reason}); the rows before are kept"
        )


def _object(place: str, value: object, problems: Problems) -> Row | None:
    """Return a row of an object; None, which is told, where it is none or has too many keys."""
    if not isinstance(value, dict):
        problems.skip(place, f"it is a {_kind_of(value)}, not an object")
    elif len(value) > MOST_COLUMNS:
        problems.skip(place, f"it has {len(value):,} columns; at most {MOST_COLUMNS:,} are read")
    else:
        return Row(place=place, values=value)
    return None


def _kind_of(value: object) -> str:
    names = {"str": "string", "list": "list", "NoneType": "null", "bool": "boolean"}
    return names.get(type(value).__name__, "number")


def _parquet(stream: BinaryIO, name: str, problems: Problems) -> Iterator[Row]:
    number = 0
    for rows, broken in parse_rows(parquet_rows, stream, name, name=name, limits=_limits(stream)):
        for values in rows:
            number += 1
            yield _row((f"{name} row {number}", values))
        if broken:
            problems.broken(
                f"{name}: the file is broken after row {number} ({broken}); the rows before are "
                "kept"
            )


def _excel(stream: BinaryIO, name: str, problems: Problems, most: int | None) -> Iterator[Row]:
    """Read a workbook's sheets one after the other, each with a header line of its own."""
    sheets = 0
    for sheet in read_sheets(stream, name, None if most is None else most + 1):
        header: list[str] | None = None
        for number, cells in enumerate(sheet.rows, start=1):
            if all(cell == "" for cell in cells):
                continue
            if header is None:
                header = _header([str(cell) for cell in cells], name, problems)
                sheets += 1
                continue
            place = f"{name} row {number}"
            if sheet.title and sheets > 1:
                place = f"{name} sheet {sheet.title!r} row {number}"
            yield Row(
                place=place,
                values={
                    column: None if cell == "" else cell
                    for column, cell in zip_longest(header, cells[: len(header)], fillvalue="")
                },
            )
    if sheets > 1:
        problems.note(f"{name}: {sheets} sheets hold rows; they were read one after the other")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet of a workbook."""

    title: str
    rows: Iterator[list[object]]


def read_sheets(stream: BinaryIO, name: str, most: int | None = None) -> Iterator[Sheet]:
    """Read a workbook's sheets, one after the other: each before the next.

    Args:
        most: how many rows of each are wanted, the header included; None = all.

    Raises:
        FormatError: it can't be read, is locked, or would fill the memory.
    """
    pieces = parse_rows(sheet_rows, stream, name, most, name=name, limits=_limits(stream))
    for (_, title), pieces_of_sheet in groupby(pieces, key=_Titles()):
        yield Sheet(title=title, rows=(row for _, rows in pieces_of_sheet for row in rows))


class _Titles:
    """Tells the sheet that a piece belongs to: the last whose title was given."""

    def __init__(self) -> None:
        self._at = 0
        self._title = ""

    def __call__(self, piece: Piece) -> tuple[int, str]:
        """Return the sheet's number and title."""
        if piece[0] is not None:
            self._at, self._title = self._at + 1, piece[0]
        return self._at, self._title


def _limits(stream: BinaryIO) -> ParserLimits:
    """Return what reading a table may cost, by its size."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return time_for(size)
