import math

import numpy as np
import pytest

from atom.analysis.capability.quadrant import quadrant
from atom.analysis.guessing import lucky_by_guessing, phi_coefficient


def test_guessing_of_the_hand_worked_case():
    # pi = .6, g = .25: .4*.25 = .1 lucky; right .6 + .1 = .7; 1/7.
    assert lucky_by_guessing(0.6, 0.25) == pytest.approx(1 / 7, abs=1e-12)
    assert lucky_by_guessing(0.6, 0.0) == 0
    assert lucky_by_guessing(0.0, 0.25) == 1
    assert math.isnan(lucky_by_guessing(0.0, 0.0))


def test_phi_is_the_correlation():
    rng = np.random.default_rng(0)
    right, passes = rng.random(80) < 0.6, rng.random(80) < 0.5
    expected = np.corrcoef(right, passes)[0, 1]
    assert phi_coefficient(quadrant(right, passes)) == pytest.approx(expected, abs=1e-12)
    constant = np.ones(5, dtype=bool)
    assert math.isnan(phi_coefficient(quadrant(constant, constant)))
