"""The benchmark of opening a study, at a small size."""

from __future__ import annotations

import json

from atom.store import Store
from atom.views.columns import StudyColumns
from atom.views.snapshot import write_snapshot
from atom.views.study_data import load_study
from benchmarks._study_store import make_study, plant_rows
from benchmarks.open_study import hold, memory, opening, read_frame


def test_what_is_written_is_what_was_planted(tmp_path):
    world = plant_rows(1_500)
    study = make_study(tmp_path, world)
    table = world.table()
    with Store.open(tmp_path) as store:
        data = load_study(store, study.id)
    assert len(data.table.score) == len(table.score) == read_frame(tmp_path)
    assert sorted(data.table.score.tolist()) == sorted(table.score.tolist())
    # The leaves that were drawn, in the tree's order, which is the planted one.
    seen = [leaf for leaf in table.leaves if leaf in data.table.leaves]
    assert data.table.leaves == tuple(seen)
    assert data.pending == 0


def test_opening_gives_a_cold_and_a_warm_row():
    rows = [json.loads(row.line()) for row in opening(1_000, times=1)]
    assert [row["name"] for row in rows] == ["open_cold", "open_warm"]
    assert all(row["unit"] == "s" and row["value"] >= 0 for row in rows)


def test_memory_is_read_after_every_session(tmp_path):
    columns = StudyColumns(table=plant_rows(1_000).table(), pending=0, judge_ids=(), votes=None)
    assert write_snapshot(tmp_path / "x.arrow", columns)
    found = hold(tmp_path / "x.arrow")
    assert len(found) == 4
    assert all(value > 0 for value in found)
    assert memory.__doc__
