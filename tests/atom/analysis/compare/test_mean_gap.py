import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.compare.mean_gap import apart


def of(values, clusters):
    return np.array(values, dtype=float), np.array(clusters, dtype=np.int64)


def test_sides_without_a_shared_cluster_have_welchs_error():
    # Means 2 and 5; each row its own cluster: sum of squares 2 and 8, so variances
    # (3/2)(2/9) = 1/3 and (3/2)(8/9) = 4/3; se = sqrt(5/3).
    found = apart(*of([1, 2, 3], [0, 1, 2]), *of([3, 5, 7], [3, 4, 5]))
    assert (found.gap, found.first, found.second, found.shared) == (-3, 2, 5, 0)
    assert found.se == pytest.approx(math.sqrt(5 / 3))
    # (1/3 + 4/3)^2 / ((1/9)/2 + (16/9)/2) = (25/9) / (17/18)
    assert found.df == pytest.approx(50 / 17)
    assert math.isnan(found.p)  # under five clusters


def test_equal_samples_on_both_sides_are_paired():
    # Differences 1, 1, 1, 1, 1, 7 by cluster: mean 2, variance 6, se = sqrt(6 / 6) = 1.
    first, second = [1, 2, 3, 4, 5, 12], [0, 1, 2, 3, 4, 5]
    found = apart(*of(first, range(6)), *of(second, range(6)))
    assert found.gap == 2
    assert found.se == pytest.approx(1.0)
    assert found.shared == 6
    assert found.df == 5
    assert 0.05 < found.p < 0.15  # t = 2 with 5 degrees of freedom: .102


def test_one_set_against_itself_has_no_gap_and_no_error():
    rows = of([1, 4, 2, 8, 5, 7], range(6))
    found = apart(*rows, *rows)
    assert (found.gap, found.se, found.p) == (0, pytest.approx(0, abs=1e-7), 1)


def test_an_empty_side_says_nothing():
    found = apart(*of([], []), *of([1, 2], [0, 1]))
    assert math.isnan(found.gap)
    assert math.isnan(found.se)
    assert math.isnan(found.interval()[0])
    assert found.n == (0, 2)


@given(st.data())
def test_swapping_sides_turns_the_sign_alone(data):
    rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=2, max_size=30)
    one, other = (of(*zip(*data.draw(rows), strict=True)) for _ in range(2))
    there, back = apart(*one, *other), apart(*other, *one)
    assert there.gap == pytest.approx(-back.gap)
    assert there.se == pytest.approx(back.se, nan_ok=True)
    assert there.p == pytest.approx(back.p, nan_ok=True)


def test_a_true_null_is_rejected_as_often_as_said():
    # Half of the clusters shared, rows correlated within clusters: 5 % of 800 worlds, give or take.
    rng, hits = np.random.default_rng(7), 0
    for _ in range(800):
        level = rng.normal(size=60)
        a, b = np.repeat(np.arange(40), 3), np.repeat(np.arange(20, 60), 3)
        first, second = level[a] + rng.normal(size=120), level[b] + rng.normal(size=120)
        hits += apart(first, a, second, b).p < 0.05
    assert 0.03 < hits / 800 < 0.075
