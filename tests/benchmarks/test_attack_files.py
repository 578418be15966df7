"""The group of hostile files takes what holds for held, and what falls for fallen."""

from __future__ import annotations

import pytest

from benchmarks.attacks import files
from benchmarks.attacks._forked import Came
from benchmarks.attacks._hostile_tables import Hostile, imported


def test_there_are_sixty_and_more():
    assert len(files.FILES) >= 60


@pytest.mark.slow
def test_some_of_each_kind_hold_and_what_comes_in_wrongly_falls(monkeypatch):
    """One test: starting what forks costs seconds."""
    holding = (
        "CSV: NUL bytes in cells",
        "JSON: numbers that are none",
        "packed: tar",
        "a folder with links out of it and round",
        "pictures: a pipe and a link out of the folder",
        "a column map of aliases in aliases",
    )
    table = "id,question\na,Why?\n"
    falling = {
        "told wrongly": Hostile(make=lambda at: imported(at, "x.csv", table), samples=1, says="zz"),
        "too few": Hostile(make=lambda at: imported(at, "x.csv", table), samples=2),
        "taken": Hostile(make=lambda at: imported(at, "x.csv", table)),
    }
    monkeypatch.setattr(files, "FILES", {name: files.FILES[name] for name in holding} | falling)
    fell = {one.name: one.fell for one in files.attack()}
    assert [fell[name] for name in holding] == [""] * len(holding)
    assert "doesn't say 'zz'" in fell["told wrongly"]
    assert "1 questions came in, 2 should have" in fell["too few"]
    assert "1 questions came in, 0 should have" in fell["taken"]


@pytest.mark.parametrize(
    ("came", "fell"),
    [
        (Came(code=2, said="it can't be read\n", seconds=1, n_bytes=0), ""),
        (Came(code=1, said="Traceback (most recent", seconds=1, n_bytes=0), "status 1"),
        (Came(code=-6, said="", seconds=1, n_bytes=0), "status -6"),
        (Came(code=2, said="can't be read", seconds=99, n_bytes=0), "it took 99 s"),
        (Came(code=2, said="can't be read", seconds=1, n_bytes=2 << 30), "2,048 MB of memory"),
        (Came(code=2, said="can't be read: \x1b[2J", seconds=1, n_bytes=0), "to the terminal"),
        (Came(code=2, said="can't be read " * 999, seconds=1, n_bytes=0), "characters"),
    ],
)
def test_a_command_that_ends_badly_falls(came, fell):
    found = files._wrong_words(Hostile(make=lambda _: [], says="can't be read"), came)
    assert (fell in found) if fell else found == ""
