"""A study's judges as one panel."""

from __future__ import annotations

import json
import math

import pytest

from atom.cli.main import main
from atom.records import Checkpoint, Judge, content_id
from atom.store import Store, table
from atom.views.filters import Filters
from atom.views.judges.panel import panel_view
from atom.views.study_data import load_study
from tests.app.screen_store import JUDGE, make_store

KIND = Judge(id=content_id("judge", "kind"), name="kind", endpoint="kind")


@pytest.fixture(scope="module")
def panelled(tmp_path_factory):
    """Make a study whose marks a second judge repeats, a step higher where it can."""
    made = make_store(tmp_path_factory.mktemp("panel"))
    with Store.open(made.folder) as store:
        marks = store.select(Checkpoint, table(Checkpoint).c.judge_id == JUDGE.id)
        again = [
            one.model_copy(
                update={
                    "judge_id": KIND.id,
                    "key": Checkpoint.make_key(
                        one.criterion_id, one.response_id, KIND.id, one.prompt, one.sampling,
                        one.repeat,
                    ),
                    "score": min(one.score + 1, 5),
                }
            )
            for one in marks
            if one.score is not None
        ]  # fmt: skip
        store.put([KIND, *again])
    return made


def test_the_judges_are_put_together(panelled):
    with Store.open(panelled.folder) as store:
        data = load_study(store, panelled.study.id)
        view = panel_view(
            store, data, lambda name: load_study(store, data.study.id, name), Filters()
        )
    seats = {one.judge.name: one for one in view.seats}
    assert set(seats) == {JUDGE.name, "kind"}
    # One is as far above the other as that is below it, and no more than a step of 25 points.
    assert 0 < seats["kind"].shift == pytest.approx(-seats[JUDGE.name].shift)
    assert seats["kind"].shift <= 25
    assert (seats["kind"].flaw, seats[JUDGE.name].flaw) == ("lenient", "harsh")
    assert not view.calibrated
    assert view.drop == ""
    # Nobody was asked twice, and nothing was paid: repeats aren't known, nor is any price.
    options = {one.name: one for one in view.advice.options}
    assert options["samples"].half == pytest.approx(view.advice.half / 2**0.5)
    assert options["judge"].half <= view.advice.half
    assert math.isnan(options["repeat"].half)
    assert {one.price for one in view.advice.options} == {None}
    assert 0 <= view.advice.judges <= 1
    means = [one.mean for one in view.scores]
    assert means == sorted(means, reverse=True)
    # Two judges d apart: a standard deviation of d / sqrt(2); 25 / 1.414 = 17.7 at most.
    assert all(0 < one.disagreement < 17.7 for one in view.scores)


def test_the_command_says_the_same(panelled, capsys):
    where = ["--study", panelled.study.name, "--store", str(panelled.folder)]
    assert main(["judge", "panel", *where, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["judge"]: one["flaw"] for one in found["judges"]}["kind"] == "lenient"
    assert found["advice"]["best"] in ("samples", "judge")
    assert main(["judge", "panel", *where]) == 0
    said = capsys.readouterr().out
    assert "judge-scale" in said
    assert "another judge like these: ±" in said


def test_one_judge_is_no_panel(tmp_path, capsys):
    made = make_store(tmp_path)
    where = ["--study", made.study.name, "--store", str(made.folder)]
    assert main(["judge", "panel", *where]) == 2
    assert "fewer than two judges" in capsys.readouterr().err
