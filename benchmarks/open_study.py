"""Measure how long a study takes to open and what it takes in memory.

Run it with `python benchmarks/open_study.py --json` (`--size small` for a minute's look). A planted
study is written into a store; it is opened cold (from the database) and warm (from its snapshot),
against pandas reading the same checkpoints with the same SQLite. Memory is what a process of its
own takes beyond its imports.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.store import Store
from atom.store.store import DATABASE
from atom.views.columns import StudyColumns
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.snapshot import open_study, read_snapshot, snapshot_folder, write_snapshot
from atom.views.study_data import load_study
from benchmarks._study_store import make_study, plant_rows
from benchmarks.view_models import Row, noted, study_of

SIZES = {"small": (20_000, 40_000), "full": (1_000_000, 10_000_000)}
COLD, WARM = 3.0, 0.3
FIRST_MB, FURTHER_MB = 1500.0, 150.0
SESSIONS = 3
_SQL = """SELECT c.response_id, c.criterion_id, c.state, c.score, r.sample_id, r.candidate_id
FROM checkpoints c JOIN responses r ON r.id = c.response_id WHERE c.repeat = 0"""


def median_seconds(run: Callable[[], object], times: int) -> float:
    """Return the median time of some runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def read_frame(store: Path) -> int:
    """Read the checkpoints with pandas; returns how many."""
    engine = sa.create_engine(f"sqlite:///{store / DATABASE}")
    try:
        with engine.connect() as connection:
            return len(pd.read_sql_query(sa.text(_SQL), connection))
    finally:
        engine.dispose()


def opening(rows: int, times: int) -> list[Row]:
    """Measure opening one store cold and warm."""
    with tempfile.TemporaryDirectory() as folder:
        study = make_study(Path(folder), plant_rows(rows))
        with Store.open(folder) as store:
            cold = median_seconds(lambda: load_study(store, study.id), times)
            data = open_study(store, study.id)
            warm = median_seconds(lambda: open_study(store, study.id), times + 2)
            if not list(snapshot_folder(store).glob("*.arrow")):
                raise SystemExit("no snapshot was written")
        frame = median_seconds(lambda: read_frame(Path(folder)), times)
    n = len(data.table.score)
    words = "pandas.read_sql_query of the checkpoints with their answers, without tags and trees"
    return [
        Row(name="open_cold", value=cold, unit="s", baseline=frame, n=n,
            note=noted(cold, COLD, words)),
        Row(name="open_warm", value=warm, unit="s", baseline=frame, n=n,
            note=noted(warm, WARM, words)),
    ]  # fmt: skip


def resident_mb() -> float:
    """Return the process's share of memory: its own, and its part of what it shares."""
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def hold(snapshot: Path) -> list[float]:
    """Return memory before a snapshot is opened, then after each of several sessions, in MB."""
    overview(study_of(plant_rows(1_000).table()), Filters())  # what is imported on first use
    found = [resident_mb()]
    held = read_snapshot(snapshot)
    if held is None:
        raise SystemExit("the snapshot can't be read")
    data = study_of(held.table)
    pages = []
    for session in range(SESSIONS):
        tags = (("part", f"part {session}"),) if session else ()
        pages.append(overview(data, Filters(tags=tags)))
        found.append(resident_mb())
    return found


def memory(rows: int) -> list[Row]:
    """Measure the memory of the first session and of further ones, in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        table = plant_rows(rows).table()
        snapshot = Path(folder) / "planted.arrow"
        columns = StudyColumns(table=table, pending=0, judge_ids=(), votes=None)
        if not write_snapshot(snapshot, columns):
            raise SystemExit("the snapshot can't be written")
        n = len(table.score)
        del columns, table
        done = subprocess.run(
            [sys.executable, __file__, "--hold", str(snapshot)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    start, *sessions = json.loads(done.stdout)
    first = sessions[0] - start
    further = max(0.0, (sessions[-1] - sessions[0]) / (len(sessions) - 1))
    return [
        Row(name="memory_first_session", value=first, unit="MB", baseline=None, n=n,
            note=noted(first, FIRST_MB, "beyond the imports, with an overview of everything")),
        Row(name="memory_further_session", value=further, unit="MB", baseline=None, n=n,
            note=noted(further, FURTHER_MB, "each with another filter, all results kept")),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--size", choices=sorted(SIZES), default="full")
    parser.add_argument("--hold", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hold is not None:
        sys.stdout.write(json.dumps(hold(options.hold)))
        return
    first, second = SIZES[options.size]
    for row in [*opening(first, times=3), *memory(second)]:
        line = row.line()
        text = line if options.json else "  ".join(str(v) for v in json.loads(line).values())
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
