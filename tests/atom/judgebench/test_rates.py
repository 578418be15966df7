import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from atom.judgebench.rates import balanced_orders, macro, majority, pooled, rate

codes = st.lists(st.sampled_from([-1, 0, 1]), max_size=40).map(lambda v: np.array(v, dtype=int))


def test_an_unreadable_verdict_is_wrong_or_left_out_never_dropped_silently():
    # 3 right, 2 wrong, 1 unreadable: 3/6 strict, 3/5 valid only.
    found = rate(np.array([1, 1, 1, 0, 0, -1]), chance=0.25)
    assert (found.right, found.n, found.invalid) == (3, 6, 1)
    assert found.strict == pytest.approx(0.5)
    assert found.valid_only == pytest.approx(0.6)
    assert found.invalid_rate == pytest.approx(1 / 6)
    assert (found.lo, found.hi) == pytest.approx(proportion_confint(3, 6, method="wilson"))


@given(codes)
def test_a_rate_is_bounded_and_strict_is_never_above_valid_only(values):
    found = rate(values)
    if not len(values):
        assert math.isnan(found.strict)
        return
    assert 0 <= found.lo <= found.strict + 1e-12
    assert found.strict - 1e-12 <= found.hi <= 1
    if found.invalid < found.n:
        assert found.strict <= found.valid_only + 1e-12


def test_the_macro_mean_counts_each_category_the_same():
    # (0.9 + 0.5) / 2 = 0.7; SE = sqrt(.09/100 + .25/25) / 2 = sqrt(.0109)/2 = .0522.
    found = macro([0.9, 0.5], [100, 25])
    assert found.value == pytest.approx(0.7)
    assert found.se == pytest.approx(math.sqrt(0.0109) / 2)
    assert pooled([0.9, 0.5], [100, 25]) == pytest.approx((90 + 12.5) / 125)
    assert math.isnan(macro([], []).value)
    assert math.isnan(pooled([], []))


def test_a_tie_of_votes_decides_nothing():
    votes = np.array([[1, 1, 0], [1, 0, -1], [-1, -1, -1], [0, -1, -1], [1, -1, -1]])
    assert majority(votes).tolist() == [1, 0, -1, 0, 1]


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**31))
def test_orders_are_balanced_within_every_item(items, votes, seed):
    shown = balanced_orders(items, votes, np.random.default_rng(seed))
    swaps = shown.sum(axis=1)
    assert shown.shape == (items, votes)
    assert set(swaps.tolist()) <= {votes // 2, votes - votes // 2}
