from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.formats.cells import (
    clean_text,
    label_choices,
    to_choices,
    to_list,
    to_name,
    to_number,
    to_reference,
    to_text,
    to_verdict,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (NAN, None),
        ("", None),
        (" \n", None),
        (" a ", " a "),
        (4.0, "4"),
        (4.5, "4.5"),
        (True, "true"),
        (7, "7"),
        (b"\xffx", "\ufffdx"),
        ([1, "b"], '[1, "b"]'),
        (math.inf, "inf"),
        ("nan", "nan"),
    ],
)
def test_text(value: object, text: str | None) -> None:
    assert to_text(value) == text


def test_a_written_nan_is_no_name() -> None:
    assert to_name("nan") is None
    assert to_name(" x ") == "x"


def test_nul_and_lone_surrogates_are_shown_and_pairs_joined() -> None:
    assert clean_text("a\x00b") == "a\ufffdb"
    assert clean_text("\ud800x") == "\ufffdx"
    assert clean_text("\ud83d\ude00") == "\U0001f600"
    assert clean_text("<script>alert(1)</script>\u202e") == "<script>alert(1)</script>\u202e"


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_clean_text_can_always_be_stored(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert clean_text(clean) == clean


@pytest.mark.parametrize(
    ("value", "items"),
    [
        (["a", 1], ["a", 1]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', 'it\\'s']", ["a", "it's"]),
        ("['a' 'b, c' 'd']", ["a", "b, c", "d"]),
        ("[1, 2]", [1, 2]),
        ("[]", []),
        ("A, B", None),
        ("[not a list]", None),
        ("[__import__('os')]", None),
        ("[" * 5000 + "]" * 5000, None),
        (None, None),
        ({"a": 1}, None),
    ],
)
def test_lists(value: object, items: list[object] | None) -> None:
    assert to_list(value) == items


@pytest.mark.parametrize(
    ("value", "top", "verdict"),
    [
        (True, 1, 1.0),
        (0, 1, 0.0),
        ("1", 1, 1.0),
        ("C", 1, 1.0),
        ("I", 1, 0.0),
        ("False", 1, 0.0),
        ("YES", 1, 1.0),
        (0.25, 1, 0.25),
        ("7", 10, 0.7),
        ("37 %", 1, 0.37),  # of 100, whatever the column's top
        ("37%", 100, 0.37),
        ("Richtig", 1, 1.0),
        ("faux", 1, 0.0),
    ],
)
def test_verdicts(value: object, top: float, verdict: float) -> None:
    found = to_verdict(value, top)
    assert found is not None
    assert found.value == verdict


@pytest.mark.parametrize("value", ["Unknown", "7", "-1", "inf", "1e999", "101%", "%"])
def test_what_is_no_verdict_has_no_value_and_a_reason(value: str) -> None:
    found = to_verdict(value)
    assert found is not None
    assert found.value is None
    assert found.detail.startswith("the file says")


@pytest.mark.parametrize("value", [None, "", NAN, "nan"])
def test_an_empty_verdict_is_none(value: object) -> None:
    assert to_verdict(value) is None


def test_numbers() -> None:
    assert to_number(" 1.5 ") == 1.5
    assert [to_number(value) for value in (True, "x", NAN, "inf", None, 10**400)] == [None] * 6


@pytest.mark.parametrize(
    "value",
    [
        ["cat", "dog"],
        "['cat', 'dog']",
        '["cat", "dog"]',
        {"A": "cat", "B": "dog"},
        '{"A": "cat", "B": "dog"}',
        {"text": ["cat", "dog"], "label": ["A", "B"]},
    ],
)
def test_choices_in_one_cell(value: object) -> None:
    choices = to_choices(value)
    assert choices is not None
    assert choices.texts == ("cat", "dog")
    assert choices.labels == {"A": "cat", "B": "dog"}


def test_an_empty_choice_between_does_not_shift_the_letters() -> None:
    choices = label_choices("ABCD", ["cat", None, "dog", NAN])
    assert choices.texts == ("cat", "dog")
    assert to_reference("C", choices).text == "dog"


@pytest.mark.parametrize(
    ("answer", "index_from", "text"),
    [
        ("dog", None, "dog"),
        (" dog ", None, "dog"),
        ("B", None, "dog"),
        ("(b)", None, "dog"),
        ("B.", None, "dog"),
        (1, 0, "dog"),
        ("1", 1, "cat"),
        (1.0, 0, "dog"),
        (["dog"], None, "dog"),
        (None, None, None),
    ],
)
def test_a_reference_among_choices(answer: object, index_from: int | None, text: str) -> None:
    found = to_reference(answer, to_choices(["cat", "dog"]), index_from)
    assert (found.text, found.note) == (text, "")


def test_equal_text_goes_before_letters_and_positions() -> None:
    assert to_reference("A", to_choices(["B", "A"])).text == "A"
    assert to_reference("1", to_choices(["3", "1", "2"]), 0).text == "1"


def test_an_answer_outside_the_choices_is_kept_and_noted() -> None:
    found = to_reference("4", to_choices(["x", "y"]), 0)
    assert found.text == "4"
    assert "not among the choices" in found.note


def test_of_several_answers_the_most_frequent_is_kept() -> None:
    found = to_reference(["no", "yes", "yes"])
    assert found.text == "yes"
    assert "several" in found.note
    assert to_reference("['no', 'yes', 'yes']").text == "yes"
    assert to_reference([]).text is None


def test_an_answer_that_is_a_list_stays_one() -> None:
    assert to_reference("[2014, 2016]").text == "[2014, 2016]"
