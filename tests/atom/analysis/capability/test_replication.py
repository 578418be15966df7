import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.analysis.capability.replication import replication_probability, samples_to_settle
from atom.analysis.shrinkage import ShrunkEstimates, shrink_to_zero


def pooled(value, variance, spread=1.0):
    parts = [np.atleast_1d(np.asarray(part, dtype=float)) for part in (value, variance, spread)]
    return ShrunkEstimates(
        value=parts[0], variance=parts[1], spread=np.broadcast_to(parts[2], parts[0].shape)
    )


def test_the_probability_by_hand():
    # m = 2, v = .5, e = 1: (2 - 1.6449) / sqrt(.5 + 1) = .2900; Phi(.2900) = .6141.
    assert replication_probability(pooled(-2, 0.5), np.array([1.0]))[0] == pytest.approx(
        0.6141, abs=1e-4
    )


def test_one_half_is_where_the_pooled_departure_is_1_645_errors():
    found = replication_probability(pooled([1.6449, -1.6449, 1.7, 1.5], [0.5] * 4), np.ones(4))
    assert found[:2] == pytest.approx([0.5, 0.5], abs=1e-4)
    assert found[2] > 0.5 > found[3]


def test_without_spread_between_nodes_nothing_is_likely_to_hold_again():
    effect, variance = np.array([0.1, -0.1, 0.05]), np.ones(3)
    shrunk = shrink_to_zero(effect, variance, np.zeros(3, dtype=np.int64))
    assert (replication_probability(shrunk, np.ones(3)) < 0.5).all()
    assert np.isinf(samples_to_settle(effect, shrunk, np.ones(3), np.full(3, 20.0))).all()


def test_what_is_unknown_stays_unknown():
    shrunk = shrink_to_zero(
        np.array([np.nan, 3.0]), np.array([1.0, np.nan]), np.zeros(2, dtype=np.int64)
    )
    se = np.array([1.0, np.nan])
    assert np.isnan(replication_probability(shrunk, se)).all()
    assert np.isnan(samples_to_settle(np.array([np.nan, 3.0]), shrunk, se, np.full(2, 9.0))).all()


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0, 3.0])
def test_it_is_the_share_of_claims_that_hold_again(ratio):
    """Planted departures, two studies of each: forecast and outcome agree."""
    rng = np.random.default_rng(5)
    truth = rng.normal(0, ratio, 100_000)
    first, second = (truth + rng.normal(0, 1, truth.size) for _ in range(2))
    shrunk = shrink_to_zero(first, np.ones(truth.size), np.zeros(truth.size, dtype=np.int64))
    told = replication_probability(shrunk, np.ones(truth.size))
    claimed = told >= 0.5
    again = (np.sign(first) * second > 1.6449)[claimed]
    # Monte Carlo: three standard errors of a share of claims.
    slack = 3 * np.sqrt(0.25 / claimed.sum())
    assert again.mean() == pytest.approx(told[claimed].mean(), abs=slack + 0.005)
    same = (np.sign(first) == np.sign(second))[claimed]
    assert same.mean() >= 0.9


@given(st.floats(0.3, 5), st.floats(0.2, 3), st.floats(0.2, 3), st.integers(5, 500))
def test_the_forecast_is_the_first_number_that_reaches_it(effect, error, spread, samples):
    def shrunk(e):
        b = spread / (spread + e**2)
        return pooled(b * effect, b * e**2, spread)

    given_ = np.array([effect]), shrunk(error), np.array([error]), np.array([float(samples)])
    needed = float(samples_to_settle(*given_)[0])
    if np.isinf(needed):
        return
    assert needed >= samples

    def probability(n):
        e = error * np.sqrt(samples / n)
        return float(replication_probability(shrunk(e), np.array([e]))[0])

    assert probability(needed) >= 0.8 - 1e-9
    if needed > samples:
        assert probability(max(needed - 1, samples)) <= 0.8 + 1e-9
