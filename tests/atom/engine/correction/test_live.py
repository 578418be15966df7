"""One answer tried again on demand."""

from __future__ import annotations

import pytest

from atom.engine.correction.cohorts import find_subjects
from atom.engine.correction.ground import CorrectionSpec, prepare
from atom.engine.correction.live import read_tried, spec_of_answer, try_again
from atom.errors import ReadOnlyError, UsageError
from atom.records import Correction, Experiment, Outcome, Response, Run, Study
from atom.store import Store, table


def subjects(store, endpoints, **changes):
    (study,) = store.select(Study)
    spec = CorrectionSpec(study_id=study.id, candidate="model-h", right_answers=1, **changes)
    return study, find_subjects(store, prepare(store, spec, endpoints)).subjects


async def test_an_answer_is_tried_again_with_its_controls(judged, endpoints, counted):
    study, found = subjects(judged, endpoints)
    chosen = next(s for s in found if any(p.score <= 2 for p in s.checkpoints))
    said = []
    tried = await try_again(
        judged, study.id, chosen.first.id, endpoints, make=counted.make,
        on_text=lambda step, text: said.append((step.trial.arm, step.kind, text)),
    )  # fmt: skip
    assert tried.cohort == "failed"
    assert [arm.arm for arm in tried.arms] == ["fresh", "told", "guided"]
    assert tried.experiment.sample_ids == (chosen.sample.id,)
    assert tried.run.state == "done"
    assert {p.criterion_id: p.score for p in tried.checkpoints} == {
        p.criterion_id: p.score for p in chosen.checkpoints
    }
    for arm in tried.arms:
        (row,) = arm.rounds
        assert arm.response.text
        assert arm.value == row.value
        assert {p.criterion_id for p in arm.checkpoints} == set(chosen.criteria)
        streamed = "".join(text for a, kind, text in said if (a, kind) == (arm.arm, "retry"))
        assert streamed.strip() == arm.response.text.strip()
    order = list(dict.fromkeys(arm for arm, _, _ in said))
    assert order == ["fresh", "told", "guided"]


async def test_it_is_stored_and_not_asked_twice(judged, endpoints, counted):
    study, found = subjects(judged, endpoints)
    name = found[1].first.id
    one = await try_again(judged, study.id, name, endpoints, make=counted.make)
    sent = counted.total
    two = await try_again(judged, study.id, name, endpoints, make=counted.make)
    assert counted.total == sent
    assert (two.arms, two.checkpoints, two.experiment) == (
        one.arms, one.checkpoints, one.experiment
    )  # fmt: skip
    assert read_tried(judged, one.experiment.id, name) == two
    assert len(judged.select(Experiment)) == 1
    assert sum(run.kind == "experiment" for run in judged.select(Run)) == 1


async def test_a_right_answer_gets_guided_feedback_alone(judged, endpoints, counted):
    study, found = subjects(judged, endpoints)
    (right,) = [s for s in found if s.cohort == "right"]
    asked = spec_of_answer(judged, study.id, right.first.id, endpoints)
    if asked.failed_rule != "outcome":
        pytest.skip("the drawn right answer failed by its criteria")
    tried = await try_again(judged, study.id, right.first.id, endpoints, make=counted.make)
    assert tried.cohort == "right"
    assert [arm.arm for arm in tried.arms] == ["guided"]
    assert [row.cohort for row in judged.select(Correction)] == ["right"]


def test_the_plainest_rule_that_it_failed_is_taken(judged, endpoints):
    study, _ = subjects(judged, endpoints)
    _, wrong = subjects(judged, endpoints)
    assert spec_of_answer(judged, study.id, wrong[0].first.id, endpoints).failed_rule == "outcome"
    _, low = subjects(judged, endpoints, failed_rule="score")
    mine = next(s for s in low if s.cohort == "failed")
    # The same poor answer, had it ended right by luck.
    (outcome,) = judged.select(Outcome, table(Outcome).c.response_id == mine.first.id)
    judged.replace([outcome.model_copy(update={"value": 1.0})])
    assert spec_of_answer(judged, study.id, mine.first.id, endpoints).failed_rule == "score"


def test_what_cannot_be_tried_is_said(judged, endpoints):
    study, found = subjects(judged, endpoints)
    with pytest.raises(UsageError, match="no answer 'x'"):
        spec_of_answer(judged, study.id, "x", endpoints)
    gone = found[0].first.model_copy(update={"state": "unscored", "detail": "refused"})
    judged.replace([gone])
    with pytest.raises(UsageError, match="can't be tried again: the model gave no usable answer"):
        spec_of_answer(judged, study.id, gone.id, endpoints)
    later = found[1].first.model_copy(update={"id": "later", "repeat": 1})
    judged.put([later])
    with pytest.raises(UsageError, match="it isn't the model's first answer"):
        spec_of_answer(judged, study.id, "later", endpoints)
    with pytest.raises(UsageError, match="no experiment 'x'"):
        read_tried(judged, "x", found[1].first.id)
    assert judged.get(Response, "later") is not None


async def test_a_sealed_study_is_left_alone(judged, endpoints):
    study, found = subjects(judged, endpoints)
    with (
        Store.open(judged.folder, read_only=True) as sealed,
        pytest.raises(ReadOnlyError, match="copy it"),
    ):
        await try_again(sealed, study.id, found[0].first.id, endpoints)
