"""What may be said at an early look."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from atom.analysis.looks.spending import crossing, early_p, early_quantile

WHOLE = np.ones(1)


def test_the_only_look_at_everything_costs_nothing():
    # Phi(-1.96) = .025; half of a 95 % interval is 1.96 standard errors.
    assert crossing(np.array([1.959964]), [WHOLE]) == pytest.approx(0.025, abs=1e-7)
    assert early_p(np.array([0.025, np.nan]), [np.ones(2)]) == pytest.approx(
        [0.025, np.nan], nan_ok=True
    )
    assert early_quantile([WHOLE]) == pytest.approx(1.959964, abs=1e-5)


def test_looking_again_at_the_same_costs_nothing():
    once = crossing(np.array([2.0]), [WHOLE])
    assert crossing(np.array([2.0]), [WHOLE, WHOLE, WHOLE]) == pytest.approx(once)


def test_an_early_look_has_to_be_far_out():
    # A quarter of the information: B = z / 2, so z = 3 is c = 1.5, and
    # min(Phi(-1.5 / .5) = .00135, 2 Phi(-1.5) = .134) = .00135, but no less than p itself.
    quarter = np.array([0.25])
    assert early_p(ndtr(np.array([-3.0])), [quarter]) == pytest.approx(0.00135, abs=1e-5)
    # After it, at everything, 2.0 has both looks to pay for: Phi(-4) + about Phi(-2).
    both = early_p(ndtr(np.array([-2.0])), [quarter, WHOLE])
    assert 0.02275 < both[0] < 0.02275 + 0.00004


def test_walks_cross_no_more_often_than_bounded():
    rng = np.random.default_rng(1)
    shares = np.array([0.2, 0.4, 0.6, 0.8, 1.0])
    steps = rng.normal(size=(40_000, 5)) * np.sqrt(np.diff(shares, prepend=0))
    crossed = (np.cumsum(steps, axis=1) >= 1.8).any(axis=1).mean()
    bound = float(crossing(np.array(1.8), [np.array(t) for t in shares]))
    # Monte Carlo error of .0011 at .055; the bound is tight to a tenth.
    assert crossed - 0.004 <= bound <= 1.12 * crossed


@given(st.floats(0.05, 1), st.floats(0.05, 1), st.floats(0.001, 0.999))
def test_earlier_looks_never_make_a_claim_easier(first, second, p):
    now = np.array([max(first, second)])
    found = early_p(np.array([p]), [np.array([min(first, second)]), now])[0]
    assert p <= found <= 1
    assert early_quantile([now])[0] >= 1.9599
