"""Multi-Crit from files to figures, offline: made, asked, stopped short, asked on, measured."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.bench.judging import BenchSpec, forecast_bench
from atom.engine.bench.sets import import_replies, items_of, make_probe_set
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Judge, Verdict
from atom.store import Store
from atom.views.lab.page import bench_result
from tests.atom.judgebench.multi_crit.test_files import lines
from tests.exported import multi_crit_rows

PAIRS = 4


def judged(store, spec):
    endpoints = {one.name: one for one in builtin_endpoints()}
    row = open_work(store, spec, endpoints)
    ended = asyncio.run(carry_out(store, row.id, endpoints))
    assert ended.state == "done", ended.message
    return next(one.id for one in store.select(Judge) if one.name == spec.judge)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.mark.slow
def test_a_benchmark_runs_end_to_end_and_asks_only_what_is_missing(store):
    record = make_probe_set(store, "multi_crit", PAIRS, seed=2, name="Probes")
    assert (record.synthetic, record.n_items, record.skipped) == (True, PAIRS, ())
    endpoints = {one.name: one for one in builtin_endpoints()}
    whole = BenchSpec(set_id=record.id, judge="probe-judge", parts=("single", "joint"))
    rows = sum(len(item.data["criteria"]) for item in items_of(store, record.id))
    assert forecast_bench(store, whole, endpoints).calls == {"probe-judge": rows + PAIRS}
    judge = judged(store, BenchSpec(set_id=record.id, judge="probe-judge", limit=1))
    some = len(store.select(Verdict))
    assert forecast_bench(store, whole, endpoints).calls == {"probe-judge": rows + PAIRS - some}
    assert bench_result(store, record.id, judge).missing == PAIRS - 1
    judged(store, whole)
    assert len(store.select(Verdict)) == rows + PAIRS
    assert forecast_bench(store, whole, endpoints).calls == {}
    result = bench_result(store, record.id, judge)
    assert {row.value for row in result.headline} == {100.0}
    assert any(one.title.startswith("One criterion at a time, or") for one in result.tables)

    mine = [v for v in store.select(Verdict) if v.part != "joint"]
    exported = multi_crit_rows(items_of(store, record.id), mine)
    taken = import_replies(store, record.id, [lines(exported)], "copy")
    assert len(taken.verdicts) == rows
    again = bench_result(store, record.id, "copy")
    assert {row.value for row in again.headline} == {100.0}

    coin = judged(store, BenchSpec(set_id=record.id, judge="probe-judge-coin"))
    figures = {
        (row.metric, row.group): row for row in bench_result(store, record.id, coin).headline
    }
    assert {row.n for (metric, _), row in figures.items() if metric == "pacc"} == {2}
    assert figures["cmr", "reasoning"].chance == 25
