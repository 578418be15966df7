import math

from atom.analysis.capability.quadrant import quadrant_of


def test_the_shares_of_the_four_fields():
    found = quadrant_of(sound=3, lucky=1, slip=1, broken=2)
    assert found.lucky_share == 1 / 4
    assert found.slip_share == 1 / 4
    assert found.n == 7
    assert found.lucky_lo < 0.25 < found.lucky_hi


def test_shares_of_nothing_are_undefined():
    nothing = quadrant_of(sound=0, lucky=0, slip=0, broken=0)
    assert math.isnan(nothing.lucky_share)
    assert math.isnan(nothing.slip_share)


def test_terse_answers_are_counted_beside_the_fields():
    found = quadrant_of(sound=1, lucky=0, slip=0, broken=1, terse=2)
    assert (found.terse, found.n) == (2, 2)
    assert found.lucky_share == 0
