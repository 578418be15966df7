"""`figure list` and `figure write`: files with caption and data, and nothing written over."""

from __future__ import annotations

import json

import pytest

from tests.app.screen_store import make_store


@pytest.fixture
def place(tmp_path) -> str:
    """Return a store with one judged study."""
    return str(make_store(tmp_path / "store").folder)


@pytest.mark.slow
def test_figures_go_into_a_folder_and_nothing_is_written_over(say, tmp_path):
    out = tmp_path / "figures"
    asked = ("figure", "write", "--study", "Test study", "--out", str(out))
    some = (*asked, "--figures", "skills,ranking", "--model", "model-b", "--format", "csv,svg")
    said = say(*some)
    assert (said.code, said.err) == (0, "")
    names = sorted(path.name for path in out.iterdir())
    assert names == ["ranking.csv", "ranking.svg", "skills-model-b.csv", "skills-model-b.svg"]
    assert "SYNTHETIC" in (out / "ranking.svg").read_text(encoding="utf-8")
    (out / "ranking.csv").write_text("mine", encoding="utf-8")
    again = say(*some)
    assert again.code == 2
    assert "is there already" in again.err
    assert (out / "ranking.csv").read_text(encoding="utf-8") == "mine"
    assert say(*some, "--replace").code == 0
    assert (out / "ranking.csv").read_text(encoding="utf-8").startswith("model,")


@pytest.mark.slow
def test_what_a_study_cannot_fill_is_named_and_asked_for_alone_it_is_an_error(say, tmp_path):
    asked = ("figure", "write", "--study", "Test study", "--format", "txt")
    made = json.loads(say(*asked, "--out", str(tmp_path / "all"), "--json").out)
    assert made["left_out"] == [
        {"name": "effects", "why": "this study has no self-correction experiment yet"}
    ]
    assert len(made["files"]) == 11
    alone = say(*asked, "--out", str(tmp_path / "one"), "--figures", "effects")
    assert alone.code == 2
    assert "no self-correction experiment" in alone.err
    assert not (tmp_path / "one").exists()


def test_unknown_names_are_answered_with_those_there_are(say, tmp_path):
    asked = ("figure", "write", "--study", "Test study", "--out", str(tmp_path / "x"))
    assert "'gif' is no format; svg, png, pdf, csv, txt are" in say(*asked, "--format", "gif").err
    assert "there is no figure 'pie'" in say(*asked, "--figures", "pie").err
    listed = say("figure", "list", "--json")
    assert [one["name"] for one in json.loads(listed.out)["figures"]][:2] == ["ranking", "reasons"]
