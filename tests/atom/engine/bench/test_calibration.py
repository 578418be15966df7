"""A judge is calibrated through the engine: probes made once, the planted flaw found."""

from __future__ import annotations

import asyncio

import pytest

from atom.engine.bench.calibration import calibration_set, calibration_spec
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.bench.registry import make_bench_files
from atom.records import BenchItem, BenchSet, Judge
from atom.store import Store
from atom.views.lab.page import bench_result
from benchmarks._judge_noise import calibrated_judges


@pytest.mark.slow
def test_the_lenient_judge_s_branch_is_marked_and_no_other():
    marks = calibrated_judges(120, ("probe-judge-lenient",))
    assert marks["probe-judge-lenient"][0] == ("Knowledge",)
    assert {path[0] for path in marks["probe-judge-lenient"]} == {"Knowledge"}


@pytest.mark.slow
def test_a_coin_sits_at_chance(tmp_path):
    endpoints = {one.name: one for one in builtin_endpoints()}
    with Store.open(tmp_path / "store") as store:
        record = calibration_set(store, 80)
        row = open_work(store, calibration_spec(store, "probe-judge-coin", 80), endpoints)
        asyncio.run(carry_out(store, row.id, endpoints))
        judge = next(one for one in store.select(Judge) if one.name == "probe-judge-coin")
        rows = {one.metric: one for one in bench_result(store, record.id, judge.id).headline}
    right, alpha = rows["accuracy"], rows["alpha_to_truth"]
    assert right.n > 250
    # A fair draw of 1 to 5 hits a fifth, whatever the truths are.
    assert abs(right.value - 20) < 350 * (0.16 / right.n) ** 0.5
    assert abs(right.value - right.chance) < 350 * (0.16 / right.n) ** 0.5
    assert abs(alpha.value - alpha.chance) < 3.5 / right.n**0.5


def test_the_probes_are_made_once_for_all_judges(tmp_path):
    with Store.open(tmp_path / "store") as store:
        one = calibration_set(store, 6)
        again = calibration_set(store, 6)
        other = calibration_set(store, 6, seed=1)
        assert one == again
        assert one.id != other.id
        assert one.synthetic
        assert len(store.select(BenchSet)) == 2
        items = [item for item in store.select(BenchItem) if item.set_id == one.id]
    assert len(items) == 6
    assert all(slot.picture_id for item in items for slot in item.pictures)
    # Four candidates answer each probe.
    assert len({item.data["probe"] for item in items}) == 2


@pytest.mark.parametrize("count", [1, 5])
def test_equal_seeds_give_equal_files(count):
    assert make_bench_files("calibration", count, 3) == make_bench_files("calibration", count, 3)
