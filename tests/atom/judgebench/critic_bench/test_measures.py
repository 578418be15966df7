import math

import numpy as np
import pytest

from atom.judgebench.critic_bench.measures import (
    OBJECTIVE_CHANCE,
    comparison,
    correction,
    feedback_correlation,
    objective_overall,
    subjective_overall,
)


@pytest.mark.parametrize(
    ("forward", "backward", "strict", "released"),
    [(0, 1, 1, 1), (0, 0, 0, 0), (0, 2, 0, 1), (1, 0, 0, 0), (0, -1, 0, 0), (-1, 1, 0, 0)],
)
def test_the_swap_toys_of_the_methods(forward, backward, strict, released):
    # The truth is answer 0: position 0 forward, position 1 backward.
    f, b, y = np.array([forward]), np.array([backward]), np.array([0])
    assert comparison(f, b, y).strict == strict
    assert comparison(f, b, y, "released").strict == released


def test_chance_of_a_comparison_is_a_quarter_for_a_coin_and_nothing_for_a_locked_judge():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 8000)
    coin = comparison(rng.integers(0, 2, 8000), rng.integers(0, 2, 8000), truth)
    assert coin.strict == pytest.approx(coin.chance, abs=0.015)
    locked = np.zeros(8000, dtype=int)
    assert comparison(locked, locked, truth).strict == 0


def test_unreadable_scores_pull_the_released_correlation_about():
    predicted = np.array([1.0, 2.0, 3.0, 4.0, math.nan])
    human = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    strict = feedback_correlation(predicted, human)
    assert (strict.value, strict.n, strict.invalid) == (pytest.approx(100.0), 4, 1)
    # Ranks 2 3 4 5 1 against 1 2 3 4 5: 1 - 6 (1+1+1+1+16) / (5 x 24) = 0.
    assert feedback_correlation(predicted, human, "released").value == pytest.approx(0.0)
    assert math.isnan(feedback_correlation(np.full(4, 3.0), human[:4]).value)


def test_the_interval_of_rho_covers_a_planted_correlation():
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(300):
        x = rng.normal(size=120)
        y = 0.6 * x + 0.8 * rng.normal(size=120)
        found = feedback_correlation(x, y)
        # Spearman of a bivariate normal: 6/pi asin(r/2).
        truth = 100 * 6 / math.pi * math.asin(0.3)
        hits += found.lo <= truth <= found.hi
    assert hits / 300 == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 300))


def test_overall_scores():
    # METHODS A18: ((63.54+100)/2 + 69.67 + 57.33 + (62.90+100)/2)/4 = 72.555.
    assert objective_overall(63.54, 69.67, 57.33, 62.90) == pytest.approx(72.555)
    assert objective_overall(0, 25, 0, 0) == pytest.approx(OBJECTIVE_CHANCE)
    assert subjective_overall(8.0, 7.0, 6.0) == pytest.approx(7.0)


def test_a_correction_that_cannot_be_read_has_not_passed():
    found = correction(np.array([1, 1, 0, -1]))
    assert (found.strict, found.valid_only) == (0.5, pytest.approx(2 / 3))
