"""Runs commands in this process and gives back what they wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from atom.cli.main import main


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


@pytest.fixture
def place(tmp_path) -> str:
    return str(tmp_path / "store")


@pytest.fixture
def say(place, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("ATOM_DEMO", str(tmp_path / "no-demo"))

    def run(*words: str) -> Said:
        code = main([*words, "--store", place])
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return run


@pytest.fixture
def probes(say):
    """Draw three probes into a study."""
    made = say("probe", "make", "--samples", "3", "--seed", "5", "--families", "charts",
               "--study", "Fresh")  # fmt: skip
    assert made.code == 0, made.err
    return made
