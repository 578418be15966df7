import numpy as np
import pytest

from atom.analysis.layout import tree_layout
from atom.analysis.score_table import answer_scores
from atom.probes.noise import confusion_row
from tests.planted import (
    POPULARITY,
    WorldSettings,
    confusion,
    judge_scores,
    plant,
    planted_leaves,
)


def test_the_tree_of_the_benchmark():
    leaves = planted_leaves()
    assert len(set(leaves)) == len(leaves) == len(POPULARITY) == 24
    assert {len(leaf) for leaf in leaves} == {4}
    roots = [leaf[0] for leaf in leaves]
    assert [roots.count(r) for r in dict.fromkeys(roots)] == [8, 6, 4, 2, 2, 2]


def test_samples_have_three_to_five_criteria_whose_weights_add_up_to_ten():
    drawn = plant(WorldSettings(samples=200), np.random.default_rng(0))
    size = np.bincount(drawn.sample)
    assert set(size) == {3, 4, 5}
    assert (np.bincount(drawn.sample, weights=drawn.weight) == 10).all()
    assert drawn.weight.min() >= 1
    assert (drawn.weak.sum(axis=1) == 3).all()
    assert drawn.true_score.min() >= 1
    assert drawn.true_score.max() <= 5


def test_equal_seeds_give_equal_worlds():
    one, two = (plant(WorldSettings(samples=30), np.random.default_rng(4)) for _ in range(2))
    assert (one.judged == two.judged).all()
    assert (one.right == two.right).all()


@pytest.mark.parametrize("lenient", [0.2, 0.6])
def test_the_judges_errors_are_those_of_the_probe_judge(lenient):
    matrix = confusion(WorldSettings(lenient=lenient))
    assert matrix.sum(axis=1) == pytest.approx(np.ones(5))
    for score in range(1, 6):
        assert matrix[score - 1] == pytest.approx(confusion_row(score, lenient=lenient))


def test_what_the_judge_says_follows_the_matrix():
    """METHODS D4: confusion matrix within .03."""
    matrix = confusion(WorldSettings())
    true = np.repeat(np.arange(1, 6), 4000)
    said = judge_scores(true, matrix, np.random.default_rng(1)).astype(int)
    seen = np.bincount((true - 1) * 5 + said - 1, minlength=25).reshape(5, 5) / 4000
    assert np.abs(seen - matrix).mean() < 0.01


def test_expected_scores_are_means_over_many_worlds():
    settings = WorldSettings(samples=20_000, models=2)
    drawn = plant(settings, np.random.default_rng(2))
    for by_judge in (True, False):
        scores = drawn.judged if by_judge else drawn.true_score
        expected = drawn.expected(by_judge=by_judge)
        for leaf in (0, 10, 23):
            mine = drawn.leaf == leaf
            assert scores[:, mine].mean(axis=1) == pytest.approx(expected[:, leaf], abs=0.12)


def test_the_shape_is_the_papers():
    """METHODS D2: means of 2.8 to 4.3 points; criteria of a sample are related (ICC .19-.25)."""
    settings = WorldSettings(samples=1500, ability_low=-0.6, ability_high=1.4)
    drawn = plant(settings, np.random.default_rng(3))
    means = drawn.true_score.mean(axis=1)
    assert 2.4 < means.min() < 3.1
    assert 3.8 < means.max() < 4.4
    residual = drawn.true_score - drawn.expected(by_judge=False)[:, drawn.leaf]
    size = np.bincount(drawn.sample)
    sums = np.stack([np.bincount(drawn.sample, weights=row) for row in residual])
    squares = np.stack([np.bincount(drawn.sample, weights=row**2) for row in residual])
    between = (sums**2 - squares).sum() / (size * (size - 1)).sum()
    assert 0.15 < between / (squares.sum() / size.sum()) < 0.3


def test_variants_are_what_they_say():
    settings = WorldSettings(
        samples=300, weak=0, missing=0.3, unscored=0.1, per_picture=50, shared_weak=(2,)
    )
    drawn = plant(settings, np.random.default_rng(5))
    table = drawn.table()
    assert not drawn.weak.any()
    assert drawn.answered.mean() == pytest.approx(0.7, abs=0.04)
    assert (table.score == 0).mean() == pytest.approx(0.1, abs=0.02)
    assert len(np.unique(table.cluster)) == 6
    assert np.isnan(table.outcome[~drawn.answered.reshape(-1)]).all()


def test_the_table_holds_what_was_drawn():
    drawn = plant(WorldSettings(samples=25, models=3), np.random.default_rng(6))
    table = drawn.table()
    scores = answer_scores(table)
    expected = np.stack(
        [np.bincount(drawn.sample, weights=row * drawn.weight) for row in drawn.judged]
    )
    assert scores.numerator.reshape(3, 25).tolist() == expected.tolist()
    assert tree_layout(table).n_groups == 24
    assert plant(WorldSettings(samples=5, flat_leaves=7), np.random.default_rng(0)).leaves[6] == (
        "All", "All", "All", "Skill 006"
    )  # fmt: skip
