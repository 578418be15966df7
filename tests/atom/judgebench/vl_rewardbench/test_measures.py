import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom

from atom.judgebench.vl_rewardbench.measures import (
    accuracy,
    best_of_n_correlation,
    closed_form,
    coin_chance,
    error_types,
    majority_probability,
    pointwise_codes,
    released_accuracy,
    scaling,
)


def test_the_majority_of_five_votes_in_closed_form():
    # METHODS A13: p = .6, K = 5: .6^5 + 5 x .6^4 x .4 + 10 x .6^3 x .4^2 = .68256.
    assert float(majority_probability(0.6, 5)) == pytest.approx(0.68256)
    with pytest.raises(ValueError, match="odd"):
        majority_probability(0.6, 4)


@given(st.floats(0, 1), st.sampled_from([1, 3, 5, 7, 9]))
def test_more_votes_help_above_a_half_and_hurt_below(p, votes):
    now, more = float(majority_probability(p, votes)), float(majority_probability(p, votes + 2))
    assert 0 <= now <= 1
    assert (more >= now - 1e-12) if p >= 0.5 else (more <= now + 1e-12)


def test_overall_pools_items_and_macro_averages_categories():
    # general: 1 of 1; reasoning: 1 of 3 (one unreadable). Overall 2/4, macro (1 + 1/3)/2 = 2/3.
    votes = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [-1, -1, -1]])
    found = accuracy(votes, ["general", "reasoning", "reasoning", "reasoning"])
    assert found.categories == ("general", "reasoning")
    assert found.overall.strict == pytest.approx(0.5)
    assert found.overall.valid_only == pytest.approx(2 / 3)
    assert found.macro.value == pytest.approx(2 / 3)
    assert found.overall.chance == 0.5


def test_the_released_rule_drops_what_strict_counting_calls_wrong():
    # Item 1 has an unreadable vote, item 2's votes tie; left: items 0 (right) and 3 (wrong).
    votes = np.array([[1, 1], [1, -1], [1, 0], [0, 0]])
    kinds = ["general"] * 4
    assert released_accuracy(votes, kinds).overall.strict == pytest.approx(1 / 2)
    assert released_accuracy(votes, kinds).overall.n == 2
    assert accuracy(votes, kinds).overall.strict == pytest.approx(2 / 4)


def test_scaling_averages_over_all_ways_to_take_the_votes():
    # One item, 2 of 3 votes right: K = 1 gives 2/3, K = 3 gives 1.
    points = scaling(np.array([[1, 1, 0], [1, 1, 0]]))
    assert [p.votes for p in points] == [1, 3]
    assert [p.measured for p in points] == pytest.approx([2 / 3, 1.0])
    # As if independent: p^3 + 3 p^2 (1-p) at p = 2/3 = 8/27 + 12/27 = 20/27.
    assert points[1].independent == pytest.approx(20 / 27)


def test_scaling_of_drawn_votes_follows_the_closed_form():
    rng = np.random.default_rng(5)
    p = rng.beta(3, 5, size=4000)
    votes = (rng.random((4000, 9)) < p[:, None]).astype(int)
    truth = [float(binom.sf(k // 2, k, p).mean()) for k in (1, 3, 5, 7, 9)]
    assert [point.measured for point in scaling(votes)] == pytest.approx(truth, abs=0.01)
    assert truth == sorted(truth, reverse=True)


def test_error_types_may_overlap():
    # Type b: items 1 and 2, wrong and unreadable: 2 of 2 err; type a: items 0 and 1: 1 of 2.
    found = error_types(np.array([1, 0, -1, 0]), [["a"], ["a", "b"], ["b"], []])
    assert [(one.name, one.rate.right, one.rate.n) for one in found] == [("b", 2, 2), ("a", 1, 2)]
    assert all(one.adjusted >= one.p for one in found)
    assert error_types(np.array([1, 0]), [[], []]) == ()


def test_equal_scores_decide_nothing():
    nan = math.nan
    got = pointwise_codes(np.array([3.0, 2.0, 4.0, nan]), np.array([1.0, 2.0, 5.0, 1.0]))
    assert got.tolist() == [1, 0, 0, -1]


def test_the_interval_of_a_correlation_over_few_judges_is_wide():
    found = best_of_n_correlation(np.array([0.4, 0.5, 0.6, 0.7]), np.array([0.1, 0.3, 0.2, 0.4]))
    assert found.n == 4
    assert found.pearson == pytest.approx(0.8)
    assert found.lo < 0 < found.hi
    assert math.isnan(best_of_n_correlation(np.array([1.0, 1.0]), np.array([1.0, 2.0])).pearson)


def test_an_even_number_of_coin_flips_may_tie():
    # K = 4: P(3 or 4 of 4) = (4 + 1)/16 = .3125; K = 3 on one item, 4 on the other: mean .40625.
    assert coin_chance(np.array([[1, 1, 0, -2], [1, 0, 0, -1]])).tolist() == [0.5, 0.3125]
    found = accuracy(np.array([[1, 1, 0, -2], [1, 0, 0, -1]]), ["general"] * 2)
    assert found.overall.chance == pytest.approx(0.40625)
    # A vote that isn't there is no unreadable one: the first item stays under the released rule.
    assert released_accuracy(np.array([[1, 1, 0, -2]]), ["general"]).overall.n == 1


def test_scaling_of_the_macro_average_weighs_categories_alike():
    # a: 1 of 3 right twice; b: 3 of 3. K = 1: (1/3 + 1)/2; K = 3: (0 + 1)/2. Pooled: K = 3: 1/3.
    votes = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    macro = scaling(votes, (1, 3), ["a", "a", "b"])
    assert [point.measured for point in macro] == pytest.approx([2 / 3, 1 / 2])
    assert scaling(votes, (3,))[0].measured == pytest.approx(1 / 3)


@pytest.mark.parametrize(("a", "b", "expected"), [(2, 1.2, 0.664), (1.2, 2, 0.335)])
def test_the_closed_form_finds_a_beta_mixture_from_five_votes(a, b, expected):
    # METHODS A13: Beta mixtures of mean .625 and .375 give .664 and .335 at K = 5.
    truth = float(betabinom.sf(2, 5, a, b))
    assert truth == pytest.approx(expected, abs=1e-3)
    rng = np.random.default_rng(8)
    votes = (rng.random((20_000, 5)) < rng.beta(a, b, size=20_000)[:, None]).astype(int)
    assert closed_form(votes, 5) == pytest.approx(truth, abs=0.008)
    assert closed_form(votes, 9) == pytest.approx(float(betabinom.sf(4, 9, a, b)), abs=0.008)


def test_the_closed_form_at_its_ends():
    assert closed_form(np.ones((3, 5), int), 9) == 1.0
    assert closed_form(np.array([[1, 1], [0, 0]]), 5) == 0.5  # pairs are all right or all wrong
    # r = 1 of 2 everywhere: no spread, p = 1/2.
    assert closed_form(np.array([[1, 0], [0, 1]]), 5) == pytest.approx(0.5)
    assert math.isnan(closed_form(np.ones((3, 1), int), 5))
    assert math.isnan(closed_form(np.zeros((0, 5), int), 5))
