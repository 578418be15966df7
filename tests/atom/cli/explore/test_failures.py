import csv
from pathlib import Path

import pytest

from tests.factories import STUDY, open_small

DEMO = Path(__file__).parents[4] / "data" / "demo"


def test_a_small_study_isnt_grouped(say, place):
    with open_small(Path(place)):
        pass
    said = say("failures", "groups", STUDY)
    assert said.code == 0
    assert "Too few failures to group" in said.out
    found = say("failures", "groups", STUDY, "--json").data
    assert (found["groups"], found["none"]) == ([], "few")
    assert say("failures", "groups", STUDY, "--model", "nobody").code == 2


@pytest.mark.slow
def test_the_bundled_study_is_grouped(say, monkeypatch, tmp_path):
    monkeypatch.setenv("ATOM_DEMO", str(DEMO))
    study = "Probe world (synthetic demo)"
    place = tmp_path / "g.csv"
    found = say("failures", "groups", study, "--json", "--csv", str(place)).data
    assert found["chosen"]["groups"] == len(found["groups"]) == 5
    assert sum(one["share"] for one in found["groups"]) == pytest.approx(1)
    assert any("model-b" in one for one in found["stands_out"])
    with place.open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 5 * 8
    assert "SYNTHETIC" in say("failures", "groups", study).out
