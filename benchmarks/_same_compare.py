"""Compares two folders that `same_as.py` recorded: files line by line, pages by what they count."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

PAGE = ".page.json"
DECIMAL = re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?")
DIGITS = 9
WIDE = 600
"""Letters of a line from which on an HTML file's is taken for data."""
LONG = 160
"""Letters of a line that are shown."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that is on one side only.

    Args:
        where: the file's name within the folder.
        what: `file`, `column`, `line`, `order`, `rounding`, `bytes`, `numbers`, `doors` or
            `texts`; a column is one of a CSV, whose rows are compared in the others; rounding is
            of lines whose long decimals agree in their first `DIGITS`.
        gone: what was there before; empty = nothing.
        came: what is there now; empty = nothing.
        times: how often.
    """

    where: str
    what: str
    gone: str = ""
    came: str = ""
    times: int = 1

    def __str__(self) -> str:
        sign, said = ("-", self.gone) if self.gone else ("+", self.came)
        shown = said if len(said) <= LONG else f"{said[:LONG]}..."
        return f"{self.where} [{self.what}] {sign}{self.times} {shown}"


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """What changes on purpose.

    Args:
        where: pattern of files' names, as a shell has them.
        what: kind of difference; `*` = any.
        gone: regular expression that all of what is gone has to fit; None = nothing may go.
        came: the same of what came.
        why: the reason, for readers.
    """

    where: str
    what: str
    gone: str | None
    came: str | None
    why: str

    def covers(self, found: Difference) -> bool:
        """Whether a difference is this one."""
        if not fnmatchcase(found.where, self.where) or self.what not in ("*", found.what):
            return False
        rule, said = (self.gone, found.gone) if found.gone else (self.came, found.came)
        return rule is not None and re.fullmatch(rule, said, re.DOTALL) is not None


def read_allowed(path: Path) -> tuple[Allowed, ...]:
    """Read the list of what changes on purpose.

    Raises:
        ValueError: an entry lacks its reason, or has a field that isn't known.
    """
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("change", []):
        if not entry.get("why", "").strip():
            raise ValueError(f"{path.name}: {entry!r} says no reason: add `why`")
        if unknown := set(entry) - {"where", "what", "gone", "came", "why"}:
            raise ValueError(f"{path.name}: unknown field {sorted(unknown)[0]!r} in {entry!r}")
        found.append(
            Allowed(
                where=entry["where"],
                what=entry.get("what", "*"),
                gone=entry.get("gone"),
                came=entry.get("came"),
                why=entry["why"],
            )
        )
    return tuple(found)


def compare(before: Path, after: Path) -> Iterator[Difference]:
    """Name everything that differs between two recorded folders, file by file."""
    sides = [{p.relative_to(root).as_posix(): p for p in root.rglob("*") if p.is_file()}
             for root in (before, after)]  # fmt: skip
    for name in sorted({*sides[0], *sides[1]}):
        one, two = (side.get(name) for side in sides)
        if one is None or two is None:
            yield Difference(where=name, what="file", gone=name if one else "",
                             came=name if two else "")  # fmt: skip
        elif (was := one.read_bytes()) != (now := two.read_bytes()):
            yield from _of_file(name, was, now)


def _of_file(name: str, was: bytes, now: bytes) -> Iterator[Difference]:
    if name.endswith(PAGE):
        yield from _of_page(name, json.loads(was), json.loads(now))
        return
    try:
        one, two = (data.decode("utf-8") for data in (was, now))
    except UnicodeDecodeError:
        yield Difference(where=name, what="bytes", gone=_digest(was))
        yield Difference(where=name, what="bytes", came=_digest(now))
        return
    if name.endswith(".csv"):
        one, two = yield from _of_columns(name, one, two)
    lines = [_lines(name, text) for text in (one, two)]
    if lines[0] == lines[1]:
        return
    gone, came = (Counter(one) - Counter(two) for one, two in (lines, lines[::-1]))
    if not gone and not came:
        yield Difference(where=name, what="order", came="the same lines otherwise")
        return
    alike = _take_alike(gone, came)
    if alike:
        said = f"lines with decimals that agree in {DIGITS} digits"
        yield Difference(where=name, what="rounding", came=said, times=alike)
    yield from _of_counts(name, "line", gone, came)


def _of_columns(name: str, was: str, now: str) -> Generator[Difference, None, tuple[str, str]]:
    """Name the columns that one side lacks; returns both tables in the columns of both."""
    tables = [list(csv.reader(io.StringIO(text, newline=""))) for text in (was, now)]
    heads = [table[0] if table else [] for table in tables]
    if heads[0] == heads[1] or len(set(heads[0])) < len(heads[0]):
        return was, now
    for head in heads[0]:
        if head not in heads[1]:
            yield Difference(where=name, what="column", gone=head)
    for head in heads[1]:
        if head not in heads[0]:
            yield Difference(where=name, what="column", came=head)
    both = [head for head in heads[0] if head in heads[1]]
    said = []
    for table, own in zip(tables, heads, strict=True):
        at = [own.index(head) for head in both]
        out = io.StringIO(newline="")
        csv.writer(out).writerows([row[n] for n in at if n < len(row)] for row in table)
        said.append(out.getvalue())
    return said[0], said[1]


def _lines(name: str, text: str) -> list[str]:
    """Cut a file where a difference is small: at an SVG's tags, a line of data at its commas."""
    if name.endswith(".svg"):
        return re.split(r"(?=<)|(?<=>)", text)
    lines = text.splitlines()
    if name.endswith(".html"):
        lines = [
            part for line in lines for part in (line.split(",") if len(line) > WIDE else [line])
        ]
    is_json = text.lstrip()[:1] in ("{", "[", "$")
    return [line.removesuffix(",") for line in lines] if is_json else lines


def _take_alike(gone: Counter[str], came: Counter[str]) -> int:
    """Take out of both sides what differs by rounding alone; returns how many lines that are."""
    waiting: dict[str, list[str]] = {}
    for line in came.elements():
        waiting.setdefault(_rounded(line), []).append(line)
    alike = 0
    for line in list(gone.elements()):
        if fitting := waiting.get(_rounded(line)):
            gone[line] -= 1
            came[fitting.pop()] -= 1
            alike += 1
    return alike


def _rounded(line: str) -> str:
    return DECIMAL.sub(lambda found: f"{float(found[0]):.{DIGITS}g}", line)


def _digest(data: bytes) -> str:
    return f"{len(data):,} bytes, {hashlib.sha256(data).hexdigest()[:12]}"


Page = Mapping[str, Mapping[str, int]]


def _of_page(name: str, was: Page, now: Page) -> Iterator[Difference]:
    for kind in sorted({*was, *now}):
        yield from _of_counts(name, kind, was.get(kind, {}), now.get(kind, {}))


def _of_counts(
    name: str, what: str, was: Mapping[str, int], now: Mapping[str, int]
) -> Iterator[Difference]:
    """Compare two multisets."""
    for value in sorted({*was, *now}):
        more = now.get(value, 0) - was.get(value, 0)
        shown = value or "(an empty line)"
        if more < 0:
            yield Difference(where=name, what=what, gone=shown, times=-more)
        elif more > 0:
            yield Difference(where=name, what=what, came=shown, times=more)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Differences, by whether they are on purpose.

    Args:
        open: those that no entry of the list covers.
        allowed: how many each entry of the list covers, in the list's order.
    """

    open: tuple[Difference, ...]
    allowed: tuple[int, ...]


def judge(found: Iterable[Difference], allowed: tuple[Allowed, ...]) -> Judged:
    """Sort differences by the list of what changes on purpose; the first entry that fits counts."""
    left, counts = [], [0] * len(allowed)
    for one in found:
        at = next((n for n, entry in enumerate(allowed) if entry.covers(one)), None)
        if at is None:
            left.append(one)
        else:
            counts[at] += 1
    return Judged(open=tuple(left), allowed=tuple(counts))
