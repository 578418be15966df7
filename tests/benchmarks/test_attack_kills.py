"""The group of killed commands tells half work from whole work."""

from __future__ import annotations

import dataclasses
import shutil
from contextlib import closing
from sqlite3 import connect

import pytest

from benchmarks.attacks import kills
from benchmarks.attacks._afterwards import Seen, harm_of
from benchmarks.attacks._forked import ROOT, Commands, Kill
from benchmarks.attacks._victims import VICTIMS, Given
from tests.atom.cli.every_command import every_command


def seen(value: str, file: str = "a", time: str = "1") -> Seen:
    return Seen(studies=(), tables={"t": {"x": value, "time": time}}, files={"f": file})


def test_what_differs_between_two_undisturbed_ends_is_no_difference():
    one, twin = seen("1", time="1"), seen("1", time="2")
    assert seen("1", time="3").differs(one, twin) == ""
    assert seen("1", time="3").differs(one) == "t.time"
    assert seen("2", time="1").differs(one, twin) == "t.x"
    assert seen("1", file="b").differs(one, twin) == "the file f"


def test_there_are_two_hundred_kills_and_each_command_is_killed_as_often():
    assert kills.KILLS >= 200
    assert kills.KILLS % len(VICTIMS) == 0


UNKILLED = {
    "run stop": "writes one state",
    "correct gate": "asks, and keeps its calls one by one",
    "pairs write": "a folder of its own, as `export csv` writes it",
    "pairs keep": "writes as `judge bench` does",
    "store migrate": "each migration is a transaction: tests/atom/store/test_migrate.py",
    **dict.fromkeys(("budget set", "people role"), "needs a deployment, and writes one row"),
    "fidelity match": "asks as `fidelity run` does",
    "store copy": "into another store: tests/atom/store/moving",
    "endpoint find": "writes as `endpoint add` does",
    "judge run-code": "needs a sandbox",
    **dict.fromkeys((f"run batch {step}" for step in (
        "cancel", "drop", "fetch", "run", "send", "status", "take",
    )), "needs a service"),
}  # fmt: skip
READERS = {
    *("app", "correct list", "correct show", "endpoint list", "endpoint presets", "endpoint test"),
    *("fidelity show", "figure list", "judge list", "judge panel", "judge published"),
    *(
        "budget list",
        "failures groups",
        "fidelity criteria",
        "log",
        "people list",
        "judge show",
        "pairs show",
        "probe serve",
        "profile show",
        "run blind",
        "run status",
        "store check",
    ),
    *("study list", "tree compare", "tree open", "tree show", "tree validity"),
}


@pytest.mark.attack
def test_every_command_that_writes_is_killed():
    killed = {
        command
        for command in every_command()
        for victim in VICTIMS.values()
        if " ".join(victim.words).startswith(f"{command} ")
    }
    assert every_command() == killed | UNKILLED.keys() | READERS
    assert not killed & (UNKILLED.keys() | READERS)


@pytest.mark.attack
def test_a_killed_rename_is_there_or_not(tmp_path):
    store = tmp_path / "store"
    shutil.copytree(ROOT / "data" / "demo", store)
    (store / "SHA256SUMS").unlink()
    with Commands(("atom.cli.study", "atom.cli.main")) as commands:
        given = Given(commands, tmp_path, store, {})
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
