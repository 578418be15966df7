from __future__ import annotations

import re

import pytest
from PIL import Image

from atom.engine.demo import seal_demo


@pytest.mark.slow
def test_studies_are_listed_copied_renamed_and_deleted(say, probes):
    head, row = say("study", "list").out.splitlines()
    assert re.split(" {2,}", head) == [
        "Study", "Samples", "Models", "Answers", "Imports", "Made", "Synthetic", "Where", "Id",
    ]  # fmt: skip
    assert row.split()[:5] == ["Fresh", "3", "0", "0", "0"]
    assert row.split()[6:] == ["yes", "store", "d56417c6e3cd29496c36f1da"]
    assert say("study", "copy", "Fresh", "Copy").code == 0
    assert say("study", "rename", "Copy", "Other").out == "renamed to 'Other'\n"
    assert [row["name"] for row in say("study", "list", "--json").data] == ["Fresh", "Other"]
    refused = say("study", "delete", "Other")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert say("study", "delete", "Other", "--yes").code == 0
    assert [row["name"] for row in say("study", "list", "--json").data] == ["Fresh"]


@pytest.mark.parametrize("words", [("copy", "Nope", "x"), ("rename", "Nope", "x")])
def test_an_unknown_study_is_told(say, words):
    said = say("study", *words)
    assert said.code == 2
    assert "there is no study 'Nope'" in said.err


@pytest.mark.slow
def test_the_bundled_study_is_listed_and_can_be_copied(say, monkeypatch, tmp_path):
    folder = tmp_path / "sealed"
    seal_demo(folder, samples=1, candidates=1, seed=2)
    monkeypatch.setenv("ATOM_DEMO", str(folder))
    (row,) = say("study", "list", "--json").data
    assert (row["where"], row["synthetic"]) == ("bundled", True)
    assert say("study", "copy", row["name"], "Demo (yours)").code == 0
    own, bundled = say("study", "list", "--json").data
    assert (own["name"], own["where"], own["responses"]) == ("Demo (yours)", "store", 1)
    assert bundled["where"] == "bundled"


def test_missing_pictures_are_listed_and_attached(say, tmp_path):
    rows = "id,question,image\n1,What?,a.png\n2,Which?,b.png\n3,Who?,c.png\n"
    (tmp_path / "rows.csv").write_text(rows)
    assert say("import", "table", str(tmp_path / "rows.csv"), "--study", "Bare").code == 0
    listed = say("study", "pictures", "--study", "Bare")
    assert (listed.code, listed.out) == (
        1, "'Bare': 3 pictures are missing\n  a.png\n  b.png\n  c.png\n"
    )  # fmt: skip
    folder = tmp_path / "pics"
    folder.mkdir()
    for name, shade in (("a.png", 10), ("2.png", 20), ("z.png", 30)):
        Image.new("L", (8, 8), shade).save(folder / name)
    tried = say("study", "pictures", str(folder), "--study", "Bare", "--dry-run", "--json")
    assert (tried.data["attached"], tried.data["kept"]) == (2, False)
    done = say("study", "pictures", str(folder), "--study", "Bare")
    assert done.code == 1
    assert done.out == (
        "2 of 3 missing pictures attached (1 by the question's id, 1 by name)\n"
        "Still missing: 1\n  c.png\nFiles that matched nothing: 1\n  z.png\n"
    )
    again = say("study", "pictures", str(folder), "--study", "Bare", "--json")
    assert (again.data["missing_before"], again.data["attached"]) == (1, 0)
    refused = say("study", "pictures", str(tmp_path / "nope"), "--study", "Bare")
    assert (refused.code, "no folder or file" in refused.err) == (2, True)


def test_boxes_are_read_again(say, probes):
    said = say("study", "boxes", "--study", "Fresh", "--dry-run")
    assert (said.code, said.out) == (
        0, "0 solutions and 0 sets of criteria would have other boxes; 0 stay as they are\n"
    )  # fmt: skip
    assert say("study", "boxes", "--study", "Nope").code == 2
