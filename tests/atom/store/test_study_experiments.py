"""Copying and deleting a study with its self-correction experiments."""

from __future__ import annotations

import pytest

from atom.records import (
    Call,
    Candidate,
    Checkpoint,
    Correction,
    Criterion,
    Experiment,
    Hint,
    Judge,
    Outcome,
    Response,
    Run,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
)
from atom.store import Store, check_store, copy_study, count_study, delete_study

PLAIN = Experiment(
    id="plain", study_id="t", candidate_id="m", judge_id="k", arms=("told",), created="2026"
)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "a") as opened:
        named = PLAIN.model_copy(update={"id": Experiment.make_id(PLAIN)})
        chosen = PLAIN.model_copy(update={"id": Experiment.make_id(PLAIN, ["a-peer"])})
        shared = {
            "sample_id": "s",
            "candidate_id": "m",
            "prompt": "p",
            "sampling": Sampling(temperature=0.7),
        }
        opened.put([
            Study(id="t", name="T", judge_id="j"), Sample(id="s", dataset="d", question="?"),
            Candidate(id="m", name="m"), Judge(id="j", name="j"), Judge(id="k", name="k"),
            StudySample(study_id="t", sample_id="s", position=0),
            StudyCandidate(study_id="t", candidate_id="m", position=0),
            Criterion(id="c", sample_id="s", question="q?", ground_truth="g"),
            *(Call(id=name, request_hash=name, task="t", endpoint="e", model="m", prompt="p")
              for name in ("retry", "score", "hint")),
            Response(id="first", **shared),
            Response(id="again", parent_id="first", arm="told", call_id="retry", **shared),
            Outcome(response_id="again", how="exact", value=1.0),
            Checkpoint(key="after", criterion_id="c", response_id="again", judge_id="k",
                       prompt="p", sampling=Sampling(), state="scored", score=5, call_id="score"),
            Hint(id="h", criterion_id="c", peer_id="x", response_id="y", prompt="p",
                 state="scored", text="Look.", call_id="hint"),
            named, chosen,
            *(Correction(experiment_id=e.id, response_id="first", arm="told", state="scored",
                         result_id="again", value=1.0) for e in (named, chosen)),
            Run(id="run", study_id="t", stages=(), experiment_id=named.id),
        ])  # fmt: skip
        yield opened


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_copy_has_the_experiments_with_all_that_came_of_them(store, tmp_path, elsewhere):
    with Store.open(tmp_path / "b") as other:
        target = other if elsewhere else store
        copy = copy_study(store, target, "t", "Copy")
        mine = [e for e in target.select(Experiment) if e.study_id == copy.id]
        assert len(mine) == 2
        # Asking for the same in the copy finds the experiment; the other has a name of its own.
        assert Experiment.make_id(mine[0]) in {e.id for e in mine}
        rows = [c for c in target.select(Correction) if c.experiment_id in {e.id for e in mine}]
        assert [(c.response_id, c.result_id, c.value) for c in rows] == [
            ("first", "again", 1.0)
        ] * 2
        for kind, key in (
            (Response, "again"), (Checkpoint, "after"), (Hint, "h"), (Judge, "k"), (Call, "retry"),
            (Call, "score"), (Call, "hint"),
        ):  # fmt: skip
            assert target.get(kind, key) == store.get(kind, key) is not None
        assert target.get(Outcome, "again", "exact", "") is not None
        assert check_store(target, pictures=False).problems == ()
        again = copy_study(target, target, copy.id, "Another")
        assert len([e for e in target.select(Experiment) if e.study_id == again.id]) == 2


def test_deleting_a_study_removes_its_experiments_and_keeps_what_was_paid_for(store):
    copy_study(store, store, "t", "Copy")
    delete_study(store, "t")
    left = store.select(Experiment)
    assert len(left) == 2
    assert {e.study_id for e in left} == {Study.make_id("Copy")}
    assert {c.experiment_id for c in store.select(Correction)} == {e.id for e in left}
    assert store.select(Run) == []
    for kind, key in ((Response, "again"), (Checkpoint, "after"), (Hint, "h")):
        assert store.get(kind, key) is not None


def test_corrected_answers_are_not_counted(store):
    assert count_study(store, "t").responses == 1
