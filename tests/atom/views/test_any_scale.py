"""A study on other scales than our judges' own: every figure takes its values from the scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis import answer_scores
from atom.views.snapshot import open_study, read_snapshot, same_columns, snapshot_folder
from atom.views.study_data import load_study
from tests.rated import LEAVES, RUBRIC, TEN, WORDS, YES_NO, rated


def scores(folder, uses, marks, scales=(YES_NO,)):
    store, study = rated(folder, uses, marks, scales)
    with store:
        data = load_study(store, study.id, RUBRIC)
    found = answer_scores(data.table)
    return dict(zip(data.table.response_ids, found.value.tolist(), strict=True)), data


def test_weights_are_any_numbers_and_the_mean_is_of_values(tmp_path):
    found, data = scores(
        tmp_path,
        [{"weight": 0.5}, {"weight": 1.5}, {"weight": 2}],
        {("s", "a"): ["yes", 5, "good"], ("s", "b"): ["no", 10, "fair"]},
        (YES_NO, TEN, WORDS),
    )
    # a: (.5 x 1 + 1.5 x .5 + 2 x 1) / 4 = 3.25/4; b: (0 + 1.5 + 2 x .5) / 4 = 2.5/4
    assert found == {"s/a": pytest.approx(0.8125), "s/b": pytest.approx(0.625)}
    table = data.table
    # Shares of 10: 1.25, 3.75 and 5.
    assert table.weight[:3].tolist() == [1.25, 3.75, 5.0]
    assert (table.ours, table.ordinal, table.levels) == (False, True, ())
    assert [table.scales[at].name for at in table.scale[:3]] == ["yes or no", "0 to 10", "words"]
    # fair is the middle: no fail; no is one.
    assert table.fails.tolist() == [False, False, False, True, False, False]
    assert data.pending == 0


def test_what_does_not_apply_is_in_no_mean_and_counted(tmp_path):
    found, data = scores(
        tmp_path,
        [{"weight": 1}, {"weight": 2}, {"weight": 3}],
        {("s", "a"): ["yes", "n/a", "no"], ("s", "b"): ["yes", "what?", None]},
    )
    # a: 1 / (1 + 3); b: what can't be read and what isn't there count nowhere.
    assert found == {"s/a": pytest.approx(0.25), "s/b": 1.0}
    table = data.table
    assert table.aside.tolist() == [[0], [1], [1]]
    assert table.criterion_ids[table.aside[1, 0]] == "s-1"
    assert table.leaves == tuple(LEAVES)
    assert (len(table.score), int((table.score <= 0).sum()), data.pending) == (4, 1, 1)


def test_penalties_take_points_off_and_never_below_nothing(tmp_path):
    uses = [{"weight": 5}, {"weight": 3}, {"weight": 4, "polarity": "penalty"}]
    found, data = scores(
        tmp_path,
        uses,
        {("s", "a"): ["yes", "yes", "yes"], ("s", "b"): ["yes", "no", "no"],
         ("s", "c"): ["no", "yes", "yes"]},
    )  # fmt: skip
    # HealthBench: a (5 + 3 - 4)/8; b 5/8; c (3 - 4)/8 -> 0.
    assert found == {"s/a": pytest.approx(0.5), "s/b": pytest.approx(0.625), "s/c": 0.0}
    table = data.table
    assert table.penalty.tolist() == [False, False, True]
    # A penalty that is met is what fails; the one that isn't is worth all.
    rows = table.criterion == 2
    assert table.fails[rows].tolist() == [True, False, True]
    assert table.value[rows].tolist() == [0.0, 1.0, 0.0]


def test_gates_and_parents_come_along(tmp_path):
    uses = [{"weight": 1, "gate": "zero"}, {"weight": 1, "gate": "cap", "gate_cap": 0.4},
            {"weight": 1, "parents": [0, 1]}]  # fmt: skip
    _, data = scores(tmp_path, uses, {("s", "a"): ["yes", "yes", "no"]})
    assert data.table.gate.tolist() == pytest.approx([0, 0.4, 1])
    assert data.table.parents.tolist() == [[2, 2], [0, 1]]


def test_a_snapshot_keeps_all_of_it(tmp_path):
    store, study = rated(
        tmp_path / "store",
        [{"weight": 0.3, "gate": "zero"}, {"weight": 2, "polarity": "penalty", "parents": [0]}],
        {("s", "a"): ["yes", "n/a"], ("t", "a"): ["no", 3]},
        (YES_NO, TEN),
    )
    with store:
        open_study(store, study.id, folder=tmp_path / "kept")
        kept = read_snapshot(next((tmp_path / "kept").glob("*.arrow")))
        assert same_columns(kept, load_study(store, study.id, RUBRIC))
        assert snapshot_folder(store)


def test_values_that_no_binary_fraction_holds_come_back_exactly(tmp_path):
    third = TEN.of_numbers(0, 3)
    _, data = scores(tmp_path, [{"weight": 1}], {("s", "a"): [1], ("t", "a"): [2]}, (third,))
    assert data.table.value.tolist() == pytest.approx([1 / 3, 2 / 3], abs=1e-15)
    assert data.table.fails.tolist() == [False, False]


@settings(max_examples=6, deadline=None)
@given(
    weights=st.lists(st.floats(0.01, 50), min_size=2, max_size=4),
    factor=st.floats(0.01, 100),
    data=st.data(),
)
def test_weights_times_a_constant_and_what_does_not_apply_change_nothing(
    tmp_path_factory, weights, factor, data
):
    raws = [data.draw(st.sampled_from(["yes", "no", "n/a"])) for _ in weights]
    folder = tmp_path_factory.mktemp("law")
    uses = [{"weight": weight} for weight in weights]
    there = [at for at, raw in enumerate(raws) if raw != "n/a"]
    one, _ = scores(folder / "1", uses, {("s", "a"): raws})
    scaled = [{"weight": weight * factor} for weight in weights]
    other, _ = scores(folder / "2", scaled, {("s", "a"): raws})
    if not there:
        assert np.isnan([one["s/a"], other["s/a"]]).all()
        return
    without, _ = scores(
        folder / "3", [uses[at] for at in there], {("s", "a"): [raws[at] for at in there]}
    )
    assert one["s/a"] == pytest.approx(other["s/a"], abs=1e-12)
    assert one["s/a"] == pytest.approx(without["s/a"], abs=1e-12)
