"""Raw marks to values: declared scales, what is no mark, what is obvious."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.errors import FormatError
from atom.formats.column_map import read_column_map
from atom.formats.judgments.columns import ScaleMap
from atom.formats.judgments.scales import Scale, guess_scale, refuse_scale, sounds_bad


def _scale(text: str, parts: int | None = None) -> Scale:
    declared = read_column_map(f"scale: {text}").scale
    assert declared is not None
    return Scale(declared, parts=parts)


@pytest.mark.parametrize(
    ("declared", "raw", "value"),
    [
        ("{from: 1, to: 5}", "4", 0.75),  # (4 - 1) / 4
        ("{from: 1, to: 5}", 4.0, 0.75),
        ("{from: 5, to: 1}", "4", 0.25),  # `from` is worth nothing: (5 - 4) / 4
        ("{from: 0, to: 10, polarity: lower}", 3, 0.7),  # 1 - 3 / 10
        ("{from: 0, to: -1}", "-0.3", 0.3),
        ("{from: 0, to: -1}", -0.0, 0.0),
        ("{values: {yes: 1, no: 0}}", "Yes", 1.0),  # YAML reads a bare yes as true
        ("{values: {yes: 1, no: 0}}", True, 1.0),
        ("{values: {yes: 1, no: 0}}", False, 0.0),
        ('{values: {"yes": 1, "no": 0}, polarity: lower}', "yes", 0.0),
        ("{values: [poor, fair, good]}", "fair", 0.5),
        ("{values: {0: 0, 0.5: 0.5, 1: 1}}", "1", 1.0),
        ("{from: 0, to: 10}", "[6, 3]", 0.3),  # the least of its parts
        ("{from: 0, to: 10, parts: mean}", [6, 3], 0.45),
        ("{from: 0, to: 10}", 7, 0.7),
    ],
)
def test_marks_become_values(declared: str, raw: object, value: float) -> None:
    """A mark's value is where it lies on its scale."""
    read = _scale(declared).read(raw)
    assert read.state == "scored"
    assert read.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("declared", "raw"),
    [
        ("{from: 1, to: 5}", "6"),
        ("{from: 1, to: 5}", "good"),
        ("{from: 1, to: 5}", ""),
        ("{from: 1, to: 5}", None),
        ("{from: 1, to: 5}", float("nan")),
        ("{values: {yes: 1, no: 0}}", "no bananas"),
        ("{values: {yes: 1, no: 0}}", "10000000000"),
        ("{from: 0, to: 10}", "[6, 'x']"),
        ("{from: 0, to: 10}", "[]"),
        ("{from: 0, to: 10, unreadable: blocked}", "Content blocked"),
    ],
)
def test_what_is_no_mark_is_unscored(declared: str, raw: object) -> None:
    """Never a number by default: no value, and the reason."""
    read = _scale(declared).read(raw)
    assert (read.state, read.value) == ("unscored", None)
    assert read.detail


def test_a_guess_in_the_reason_is_no_mark() -> None:
    """The judge's file marks a number as a guess: it is kept as written, without a value."""
    scale = _scale("{from: 0, to: 10, unreadable: ^guess_if_cannot_parse}")
    read = scale.read([5], "guess_if_cannot_parse | The image shows ...")
    assert (read.state, read.value, read.raw) == ("unscored", None, "[5]")
    assert scale.read([5], "A clear image.").value == 0.5


def test_not_applicable_is_a_state() -> None:
    """0, 0.0 and an empty cell mean that it doesn't apply, where the map says so."""
    scale = _scale('{from: 1, to: 4, na: [0, ""]}')
    for raw in ("0", "0.0", 0, 0.0, "", None):
        assert scale.read(raw).state == "not_applicable", raw
    assert scale.read("1").value == 0.0
    assert _scale("{from: 1, to: 4}").read("").state == "unscored"


def test_parts_that_are_missing_leave_a_mark_unscored() -> None:
    """One number where two are due is no least of two, written as a list or bare."""
    scale = _scale("{from: 0, to: 10}", parts=2)
    assert scale.read([4, 6]).value == pytest.approx(0.4)
    assert scale.read([4]).detail == "it has 1 of 2 parts"
    assert scale.read(4).detail == "it has 1 of 2 parts"


def test_the_first_word_of_a_reply() -> None:
    """Only where the map says so, a mark may open a longer text."""
    scale = _scale('{values: {"yes": 1, "no": 0}, starts: true}')
    read = scale.read("Yes, the ending is earned. No loose ends.")
    assert (read.value, read.raw) == (1.0, "Yes")
    assert scale.read("**No**, it isn't.").value == 0.0
    assert scale.read("Nothing to say").state == "unscored"
    assert _scale('{values: {"yes": 1, "no": 0}}').read("Yes, it is.").state == "unscored"


def test_a_distribution_is_read_as_its_expected_value() -> None:
    """.1 on 1, .2 on 2, .3 on 3, .4 on 4: expected 3.0, that is 2/3 of the way from 1 to 4."""
    scale = _scale("{from: 1, to: 4}")
    read = scale.expected({"1": "0.1", "2": 0.2, "3": 0.3, "4": 0.4})
    assert read.value == pytest.approx(2 / 3)
    # A sum that isn't 1 is a matter of rounding: the value is divided by it.
    half = scale.expected({"1": 0.05, "2": 0.1, "3": 0.15, "4": 0.2})
    assert half.value == pytest.approx(2 / 3)
    assert scale.expected({"1": "x", "2": 1}).state == "unscored"
    assert scale.expected({"1": 0, "2": 0}).state == "unscored"


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(-60, 60))
def test_values_stay_in_bounds(low: float, high: float, raw: float) -> None:
    """Whatever the ends, a value lies from 0 to 1, and turning the ends turns it round."""
    if abs(high - low) < 1e-3:
        return
    here = Scale(ScaleMap(low=low, high=high)).read(raw)
    there = Scale(ScaleMap(low=high, high=low)).read(raw)
    assert here.state == there.state
    if here.value is not None and there.value is not None:
        assert 0 <= here.value <= 1
        assert here.value + there.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("seen", "obvious"),
    [
        (["yes", "No", ""], True),
        (["true", "false"], True),
        (["MET", "UNMET"], True),
        (["0", "1"], True),
        (["1", "1.0"], False),
        (["1", "2", "3", "4", "5"], True),
        (["1", "2", "4", "5"], False),
        (["0", "1", "2"], False),
        (["A", "B"], False),
        ([""], False),
    ],
)
def test_only_the_obvious_is_guessed(seen: list[str], obvious: bool) -> None:
    """Yes and no, 0 and 1, 1 to 5 with all five seen; nothing else."""
    assert (guess_scale(Counter(seen)) is not None) == obvious


def test_a_refusal_names_what_was_seen() -> None:
    """The reader sees the marks and what to write."""
    words = str(refuse_scale(Counter({"7": 3, "10": 1}), "marks.csv"))
    assert "'7' (3)" in words
    assert "scale: {from: 1, to: 10}" in words


@pytest.mark.parametrize(
    "text",
    [
        "scale: {from: 1}",
        "scale: {from: 3, to: 3}",
        "scale: {values: {a: 2}}",
        "scale: {from: 1, to: 2, unreadable: '('}",
    ],
)
def test_scales_that_are_none(text: str) -> None:
    """A declaration that says nothing usable is refused with the key's name."""
    with pytest.raises(FormatError, match="scale"):
        read_column_map(text)


def test_wording_that_sounds_bad() -> None:
    """Names of faults, unless they are denied."""
    assert sounds_bad("Hallucinated objects")
    assert not sounds_bad("Is free of errors")
    assert not sounds_bad("Relevance")
