import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.stages.texts.quotes import AnswerIndex

ANSWER = "March has **about 42**.\n  May is “35”, so the difference – I think – is 15 (not 5.5)."


def found(quote, answer=ANSWER):
    span = AnswerIndex(answer).locate(quote)
    return None if span is None else answer[slice(*span)]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("about 42", "about 42"),
        ("March has about 42", "March has **about 42"),
        ("MARCH HAS ABOUT 42.", "March has **about 42**."),
        ('May is "35"', "May is “35"),
        ("about 42. May is '35'", "about 42**.\n  May is “35"),
        ("the difference - I think - is 15", "the difference – I think – is 15"),
        ("...the difference", "the difference"),
        ("so the difference…", "so the difference"),
        ("March", "March"),
        ("15", "15"),
        ("5", None),
        ("5.5", "5.5"),
        ("ffer", None),
        ("difference is 15", None),
        ("", None),
        ("  ", None),
        ("...", None),
        ("**", "**"),
        ("June", None),
    ],
)
def test_where_a_quote_stands(quote, expected):
    assert found(quote) == expected


def test_the_first_place_that_fits_counts():
    assert AnswerIndex("15 5 5").locate("5") == (3, 4)


def test_letters_that_fold_to_two():
    assert found("STRASSE", "Die Straße hier") == "Straße"


def test_huge_answer():
    answer = "a " * 200_000 + "Needle  here"
    assert found("needle here", answer) == "Needle  here"


@given(st.text(max_size=60), st.integers(0, 60), st.integers(1, 60))
def test_every_span_lies_in_the_answer(answer, start, length):
    span = AnswerIndex(answer).locate(answer[start : start + length])
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(answer)


@given(st.text("abc xyz", max_size=40), st.text(max_size=40))
def test_a_verbatim_quote_between_spaces_is_found(before, quote):
    quote = quote.strip()
    answer = f"{before} {quote} after"
    span = AnswerIndex(answer).locate(quote)
    if quote:
        assert span is not None
        assert answer[slice(*span)] == quote
