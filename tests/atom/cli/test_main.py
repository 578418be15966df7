from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from atom.cli.main import NOUNS, main

PROJECT = Path(__file__).resolve().parents[3]


def test_help_names_every_noun(capsys):
    with pytest.raises(SystemExit) as done:
        main(["--help"])
    assert done.value.code == 0
    out = capsys.readouterr().out
    assert all(f"    {noun} " in out for noun in NOUNS)


@pytest.mark.parametrize("noun", sorted(NOUNS))
def test_every_noun_explains_itself(noun, capsys):
    with pytest.raises(SystemExit) as done:
        main([noun, "--help"])
    assert done.value.code == 0
    assert "--help" in capsys.readouterr().out


def test_an_error_of_the_user_is_one_line_without_a_stack(say):
    said = say("run", "start", "--study", "Nope")
    assert (said.code, said.out) == (2, "")
    assert said.err == "there is no study 'Nope'; studies in this store: none yet\n"


def test_a_wrong_option_ends_with_2(capsys):
    with pytest.raises(SystemExit) as done:
        main(["study", "list", "--nonsense"])
    assert done.value.code == 2
    assert "--nonsense" in capsys.readouterr().err


def test_an_interruption_ends_with_130(say, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("atom.cli.study.list_all", interrupt)
    said = say("study", "list")
    assert (said.code, said.err) == (130, "interrupted\n")


@pytest.mark.slow
def test_it_starts_as_a_module(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "atom", "study", "list", "--json", "--store", str(tmp_path / "s")],
        cwd=PROJECT,
        env={"ATOM_DEMO": str(tmp_path / "none"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
