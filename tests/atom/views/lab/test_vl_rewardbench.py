"""The curve of votes, and best of N, as the Judge lab shows them."""

import math

import pytest

from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.ui.lab.bench.vl_rewardbench import chart, sentence
from atom.views.lab.vl_rewardbench import scaling_of


def row(metric, value, lo=math.nan, hi=math.nan):
    return MetricRow(metric=metric, label="x", value=value, lo=lo, hi=hi, chance=50.0, n=40)


def result(*rows):
    return BenchResult(headline=(), tables=(MetricTable(title="t", rows=rows),))


MACRO = (
    row("macro_average_accuracy_k1", 60.0, 55, 65),
    row("macro_average_accuracy_k3", 62.0, 57, 67),
    row("macro_average_accuracy_k3_closed_form", 61.8),
    row("macro_average_accuracy_k9_closed_form", 63.0),
)


def test_the_curve_takes_the_macro_average_and_goes_beyond_the_votes():
    found = scaling_of(result(*MACRO))
    assert found.label == "Macro average"
    assert [point.votes for point in found.points] == [1, 3, 5, 7, 9]
    assert [point.measured for point in found.points[:2]] == [60, 62]
    assert math.isnan(found.points[4].measured)
    assert found.points[4].foretold == 63
    assert found.trend == pytest.approx(2)
    assert scaling_of(result(MACRO[0])) is None
    assert scaling_of(result()) is None


def test_the_chart_says_in_words_what_it_draws():
    found = scaling_of(result(*MACRO))
    drawn = str(chart(found))
    assert "1: 60.0 %; 3: 62.0 %" in drawn
    assert drawn.count("<circle") == 2
    for word in ("measured", "independent", "guessing", "9 votes"):
        assert word in drawn
    assert "gains 2.0 points on 40 pairs; their intervals overlap" in sentence(found, "j")
    assert "nan" not in drawn
