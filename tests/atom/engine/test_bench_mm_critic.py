"""MM-CRITIC from files to figures, offline: made, asked, stopped short, asked on, scored."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.bench.judging import BenchSpec, forecast_bench
from atom.engine.bench.sets import make_probe_set
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Call, Judge, Verdict
from atom.store import Store
from atom.views.lab.page import bench_result, standings

ITEMS = 8


def judged(store, spec):
    endpoints = {one.name: one for one in builtin_endpoints()}
    row = open_work(store, spec, endpoints)
    ended = asyncio.run(carry_out(store, row.id, endpoints))
    assert ended.state == "done", ended.message
    return next(one.id for one in store.select(Judge) if one.name == spec.judge)


@pytest.mark.slow
def test_texts_are_written_then_scored_and_nothing_is_paid_twice(tmp_path):
    with Store.open(tmp_path / "store") as store:
        record = make_probe_set(store, "mm_critic", ITEMS, seed=2, name="Probes")
        assert (record.synthetic, record.n_items, record.skipped) == (True, ITEMS, ())
        alone = BenchSpec(set_id=record.id, judge="probe-judge", limit=4)
        judge = judged(store, alone)
        assert len(store.select(Verdict)) == 4
        assert bench_result(store, record.id, judge).missing == ITEMS - 4

        whole = BenchSpec(set_id=record.id, judge="probe-judge", scorer="probe-judge-noisy")
        endpoints = {one.name: one for one in builtin_endpoints()}
        assert forecast_bench(store, whole, endpoints).later
        assert forecast_bench(store, whole, endpoints).calls["probe-judge"] == ITEMS - 4
        judged(store, whole)
        calls = len(store.select(Call))
        assert forecast_bench(store, whole, endpoints).calls == {}
        judged(store, whole)
        assert len(store.select(Call)) == calls

        result = bench_result(store, record.id, judge)
        rows = {row.metric: row for row in result.headline}
        assert rows["acc_critic"].value == 100
        assert rows["critique_score"].n > 0
        assert any(one.title.startswith("Anchor audit") and one.rows for one in result.tables)
        # The scorer isn't among the examined judges, and the second one finds the audit done.
        assert [one.name for one in standings(store, record.id)] == ["probe-judge"]
        again = BenchSpec(set_id=record.id, judge="probe-judge-coin", scorer="probe-judge-noisy")
        assert forecast_bench(store, again, endpoints).calls == {"probe-judge-coin": ITEMS}
