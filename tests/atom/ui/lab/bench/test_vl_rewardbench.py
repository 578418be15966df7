"""The chart of accuracy by number of votes: what a point says."""

from __future__ import annotations

from math import nan

from atom.ui.lab.bench.vl_rewardbench import chart
from atom.views.lab.vl_rewardbench import Scaling, ScalingPercent


def test_a_point_without_an_interval_says_none():
    points = (
        ScalingPercent(votes=1, measured=62.04, lo=58.4, hi=65.7, foretold=nan),
        ScalingPercent(votes=3, measured=100.0, lo=nan, hi=nan, foretold=nan),
    )
    drawn = str(chart(Scaling(label="accuracy", points=points, chance=50.0, n=40)))
    assert 'data-tip="1 vote: 62.0 % (58.4–65.7)"' in drawn
    assert 'data-tip="3 votes: 100.0 %"' in drawn
