"""VL-RewardBench from files to figures, offline: probes, three judges, replies from elsewhere."""

from __future__ import annotations

import asyncio
import json

import pytest

from atom.engine.bench.judging import BenchSpec, forecast_bench
from atom.engine.bench.sets import import_replies, items_of, make_probe_set
from atom.engine.work import carry_out, open_work
from atom.formats import ImportFile
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Verdict
from atom.store import Store
from atom.views.lab.page import bench_result, standings

ITEMS = 8
ENDPOINTS = {endpoint.name: endpoint for endpoint in builtin_endpoints()}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("lab") / "store") as store:
        yield store, make_probe_set(store, "vl_rewardbench", ITEMS)


def ask(store, record, counted, judge, **more):
    spec = BenchSpec(set_id=record.id, judge=judge, **more)
    run = open_work(store, spec, ENDPOINTS)
    return asyncio.run(carry_out(store, run.id, ENDPOINTS, make=counted.make))


def judge_of(store, record, name):
    return next(one.judge for one in standings(store, record.id) if one.name == name)


def figure(store, record, judge, metric):
    result = bench_result(store, record.id, judge)
    found = [*result.headline, *(row for table in result.tables for row in table.rows)]
    return next(row for row in found if row.metric == metric)


@pytest.mark.slow
def test_the_exact_judge_gets_all_right_and_more_votes_ask_only_what_is_missing(lab, counted):
    store, record = lab
    assert record.synthetic
    assert record.n_items == ITEMS
    ended = ask(store, record, counted, "probe-judge", votes=3, parts=("pair", "point"))
    assert (ended.state, ended.failed, ended.unscored) == ("done", 0, 0)
    assert counted.total == ITEMS * 3 + ITEMS * 2 * 3
    judge = judge_of(store, record, "probe-judge")
    for metric in ("overall_accuracy", "macro_average_accuracy", "accuracy_pointwise"):
        assert figure(store, record, judge, metric).value == 100
    more = BenchSpec(set_id=record.id, judge="probe-judge")
    assert forecast_bench(store, more, ENDPOINTS).calls == {"probe-judge": ITEMS * 2}
    ask(store, record, counted, "probe-judge")
    assert counted.total == ITEMS * 3 + ITEMS * 2 * 3 + ITEMS * 2
    assert figure(store, record, judge, "overall_accuracy").note == "majority of 5 votes"
    assert not forecast_bench(store, more, ENDPOINTS).calls


@pytest.mark.slow
def test_a_coin_is_no_judge(lab, counted):
    store, record = lab
    ask(store, record, counted, "probe-judge-coin")
    judge = judge_of(store, record, "probe-judge-coin")
    row = figure(store, record, judge, "overall_accuracy_k1")
    # 40 flips: SE .079, 3.5 SE = 27.7 points.
    assert abs(row.value - row.chance) < 27.7
    assert figure(store, record, judge, "swap_consistency").value < 100


def test_replies_in_the_released_form_are_scored_without_a_call(lab, counted):
    store, record = lab
    lines = []
    for item in items_of(store, record.id):
        better = "ab".index(item.data["better"]) + 1
        for swapped in (0, 1):
            text = f"Overall Judgment: Answer {3 - better if swapped else better} is better."
            meta = {"filter_choice": text, "random_number": swapped, "flag_status": "agree"}
            row = {"id": item.data["id"], "query": item.data["query"],
                   "response": item.data["responses"], "meta": meta}  # fmt: skip
            lines.append(json.dumps({"0": row}))
    file = ImportFile.from_bytes("out.jsonl", "\n".join(lines).encode())
    replies = import_replies(store, record.id, [file], "other judge")
    assert len(replies.verdicts) == 2 * ITEMS
    assert not replies.skipped
    assert not replies.notes
    assert figure(store, record, "other judge", "overall_accuracy").value == 100
    assert figure(store, record, "other judge", "swap_consistent_accuracy").value == 100
    import_replies(store, record.id, [file], "other judge")
    kept = [v for v in store.select(Verdict) if v.judge == "other judge"]
    assert len(kept) == 2 * ITEMS
    assert counted.total == 0
