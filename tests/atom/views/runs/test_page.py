"""Runs as lines of words and numbers."""

from __future__ import annotations

import pytest

from atom.display.numbers import money
from atom.engine.study.spec import JUDGE_STAGES
from atom.records import Candidate, Experiment, Run, TreeTask
from atom.store import Store
from atom.views.runs.page import ProgressSample, RunForm, duration, pace, run_labels, run_view


def run(**values) -> Run:
    base = {"id": "r", "study_id": "s", "stages": ("scoring",), "done": 40, "total": 100}
    return Run(**(base | values))


def test_a_run_that_works_has_a_pace_and_a_time_left():
    seen = [ProgressSample(moment=10.0, done=20), ProgressSample(moment=20.0, done=40)]
    view = run_view(run(state="running"), alive=True, seen=seen)
    assert view.rate == 2.0
    assert view.facts("items") == [
        "40 of 100 items done",
        "2.0 a second",
        "about 30 s left",
        "nothing spent",
    ]
    assert view.can_stop
    assert not view.can_resume


def test_a_run_that_stands_has_no_pace():
    seen = [ProgressSample(moment=10.0, done=20), ProgressSample(moment=20.0, done=40)]
    view = run_view(run(state="stopped", failed=2), alive=False, seen=seen)
    assert view.rate is None
    assert view.can_resume
    assert view.can_retry
    assert not view.can_stop


def test_done_with_failures_is_said():
    view = run_view(run(state="done", failed=1), alive=False)
    assert view.words == "done, with failures"
    assert not view.can_resume
    whole = run_view(run(state="done", done=100), alive=False)
    assert (whole.words, *whole.facts("items")) == ("done", "100 of 100 items", "nothing spent")


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [ProgressSample(moment=1, done=1)],
        [ProgressSample(moment=1, done=1), ProgressSample(moment=1.2, done=5)],
        [ProgressSample(moment=1, done=9), ProgressSample(moment=9, done=2)],
    ],
)
def test_no_pace_without_enough_looks(seen):
    assert pace(seen) is None


def test_a_run_that_is_still_counting_says_so():
    counting = run_view(run(total=0, done=0, state="running"), alive=True)
    assert counting.facts() == ["counting what is left", "nothing spent"]
    stood = run_view(run(state="stopped", failed=2, unscored=1, budget=2.0), alive=False)
    assert stood.facts("steps") == [
        "40 of 100 steps done",
        "60 left",
        "nothing spent of at most $2.00",
    ]
    assert stood.lost == [("unscored", "1 unscored"), ("failed", "2 failed")]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (7500, "2 h 5 min"),
     (7200, "2 h")],
)  # fmt: skip
def test_time_spans(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("cost", "text"),
    [(None, "price unknown"), (0.0, "free"), (0.00002, "under $0.0001"), (0.004, "$0.0040"),
     (1234.5, "$1,234.50")],
)  # fmt: skip
def test_money(cost, text):
    assert money(cost) == text


def test_many_models_are_counted_not_listed():
    names = tuple(f"m{n}" for n in range(9))
    assert run_view(run(candidates=names), alive=False).what.endswith("m3 and 5 more")


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        (RunForm(), "at least one stage"),
        (RunForm(stages=("answer",)), "needs models"),
        (RunForm(stages=("scoring",), candidates=("a",), judge="j"), "stage answer isn't"),
        (RunForm(stages=("scoring",)), "Choose a judge"),
        (RunForm(stages=("scoring",), judge="j"), ""),
        (RunForm(stages=("answer",), candidates=("a",)), ""),
    ],
)
def test_a_form_says_what_is_missing(form, problem):
    found = form.problem(JUDGE_STAGES)
    assert problem in found
    assert bool(problem) == bool(found)


def test_an_experiments_run_says_what_it_does(tmp_path):
    row = run(stages=(), candidates=("model-a", "model-b"), experiment_id="e")
    assert run_view(row, alive=False).what == "Self-correction: model-a"
    asked = Experiment(
        id="e", study_id="s", candidate_id="m", judge_id="j", arms=("fresh", "told", "guided"),
        rounds=2,
    )  # fmt: skip
    one = asked.model_copy(update={"id": "one", "sample_ids": ("x",), "arms": ("told",),
                                   "rounds": 1})  # fmt: skip
    rows = [row, run(id="r2", experiment_id="one"), run(id="r3", experiment_id="gone"),
            run(id="r4")]  # fmt: skip
    with Store.open(tmp_path / "s") as store:
        assert run_labels(store, rows[3:]) == {}
        store.put([asked, one, Candidate(id="m", name="Model A")])
        labels = run_labels(store, rows)
    assert labels == {
        "r": "Self-correction: Model A, 3 kinds of feedback, up to 2 rounds",
        "r2": "Self-correction: Model A, one answer, 1 kind of feedback",
    }
    assert run_view(row, alive=False, label=labels["r"]).what == labels["r"]
    assert [one.kind for one in rows] == ["experiment"] * 3 + ["study"]


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"bench_set_id": "set", "methods": ("pair", "point")}, "Judge benchmark: pair, point"),
        ({"bench_set_id": "set", "methods": ("pair",), "votes": 5, "scorer": "s"},
         "Judge benchmark: pair, 5 votes, scored by s"),
        ({"methods": ("pointwise",)}, "Methods: Pointwise score"),
    ],
)  # fmt: skip
def test_a_run_without_stages_says_what_it_does(values, what):
    row = Run(id="r", study_id="s", stages=(), created="2026-01-02T03:04:05+00:00", **values)
    assert run_view(row, alive=False).what == what


def test_a_growing_tree_s_run_says_so():
    row = Run(id="r", study_id="s", task=TreeTask(kind="tree"))
    assert run_view(row, alive=False).what == "The tree grows from the study's criteria"
