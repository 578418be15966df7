"""Tables as CSV that a spreadsheet reads as text and numbers, never as formulas."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

_UNSAFE = ("=", "+", "-", "@", "\t", "\r")


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV.

    Args:
        head: the columns' names.
        lines: a value a column; NaN and infinities become empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([[_safe(value) for value in line] for line in lines])
    return out.getvalue()


def _safe(value: object) -> object:
    """Keep a text from being read as a formula by a spreadsheet."""
    if isinstance(value, float):
        return value if math.isfinite(value) else ""
    if not isinstance(value, str):
        return value
    # A lone carriage return isn't quoted by the writer and would end the row.
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if value.startswith(_UNSAFE) else text
