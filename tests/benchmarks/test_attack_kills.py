"""The group of killed commands tells half work from whole work."""

from __future__ import annotations

import dataclasses
import shutil
from contextlib import closing
from sqlite3 import connect

import pytest

from atom.records import Study
from atom.store import Store, rename_study
from benchmarks.attacks import kills
from benchmarks.attacks._afterwards import Seen, harm_of
from benchmarks.attacks._forked import ROOT, Came, Commands, Kill
from benchmarks.attacks._ground import Ground
from benchmarks.attacks._victims import NAME, VICTIMS, Given


def seen(value: str, file: str = "a", time: str = "1") -> Seen:
    return Seen(studies=(), tables={"t": {"x": value, "time": time}}, files={"f": file})


def test_what_differs_between_two_undisturbed_ends_is_no_difference():
    one, twin = seen("1", time="1"), seen("1", time="2")
    assert seen("1", time="3").differs(one, twin) == ""
    assert seen("1", time="3").differs(one) == "t.time"
    assert seen("2", time="1").differs(one, twin) == "t.x"
    assert seen("1", file="b").differs(one, twin) == "the file f"


def test_a_table_that_is_not_there_yet_differs_from_one_that_is():
    copied = Seen(studies=(), tables={"t": {"x": "1"}, "new.t": {"x": "1"}}, files={})
    none = Seen(studies=(), tables={"t": {"x": "1"}}, files={})
    assert none.differs(copied) == "new.t.x"
    assert copied.differs(copied) == ""


@pytest.mark.parametrize(
    ("said", "starved", "code", "excused"),
    [
        ("it stood still for 61 seconds; resume it", 0.9, 1, True),
        ("it stood still for 61 seconds; resume it", 0.1, 1, False),  # with room: by itself
        ("the budget is spent", 0.9, 1, False),
        ("it stood still for 61 seconds; resume it", 0.9, 0, False),
    ],
)
def test_only_a_full_computer_excuses_a_run_that_stood_still(said, starved, code, excused):
    came = Came(code=code, said=said, seconds=1, n_bytes=0, lasted=70, starved=starved)
    assert kills.starved(came) is excused


def test_there_are_two_hundred_kills_and_each_command_is_killed_as_often():
    assert kills.KILLS >= 200
    assert kills.KILLS % len(VICTIMS) == 0


@pytest.mark.attack
def test_a_killed_rename_is_there_or_not(tmp_path):
    store = tmp_path / "store"
    shutil.copytree(ROOT / "data" / "demo", store)
    for seal in ("SHA256SUMS", "manifest.json"):
        (store / seal).unlink(missing_ok=True)
    with Store.open(store) as opened:
        rename_study(opened, opened.select(Study)[0].id, NAME)
    with Commands(("atom.cli.study", "atom.cli.main")) as commands:
        given = Given(commands, tmp_path, Ground(tmp_path), {})
        whole = kills.undisturbed("study rename", given)
        assert "Renamed" in str(whole.end.studies)
        for point in range(1, whole.points + 1):
            assert kills.killed("study rename", given, whole, Kill(point=point)) == ""
        # What is neither the state before nor the one after is a fall.
        other = dataclasses.replace(whole, end=whole.before, twin=whole.before)
        told = kills.killed("study rename", given, other, Kill(after=60))
    assert "half of it is visible: studies: (('Renamed'" in told
    with closing(connect(tmp_path / "work" / "store" / "atomscope.sqlite")) as hurt, hurt:
        hurt.execute("UPDATE studies SET note = 'changed by somebody else'")
    assert "studies" in harm_of(tmp_path / "work")
