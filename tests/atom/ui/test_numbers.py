import math

import pytest

from atom.ui import numbers
from atom.views.overview.page import Estimate

NAN = math.nan


def test_a_score_has_one_decimal():
    assert numbers.score(62.06) == "62.1"
    assert numbers.score(NAN) == "–"


def test_a_percent_gets_a_decimal_from_200_cases_on():
    assert numbers.percent(12.34, 199) == "12 %"
    assert numbers.percent(12.34, 200) == "12.3 %"
    assert numbers.percent(NAN, 5) == "–"


def test_an_interval():
    estimate = Estimate(value=62.1, lo=58.4, hi=65.7, n=10, samples=5)
    assert numbers.interval(estimate) == "62.1 (58.4–65.7)"
    assert numbers.interval(Estimate(value=NAN, lo=NAN, hi=NAN, n=0, samples=0)) == "–"


def test_counts():
    assert numbers.count(1, "sample") == "1 sample"
    assert numbers.count(1200, "sample") == "1,200 samples"
    assert numbers.count(2, "reply", "replies") == "2 replies"


@pytest.mark.parametrize("size", [5, 9, 34])
def test_long_names_are_cut_in_the_middle(size):
    text = "Combining several values from one chart"
    cut = numbers.middle(text, size)
    assert len(cut) <= size
    assert cut[0] == text[0]
    assert cut[-1] == text[-1]
    assert numbers.middle("short", size) == "short"


def test_ranks():
    assert numbers.rank(1, 1) == "1"
    assert numbers.rank(1, 3) == "1–3"


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["model-a", "model-b"], ["a", "b"]),
        (["qwen-7b", "qwen-72b"], ["7b", "72b"]),
        (["Candidate A", "Candidate B"], ["A", "B"]),
        (["same", "same"], ["same", "same"]),
        (["alone"], ["alone"]),
        ([], []),
    ],
)
def test_short_names_keep_what_tells_them_apart(names, short):
    assert numbers.short_names(names) == short
