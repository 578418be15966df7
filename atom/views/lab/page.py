"""The Judge lab: benchmark sets, who was judged on them, the figures, and the papers' models."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from atom.errors import UsageError
from atom.foreign import files_in
from atom.formats import ImportFile
from atom.formats.pictures import PictureFinder
from atom.judgebench import published
from atom.judgebench.base import BenchResult, LoadOptions, MetricRow
from atom.judgebench.published import PrintedPlace
from atom.judgebench.registry import find_bench
from atom.records import BenchSet, Judge
from atom.settings import PUBLISHED_FOLDER
from atom.store import Store
from atom.store.verdicts import asked_of_group, items_of, sets_of, verdicts_about

SCORER_PART = "scorer/"
"""The parts of verdicts that a scorer gave begin so; the examined judge's id follows."""
SHARED_PART = f"{SCORER_PART}any/"
"""What a scorer says whoever is examined: how it scores the references themselves."""


# --- sets and judges ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SetProgress:
    """How far one judge is on one set.

    Args:
        judge: the judge's id, or the name under which its replies were taken in.
        scored: verdicts that could be read.
        unscored: verdicts that couldn't.
        failed: questions whose call failed.
        items: items with a verdict.
        imported: whether replies made elsewhere are among them.
    """

    judge: str
    name: str
    scored: int
    unscored: int
    failed: int
    items: int
    imported: bool


def bench_sets(store: Store, benchmark: str | None = None) -> list[BenchSet]:
    """Return the sets, the newest first; of one benchmark, or of all."""
    return sets_of(store, benchmark)


def standings(store: Store, set_id: str) -> list[SetProgress]:
    """Return the judges that have verdicts on a set, the furthest first.

    Whoever only scored what others wrote isn't among them.
    """
    names = {row.id: row.name for row in store.select(Judge)}
    rows = asked_of_group(store, set_id, SCORER_PART)
    states: dict[str, Counter[str]] = {}
    items: dict[str, set[str]] = {}
    imported = {row.judge for row in rows if row.prompt == "imported"}
    for row in rows:
        states.setdefault(row.judge, Counter())[row.state] += 1
        items.setdefault(row.judge, set()).add(row.subject_id)
    found = [
        SetProgress(
            judge=judge,
            name=names.get(judge, judge),
            scored=counts["scored"],
            unscored=counts["unscored"],
            failed=counts["failed"],
            items=len(items[judge]),
            imported=judge in imported,
        )
        for judge, counts in states.items()
    ]
    return sorted(found, key=lambda one: (-one.items, one.name))


def bench_result(store: Store, set_id: str, judge: str) -> BenchResult:
    """Return the figures of one judge on one set.

    Args:
        judge: the judge's id, or the name under which its replies were taken in.

    Raises:
        UsageError: there is no such set.
    """
    return bench_results(store, set_id, [judge])[judge]


def bench_results(store: Store, set_id: str, judges: Sequence[str]) -> dict[str, BenchResult]:
    """Return the figures of several judges on one set, by judge; arguments as `bench_result`.

    Raises:
        UsageError: there is no such set.
    """
    record = store.get(BenchSet, set_id)
    if record is None:
        raise UsageError("this set isn't here any more: choose another one")
    bench = find_bench(record.benchmark)
    items = items_of(store, [set_id])
    return {
        judge: bench.measure(
            items, verdicts_about(store, set_id, judge, scorer=SCORER_PART, shared=SHARED_PART)
        )
        for judge in judges
    }


# --- figures --------------------------------------------------------------------------------------

ChanceStanding = Literal["above", "level", "below", "unknown"]


def against_chance(row: MetricRow) -> ChanceStanding:
    """Hold a figure against what guessing gives.

    Without an interval only a figure below that level is said to be something.
    """
    if math.isnan(row.value) or math.isnan(row.chance):
        return "unknown"
    if math.isnan(row.lo) or math.isnan(row.hi):
        return "below" if row.value < row.chance else "unknown"
    if row.hi < row.chance:
        return "below"
    return "above" if row.lo > row.chance else "level"


CHANCE_WORDS: Mapping[ChanceStanding, str] = {
    "above": "",
    "level": "like guessing",
    "below": "below guessing",
    "unknown": "",
}


Scale: TypeAlias = tuple[float, float] | None
"""The ends of the scale that a figure is drawn on; None where it isn't drawn."""


def scale_of(rows: Sequence[MetricRow]) -> Scale:
    """Return the ends of the scale on which figures of one unit are drawn; None for counts."""
    units = {row.unit for row in rows}
    if units == {"percent"}:
        return 0.0, 100.0
    ends = [end for row in rows for end in (row.value, row.lo, row.hi) if not math.isnan(end)]
    if units == {"points"} and min(ends, default=0.0) >= 0:
        return 0.0, 10.0
    if units == {"correlation"}:
        whole = any(abs(row.value) > 1 for row in rows if not math.isnan(row.value))
        return (-100.0, 100.0) if whole else (-1.0, 1.0)
    if units <= {"difference", "points"}:
        most = max((abs(end) for end in ends), default=0.0)
        return (-most, most) if most else None
    return None


@dataclass(frozen=True, kw_only=True)
class BoardLine:
    """One headline figure of every judge that has it.

    Attributes:
        group: the part of the data that it is of.
        rule: how what couldn't be read is counted.
        cells: judge → its figure, in the judges' order.
    """

    label: str
    group: str
    rule: str
    cells: Mapping[str, MetricRow]


def board(results: Mapping[str, BenchResult]) -> tuple[BoardLine, ...]:
    """Put the judges' headline figures side by side, in the order in which they come."""
    lines: dict[tuple[str, str, str, str], dict[str, MetricRow]] = {}
    for judge, result in results.items():
        for row in result.headline:
            key = (row.metric, row.label, row.group, row.rule)
            lines.setdefault(key, {})[judge] = row
    return tuple(
        BoardLine(label=label, group=group, rule=rule, cells=cells)
        for (_, label, group, rule), cells in lines.items()
    )


# --- files, looked at before they are taken in ----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BenchPreview:
    """What would come of a benchmark's files.

    Attributes:
        items: items that can be read.
        skipped: what would be left out and why, a line each.
        notes: traps that were met.
        without_picture: items of which a picture isn't there.
        missing: names of such pictures, some.
        fields: of the first item, field → value in words.
    """

    items: int
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    without_picture: int
    missing: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]


def preview(
    benchmark: str,
    files: Sequence[ImportFile],
    *,
    columns: Mapping[str, str] | None = None,
    pictures: PictureFinder,
    limit: int | None = None,
) -> BenchPreview:
    """Read a benchmark's files without keeping anything.

    Raises:
        UsageError: there is no such benchmark.
        DataError: a file can't be read.
    """
    bench = find_bench(benchmark)
    loaded = bench.load(
        files,
        LoadOptions(set_id="preview", columns=columns or {}, pictures=pictures, limit=limit),
    )
    lost = [
        [slot.name for slot in item.pictures if slot.picture_id is None] for item in loaded.items
    ]
    names = dict.fromkeys(name or "(no name)" for each in lost for name in each)
    first = loaded.items[0].data if loaded.items else {}
    return BenchPreview(
        items=len(loaded.items),
        skipped=loaded.skipped,
        notes=loaded.notes,
        without_picture=sum(bench.lacks_picture(item) for item in loaded.items),
        missing=tuple(names)[:12],
        fields=tuple((key, _short(value)) for key, value in first.items()),
    )


DATA_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
MOST_FILES = 200


def data_files(path: Path) -> list[Path]:
    """Return a file, or a folder's data files by name.

    Raises:
        UsageError: there is no such thing, or a folder without data files, or with too many.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"there is no file or folder {str(path)!r} on this computer")
    found = files_in(path, lambda one: one.suffix.lower() in DATA_SUFFIXES, most=MOST_FILES)
    if not found:
        raise UsageError(f"the folder {str(path)!r} holds no {', '.join(DATA_SUFFIXES)} file")
    return sorted(found)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}…"


def read_columns(text: str) -> dict[str, str]:
    """Read a column map: a JSON object, or lines `our field = the file's column`.

    Raises:
        UsageError: it is neither.
    """
    if not text.strip():
        return {}
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise UsageError(f"the column map isn't JSON: {error}") from error
        wrong = [key for key, value in found.items() if not isinstance(value, str)]
        if wrong:
            raise UsageError(f"the column map gives {wrong[0]!r} no column's name in quotes")
        return dict(found)
    columns = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        ours, sign, theirs = (part.strip() for part in line.partition("="))
        if not (ours and sign and theirs):
            raise UsageError(
                f"{line.strip()[:80]!r} isn't `our field = the file's column`: write one a line"
            )
        columns[ours] = theirs
    return columns


# --- the papers' models ---------------------------------------------------------------------------


def places(benchmark: str, result: BenchResult | None = None) -> tuple[PrintedPlace, ...]:
    """Put a judge's figures among those that a paper prints.

    Args:
        result: the judge's; None = only the papers' models.

    Returns:
        One a figure. Where the judge is given, only figures that it has.

    Raises:
        DataError: the published tables aren't there.
    """
    rows = [] if result is None else [
        *result.headline, *(row for table in result.tables for row in table.rows)
    ]  # fmt: skip
    found = []
    for headline in published.headlines(benchmark):
        ours = next((row for row in rows if headline.matches(row)), None)
        if result is None or (ours is not None and not math.isnan(ours.value)):
            found.append(published.place(PUBLISHED_FOLDER, headline, ours))
    return tuple(found)


def all_places() -> tuple[PrintedPlace, ...]:
    """Return every figure that papers print of all their models.

    Raises:
        DataError: the published tables aren't there.
    """
    return tuple(published.place(PUBLISHED_FOLDER, one) for one in published.headlines())


PAPERS: Mapping[str, str] = {
    "vl_rewardbench": "VL-RewardBench",
    "multi_crit": "Multi-Crit",
    "mm_critic": "MM-CRITIC",
    "criticbench": "CriticBench",
    "atom": "ATOM",
}
"""The papers whose tables are here, by key."""


@dataclass(frozen=True, kw_only=True)
class PaperCheck:
    """How well a paper's figures agree with each other.

    Attributes:
        errata: figures that others contradict.
        identities: the rules that they were held against.
    """

    paper: str
    errata: tuple[published.Erratum, ...]
    identities: tuple[published.Identity, ...]


def checked() -> tuple[PaperCheck, ...]:
    """Return each paper's errata and identities.

    Raises:
        DataError: the published tables aren't there.
    """
    errata = published.errata(PUBLISHED_FOLDER)
    identities = published.identities(PUBLISHED_FOLDER)
    return tuple(
        PaperCheck(
            paper=name,
            errata=tuple(one for one in errata if one.paper == key and one.counts),
            identities=tuple(one for one in identities if one.paper == key),
        )
        for key, name in PAPERS.items()
    )
