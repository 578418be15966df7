"""Judges beside each other: which point stands where, by hand."""

from __future__ import annotations

import math

import pytest

from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.records import BenchItem, BenchSet
from atom.store import Store
from atom.views.lab.page import SetProgress
from atom.views.lab.scatters import described, scatters, size_of


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Qwen2.5-VL-7B-Instruct", 7), ("InternVL2.5-8B", 8), ("llama-3.2-11b-vision", 11),
        ("qwen2.5-vl-0.5b", 0.5), ("mixtral-8x7b", 56), ("Qwen3-VL-30B-A3B", 30), ("gpt-4o", None),
        ("Phi-3.5-vision", None), ("8bit-model", None), ("", None),
    ],
)  # fmt: skip
def test_a_size_is_read_off_a_name(name, size):
    assert size_of(name) == size


def row(metric, value, **more):
    return MetricRow(metric=metric, label=metric, value=value, n=10, **more)


def judge(name):
    return SetProgress(
        judge=name, name=name, scored=1, unscored=0, failed=0, items=1, imported=False
    )


def result(*rows):
    return BenchResult(headline=rows[:1], tables=(MetricTable(title="t", rows=rows[1:]),))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s") as opened:
        yield opened


def a_set(store, benchmark, datas=()):
    record = BenchSet(id=BenchSet.make_id(benchmark, "x"), benchmark=benchmark, name="x")
    items = [BenchItem(set_id=record.id, id=f"i{at}", position=at, data=data)
             for at, data in enumerate(datas)]  # fmt: skip
    with store.write() as writer:
        writer.put([record])
        writer.put(items)
    return record


def test_size_and_length_against_critiques(store):
    judges = [judge("a-1b"), judge("b-10b"), judge("c-100b"), judge("closed")]
    results = {
        one.judge: result(row("acc_critic", 50 + 10 * at), row("critique_score", 5 + at),
                          row("critique_length", 100.0))
        for at, one in enumerate(judges)
    }  # fmt: skip
    size, length = scatters(store, a_set(store, "mm_critic"), judges, results, {})
    assert [(one.x, one.y) for one in size.points] == [(1, 50), (10, 60), (100, 70)]
    # By powers of ten the three lie on a line.
    assert size.r == pytest.approx(1)
    assert size.lacking == ("closed",)
    # All critiques are equally long.
    assert (len(length.points), math.isnan(length.r)) == (4, True)
    size, _ = scatters(store, a_set(store, "mm_critic"), judges, results, {"closed": 1000.0})
    assert size.points[-1].x == 1000


def test_the_best_judge_of_each_criterion_against_peoples_agreement(store):
    def entry(key, agreement):
        return {"key": key, "label": "a", "agreement": agreement}

    record = a_set(store, "multi_crit", [
        {"split": "open_ended", "criteria": [entry("clarity", 0.5), entry("efficiency", 0.9)]},
        {"split": "open_ended", "criteria": [entry("clarity", 0.7), entry("efficiency", None)]},
    ])  # fmt: skip
    names = {label: label for label in ("Clarity and coherence", "Conciseness and efficiency")}

    def rows(clear, short):
        values = zip(names, (clear, short), strict=True)
        return result(row("pacc", 1), *(
            MetricRow(metric="criterion_accuracy", label=name, value=value, n=2, group="open-ended")
            for name, value in values
        ))  # fmt: skip

    judges = [judge("x"), judge("y")]
    (found,) = scatters(store, record, judges, {"x": rows(60, 70), "y": rows(80, 50)}, {})
    # Clarity: people agree (0.5 + 0.7) / 2, y is best; efficiency: 0.9, x is best.
    points = {one.name.split(" ·")[0]: (one.x, one.y) for one in found.points}
    assert points == {
        "Clarity and coherence": (pytest.approx(0.6), 80),
        "Conciseness and efficiency": (0.9, 70),
    }
    assert math.isnan(found.r)
    assert described(store, record).tables


def test_a_benchmark_without_such_a_figure_has_none(store):
    record = a_set(store, "vl_rewardbench")
    assert scatters(store, record, [judge("x")], {}, {}) == ()


def test_accuracy_on_pairs_against_what_picks_gain(store, monkeypatch):
    pairs, picks = a_set(store, "vl_rewardbench"), a_set(store, "best_of_n")
    names = ("a", "b", "c", "d")
    judges = [judge(name) for name in names]
    accuracy = {name: result(row("overall_accuracy", 50.0 + 10 * at))
                for at, name in enumerate(names)}  # fmt: skip
    gains = {name: result(row("picked_accuracy", 1), row("gain_over_random", value))
             for name, value in zip(names, (0.0, 4.0, 2.0, 6.0), strict=True)}  # fmt: skip
    figures = {pairs.id: accuracy, picks.id: gains}
    at = "atom.views.lab.scatters"
    monkeypatch.setattr(f"{at}.standings", lambda store, set_id: judges)
    monkeypatch.setattr(f"{at}.bench_results", lambda store, set_id, asked: figures[set_id])
    (found,) = scatters(store, pairs, judges, accuracy, {})
    assert found.paper == "VL-RewardBench, Figure 4"
    assert [(one.x, one.y) for one in found.points] == [(50, 0), (60, 4), (70, 2), (80, 6)]
    # x - 65: -15, -5, 5, 15; y - 3: -3, 1, -1, 3: sum 80 over sqrt(500 * 20) = 100.
    assert found.r == pytest.approx(0.8)
    # Ranks 1 2 3 4 and 1 3 2 4: 1 - 6 * 2 / 60 = .8.
    assert "By ranks (Spearman) it is 0.80." in found.note
    assert "95 %" in found.note
    (mirrored,) = scatters(store, picks, judges, gains, {})
    assert mirrored.points == found.points
    assert scatters(store, pairs, [], {}, {}) == ()
