import math

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit
from scipy.stats import norm, t

from atom.analysis.compare.paired import mcnemar
from atom.analysis.intervals import PRIOR_DF
from atom.analysis.power import needed_pairs, needed_samples


def test_the_forecast_is_the_formula():
    # d = -.2, se = .05, N0 = 120, margin .025, a = .01: t_{129}(.99) and z(.8).
    factor = 0.05 * (t.ppf(0.99, 129) + norm.ppf(0.8)) / 0.175
    found = needed_samples(np.array([-0.2]), np.array([0.05]), np.array([120]), alpha=0.01)
    assert found[0] == 120  # 0.2 / .05 is enough already.
    found = needed_samples(
        np.array([-0.1]), np.array([0.05]), np.array([120]), alpha=0.01, margin=0.025
    )
    factor = 0.05 * (t.ppf(0.99, 129) + norm.ppf(0.8)) / 0.075
    assert found[0] == math.ceil(120 * factor**2)


def test_small_studies_get_a_surcharge():
    args = {"alpha": 0.05, "margin": 0.0}
    small = needed_samples(np.array([-0.1]), np.array([0.1]), np.array([99]), **args)
    plain = 99 * (0.1 * (t.ppf(0.95, 108) + norm.ppf(0.8)) / 0.1) ** 2
    assert small[0] == math.ceil(plain * 1.15)


def test_within_the_margin_no_number_is_enough_and_unknown_stays_unknown():
    found = needed_samples(
        np.array([-0.02, np.nan, -0.2]),
        np.array([0.05, 0.05, np.nan]),
        np.array([9, 9, 9]),
        alpha=0.1,
        margin=0.025,
    )
    assert found[0] == np.inf
    assert np.isnan(found[1:]).all()


def detection_power(effect, se, samples, alpha):
    """Chance that a departure of this size is confirmed; the t of METHODS B10, moderated."""
    df = max(samples - 1, 0) + PRIOR_DF
    return stdtr(df, abs(effect) / se + stdtrit(df, alpha))


def test_the_forecast_reaches_its_power():
    need = needed_samples(np.array([-0.1]), np.array([0.05]), np.array([150]), alpha=0.01)[0]
    se = 0.05 * math.sqrt(150 / need)
    assert detection_power(-0.1, se, int(need), alpha=0.01) == pytest.approx(0.8, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("gap", "discordance"), [(0.1, 0.3), (0.2, 0.5)])
def test_pairs_needed_reach_their_power(gap, discordance):
    """METHODS B10: .79-.81 for a nominal .80."""
    rng = np.random.default_rng(0)
    n = int(needed_pairs(gap, discordance))
    first, second = (discordance + gap) / 2, (discordance - gap) / 2
    drawn = rng.multinomial(n, [first, second, 1 - discordance], size=800)
    power = np.mean([mcnemar(int(b), int(c)).mid_p <= 0.05 for b, c, _ in drawn])
    assert power == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 800))


def test_impossible_and_empty_gaps():
    assert needed_pairs(0.0, 0.3) == math.inf
    with pytest.raises(ValueError, match=r"discordance is 0.1 for a gap of 0.2"):
        needed_pairs(0.2, 0.1)
