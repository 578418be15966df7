"""A large study is made ready whole or not at all, by one process at a time."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from atom.engine.study.preparing import is_making
from atom.errors import StoreError
from atom.files import alone_in
from atom.records import Checkpoint
from atom.store import Store, find_study, table
from atom.store.together.revisions import StudyMoment
from atom.views import shards
from atom.views.filters import Filters
from atom.views.overview.page import overview
from atom.views.prepared import making
from atom.views.prepared import ready as reading
from atom.views.prepared.making import prepare, singles
from atom.views.prepared.ready import MANIFEST, PreparedStudy, last_ready, open_ready
from atom.views.prepared.words import as_of
from atom.views.snapshot import depends_on, open_study, selected_name, snapshot_folder
from atom.views.study_data import chosen_judge
from atom.views.tree.node_table import node_table, placed
from tests.atom.views.prepared.test_kept import Nobody
from tests.atom.views.test_shards import assert_same
from tests.factories import STUDY


@pytest.fixture(scope="module")
def mine(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ready") / "store"
    shutil.copytree(store.folder, folder)
    with Store.open(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def ready(mine):
    """The small study in three parts, each cut and added up by a process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "EACH", -(-len(open_study(mine, STUDY).table.score) // 3))
        return prepare(mine, STUDY, folder=snapshot_folder(mine), processes=1)


def last(store):
    return last_ready(store, find_study(store, STUDY), None, snapshot_folder(store))


@pytest.mark.slow
def test_every_single_filter_is_shown_from_kept_sums_as_the_whole_shows_it(mine, ready):
    assert ready.parts == 3
    assert last(mine) == ready
    whole = open_study(mine, STUDY)
    held = open_ready(mine, STUDY, ready)
    only = replace(held, shards=replace(held.shards, parts=Nobody()))
    chosen = list(singles(whole))
    assert {Filters(), Filters(outcome="wrong"), Filters(process="flawed")} < set(chosen)
    for filters in chosen:
        assert_same(overview(whole, filters), overview(only, filters))
    # The tree counts its support and its scores likewise, and reads no place from the store.
    shown = [
        node_table(one, one.tree, placed(place, one), Filters(outcome="wrong"))
        for one, place in ((whole, mine), (only, None))
    ]
    assert_same(*(replace(one, leaf_of={}) for one in shown))
    assert shown[0].leaf_of == shown[1].leaf_of
    assert shown[0].criteria.sum() > 0
    # Two filters at once are added up, from the parts.
    both = Filters(outcome="wrong", root=chosen[1].root)
    assert_same(overview(whole, both), overview(held, both))


@pytest.mark.slow
def test_what_was_made_stays_until_something_newer_is_whole(mine, ready):
    marks = table(Checkpoint)
    study = find_study(mine, STUDY)

    def job(writer):
        writer.execute(sa.update(marks).values(score=1, value=0.0, raw="1"))
        writer.touch(study.id, results=3)

    mine.transact(job)
    now = mine.mark(study.id)
    assert last(mine) == ready
    assert now.results == ready.results + 3
    before = overview(open_ready(mine, STUDY, ready), Filters()).ranking[0].score.value
    folder = snapshot_folder(mine)
    command = [sys.executable, "-m", "atom", "study", "prepare", STUDY, "--store",
               str(mine.folder), "--processes", "1"]  # fmt: skip
    # Killed in the middle: the last one stays, and nothing half has a name.
    killed = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not list(folder.glob(".*.ready.*.part")) and time.monotonic() < end:
        time.sleep(0.02)
    assert is_making(folder)
    with pytest.raises(StoreError, match="being made ready already"):
        prepare(mine, STUDY, folder=folder)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert last(mine) == ready
    assert not is_making(folder)
    # The next one makes it, and clears what was left.
    made = prepare(mine, STUDY, folder=folder, processes=1)
    assert last(mine) == made
    assert made.moment == now
    assert not list(folder.glob(".*.part"))
    assert not ready.place.exists()
    assert overview(open_ready(mine, STUDY, made), Filters()).ranking[0].score.value < before
    # Another version of the program adds up anew, of the same rows.
    with pytest.MonkeyPatch.context() as patch:
        for module in (making, reading):
            patch.setattr(module, "code_of_sums", lambda: "another")
        assert last(mine) is None
        assert prepare(mine, STUDY, folder=folder, processes=1) == last(mine)
        assert not made.place.exists()
    assert last(mine) is None
    # Another tree would show an edit undone.
    other = study.model_copy(update={"tree_version": "another"})
    assert last_ready(mine, other, None, folder) is None


@pytest.mark.parametrize(
    "wrong",
    [{"parts": "9"}, {"parts": 10**12}, {"parts": -1}, {"made": "x"}, {"made": float("nan")},
     {"changes": None}, {"judge": ["j"]}, {"depends": 5}, {"code": 5},
     {"code": "another"}, {"more": 1}, None],
)  # fmt: skip
def test_a_manifest_that_cannot_be_is_nobodys(mine, tmp_path, wrong):
    study = find_study(mine, STUDY)
    place = tmp_path / f"{selected_name(mine, study, chosen_judge(mine, study, None))}-x.ready"
    place.mkdir()
    good = PreparedStudy(place=place, made=1.0, changes=1, results=2, seconds=0.1, parts=2,
                         judge=None, depends=tuple(depends_on(study)))  # fmt: skip
    (place / MANIFEST).write_text(good.text())
    assert last_ready(mine, study, None, tmp_path) == good
    text = "[" * 99_999 if wrong is None else json.dumps({**json.loads(good.text()), **wrong})
    (place / MANIFEST).write_text(text)
    assert last_ready(mine, study, None, tmp_path) is None


def test_a_lock_is_one_process_at_a_time(tmp_path):
    with alone_in(tmp_path) as first, alone_in(tmp_path) as second:
        assert (first, second) == (True, False)
    assert not is_making(tmp_path)


def test_the_sentence_says_when_and_what_came(tmp_path):
    made = datetime(2026, 11, 29, 19, 42, tzinfo=UTC)
    ready = PreparedStudy(place=tmp_path, made=made.timestamp(), changes=4, results=10,
                          seconds=60.0, parts=1, judge=None, depends=())  # fmt: skip

    def said(changes, results, *, making=True, clock=made):
        return as_of(ready, StudyMoment(changes, results), clock=clock, making=making)

    assert said(4, 10) == ""
    assert said(4, 13) == "As of 19:42; 3 newer results are being added."
    assert said(4, 11, making=False) == "As of 19:42; 1 newer result is waiting to be added."
    assert said(5, 10) == "As of 19:42; changes to the study are being added."
    assert said(5, 12).startswith("As of 19:42; 2 newer results and changes to the study are")
    tomorrow = made.replace(day=30)
    assert said(4, 13, clock=tomorrow).startswith("As of 29 Nov 19:42; ")
