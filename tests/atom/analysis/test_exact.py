import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.exact import signs, simple, snapped, weighted_means

FRACTIONS = st.fractions(0, 1, max_denominator=200)


def test_equal_fractions_are_equal_however_they_were_added():
    there, back = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert there != back
    assert len(set(snapped(np.array([there, back, 0.6])))) == 1
    # Closer than a tolerance of 1e-3 would tell, and not equal.
    close = snapped(np.array([1 / 1000, 1 / 1001]))
    assert close[0] != close[1]
    assert math.isnan(snapped(np.array([math.nan, 0.5]))[0])
    assert simple(math.pi / 4) == Fraction(math.pi / 4)


@pytest.mark.slow
@given(st.lists(FRACTIONS, min_size=1, max_size=20))
def test_floats_of_simple_fractions_come_back(values):
    assert [simple(float(value)) for value in values] == values
    assert snapped(np.array([float(value) for value in values])).tolist() == [
        float(value) for value in values
    ]


def test_weighted_means_are_exact_fractions():
    # (1 x 1/3 + 2 x 2/3) / 3 = 5/9; the second group the other way round: the same weight, 4/9.
    found = weighted_means(
        np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 2.0, 1.0]),
        np.array([1 / 3, 2 / 3, 1 / 3, 2 / 3]), 3,
    )  # fmt: skip
    assert found == [Fraction(5, 9), Fraction(4, 9), None]


@pytest.mark.slow
@given(st.lists(st.tuples(FRACTIONS, st.integers(1, 10)), min_size=2, max_size=8), st.randoms())
def test_a_mean_does_not_depend_on_the_order(rows, random):
    turned = list(rows)
    random.shuffle(turned)
    values = np.array([[float(v) for v, _ in rows], [float(v) for v, _ in turned]])
    weights = np.array([[w for _, w in rows], [w for _, w in turned]], dtype=float)
    group = np.repeat([0, 1], len(rows))
    one, other = weighted_means(group, weights.reshape(-1), values.reshape(-1), 2)
    assert one == other


def test_two_sides_tie_only_where_their_means_are_the_same_fraction():
    # Group 0: (1 x .1 + 2 x .4) / 3 = .3 on both sides, though the floats differ in the last bit.
    # Group 1: 999/1000 against 998/999, 1e-6 apart; group 2: 1/9999 against 1/10000, 1e-8 apart.
    group, weight = np.array([0, 0, 1, 2]), np.array([1.0, 2.0, 1.0, 7.0])
    first = np.array([0.1, 0.4, 999 / 1000, 1 / 10_000])
    second = np.array([0.1 + 0.2, 0.3, 998 / 999, 1 / 9999])
    assert (weight * (first - second))[:2].sum() != 0
    assert signs(group, weight, first, second, 4).tolist() == [0, 1, -1, 0]


@pytest.mark.slow
@given(
    st.lists(st.tuples(FRACTIONS, FRACTIONS, st.integers(1, 9)), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_who_is_ahead_does_not_depend_on_the_order(rows, random):
    def sign(order):
        first, second, weight = (np.array([float(row[at]) for row in order]) for at in range(3))
        return signs(np.zeros(len(order), dtype=int), weight, first, second, 1).tolist()[0]

    shuffled = list(rows)
    random.shuffle(shuffled)
    total = sum(weight * (first - second) for first, second, weight in rows)
    assert sign(rows) == sign(shuffled) == (total > 0) - (total < 0)
