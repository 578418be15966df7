"""Numbers as models write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.judge.replies.values import StatedNumber, says_nothing, stated_number


@pytest.mark.parametrize(
    ("value", "number", "of", "unit"),
    [
        (4, 4, None, ""),
        ("-2.5", -2.5, None, ""),
        ("4/5", 4, 5, ""),
        ("4 out of 5", 4, 5, ""),
        ("30 %", 30, None, "%"),
        ("30 per cent", 30, None, "%"),
        ("score: 4", 4, None, ""),
        ("The final score is 4.5", 4.5, None, ""),
        ("[4]", 4, None, ""),
        (["4"], 4, None, ""),
        ("4 - right and whole", 4, None, ""),
        ("4, good", 4, None, ""),
        ("４．５", 4.5, None, ""),
    ],
)
def test_read(value, number, of, unit):
    assert stated_number(value) == StatedNumber(number=number, of=of, unit=unit)


@pytest.mark.parametrize(
    "value",
    [
        None, True, "", "four", "4 or 5", "4-5", "4 to 5", "4, 5", "4,5", "4 5", "4²", "²",
        "4 half",
        "4 - half", "4 - or five", "about 4", "not 4", "4!", "4x", "score", "score: 4, score: 5",
        "3 of 4 steps", "2 steps", [4, 5], [], [[4]], {"score": 4}, "1e3", "0x4", "4 - " + "x" * 99,
    ],
)  # fmt: skip
def test_not_read(value):
    assert stated_number(value) is None


@pytest.mark.parametrize("value", ["nan", "inf", "-Infinity"])
def test_a_name_of_no_number(value):
    assert math.isnan(stated_number(value).number)


@given(st.integers(-(10**6), 10**6), st.sampled_from(["{}", " {} ", "({})", "**{}**", "score: {}"]))
def test_a_whole_number_comes_back_however_it_is_dressed(number, dress):
    assert stated_number(dress.format(number)) == StatedNumber(number=number)


def test_ways_to_say_nothing():
    assert all(map(says_nothing, (None, "", "null", " None ", "N/A")))
    assert not any(map(says_nothing, (0, "0", [], "no", "nothing here")))
