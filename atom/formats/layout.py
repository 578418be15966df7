"""Find out how a file's rows are laid out: its kind, encoding and delimiter."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import BinaryIO, Literal

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.foreign import check_packed
from atom.formats.json_scan import DECODER

Kind = Literal["csv", "jsonl", "json", "parquet", "excel"]
DELIMITERS = (",", "\t", ";", "|")
_SCAN_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class FileLayout:
    """How a file's rows are laid out."""

    kind: Kind
    encoding: str = "utf-8"
    delimiter: str = ","
    notes: tuple[str, ...] = ()


def find_layout(
    file: ImportFile, *, encoding: str | None = None, delimiter: str | None = None
) -> FileLayout:
    """Find out how a file is laid out, from its content rather than its name.

    Args:
        encoding: what the user says; None = found out.
        delimiter: likewise, for CSV.

    Raises:
        FormatError: it is empty, or of a kind that isn't read here.
    """
    head = file.head()
    if not head.strip(b"\x00 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise FormatError(f"{file.name!r} is empty; a table with a header line is expected")
    if head.startswith(b"PAR1"):
        return FileLayout(kind="parquet")
    if is_excel(head):
        return FileLayout(kind="excel")
    check_packed([file])
    if encoding is None:
        detected = find_encoding(file)
        found = detected.name
        notes = (f"{file.name}: {detected.note}",) if detected.note else ()
    else:
        found, notes = _known_encoding(encoding), ()
    text = head.decode(found, "replace").lstrip("\ufeff")
    start = text.lstrip()
    if start.startswith(("{", "[")) and not file.name.lower().endswith((".csv", ".tsv")):
        kind_of_json: Kind = "jsonl" if _is_lines(start, file.name) else "json"
        return FileLayout(kind=kind_of_json, encoding=found, notes=notes)
    chosen = delimiter or find_delimiter(text, file.name)
    return FileLayout(kind="csv", encoding=found, delimiter=chosen, notes=notes)


def is_excel(head: bytes) -> bool:
    """Whether a file begins as an Excel workbook does: a ZIP of certain parts."""
    return head.startswith(b"PK\x03\x04") and (
        b"[Content_Types].xml" in head or b"xl/" in head or b"docProps/" in head
    )


def _known_encoding(name: str) -> str:
    try:
        b"a".decode(name, "replace")
    except (LookupError, ValueError):
        raise FormatError(
            f"encoding {name!r} is unknown; utf-8, utf-16, cp1252, gb18030 and shift_jis are some "
            "that are known"
        ) from None
    return name


def _is_lines(start: str, name: str) -> bool:
    if start.startswith("["):
        return False
    if name.lower().endswith((".jsonl", ".ndjson")):
        return True
    lines = [line for line in start.split("\n", 2) if line.strip()]
    try:
        DECODER.decode(lines[0].strip())
    except (ValueError, RecursionError):
        return False
    return len(lines) > 1 and lines[1].lstrip().startswith("{")


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A text encoding, and what the user should know about the choice."""

    name: str
    note: str = ""


_HEAD = 4096
"""Bytes by which an encoding's mark is checked."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def find_encoding(file: ImportFile) -> Encoding:
    """Find a text file's encoding: by its mark, by its zero bytes, else UTF-8 or Windows-1252.

    The whole file is looked at, since the first foreign letter may stand far down.
    """
    with file.open() as stream:
        head = stream.read(_HEAD)
        for mark, name in _BOMS:
            if head.startswith(mark):
                _check_decodes(head, name, file.name)
                return Encoding(name=name)
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if odd > len(head) // 6 and even < odd // 10:
            return Encoding(name="utf-16-le", note="read as UTF-16 (it has no byte order mark)")
        if even > len(head) // 6 and odd < even // 10:
            return Encoding(name="utf-16-be", note="read as UTF-16 (it has no byte order mark)")
        good, bad = _utf8_letters(head, stream)
    if not bad:
        return Encoding(name="utf-8")
    if good >= 20 * bad:
        return Encoding(
            name="utf-8", note=f"{bad} broken characters are shown as \ufffd (UTF-8 otherwise)"
        )
    return Encoding(
        name="cp1252",
        note="it isn't UTF-8 and was read as Windows-1252; if letters look wrong, name the "
        "`encoding` in the column map",
    )


def _check_decodes(head: bytes, encoding: str, name: str) -> None:
    """Refuse a file that isn't in the encoding whose mark it begins with.

    UTF-8 is left alone: single broken letters in it are told and shown.

    Raises:
        FormatError: it can't be decoded.
    """
    if encoding == "utf-8-sig":
        return
    unit = 4 if encoding == "utf-32" else 2
    try:
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        decoder.decode(head, final=len(head) < _HEAD or len(head) % unit != 0)
    except UnicodeDecodeError:
        raise FormatError(
            f"the encoding of {name!r} can't be read: it begins as {encoding.upper()} does, but "
            "isn't; save it as UTF-8"
        ) from None


def _utf8_letters(head: bytes, stream: BinaryIO) -> tuple[int, int]:
    """Count the letters beyond ASCII that read well as UTF-8, and the places that don't."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    good = bad = 0
    chunk = head
    while chunk:
        if not chunk.isascii() or decoder.getstate()[0]:
            text = decoder.decode(chunk)
            broken = text.count("\ufffd")
            bad += broken
            good += len(text) - len(text.encode("ascii", "ignore")) - broken
        chunk = stream.read(_SCAN_CHUNK)
    return good, bad


def find_delimiter(text: str, name: str = "") -> str:
    """Find the character between cells: the one that cuts the first lines into equal rows."""
    if text[:4].lower() == "sep=" and text[5:6] in ("\r", "\n"):
        return text[4]
    if name.lower().endswith(".tsv"):
        return "\t"
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths: list[int] = []
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            for cells in reader:
                if cells:
                    widths.append(len(cells))
                if len(widths) >= 30:
                    break
        except csv.Error:
            pass
        if len(widths) > 1 and len(text) >= 60_000:
            widths.pop()
        if not widths or widths[0] < 2:
            continue
        even = Counter(widths)[widths[0]] / len(widths)
        score = (round(even, 1), widths[0])
        if score > best_score:
            best, best_score = delimiter, score
    return best
