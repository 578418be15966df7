"""What an experiment would ask and cost, before anything is sent."""

from __future__ import annotations

import pytest

from atom.engine.correction.forecast import forecast_experiment
from atom.engine.correction.ground import ARMS, CorrectionSpec
from atom.engine.correction.plan import NOTHING_FAILED
from atom.engine.work import carry_out, open_work
from atom.records import Correction, Experiment, Prices, Study


def spec(store, **changes) -> CorrectionSpec:
    (study,) = store.select(Study)
    return CorrectionSpec(**{"study_id": study.id, "candidate": "model-h", **changes})


def counts(arm):
    return {part.kind: (part.calls, part.most) for part in arm.calls}


def test_the_work_is_foreseen_by_arm_and_kind(judged, endpoints):
    asked = spec(judged, arms=ARMS, right_answers=2, rounds=2)
    found = forecast_experiment(judged, asked, endpoints)
    assert judged.select(Experiment) == []
    assert (found.model, found.answers, found.failed, found.right) == ("model-h", 10, 7, 3)
    assert (found.failed_subjects, found.right_subjects) == (7, 2)
    arms = {(arm.arm, arm.cohort): arm for arm in found.arms}
    assert len(arms) == 9
    assert counts(arms["rejudge", "failed"])["scoring"] == (7, 7)
    assert counts(arms["told", "failed"])["retry"] == (7, 14)
    assert counts(arms["told", "failed"])["scoring"] == (7, 14)
    # Two wrong answers have no mark under 3: one gave the wrong letter, one nearly read a clock.
    assert arms["guided", "failed"].skipped == {NOTHING_FAILED: 2}
    assert counts(arms["guided", "failed"])["retry"] == (5, 10)
    assert counts(arms["guided", "right"])["retry"] == (2, 4)
    # Hints stand in the first arm that wants them: one attempt each, or three.
    least, most = map(sum, zip(*[
        (part.calls, part.most) for part in arms["peer", "failed"].calls if part.kind == "hint"
    ], strict=True))  # fmt: skip
    assert most == 3 * least > 0
    assert "hint" not in counts(arms["guided_peer", "failed"])
    assert found.calls < found.most_calls
    assert (found.cost, found.most_cost) == (0.0, 0.0)


@pytest.mark.slow
async def test_what_happens_lies_between_least_and_most(judged, endpoints, counted):
    asked = spec(judged, arms=("told", "guided", "peer"), rounds=2)
    found = forecast_experiment(judged, asked, endpoints)
    row = open_work(judged, asked, endpoints)
    ended = await carry_out(judged, row.id, endpoints, make=counted.make)
    # No gate held a feedback back here, so that the least is one.
    assert found.calls <= counted.total == ended.done <= found.most_calls
    after = forecast_experiment(judged, asked, endpoints)
    assert (after.calls, after.most_calls) == (0, 0)
    assert sum(arm.over for arm in after.arms) == sum(arm.trials for arm in after.arms)
    assert len(judged.select(Correction)) >= 12


@pytest.mark.parametrize("known", [True, False])
def test_a_price_is_told_where_it_is_known(judged, endpoints, known):
    price = {"prices": Prices(input=2.0, output=8.0) if known else Prices()}
    dear = {**endpoints, "model-h": endpoints["model-h"].model_copy(update=price)}
    found = forecast_experiment(judged, spec(judged, arms=("told",), rounds=2), dear)
    if not known:
        assert found.cost is found.most_cost is None
        return
    (part,) = [p for arm in found.arms for p in arm.calls if p.kind == "retry"]
    assert part.price > 8.0 * 200 / 1e6
    # Seven tries at least, fourteen at most; the judge is free.
    assert found.cost == pytest.approx(7 * part.price)
    assert found.most_cost == pytest.approx(14 * part.price)
