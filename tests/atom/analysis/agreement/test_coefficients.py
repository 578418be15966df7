import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from atom.analysis.agreement.coefficients import (
    agreement,
    confusion,
    nominal_kappa,
    weighted_kappa,
)
from atom.analysis.capability.criteria_health import ordinal_alpha

ratings = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=60)


@pytest.mark.slow
@given(ratings)
def test_kappa_and_alpha_equal_the_libraries(pairs):
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    counts = confusion(a, b, 5)
    found = agreement(a, b, np.arange(len(a)))
    if len(set(a) | set(b)) > 1:
        expected = krippendorff.alpha(
            reliability_data=[a, b], level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
        )
        assert found.alpha == pytest.approx(expected, abs=1e-9)
    if len(set(a)) > 1 and len(set(b)) > 1:
        labels = [1, 2, 3, 4, 5]
        assert weighted_kappa(counts) == pytest.approx(
            cohen_kappa_score(a, b, labels=labels, weights="quadratic"), abs=1e-9
        )
        assert nominal_kappa(counts) == pytest.approx(
            cohen_kappa_score(a, b, labels=labels), abs=1e-9
        )


@given(ratings)
def test_agreement_does_not_care_which_rater_comes_first(pairs):
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    there, back = agreement(a, b, np.arange(len(a))), agreement(b, a, np.arange(len(a)))
    assert there.exact == back.exact <= there.adjacent == back.adjacent
    assert there.shift == pytest.approx(-back.shift)
    assert there.alpha == pytest.approx(back.alpha, nan_ok=True)


def test_what_one_of_them_did_not_rate_is_left_out():
    # (3,3), (5,4): one exact of two, both within one; differences 0 and -1: mean -.5,
    # sd sqrt(.5), noise sqrt(.5)/sqrt(2) = .5, detectable 1.96 x sqrt(2) x .5 = 1.386.
    found = agreement(np.array([3, 5, 0, 2]), np.array([3, 4, 1, -1]), np.array([0, 1, 2, 3]))
    assert (found.n, found.exact, found.adjacent) == (2, 0.5, 1.0)
    assert found.shift == pytest.approx(-0.5)
    assert found.noise == pytest.approx(0.5)
    assert found.detectable_change == pytest.approx(1.386, abs=1e-3)
    nothing = agreement(np.zeros(3, int), np.ones(3, int), np.arange(3))
    assert nothing.n == 0
    assert math.isnan(nothing.exact)
    assert math.isnan(nothing.kappa)


@pytest.mark.parametrize("accuracy", [0.9, 0.8, 0.6])
def test_a_planted_confusion_gives_the_agreement_that_follows_from_it(accuracy):
    """Two independent readings of a judge that is right so often and else mostly one off."""
    rng = np.random.default_rng(7)
    share = np.array([0.15, 0.15, 0.2, 0.2, 0.3])
    rows = np.zeros((5, 5))
    for y in range(5):
        near = [v for v in (y - 1, y + 1) if 0 <= v < 5]
        far = [v for v in range(5) if abs(v - y) > 1]
        rows[y, y] = accuracy
        rows[y, near] = (1 - accuracy - 0.02) / len(near)
        rows[y, far] = 0.02 / len(far)
    truth = rng.choice(5, size=6000, p=share)
    ends = rows.cumsum(axis=1)[truth]
    a, b = ((rng.random(6000)[:, None] > ends).sum(axis=1) + 1 for _ in range(2))
    found = agreement(a, b, np.arange(6000), rng=rng, resamples=100)
    together = 1e9 * sum(p * np.outer(row, row) for p, row in zip(share, rows, strict=True))
    assert found.exact == pytest.approx(float((share * (rows**2).sum(axis=1)).sum()), abs=0.02)
    assert found.alpha == pytest.approx(ordinal_alpha(together), abs=0.02)
    assert found.alpha_lo < found.alpha < found.alpha_hi
