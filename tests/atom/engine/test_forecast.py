"""What a run would do and cost, before anything is sent."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.forecast import forecast, guess_price
from atom.engine.live_replay import Live
from atom.engine.members import study_tree
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.pipeline import LOOP
from atom.records import Endpoint, Prices, Sample, Study
from atom.store import list_studies, study_places
from tests.atom.engine.conftest import SAMPLES

FREE = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
PRICED = FREE | {
    "paid": Endpoint(
        name="paid", base_url="https://a.example/v1", model="m", prices=Prices(input=1, output=2)
    ),
    "unpriced": Endpoint(name="unpriced", base_url="https://b.example/v1", model="n"),
}


def spec(study: Study, **values) -> RunSpec:
    base = {"study_id": study.id, "judge": "probe-judge", "candidates": ("model-a", "model-b")}
    return RunSpec(**(base | values))


def by_stage(found) -> dict[str, int]:
    calls: dict[str, int] = {}
    for item in found.stages:
        calls[item.stage] = calls.get(item.stage, 0) + item.calls
    return calls


def test_all_stages_of_all_samples_are_counted(store):
    study = list_studies(store)[0]
    calls = by_stage(forecast(store, spec(study), FREE))
    assert calls["answer"] == calls["scoring"] == 2 * SAMPLES
    assert calls["replay"] == calls["criteria"] == calls["mapping"] == SAMPLES


def test_a_forecast_is_what_the_run_then_does(store):
    study = list_studies(store)[0]
    wanted = spec(study, limit=2)
    before = forecast(store, wanted, FREE)
    ended = asyncio.run(run(store, wanted, FREE))
    # A verdict that a rule gives comes along with its answer: no call, no item.
    assert ended.total == before.calls
    after = forecast(store, wanted, FREE)
    assert after.stages == ()
    assert after.cost == 0
    assert after.samples == 2


def test_prices_are_summed_and_an_unknown_one_makes_the_sum_unknown(store):
    study = list_studies(store)[0]
    paid = forecast(store, spec(study, judge="paid", candidates=()), PRICED)
    assert paid.cost is not None
    assert paid.cost > 0
    unknown = forecast(store, spec(study, judge="unpriced", candidates=()), PRICED)
    assert unknown.cost is None
    assert unknown.tokens > 0


def test_the_judges_own_comparisons_are_counted_where_no_rule_can_compare(store):
    study = list_studies(store)[0]
    alone = spec(study, stages=("replay",), candidates=())
    assert by_stage(forecast(store, alone, FREE)) == {"replay": SAMPLES}
    ids = [place.sample_id for place in study_places(store, study.id)]
    free = {"reference": "It shows a quiet street after the rain.", "choices": ()}
    store.replace([sample.model_copy(update=free) for sample in store.get_many(Sample, ids)])
    assert by_stage(forecast(store, alone, FREE)) == {"replay": SAMPLES, "outcome": SAMPLES}


def test_an_impossible_run_is_said(store):
    study = list_studies(store)[0]
    with pytest.raises(UsageError, match="no endpoint 'nobody'"):
        forecast(store, spec(study, judge="nobody"), FREE)


def test_each_step_has_a_price_before_the_steps_before_it_are_done(store):
    study = list_studies(store)[0]
    tree, _ = study_tree(store, study, "")
    sample = study_places(store, study.id)[0].sample_id
    live = Live.of_study(store, sample, PRICED["paid"], study, tree)
    for stage in LOOP:
        price = guess_price(live, stage, candidate=PRICED["paid"])
        assert price.prompt_tokens > 0
        assert price.cost
