from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.stages.texts.quantities import (
    find_quantities,
    read_quantity,
    same_quantity,
    tidy,
    unit_factor,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("+12", 12),
        ("-12", -12),
        ("−12", -12),
        ("$-5", -5),
        ("-$5", -5),
        ("1,234", 1234),
        ("1,234,567.5", Fraction("1234567.5")),
        ("1.234.567", 1234567),
        ("1.234.567,5", Fraction("1234567.5")),
        ("1 234 567", 1234567),
        ("1\u202f234", 1234),
        ("1'234", 1234),
        ("4,5", Fraction("4.5")),
        (".5", Fraction("0.5")),
        ("3/4", Fraction(3, 4)),
        ("2 1/2", Fraction(5, 2)),
        ("2½", Fraction(5, 2)),
        (r"\frac{3}{4}", Fraction(3, 4)),
        (r"$\dfrac{3}{4}$", Fraction(3, 4)),
        ("1.5e3", 1500),
        ("1.5 x 10^3", 1500),
        ("2·10⁻³", Fraction(2, 1000)),
        (r"2 \times 10^{-3}", Fraction(2, 1000)),
        ("3 million", 3_000_000),
        ("42k", 42_000),
        ("forty-two", 42),
        ("one hundred and five", 105),
        ("two hundred thousand", 200_000),
        ("about 42", 42),
        ("≈ 42", 42),
        ("there are 42 red cubes.", 42),
        ("12cm", 12),
        ("**12**", 12),
    ],
)
def test_one_quantity(text, value):
    found = read_quantity(text)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    "text",
    [
        "", "no number", "41-43", "41–43", "between 41 and 43", "42 or 43", "more than 42", "< 5",
        "42 ± 1", "not 42", "H2O", "3D", "v1.2.3", "2:1", "5/0", "12 of 30", "March 3, 2020",
        "two three", "hundred", "5x", "1" * 500,
    ],
)  # fmt: skip
def test_no_single_quantity(text):
    assert read_quantity(text) is None


@pytest.mark.parametrize(
    ("text", "unit", "percent"),
    [
        ("5 cm", "cm", False),
        ("5 centimeters", "cm", False),
        ("$5", "$", False),
        ("5 dollars", "$", False),
        ("25%", "", True),
        ("25 percent", "", True),
        ("50°", "°", False),
        (r"50^\circ", "°", False),
        ("50 °C", "°c", False),
        ("12 m", "m", False),
        ("12 cubes", "", False),
    ],
)
def test_units(text, unit, percent):
    found = read_quantity(text)
    assert (found.unit, found.percent) == (unit, percent)


def test_units_of_one_kind_turn_into_each_other():
    assert unit_factor("cm", "m") == Fraction(1, 100)
    assert unit_factor("h", "min") == 60
    assert unit_factor("kg", "cm") is None
    assert unit_factor("", "cm") == 1


@pytest.mark.parametrize(
    ("reference", "answer", "options", "expected"),
    [
        # Half a unit of the last decimal shown: 1.2 takes 1.15 to 1.25.
        ("1.2", "1.15", {}, True),
        ("1.2", "1.25", {}, True),
        ("1.2", "1.251", {}, False),
        # Coarser than the reference, and its right rounding: not for a rule.
        ("1.26", "1.3", {}, None),
        ("1.26", "1.2", {}, False),
        ("1/3", "0.33", {}, None),
        # A whole number has to be met, unless the source says it's a measurement.
        ("12", "12.4", {}, None),
        ("12", "12.6", {}, False),
        ("12", "12.4", {"integer": True}, False),
        ("12", "12.4", {"integer": False}, True),
        ("12", "12.9", {"tolerance": 1.0}, True),
        ("12", "13", {"tolerance": 1.0}, True),
        ("12", "13.01", {"tolerance": 1.0}, False),
        ("1.2", "1.21", {"tolerance": 0.0}, False),
        ("0.25", "25%", {}, True),
        ("25%", "0.25", {}, True),
        ("25%", "30%", {}, False),
        ("12 cm", "0.12 m", {}, True),
        ("12 cm", "12 m", {}, False),
        ("12 cm", "12 s", {}, None),
        ("1.5 million", "1500000", {}, True),
        ("1.5 million", "1.5", {}, None),
        ("1,234", "1.234", {}, None),
        ("1200", "1.2e3", {}, True),
    ],
)
def test_comparison(reference, answer, options, expected):
    assert same_quantity(read_quantity(reference), read_quantity(answer), **options) is expected


@given(st.integers(-(10**9), 10**9))
def test_an_integer_reads_back_however_written(number):
    for text in (f"{number}", f"{number:,}", f"**{number}**", f"about {number} cm."):
        assert read_quantity(text).value == number


@given(st.decimals(-9999, 9999, places=2))
def test_a_decimal_equals_itself(number):
    quantity = read_quantity(f"{number:f}")
    assert quantity.value == Fraction(number)
    assert same_quantity(quantity, quantity) is True


@given(st.text(max_size=300))
def test_any_text_is_survived(text):
    for found in find_quantities(tidy(text)):
        assert 0 <= found.start < found.end
    read_quantity(text)
