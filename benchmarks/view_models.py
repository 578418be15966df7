"""Measure how long screens take to compute after a filter change, against pandas group-bys.

Run it with `python benchmarks/view_models.py --json` (`--size small` for a minute's look). Every
time is the median over filters that were not looked at before, on planted worlds of 1 M and 10 M
checkpoints; pandas groups the same rows, as a frame that holds what our columns hold, in the same
run. The larger study is made ready before, as the app does behind the page: its sums for single
filters are kept, and `overview_two_filters` shows what filters take that are added up.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.analysis.score_table import Facet, ScoreTable
from atom.records import Candidate, Study
from atom.store import Store
from atom.views.failures.page import failures
from atom.views.filters import Filters, rows_kept
from atom.views.fingerprints.shape import shape
from atom.views.overview.node_means import node_means
from atom.views.overview.page import overview
from atom.views.prepared.kept import KeptSums
from atom.views.prepared.making import add_up, singles
from atom.views.shards import spread
from atom.views.study_data import StudyData
from atom.views.tree.node_table import PlacedCriteria, node_table
from atom.views.tree.page import node_card
from benchmarks._study_store import plant_rows, tree_of

SHARES = 12
"""Values of the facet that filters are chosen from."""
SIZES = {"small": (20_000, 40_000), "full": (1_000_000, 10_000_000)}
WITH_INTERVALS = 100.0
MEANS = 150.0
LARGE = 150.0
"""Milliseconds for the Overview at ten million rows."""
READING = 2.0
"""Seconds that people look at a screen before they change a filter again."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a benchmark's output."""

    name: str
    value: float
    unit: str
    baseline: float | None
    n: int
    note: str

    def line(self) -> str:
        """Write it as JSON."""
        ratio = None if not self.baseline or not self.value else self.baseline / self.value
        return json.dumps(
            {
                "name": self.name, "value": round(self.value, 2), "unit": self.unit,
                "baseline": None if self.baseline is None else round(self.baseline, 2),
                "ratio": None if ratio is None else round(ratio, 2), "n": self.n,
                "note": self.note,
            }
        )  # fmt: skip


def noted(value: float, target: float | None, words: str) -> str:
    """Begin a note with "short" where the target is missed; lower is better."""
    if target is None:
        return words
    word = "short" if value > target else "reached"
    return f"{word} (target {target:g}); {words}"


def study_of(table: ScoreTable) -> StudyData:
    """Make a study of a planted table, with a facet whose values share out the samples."""
    value = (table.sample % SHARES).astype(np.int32)
    part = Facet(
        values=tuple(f"part {number}" for number in range(SHARES)),
        response=np.arange(len(table.sample), dtype=np.int32),
        value=value,
    )
    table = replace(table, facets={"part": part})
    data = StudyData(
        study=Study(id="planted", name="planted"),
        revision=1,
        judge=None,
        candidates=tuple(Candidate(id=name, name=name) for name in table.model_ids),
        tree=tree_of(table.leaves),
        table=table,
        pending=0,
        sample_position={name: at for at, name in enumerate(table.sample_ids)},
    )
    return spread(data)


def filters_of(data: StudyData) -> list[Filters]:
    """Return filters of several kinds: a label, a root, right or wrong, sound or flawed steps."""
    found = [Filters(tags=(("part", f"part {number}"),)) for number in range(3)]
    found += [Filters(root=root) for root in dict.fromkeys(leaf[0] for leaf in data.table.leaves)]
    return [Filters(), *found[:5], Filters(outcome="wrong"), Filters(process="flawed")]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Median milliseconds: on the clock, and of all cores, which a busy machine stretches less.

    The two are medians over the same filters, so the second isn't part of the first.
    """

    wall: float
    cpu: float


def median_ms(
    run: Callable[[Filters], object], data: StudyData, chosen: Sequence[Filters]
) -> Taken:
    """Return the median time over filters, each as if it were chosen for the first time."""
    walls, cpus = [], []
    for filters in chosen:
        data.forget()
        start, used = time.perf_counter(), time.process_time()
        run(filters)
        walls.append(1000 * (time.perf_counter() - start))
        cpus.append(1000 * (time.process_time() - used))
    return Taken(wall=statistics.median(walls), cpu=statistics.median(cpus))


def frame_of(table: ScoreTable) -> pd.DataFrame:
    """Return the checkpoints as a frame of the same narrow columns."""
    return pd.DataFrame(
        {
            "model": table.model[table.response], "leaf": table.leaf,
            "sample": table.sample[table.response], "score": table.score,
            "weight": table.weight,
        }
    )  # fmt: skip


def frame_means(frame: pd.DataFrame, kept: np.ndarray) -> pd.DataFrame:
    """Mean by model and leaf over kept, scored rows."""
    rows = frame[kept & (frame["score"].to_numpy() > 0)]
    return rows.groupby(["model", "leaf"])["score"].agg(["mean", "count"])


def frame_clusters(frame: pd.DataFrame, kept: np.ndarray) -> pd.DataFrame:
    """Mean, count and cluster sums by model and leaf: what an interval is made of, one layer."""
    rows = frame[kept & (frame["score"].to_numpy() > 0)]
    cells = rows.groupby(["model", "leaf", "sample"])["score"].agg(["sum", "count"])
    return cells.groupby(level=["model", "leaf"]).agg(["sum", "count"])


def frame_worst(frame: pd.DataFrame, kept: np.ndarray) -> pd.Series:
    """Samples by how much they lose on failed rows."""
    score = frame["score"].to_numpy()
    rows = frame[kept & (score > 0) & (score <= 2)]
    return ((5 - rows["score"]) * rows["weight"]).groupby(rows["sample"]).sum().sort_values()


def measure(rows: int, *, intervals: float | None, means: float | None) -> list[Row]:
    """Measure one size.

    Args:
        rows: checkpoints, about.
        intervals: target for screens with intervals, in ms; None = none at this size.
        means: target for means, in ms.
    """
    data = study_of(plant_rows(rows).table())
    table = data.table
    n, chosen = len(table.score), filters_of(data)
    assert data.tree is not None
    place = PlacedCriteria(
        criterion=table.criterion_ids,
        sample=np.bincount(table.criterion, weights=table.sample[table.response]).astype(np.int64)
        // np.maximum(np.bincount(table.criterion), 1),
        leaf=tuple(table.leaves[at] for at in _leaf_of(table)),
    )
    frame = frame_of(table)
    size = f"{rows // 1_000_000}m" if rows >= 1_000_000 else f"{rows // 1000}k"
    with tempfile.TemporaryDirectory() as folder, Store.open(folder) as store:
        overview(data, Filters())  # lays the study out, which happens once when it is opened
        more = []
        if intervals is None and data.shards is not None:
            more = two_filters(data, size)
            data, made = made_ready(data, Path(folder) / "sums", size)
            more.append(made)

        def tree_card(filters: Filters) -> None:
            nodes = node_table(data, data.tree, place, filters)
            node_card(store, data, nodes, filters)

        def ours(run: Callable[[Filters], object]) -> Taken:
            return median_ms(run, data, chosen)

        def theirs(run: Callable[[pd.DataFrame, np.ndarray], object]) -> Taken:
            return median_ms(lambda f: run(frame, rows_kept(data, f)), data, chosen)

        frame_mean, frame_cluster = theirs(frame_means), theirs(frame_clusters)
        values = (
            ("overview", ours(lambda f: overview(data, f)), frame_cluster, intervals or LARGE,
             "ranks, means, intervals and labelled weaknesses; pandas: cluster sums of leaves"),
            ("means_with_intervals", ours(lambda f: node_means(data, f)), frame_cluster, intervals,
             "every model on every node; pandas: cluster sums of leaves alone"),
            ("failures", ours(lambda f: failures(store, data, f)), theirs(frame_worst), intervals,
             "the list without its texts; pandas: loss by sample"),
            ("tree_card", ours(tree_card), frame_cluster, intervals,
             "the tree in numbers and a node's card without its texts"),
            ("fingerprint_means", ours(lambda f: shape(data, f)), frame_mean, means,
             "every model on every capability of a facet; pandas: means of leaves"),
        )  # fmt: skip
    rows_ = [
        Row(name=f"{name}_{size}", value=value.wall, unit="ms", baseline=baseline.wall, n=n,
            note=noted(value.wall, target, f"{value.cpu:.0f} ms of processor time; {words}"))
        for name, value, baseline, target, words in values
    ]  # fmt: skip
    return [*rows_, *more]


def two_filters(data: StudyData, size: str) -> list[Row]:
    """Measure filters that no sums are kept for: a label and a root at once."""
    roots = [*dict.fromkeys(leaf[0] for leaf in data.table.leaves)]
    chosen = [
        Filters(tags=(("part", f"part {number}"),), root=roots[number % len(roots)])
        for number in range(5)
    ]
    taken = median_ms(lambda f: overview(data, f), data, chosen)
    words = f"{taken.cpu:.0f} ms of processor time; a label and a root at once, added up"
    return [Row(name=f"overview_two_filters_{size}", value=taken.wall, unit="ms", baseline=None,
                n=len(data.table.score), note=words)]  # fmt: skip


def made_ready(data: StudyData, folder: Path, size: str) -> tuple[StudyData, Row]:
    """Keep the sums of every single filter, and say what that takes."""
    assert data.shards is not None
    kept = KeptSums(parts=data.shards, folder=folder, writes=True)
    start, used = time.perf_counter(), time.process_time()
    add_up(replace(data, shards=kept))
    wall, used = time.perf_counter() - start, time.process_time() - used
    n = len(data.table.score)
    words = f"{wall:.0f} s on the clock, once; sums of {len(list(singles(data)))} filters"
    row = Row(name=f"made_ready_{size}", value=used / (n / 1e6), unit="core-seconds a million",
              baseline=None, n=n, note=words)  # fmt: skip
    data.forget()
    return replace(data, shards=replace(kept, writes=False)), row


def _leaf_of(table: ScoreTable) -> np.ndarray:
    leaf = np.zeros(len(table.criterion_ids), dtype=np.int64)
    leaf[table.criterion] = table.leaf
    return leaf


def crowd(rows: int, sessions: int, changes: int, pauses: Sequence[float] = (0.0,)) -> list[Row]:
    """Let sessions, a thread each, change filters at the same time.

    Args:
        rows: checkpoints, about.
        sessions: how many at a time.
        changes: filter changes a session.
        pauses: seconds that a session looks at what it got; rows for each.
    """
    data = study_of(plant_rows(rows).table())
    overview(data, Filters())
    return [row for pause in pauses for row in _crowd(data, sessions, changes, pause)]


def _crowd(data: StudyData, sessions: int, changes: int, pause: float) -> list[Row]:
    data.forget()
    reading = Event()

    def one(session: int) -> list[float]:
        taken = []
        reading.wait(pause * session / sessions)  # they don't all begin at once
        for change in range(changes):
            number = (session * 5 + change * 7) % SHARES
            root = data.table.leaves[(session + change) % len(data.table.leaves)][0]
            filters = Filters(tags=(("part", f"part {number}"),), root=root if change % 2 else None)
            start = time.perf_counter()
            overview(data, filters)
            taken.append(1000 * (time.perf_counter() - start))
            reading.wait(pause)
        return taken

    with ThreadPoolExecutor(sessions) as pool:
        taken = [value for each in pool.map(one, range(sessions)) for value in each]
    how = f"looking for {pause:g} s between" if pause else "without a pause"
    words = f"{sessions} sessions at once, each changes filters {changes} times, {how}"
    kind = "sessions_reading" if pause else "sessions"
    return [
        Row(name=f"overview_{sessions}_{kind}_{name}", value=float(np.percentile(taken, share)),
            unit="ms", baseline=None, n=len(data.table.score), note=words)
        for name, share in (("p50", 50), ("p95", 95))
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--size", choices=sorted(SIZES), default="full")
    options = parser.parse_args()
    first, second = SIZES[options.size]
    found = chain(
        measure(first, intervals=WITH_INTERVALS, means=WITH_INTERVALS),
        crowd(first, sessions=20, changes=4, pauses=(0.0, READING)),
        (row for size in (second,) for row in measure(size, intervals=None, means=MEANS)),
    )
    for row in found:
        line = row.line()
        text = line if options.json else "  ".join(str(v) for v in json.loads(line).values())
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
