"""Measure an Overview that is added up from parts, against the same study in one piece.

Rows:
- `largest_difference`: between the figures of both, relative to 1 + their size: 1e-12 is wanted.
- `words_that_differ`: labels, ranks, counts and sentences of both that aren't the same.
- `added_up`: processor seconds a million checkpoints, parts in files and a process a core.
- `repeated`: the same where the parts are gone over many times, as a study that much larger
  would be (a part's own caches are forgotten between).

Run it with `python benchmarks/merged.py --json` (`--size small` for a minute's look).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.store import Store
from atom.views.columns import StudyColumns
from atom.views.filters import Filters
from atom.views.overview.page import Overview, overview
from atom.views.shards import InProcesses, cut, head_of, leading
from atom.views.snapshot import open_study, write_snapshot
from atom.views.study_data import Shards, StudyData
from benchmarks._study_store import make_study, plant_rows
from benchmarks.view_models import Row, noted, study_of

SIZES = {"small": (40_000, 80_000, 4), "full": (1_000_000, 10_000_000, 10)}
"""Checkpoints of the store, checkpoints of the larger study, and how often its parts repeat."""
SAME = 1e-12
PARTS = 16


@dataclass(frozen=True, kw_only=True)
class Repeated(Shards):
    """Parts that are gone over several times, as if they were so many more."""

    shards: InProcesses
    times: int

    def collect(self, collect: Callable[..., Any], given: tuple[Any, ...]) -> Iterator[Any]:
        """Return `collect(part, *given)` of every part, so many times."""
        for _ in range(self.times):
            self.shards.forget()
            yield from self.shards.collect(collect, given)

    def forget(self) -> None:
        """Forget what was computed for single filters."""
        self.shards.forget()


def figures(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """List every number, text and flag of a view-model, with its path."""
    if isinstance(value, Filters):
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from figures(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, (tuple, list)):
        for number, one in enumerate(value):
            yield from figures(one, f"{path}[{number}]")
    else:
        yield path, value


def differences(one: Overview, other: Overview) -> tuple[float, int, int]:
    """Return the largest difference of numbers, how many words differ, and how many were seen."""
    mine, theirs = dict(figures(one)), dict(figures(other))
    worst, words = 0.0, len(mine.keys() ^ theirs.keys())
    for path in mine.keys() & theirs.keys():
        a, b = mine[path], theirs[path]
        if isinstance(a, float) and isinstance(b, float):
            if not (a == b or (math.isnan(a) and math.isnan(b))):
                worst = max(worst, abs(a - b) / (1 + abs(a)))
        else:
            words += a != b
    return worst, words, len(mine)


def parted(data: StudyData, folder: Path, of: int) -> tuple[StudyData, InProcesses]:
    """Write a study's parts into files, and open them in processes."""
    columns = StudyColumns(table=data.table, pending=0, judge_ids=(), votes=data.votes)
    files = [folder / f"{number}.arrow" for number in range(of)]
    for file, one in zip(files, cut(columns, leading(data.table.cluster, of), of), strict=True):
        if not write_snapshot(file, one):
            raise OSError(f"{file} can't be written")
    head = head_of(data)
    shards = InProcesses(head, files)
    return replace(head, shards=shards, pending=data.pending), shards


def children_seconds(shards: InProcesses) -> float:
    """Return the processor time so far of this process and of those that hold parts."""
    return time.process_time() + sum(use.seconds for use in shards.used())


def equality(rows: int) -> Iterator[Row]:
    """Compare a store's study in one piece with its parts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = make_study(folder / "store", plant_rows(rows))
        with Store.open(folder / "store") as store:
            data = replace(open_study(store, study.id), shards=None)
        both, shards = parted(data, folder, PARTS)
        try:
            worst, words, seen = differences(overview(data, Filters()), overview(both, Filters()))
        finally:
            shards.close()
    n = len(data.table.score)
    yield Row(name="largest_difference", value=worst * 1e12, unit="1e-12", baseline=1.0, n=n,
              note=noted(worst, SAME, f"{PARTS} parts, {seen:,} figures"))  # fmt: skip
    yield Row(name="words_that_differ", value=words, unit="figures", baseline=None, n=n,
              note=noted(words, 0, "labels, ranks, counts, sentences"))  # fmt: skip


def cost(rows: int, times: int) -> Iterator[Row]:
    """Say what adding up costs a million checkpoints."""
    data = study_of(plant_rows(rows).table())
    n = len(data.table.score)
    with tempfile.TemporaryDirectory() as name:
        both, shards = parted(replace(data, shards=None), Path(name), PARTS)
        del data
        try:
            overview(both, Filters())  # lays the parts out, once
            for how, study, filters in (
                ("added_up", both, Filters()),
                ("added_up_filtered", both, Filters(tags=(("part", "part 0"),))),
                ("repeated", replace(both, shards=Repeated(shards=shards, times=times)), Filters()),
            ):
                study.forget()
                start, used = time.perf_counter(), children_seconds(shards)
                overview(study, filters)
                wall, used = time.perf_counter() - start, children_seconds(shards) - used
                seen = n * times if how == "repeated" else n
                held = sum(use.resident for use in shards.used()) / 1e6
                words = f"{wall:.2f} s on the clock; {held:.0f} MB resident"
                yield Row(name=how, value=used / (seen / 1e6), unit="core-seconds a million",
                          baseline=1.0, n=seen, note=words)  # fmt: skip
        finally:
            shards.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--size", choices=sorted(SIZES), default="full")
    options = parser.parse_args()
    store, larger, times = SIZES[options.size]
    for rows in (equality(store), cost(larger, times)):
        for row in rows:
            line = row.line()
            text = line if options.json else "  ".join(str(v) for v in json.loads(line).values())
            sys.stdout.write(text + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
