import math

import numpy as np

from atom.analysis.capability.quadrant import quadrant


def test_the_four_fields_and_shares():
    right = np.array([1, 1, 1, 1, 0, 0, 0], dtype=bool)
    passes = np.array([1, 1, 1, 0, 1, 0, 0], dtype=bool)
    found = quadrant(right, passes)
    assert (found.sound, found.lucky, found.slip, found.broken) == (3, 1, 1, 2)
    assert found.lucky_share == 1 / 4
    assert found.slip_share == 1 / 4
    assert found.n == 7
    assert found.lucky_lo < 0.25 < found.lucky_hi


def test_shares_of_nothing_are_undefined():
    nothing = quadrant(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    assert math.isnan(nothing.lucky_share)
    assert math.isnan(nothing.slip_share)


def test_terse_answers_are_counted_beside_the_fields():
    right = np.array([1, 1, 0, 0], dtype=bool)
    passes = np.array([1, 0, 0, 0], dtype=bool)
    found = quadrant(right, passes, np.array([0, 1, 1, 0], dtype=bool))
    assert (found.sound, found.lucky, found.slip, found.broken) == (1, 0, 0, 1)
    assert (found.terse, found.n) == (2, 2)
    assert found.lucky_share == 0
