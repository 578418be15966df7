import math

from atom.display.estimate import Estimate
from atom.ui import score_marks

ESTIMATE = Estimate(value=50, lo=40, hi=60, n=10, samples=5)
NOTHING = Estimate(value=math.nan, lo=math.nan, hi=math.nan, n=0, samples=0)


def test_a_bar_says_its_numbers():
    assert 'aria-label="50.0, interval 40.0 to 60.0"' in score_marks.interval_bar(ESTIMATE)
    assert 'aria-label="no value"' in score_marks.interval_bar(NOTHING)
    assert score_marks.meter(NOTHING) == ""


def test_a_score_without_a_value_is_a_glyph():
    assert ">∅<" in score_marks.score_chip(None)
    assert "s2" in score_marks.score_chip(2)
