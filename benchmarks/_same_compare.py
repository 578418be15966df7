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
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

PAGE = ".page.json"
DECIMAL = re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?")
DIGITS = 9
NUMBER = re.compile(r"(?:(?<![\w.)])[-−+])?\b\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?")
"""A number of a text; the dash of a range is no sign."""
DATA = re.compile(r'(?<=<script type="application/json" id="study">).*?(?=</script>)', re.DOTALL)
"""The data of an exported page."""
LONG = 160
"""Letters of a line that are shown."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that is on one side only.

    Args:
        where: the file's name within the folder.
        what: `file`, `column`, `line`, `order`, `rounding`, `bytes`, `doors`, `texts` or
            `numbers`; a column is one of a CSV, whose rows are compared in the others; rounding is
            of lines whose long decimals agree in their first `DIGITS`; numbers are those that
            texts on the list had before and have no longer, or the other way round.
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
        becomes: what each place that `gone` fits became, the rest of its line being as it was; None
            = `gone` and `came` say what goes and what comes.
        why: the reason, for readers.
    """

    where: str
    what: str = "*"
    gone: str | None = None
    came: str | None = None
    becomes: str | None = None
    why: str

    def fits(self, where: str, what: str) -> bool:
        """Whether it is about differences of a kind in a file."""
        return fnmatchcase(where, self.where) and self.what in ("*", what)

    def covers(self, found: Difference) -> bool:
        """Whether a difference is this one."""
        rule, said = (self.gone, found.gone) if found.gone else (self.came, found.came)
        if rule is None or self.becomes is not None or not self.fits(found.where, found.what):
            return False
        return re.fullmatch(rule, said, re.DOTALL) is not None


def read_allowed(path: Path) -> tuple[Allowed, ...]:
    """Read the list of what changes on purpose.

    Raises:
        ValueError: an entry lacks its reason, or has a field that isn't known.
    """
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("change", []):
        if not entry.get("why", "").strip():
            raise ValueError(f"{path.name}: {entry!r} says no reason: add `why`")
        if unknown := set(entry) - {each.name for each in fields(Allowed)}:
            raise ValueError(f"{path.name}: unknown field {sorted(unknown)[0]!r} in {entry!r}")
        found.append(Allowed(**entry))
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
    """Cut a file where a difference is small: at tags, an exported page's data at its values."""
    if name.endswith((".svg", "report-html")):
        return re.split(r"(?=<)|(?<=>)", text)
    found = DATA.search(text)
    values = list(_values("", json.loads(found[0]))) if found else []
    lines = [*DATA.sub("", text).splitlines(), *values]
    is_json = text.lstrip()[:1] in ("{", "[", "$")
    return [line.removesuffix(",") for line in lines] if is_json else lines


def _values(path: str, value: object) -> Iterator[str]:
    """Say each value of some data in a line of its own, after the names that lead to it."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _values(f"{path}.{key}", each)
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for each in value:
            yield from _values(f"{path}[]", each)
    else:
        yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


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
    for kind in ("doors", "texts"):
        yield from _of_counts(name, kind, was[kind], now[kind])


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
    """Sort differences by the list of what changes on purpose; the first entry that fits counts.

    What `becomes` something is looked for first: its figures are the same then. Where an entry says
    what texts went *and* what came, their numbers have to be the same, too.
    """
    left: list[Difference] = []
    counts = [0] * len(allowed)
    for (where, what), group in groupby(found, key=lambda one: (one.where, one.what)):
        both = list(group)
        gone = Counter({one.gone: one.times for one in both if one.gone})
        came = Counter({one.came: one.times for one in both if one.came})
        for at in _take_rewritten(
            gone, came, {n: one for n, one in enumerate(allowed) if one.fits(where, what)}
        ):
            counts[at] += 1
        numbers: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for one in _of_counts(where, what, gone, came):
            at = next((n for n, entry in enumerate(allowed) if entry.covers(one)), None)
            if at is None:
                left.append(one)
                continue
            counts[at] += 1
            if what == "texts" and None not in (allowed[at].gone, allowed[at].came):
                for _ in range(one.times):
                    numbers[not one.gone].update(_numbers(one.gone or one.came))
        left += _of_counts(where, "numbers", *numbers)
    return Judged(open=tuple(left), allowed=tuple(counts))


def _take_rewritten(
    gone: Counter[str], came: Counter[str], rules: Mapping[int, Allowed]
) -> Iterator[int]:
    """Take out of both sides what became something else, by as few rules as that takes.

    Yields:
        The place of each rule that was needed, each time.
    """
    waiting = {_squeezed(line): line for line in came}
    for line in list(gone):
        new, used = line, []
        for at, rule in rules.items():
            if rule.gone is None or rule.becomes is None:
                continue
            was, new = new, re.sub(rule.gone, rule.becomes, new)
            if new == was:
                continue
            used.append(at)
            fitting = new if came[new] else waiting.get(_squeezed(new), "")
            if times := min(gone[line], came[fitting]):
                gone[line] -= times
                came[fitting] -= times
                yield from used
                break


def _squeezed(line: str) -> str:
    """Return a line without the spaces that only lay a table out."""
    return " ".join(line.split())


def _numbers(text: str) -> list[str]:
    """Return a text's numbers, each written in one way."""
    return [found.replace("−", "-").replace(",", "") for found in NUMBER.findall(text)]
