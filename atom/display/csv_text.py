"""Tables as CSV that a spreadsheet reads as text and numbers, never as formulas."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import TextIO

from atom.display.shown import begins_a_formula, level

_UNSAFE = ("\t", "\r")


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV.

    Args:
        head: the columns' names.
        lines: a value a column; NaN and infinities become empty.
    """
    out = io.StringIO()
    write_csv(out, head, lines)
    return out.getvalue()


def write_csv(out: TextIO, head: Sequence[str] | None, lines: Iterable[Sequence[object]]) -> int:
    """Write a table as CSV to a stream, line by line; returns how many lines it has.

    Args:
        head: the columns' names; None = they stand there already.
        lines: a value a column; NaN and infinities become empty.
    """
    writer = csv.writer(out, lineterminator="\n")
    if head is not None:
        writer.writerow([safe_text(name) for name in head])
    n = 0
    for line in lines:
        writer.writerow([_safe(value) for value in line])
        n += 1
    return n


def _safe(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else ""
    return safe_text(value) if isinstance(value, str) else value


def safe_text(text: str) -> str:
    """Keep a text from being read as a formula by a spreadsheet, and from mirroring others."""
    # A lone carriage return isn't quoted by the writer and would end the row.
    kept = level(text.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{kept}" if _is_unsafe(text) else kept


def guarded(text: str) -> str:
    """Keep a text from being read as a formula, so that it can be taken off again.

    Whoever reads it takes one ' from the front of a text that begins with one.
    """
    return f"'{text}" if text.startswith("'") or _is_unsafe(text) else text


def _is_unsafe(text: str) -> bool:
    return text.startswith(_UNSAFE) or begins_a_formula(text)
