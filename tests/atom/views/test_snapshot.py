"""A snapshot holds what a fresh reading holds, or it isn't used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atom.records import Checkpoint
from atom.settings import PROJECT_ROOT
from atom.store import Store
from atom.views import snapshot
from atom.views.columns import StudyColumns
from atom.views.lab.preferences import Preferences
from atom.views.snapshot import open_study, read_snapshot, snapshot_folder, write_snapshot
from atom.views.study_data import load_study
from tests.factories import STUDY
from tests.held import same_columns
from tests.planted import WorldSettings, plant


@pytest.fixture
def mine(store, tmp_path):
    shutil.copytree(store.folder, tmp_path / "store")
    with Store.open(tmp_path / "store") as opened:
        yield opened


def files(folder):
    return sorted(path for path in folder.glob("*") if path.is_file())


@pytest.mark.parametrize("name", [STUDY, "Imported"])
def test_a_snapshot_equals_a_fresh_reading(store, tmp_path, name):
    fresh = load_study(store, name)
    columns = StudyColumns(table=fresh.table, pending=fresh.pending, judge_ids=(), votes=None)
    assert write_snapshot(tmp_path / "x.arrow", columns)
    held = read_snapshot(tmp_path / "x.arrow")
    assert held is not None
    assert same_columns(held, columns)
    assert not held.table.answered.flags.writeable


@pytest.mark.slow
def test_a_snapshot_is_read_without_pandas(store, tmp_path):
    """pandas takes 0.4 s, and the first screen of a fresh server needs nothing of it."""
    fresh = load_study(store, STUDY)
    columns = StudyColumns(table=fresh.table, pending=fresh.pending, judge_ids=(), votes=None)
    assert write_snapshot(tmp_path / "x.arrow", columns)
    script = (
        "import sys; from pathlib import Path; from atom.views.snapshot import read_snapshot\n"
        "held = read_snapshot(Path(sys.argv[1]))\n"
        "print(len(held.table.score), 'pandas' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "x.arrow")],
        cwd=PROJECT_ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said.split() == [str(len(fresh.table.score)), "False"]


def test_opening_twice_reads_the_file_and_gives_the_same(mine, monkeypatch):
    first = open_study(mine, STUDY)
    assert len(files(snapshot_folder(mine))) == 1
    monkeypatch.setattr(snapshot, "load_study", None)  # it would be called to read anew
    second = open_study(mine, STUDY)
    assert same_columns(first, second)
    assert first.judges == second.judges
    assert first.revision == second.revision
    assert second.sample_position == first.sample_position


def test_a_change_of_the_store_makes_a_new_snapshot_and_drops_the_old(mine):
    open_study(mine, STUDY)
    (old,) = files(snapshot_folder(mine))
    (worst,) = mine.select(Checkpoint, limit=1)
    mine.replace([worst.model_copy(update={"score": 1, "state": "scored"})])
    assert same_columns(open_study(mine, STUDY), load_study(mine, STUDY))
    (new,) = files(snapshot_folder(mine))
    assert new.name != old.name


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "foreign", "other format"])
def test_a_damaged_or_foreign_file_is_made_anew(mine, monkeypatch, harm):
    first = open_study(mine, STUDY)
    (path,) = files(snapshot_folder(mine))
    body = path.read_bytes()
    path.unlink()  # the mapped one stays as it is
    if harm == "cut":
        path.write_bytes(body[: len(body) // 2])
    elif harm == "flip":
        middle = len(body) // 2
        path.write_bytes(body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :])
    elif harm == "empty":
        path.write_bytes(b"")
    elif harm == "foreign":
        path.write_bytes(b"PAR1" + b"\0" * 500)
    else:
        path.write_bytes(body)
        monkeypatch.setattr(snapshot, "FORMAT", snapshot.FORMAT + 1)
    assert read_snapshot(path) is None
    assert same_columns(open_study(mine, STUDY), first)
    monkeypatch.undo()


def test_a_sealed_folder_is_never_written(store, tmp_path):
    folder = tmp_path / "sealed"
    shutil.copytree(store.folder, folder)
    with Store.open(folder) as opened:
        whole = load_study(opened, STUDY)
    own = tmp_path / "own"
    own.mkdir()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with Store.open(folder, read_only=True) as sealed:
        place = snapshot_folder(sealed, own)
        assert place == own / "cache"
        assert same_columns(open_study(sealed, STUDY, folder=place), whole)
        assert folder not in snapshot_folder(sealed).parents
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert len(files(place)) == 1


def test_a_store_of_another_content_with_the_same_revision_is_not_mistaken(store, tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    revision = store.revision()
    shutil.copytree(store.folder, first)
    shutil.copytree(store.folder, second)
    with Store.open(first) as opened:
        (some,) = opened.select(Checkpoint, limit=1)
        other = {"prompt": "scoring/9", "state": "scored"}
        opened.put([some.model_copy(update={**other, "key": "another", "score": 1})])
        changed = open_study(opened, STUDY)
    shutil.rmtree(second / "cache", ignore_errors=True)
    shutil.copytree(first / "cache", second / "cache")
    # The copy is changed in another way and counts as many changes.
    with Store.open(second) as opened:
        opened.put([some.model_copy(update={**other, "key": "third", "score": 5})])
        assert opened.revision() == revision + 1
        assert not same_columns(open_study(opened, STUDY), changed)
        assert same_columns(open_study(opened, STUDY), load_study(opened, STUDY))


def test_a_disk_that_takes_nothing_is_no_fault(mine, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert same_columns(open_study(mine, STUDY, folder=blocked / "x"), load_study(mine, STUDY))


def test_another_users_file_is_not_read(mine, monkeypatch):
    open_study(mine, STUDY)
    (path,) = files(snapshot_folder(mine))
    assert read_snapshot(path) is not None
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert read_snapshot(path) is None


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 1000), samples=st.integers(1, 6), votes=st.booleans(),
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
)  # fmt: skip
def test_any_table_comes_back_equal(tmp_path, seed, samples, votes, name):
    rng = np.random.default_rng(seed)
    table = plant(WorldSettings(samples=samples, models=2, unscored=0.3, missing=0.3), rng).table()
    share = rng.random(len(table.sample)).astype(np.float32) if votes else None
    table = replace(
        table, preference=share, model_ids=(name, "b"), carried_known=votes,
        addressed=rng.random(len(table.score)) < 0.5, carried=rng.random(len(table.score)) < 0.5,
        chained=rng.random(samples) < 0.5,
        parents=rng.integers(0, len(table.criterion_ids), (2, seed % 4)).astype(np.int32),
    )  # fmt: skip
    said = Preferences(
        a=np.array([0], np.int32), b=np.array([1], np.int32), first=np.array([0], np.int8),
        verdict=np.array([2], np.int8), strength=np.array([1], np.int8),
        judge=np.array([0], np.int16),
        repeat=np.array([0], np.int32), judges=(name,),
    ) if votes else None  # fmt: skip
    columns = StudyColumns(
        table=table, pending=seed, judge_ids=(name,), votes=said, scale="firmness", left_out=seed
    )
    path = tmp_path / "any.arrow"
    assert write_snapshot(path, columns)
    held = read_snapshot(path)
    assert held is not None
    assert same_columns(held, columns)
    assert held.judge_ids == (name,)
