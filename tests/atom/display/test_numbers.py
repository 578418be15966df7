import math

import pytest

from atom.display import numbers
from atom.display.estimate import Estimate

NAN = math.nan


def test_a_score_has_one_decimal():
    assert numbers.score(62.06) == "62.1"
    assert numbers.score(NAN) == "–"


def test_a_percent_gets_a_decimal_from_200_cases_on():
    assert numbers.percent(12.34, 199) == "12 %"
    assert numbers.percent(12.34, 200) == "12.3 %"
    assert numbers.percent(NAN, 5) == "–"


def test_a_share_of_one_is_a_percentage_with_its_interval():
    assert numbers.share(0.624) == "62 %"
    assert numbers.share(0.6249, 1) == "62.5 %"
    assert numbers.in_percent(62.06) == "62.1 %"
    assert numbers.share_interval(0.621, 0.584, 0.657) == "62.1 % (58.4–65.7)"
    assert numbers.share_interval(0.621, NAN, NAN) == "62.1 %"
    assert numbers.share(0.621) + numbers.share_ends(0.584, 0.657) == "62 % (58–66)"
    assert numbers.share_interval(NAN, NAN, NAN) == "–"


def test_a_plain_number_has_a_minus_sign_and_no_negative_zero():
    assert numbers.plain(0.414) == "0.41"
    assert numbers.plain(-0.084) == "−0.08"
    assert numbers.plain(-0.004) == "0.00"
    assert numbers.plain(NAN) == "–"


def test_an_interval():
    estimate = Estimate(value=62.1, lo=58.4, hi=65.7, n=10, samples=5)
    assert numbers.interval(estimate) == "62.1 (58.4–65.7)"
    assert numbers.interval(Estimate(value=NAN, lo=NAN, hi=NAN, n=0, samples=0)) == "–"


def test_an_interval_below_zero_has_no_dash_between_its_ends():
    assert numbers.ends(-6, 27.434, 2) == "−6.00 to 27.43"
    assert numbers.ends(-8.04, -0.04) == "−8.0 to 0.0"
    assert numbers.ends(-0.04, 3) == "0.0–3.0"
    below = Estimate(value=-1.5, lo=-3, hi=0.5, n=10, samples=5)
    assert numbers.interval(below) == "−1.5 (−3.0 to 0.5)"
    assert numbers.spanned("0.31", "−0.2") == "0.31 to −0.2"


def test_counts_in_stored_sentences_get_separators():
    told = "Grown from 1061 criteria of 260 samples by judge-2024; 1222 of 1222 criteria are mapped"
    assert numbers.regrouped(told) == (
        "Grown from 1,061 criteria of 260 samples by judge-2024; 1,222 of 1,222 criteria are mapped"
    )
    weak = "1 criteria of 1 samples; 5 of 5 are needed, 21 samples are there"
    assert numbers.regrouped(weak) == (
        "1 criterion of 1 sample; 5 of 5 are needed, 21 samples are there"
    )
    kept = "model-1234 criteria, 0.1234 criteria, 12,345 criteria, in 2024 by 999 criteria"
    assert numbers.regrouped(kept) == kept


def test_counts():
    assert numbers.count(1, "sample") == "1 sample"
    assert numbers.count(1200, "sample") == "1,200 samples"
    assert numbers.count(2, "reply", "replies") == "2 replies"
    named = ["criteria", "right answers", "pairs of answers", "labels by people", "replies"]
    assert [numbers.counted(1, nouns) for nouns in named] == [
        "1 criterion", "1 right answer", "1 pair of answers", "1 label by people", "1 reply",
    ]  # fmt: skip
    assert [numbers.counted(1200, nouns) for nouns in named[:2]] == [
        "1,200 criteria", "1,200 right answers",
    ]  # fmt: skip
    assert numbers.every(2, "models") == "Both models"
    assert numbers.every(1200, "models") == "All 1,200 models"


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


def test_a_difference_has_a_sign_unless_it_is_nothing():
    assert numbers.signed(3.16) == "+3.2"
    assert numbers.signed(-1.0) == "−1.0"
    assert [numbers.signed(one) for one in (0.0, -0.0, -0.04, 0.04)] == ["0.0"] * 4
    assert numbers.signed(-0.004, 2) == "0.00"
    assert [numbers.signed(one) for one in (NAN, math.inf)] == ["–", "–"]
    assert numbers.signed_interval(3.2, -0.4, 6.84) == "+3.2 (−0.4 to +6.8)"
    assert numbers.signed_interval(3.2, NAN, NAN) == "+3.2"
    assert numbers.points_interval(0.032, -0.004, 0.0684) == "+3.2 (−0.4 to +6.8)"
    assert numbers.points_ends(0.0, 0.5) == "0.0 to +50.0"


def test_a_p_value_has_no_leading_zero_and_says_when_it_is_small():
    found = [numbers.p_value(p) for p in (0.0002, 0.001, 0.0124, 0.0999, 0.414, 0.994, 0.996, 1.0)]
    # .0999 has three places, for it is under .1
    assert found == ["<\u00a0.001", ".001", ".012", ".100", ".41", ".99", "1", "1"]
    assert numbers.p_value(NAN) == "–"
