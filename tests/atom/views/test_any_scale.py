"""A study on other scales than our judges' own: every figure takes its values from the scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis.score_table import answer_scores
from atom.records import Checkpoint
from atom.views.failures.page import failures
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from atom.views.lab.reliability.measure import reliability
from atom.views.overview.page import overview
from atom.views.overview.sums import marks_aside
from atom.views.people.scale import people_scale
from atom.views.people.score_labels import no_labels
from atom.views.snapshot import open_study, read_snapshot, snapshot_folder
from atom.views.study_data import load_study
from tests.held import same_columns
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


@pytest.mark.slow
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


MIXED = [{"weight": 1.5}, {"weight": 2}, {"weight": 1}, {"weight": 1, "polarity": "penalty"}]
MARKS = {
    ("s", "a"): ["yes", 7.5, "good", "no"],
    ("s", "b"): ["no", 2, "n/a?", "yes"],
    ("t", "a"): ["n/a", 10, "fair", "no"],
    ("t", "b"): ["yes", 0, "poor", "no"],
}
ALL = (YES_NO, TEN, WORDS, YES_NO)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    store, study = rated(tmp_path_factory.mktemp("mixed"), MIXED, MARKS, ALL)
    with store:
        yield store, load_study(store, study.id, RUBRIC)


def test_a_sample_shows_marks_as_they_were_written(mixed):
    store, data = mixed
    seen = sample_view(store, data, Filters(sample="s"))
    by_model = {
        model: [item.marks[at].label for item in seen.criteria]
        for at, model in enumerate(("a", "b"))
    }
    assert by_model == {"a": ["yes", "7.5", "good", "no"], "b": ["no", "2", "∅", "yes"]}
    assert [item.weight_words for item in seen.criteria] == ["1.5", "2", "1", "−1"]
    # A penalty that is met is coloured as the worst, one that isn't as the best.
    assert [mark.near for mark in seen.criteria[3].marks] == [5, 1]
    # a: (1.5 + 2 x .75 + 1 - 0) / 4.5; b: (0 + 2 x .2 - 1) / 3.5 is below nothing.
    assert [answer.score_words for answer in seen.answers] == ["88.9 of 100", "0 of 100"]
    other = sample_view(store, data, Filters(sample="t"))
    assert other.criteria[0].marks[0].label == "n/a"


def test_what_a_screen_and_a_sample_say_of_an_answer_is_one_number(mixed):
    store, data = mixed
    value = dict(zip(data.table.response_ids, answer_scores(data.table).value, strict=True))
    for name in ("s", "t"):
        for answer in sample_view(store, data, Filters(sample=name)).answers:
            assert (answer.score - 1) / 4 == pytest.approx(value[answer.response.id])


def test_failed_marks_are_those_of_their_scales(mixed):
    store, data = mixed
    found = failures(store, data, Filters())
    # s: b's no, 2 of 10 (.2) and the penalty; t: b's 0 of 10 and poor.
    assert {row.sample_id: row.failed for row in found.rows} == {"s": 3, "t": 2}


def test_marks_that_do_not_apply_are_counted_beside_the_unscored(mixed):
    _, data = mixed
    rows = {row.name: row for row in overview(data, Filters()).ranking}
    assert {name: (row.n_unscored, row.n_aside) for name, row in rows.items()} == {
        "a": (0, 1),
        "b": (1, 0),
    }
    # The mark that doesn't apply hangs under Seeing.
    assert marks_aside(data, Filters(root="Seeing")).tolist() == [1, 0]
    assert marks_aside(data, Filters(root="Telling")).tolist() == [0, 0]


def test_what_needs_marks_of_1_to_5_says_so(mixed):
    store, data = mixed
    view = people_scale(data, no_labels(), Filters())
    assert view.refused.startswith("not for this scale")
    assert view.leaves == ()
    assert reliability(store, data, Filters()).retest == ()


def test_repeats_of_levels_are_held_against_each_other(tmp_path):
    # yes yes, yes no, no no: the judge says the same again in two of three.
    store, study = rated(tmp_path, [{"weight": 1}], {(s, "a"): ["yes"] for s in "stu"})
    with store:
        again = {"s": ("yes", 1.0), "t": ("no", 0.0), "u": ("yes", 1.0)}
        store.put(
            point.model_copy(
                update={"key": f"again-{point.key}", "repeat": 1, "raw": raw, "value": value}
            )
            for point in store.select(Checkpoint)
            for raw, value in [again[point.response_id[0]]]
        )
        data = load_study(store, study.id, RUBRIC)
        (row, *_) = reliability(store, data, Filters()).retest
    assert data.table.value.tolist() == [1.0, 0.5, 1.0]
    assert (row.found.n, row.found.exact) == (3, pytest.approx(2 / 3))
    assert data.table.levels == (0.0, 1.0)


def test_a_study_that_is_a_small_part_of_its_store_is_read_alike(mixed, monkeypatch):
    store, data = mixed
    monkeypatch.setattr("atom.store.reading.columns.rows._SCAN_SHARE", 2.0)
    assert same_columns(load_study(store, data.study.id, RUBRIC), data)
