import numpy as np
import pytest

from tests.one_part import rank_sets


def test_clearly_different_models_hold_one_rank_each():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 0.05, (200, 3)) + np.array([0.2, 0.8, 0.5])
    found = rank_sets(scores, np.ones_like(scores))
    assert found.best.tolist() == [3, 1, 2]
    assert found.worst.tolist() == [3, 1, 2]


def test_equal_models_may_hold_any_rank():
    scores = np.tile(np.random.default_rng(1).random((50, 1)), (1, 4))
    found = rank_sets(scores, np.ones_like(scores))
    assert found.best.tolist() == [1] * 4
    assert found.worst.tolist() == [4] * 4


def test_models_that_share_no_samples_are_not_told_apart():
    total = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 9.0], [0.0, 9.0]])
    count = np.array([[9.0, 0.0], [9.0, 0.0], [0.0, 9.0], [0.0, 9.0]])
    found = rank_sets(total, count)
    assert found.best.tolist() == [1, 1]
    assert found.worst.tolist() == [2, 2]


def test_no_samples_or_one_model_is_sane():
    assert rank_sets(np.zeros((0, 2)), np.zeros((0, 2))).worst.tolist() == [2, 2]
    assert rank_sets(np.ones((3, 1)), np.ones((3, 1))).best.tolist() == [1]


@pytest.mark.slow
def test_the_sets_hold_the_true_ranks_together():
    """METHODS B11: simultaneous coverage near .96; .93 with slack at 400 repetitions."""
    rng = np.random.default_rng(7)
    truth = np.array([0.3, 0.45, 0.45, 0.6, 0.75])
    best = np.array([1 + (truth > t).sum() for t in truth])
    worst = np.array([5 - (truth < t).sum() for t in truth])
    hits = 0
    for _ in range(400):
        scores = truth + rng.normal(0, 0.2, (80, 1)) + rng.normal(0, 0.25, (80, 5))
        found = rank_sets(scores, np.ones_like(scores))
        hits += bool((found.best <= worst).all() and (found.worst >= best).all())
    assert hits / 400 >= 0.93
