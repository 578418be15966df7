"""The behavioural leak gate."""

from __future__ import annotations

import pytest

from atom.engine.consent import ConsentNeeded
from atom.engine.correction.gate import prepare_gate, read_gate, run_gate
from atom.engine.correction.ground import CorrectionSpec
from atom.engine.work import carry_out, open_work
from atom.errors import SettingsError, UsageError
from atom.probes.serving.faults import FaultPlan
from atom.records import Call, Correction, Experiment, HintUse, Prices, Response, Sample, Study
from atom.store import table
from tests.atom.engine.conftest import Counted


def experiment(store, endpoints) -> Experiment:
    """Make an experiment whose hints, one for each wrong answer, are the reference itself."""
    (study,) = store.select(Study)
    spec = CorrectionSpec(study_id=study.id, candidate="model-h", arms=("peer",))
    made = store.get(Experiment, open_work(store, spec, endpoints).experiment_id)
    samples = {s.id: s for s in store.select(Sample)}
    firsts = [r for r in store.select(Response) if r.candidate_id == made.candidate_id]
    store.put(
        Correction(
            experiment_id=made.id, response_id=r.id, arm="peer", state="scored",
            hints=(HintUse(criterion_id="c", hint_id="h", peer_id="p",
                           text=f"It is {samples[r.sample_id].reference}."),),
        )
        for r in firsts
    )  # fmt: skip
    return made


async def test_it_asks_without_pictures_both_ways_and_keeps_the_calls(judged, endpoints, counted):
    plan = prepare_gate(judged, experiment(judged, endpoints), endpoints)
    assert (len(plan.pairs), plan.missing, plan.cost) == (10, 20, 0.0)
    assert read_gate(judged, plan).verdict.n == 0
    found = await run_gate(judged, plan, make=counted.make)
    assert (counted.total, found.message) == (20, "")
    assert all(b"image" not in body for body in counted.asked)
    assert len(judged.select(Call, table(Call).c.task == "blind")) == 20
    assert found.verdict.n + found.undecided == 10
    again = prepare_gate(judged, experiment(judged, endpoints), endpoints)
    assert again.missing == 0
    assert await run_gate(judged, again, make=counted.make) == found == read_gate(judged, plan)
    assert counted.total == 20
    assert len(prepare_gate(judged, experiment(judged, endpoints), endpoints, limit=3).pairs) == 3


async def test_trouble_is_told_and_made_good_later(judged, endpoints):
    made = experiment(judged, endpoints)
    quick = {n: e.model_copy(update={"max_tries": 1}) for n, e in endpoints.items()}
    down = Counted(faults=FaultPlan(rates={"reset": 1.0}, tries=100))
    plan = prepare_gate(judged, made, quick, limit=2)
    found = await run_gate(judged, plan, make=down.make)
    assert found.message.startswith("4 calls brought nothing; the last: ")
    assert (found.verdict.n, found.undecided) == (0, 2)
    up = Counted()
    assert (await run_gate(judged, plan, make=up.make)).message == ""
    assert up.total == 4


async def test_money_and_consent_come_first(judged, endpoints, counted):
    made = experiment(judged, endpoints)
    far = endpoints["model-h"].model_copy(
        update={"base_url": "https://models.example/v1", "prices": Prices()}
    )
    plan = prepare_gate(judged, made, {**endpoints, "model-h": far})
    assert plan.cost is None
    with pytest.raises(SettingsError, match="has no prices"):
        await run_gate(judged, plan, budget=1.0)
    with pytest.raises(ConsentNeeded, match="0 pictures and 10 questions"):
        await run_gate(judged, plan)
    dear = far.model_copy(update={"base_url": "probe:", "prices": Prices(input=1e4, output=1e4)})
    plan = prepare_gate(judged, made, {**endpoints, "model-h": dear})
    assert plan.cost > 0
    capped = await run_gate(judged, plan, budget=0.01, make=counted.make)
    assert "20 calls brought nothing" in capped.message
    assert counted.total == 0


def test_without_hints_there_is_nothing_to_test(judged, endpoints):
    made = experiment(judged, endpoints)
    with judged.write() as writer:
        writer.delete(Correction, table(Correction).c.experiment_id == made.id)
    with pytest.raises(UsageError, match="no hint was given in this experiment"):
        prepare_gate(judged, made, endpoints)
    with pytest.raises(UsageError, match="has no endpoint"):
        prepare_gate(judged, made, {})


@pytest.mark.slow
async def test_what_was_really_given_is_what_is_tested(judged, endpoints, counted):
    (study,) = judged.select(Study)
    spec = CorrectionSpec(study_id=study.id, candidate="model-h", arms=("peer", "guided_peer"))
    row = open_work(judged, spec, endpoints)
    made = judged.get(Experiment, row.experiment_id)
    await carry_out(judged, row.id, endpoints, make=counted.make)
    plan = prepare_gate(judged, made, endpoints)
    given = [r for r in judged.select(Correction) if r.arm == "peer" and r.hints]
    assert len(plan.pairs) == len({r.response_id for r in given}) > 0
    texts = " ".join(str(pair.hinted.parts) for pair in plan.pairs)
    assert all(use.text[:30] in texts for r in given for use in r.hints)
