from __future__ import annotations

import pytest

from atom.engine.demo import seal_demo


def test_studies_are_listed_copied_renamed_and_deleted(say, probes):
    assert say("study", "list").out == (
        "name   samples  candidates  responses  synthetic  where  id\n"
        "Fresh        3           0          0  yes        store  d56417c6e3cd29496c36f1da\n"
    )
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
