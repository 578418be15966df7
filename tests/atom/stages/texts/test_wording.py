"""Every spelling of a number is read as the number; disguises of letters come off."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.stages.texts.wording import read_wording, stem, unmasked
from benchmarks.leak_gates import spoken


def numbers(text):
    return {v for number in read_wording(text).numbers for k, v in number.values if k == "number"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("forty-two", 42), ("Forty Two", 42), ("one hundred and five", 105), ("a hundred", 100),
        ("two thousand and seven", 2007), ("twelve hundred", 1200), ("forty-two thousand", 42_000),
        ("３００", 300), ("٤٢", 42), ("4\u200b2", 42), ("4 2", 42), ("4-2", 42), ("**42**", 42),
        ("42k", 42_000), ("4.2 million", 4_200_000), ("1,234", 1234), ("1.234,5", Fraction(2469,
        2)),
        ("10 500", 10_500), ("1'000", 1000), ("42.0", 42), ("½", Fraction(1, 2)),
        ("two thirds", Fraction(2, 3)), ("three quarters", Fraction(3, 4)), ("half", Fraction(1,
        2)),
        ("50 %", Fraction(1, 2)), ("fifty percent", Fraction(1, 2)), ("two point five",
        Fraction(5, 2)),
        ("XLII", 42), ("a dozen", 12), ("exactly one", 1), ("42km", 42), ("x=42", 42),
        (r"\frac{3}{4}", Fraction(3, 4)), (r"\boxed{42}", 42), ("none", 0),
    ],
)  # fmt: skip
def test_a_number_in_any_dress(text, value):
    assert Fraction(value) in numbers(text)


@pytest.mark.parametrize(
    "text", ["the red one", "one by one", "each one", "one of them", "I see it"]
)
def test_a_one_that_counts_nothing(text):
    assert numbers(text) == set()


def test_times_and_ordinals_are_no_plain_numbers():
    assert read_wording("9:33").values == {("time", Fraction(573))}  # 9 * 60 + 33
    assert read_wording("21:33").values == {("time", Fraction(573))}
    assert ("time", Fraction(648)) in read_wording("ten forty-eight").values
    for text in ("2nd", "second"):
        assert read_wording(text).values == {("ordinal", Fraction(2))}
    assert read_wording("twenty-first").values == {("ordinal", Fraction(21))}


@given(st.integers(0, 2_000_000))
def test_what_is_spoken_is_read_again(value):
    assert Fraction(value) in numbers(f"there are {spoken(value)}")


def test_disguises():
    assert unmasked("b l u e") == "blue"
    assert unmasked("bl\u00ade and r\u0435d") == "ble and red"
    assert unmasked("ｂｌｕｅ, **blüe**") == "blue, blue"


@pytest.mark.parametrize(
    ("one", "other"),
    [("rises", "rising"), ("rise", "rises"), ("moved", "moves"), ("grey", "gray"),
     ("colours", "color"), ("spheres", "sphere")],
)  # fmt: skip
def test_stems_agree(one, other):
    assert stem(one) == stem(other)


def test_months_agree_in_any_length():
    assert read_wording("Jul").stems == read_wording("July").stems
    assert read_wording("may").tokens[0].content is False
    assert read_wording("May").tokens[0].content is True


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    reading = read_wording(text)
    assert all(0 <= n.first <= n.last < len(reading.tokens) for n in reading.numbers)
