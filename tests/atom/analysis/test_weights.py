import numpy as np
import pytest

from atom.analysis.score_table import answer_scores
from atom.analysis.weights import weight_sensitivity
from tests.planted import WorldSettings, plant


def test_weights_that_decide_the_ranking(build):
    # Model 0: 5 on weight 9, 1 on weight 1: S = 4.6 -> .9; equal weights 3 -> .5.
    # Model 1: 3 on the first, 5 on the second: 3.2 -> .55; equal 4 -> .75.
    rows = [
        row
        for s in range(6)
        for row in [(0, s, 0, 0, 9, 5), (0, s, 1, 1, 1, 1), (1, s, 0, 0, 9, 3), (1, s, 1, 1, 1, 5)]
    ]
    found = weight_sensitivity(build(rows), np.random.default_rng(0), draws=20)
    assert found.score == pytest.approx([0.9, 0.55])
    assert found.equal_score == pytest.approx([0.5, 0.75])
    assert found.kendall_equal == -1
    assert found.worst.tolist() == [1, 0]
    assert found.equal_worst.tolist() == [1, 0]
    assert found.same_worst.tolist() == [1, 1]
    assert found.same_first > 0.9


def test_scores_are_sample_scores():
    table = plant(
        WorldSettings(samples=40, models=3, unscored=0.1), np.random.default_rng(1)
    ).table()
    scores = answer_scores(table)
    found = weight_sensitivity(table, np.random.default_rng(0), draws=5)
    for model in range(3):
        mine = (table.model == model) & (scores.scored > 0)
        assert found.score[model] == pytest.approx(scores.value[mine].mean())
    assert (found.score_lo <= found.score_hi).all()


def test_no_shaking_changes_nothing():
    table = plant(WorldSettings(samples=60, models=4), np.random.default_rng(2)).table()
    found = weight_sensitivity(table, np.random.default_rng(0), draws=3, spread=0.0)
    assert (found.same_order, found.same_first) == (1, 1)
    assert found.score_lo == pytest.approx(found.score)


def test_small_leaves_are_no_worst_and_nothing_is_sane(build):
    few = build([(0, s, 0, 0, 1, 1) for s in range(4)])
    found = weight_sensitivity(few, np.random.default_rng(0), draws=2)
    assert found.worst.tolist() == [-1, -1]
    assert np.isnan(found.score[1])
    assert np.isnan(found.same_worst).all()
    for table in (build([], samples=0), build([], samples=0, leaves=()), few):
        none = weight_sensitivity(table, np.random.default_rng(0), draws=0)
        assert np.isnan(none.same_first)
