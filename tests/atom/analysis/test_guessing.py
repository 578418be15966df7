import math

import pytest

from atom.analysis.guessing import lucky_by_guessing


def test_guessing_of_the_hand_worked_case():
    # pi = .6, g = .25: .4*.25 = .1 lucky; right .6 + .1 = .7; 1/7.
    assert lucky_by_guessing(0.6, 0.25) == pytest.approx(1 / 7, abs=1e-12)
    assert lucky_by_guessing(0.6, 0.0) == 0
    assert lucky_by_guessing(0.0, 0.25) == 1
    assert math.isnan(lucky_by_guessing(0.0, 0.0))
