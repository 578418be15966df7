"""Best of n run by the product: a judge picks among probes' answers, and among a study's own."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.bench.judging import BenchSpec, forecast_bench
from atom.engine.bench.picking import answers_name, read_answers, repeated_answers
from atom.engine.bench.sets import items_of, keep_set, make_probe_set
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.judgebench.best_of_n.benchmark import NAME
from atom.records import Outcome, Response, Sampling, Study
from atom.store import Store
from atom.views.lab.page import bench_result, standings

QUESTIONS = 3


@pytest.mark.slow
def test_the_exact_judge_picks_right_answers_and_the_price_names_every_meeting(
    tmp_path, counted, endpoints
):
    with Store.open(tmp_path / "store") as store:
        record = make_probe_set(store, NAME, QUESTIONS)
        spec = BenchSpec(set_id=record.id, judge="probe-judge")
        forecast = forecast_bench(store, spec, endpoints).calls["probe-judge"]
        ended = asyncio.run(run(store, spec, endpoints, make=counted.make))
        assert (ended.state, ended.failed) == ("done", 0)
        assert counted.total == forecast
        assert not forecast_bench(store, spec, endpoints).calls
        (one,) = standings(store, record.id)
        found = bench_result(store, record.id, one.judge)
        tables = [found.headline, *(table.rows for table in found.tables)]
        rows = {row.metric: row for lines in tables for row in lines}
        assert rows["gain_over_random"].value > 0
        assert rows["picked_accuracy_1"].value <= rows["picked_accuracy_8"].value
        assert rows["picked_accuracy_8"].value <= rows["best_8"].value


def test_a_studys_own_repeated_answers_become_a_set(store, counted, endpoints, tmp_path):
    (study,) = store.select(Study)
    with pytest.raises(UsageError, match="--answer-repeats 8"):
        read_answers(store, study, "model-a")
    asked = RunSpec(
        study_id=study.id, judge="probe-judge", candidates=("model-a",), limit=3,
        stages=("answer", "outcome"), answer_repeats=4, answer_sampling=Sampling(temperature=0.8),
    )  # fmt: skip
    asyncio.run(run(store, asked, endpoints, make=counted.make))
    (study,) = store.select(Study)
    (mine,) = repeated_answers(store, study)
    assert (mine.candidate.name, mine.n, mine.questions(4), mine.questions(5)) == (
        "model-a",
        4,
        3,
        0,
    )
    with pytest.raises(UsageError, match="no question has 5 answers; most have 4"):
        read_answers(store, study, "model-a", 5)
    # The set can be kept elsewhere: where the study's own store is sealed.
    with Store.open(tmp_path / "own") as own:
        record = keep_set(own, read_answers(store, study, "model-a", 3, into=own))
        assert record.name == answers_name(store, study, "model-a", 3)
        assert record.synthetic
        items = items_of(own, record.id)
        assert len(items) == 3
        assert all(own.pictures.read(slot.picture_id) for one in items for slot in one.pictures)
    truth = {one.response_id: one.value for one in store.select(Outcome)}
    right = sum(answer["right"] for one in items for answer in one.data["answers"])
    firsts = [each.id for each in store.select(Response) if each.repeat < 3]
    assert right == sum(truth[name] == 1 for name in firsts)
