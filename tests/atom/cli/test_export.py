from __future__ import annotations

import pytest


def test_forms_are_listed_with_what_they_drop(say):
    listed = say("export", "list", "--json").data
    assert [row["format"] for row in listed if row["exact"]] == ["parquet"]
    assert all(row["drops"] for row in listed if not row["exact"])
    assert "csv drops: pictures" in say("export", "list").out


@pytest.mark.slow
def test_a_study_goes_out_and_comes_back(say, probes, tmp_path):
    place = tmp_path / "fresh.zip"
    told = say("export", "parquet", "--study", "Fresh", "--out", str(place), "--json").data
    assert (told["counts"]["samples"], told["drops"]) == (3, [])
    assert told["bytes"] == place.stat().st_size
    refused = say("study", "import", str(place))
    assert (refused.code, "--name" in refused.err) == (2, True)
    assert say("study", "delete", "Fresh", "--yes").code == 0
    assert say("study", "import", str(place)).out.startswith("brought in 'Fresh'")
    assert say("study", "import", str(place), "--name", "Again", "--json").data["copied"] is True
    assert [row["name"] for row in say("study", "list", "--json").data] == ["Again", "Fresh"]


def test_what_a_form_drops_is_printed(say, probes, tmp_path):
    said = say("export", "csv", "--study", "Fresh", "--out", str(tmp_path / "t"))
    assert said.code == 0
    assert "not in it: pictures: only their names" in said.out
    assert (tmp_path / "t" / "samples.csv").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nope", "--study", "Fresh"), "known forms"),
        (("csv",), "--study NAME"),
        (("csv", "--study", "Nope"), "no study 'Nope'"),
        (("html", "--study", "Fresh", "--samples", "0"), "from 1"),
    ],
)
def test_what_cannot_be_done_is_told(say, probes, words, told):
    said = say("export", *words)
    assert (said.code, told in said.err) == (2, True)
