"""What a writer wasn't given is marked; what it was given passes however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.reports.checker import WriterMaterial, check, numbers_in
from atom.reports.draft import ReportSpec
from atom.reports.writing import briefs

GIVEN = WriterMaterial(
    texts=(
        "model-a has a mean score of 62.1 (58.4–65.7) on 0–100 (n = 1,200 answers, p < 0.001).",
        "It fails 43 % of 8 criteria; 3 of 7 models are told apart. Rank 3 of 8.",
        "Clock reading is hard, says the judge.",
    ),
    names=("model-a", "Clock reading", "Perception", "Qwen3-VL-30B", "Probe world"),
    known=("model-a", "model-b", "Bar height", "Reasoning", "Clock reading of dials"),
)


def marked(text: str, allowed: WriterMaterial = GIVEN) -> list[str]:
    return [mark.text for mark in check(text, allowed)]


@pytest.mark.parametrize(
    "text",
    [
        "model-a scores 62.1 (58.4 to 65.7), about 62, with n=1200.",
        "Over 1,200 answers, or 1\u00a0200, or 1.2k, it stays at 62.10.",
        "It fails 43 percent, 43% or 0.43 of eight criteria.",
        "Three of seven; the third of eight; ranked 3rd.",
        "Clock Reading under Perception is hard, and so is clock reading.",
        "Qwen3-VL-30B isn't 62.1 % better. Overall, nothing is.",
        "First, look at model-a's clock-reading. One of them fails; no one knows why.",
        "“mean score” is given, 'told apart' too.",
        "The range 58.4-65.7 holds; p is below 0.001.",
        "",
    ],
)
def test_what_was_given_passes(text):
    assert marked(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It scores 63.1.", ["63.1"]),
        ("It scores 62.14.", ["62.14"]),
        ("Half of them, twice as many, two thirds.", ["Half", "twice", "two thirds"]),
        ("Twenty-one models, ninth of 12.", ["Twenty-one", "ninth", "12"]),
        ("Two hundred and five answers.", ["Two hundred and five"]),
        ("Between 10–20 %, ½ and 1.3k.", ["10", "20 %", "½", "1.3k"]),
        ("The top five are fine.", ["five"]),
        ("model-b is better on bar height.", ["model-b", "bar height"]),
        ("Reasoning is weak, but its reasoning is fine.", ["Reasoning"]),
        ("Clock reading of dials fails.", ["Clock reading of dials"]),
        ("Gemini leads GPT-4o and llava-next.", ["Gemini", "GPT-4o", "llava-next"]),
        ("The model Falcon and model-z lead.", ["Falcon", "model-z"]),
        ("It fails on “Chart maths” alone.", ["Chart maths"]),
        ("See report_final.html and MMMU.", ["report_final.html", "MMMU"]),
    ],
)  # fmt: skip
def test_what_was_not_given_is_marked(text, found):
    assert marked(text) == found


def test_marks_say_what_they_are_and_where():
    text = "Falcon has 99."
    name, number = check(text, GIVEN)
    assert (name.kind, text[name.start : name.end]) == ("name", "Falcon")
    assert (number.kind, text[number.start : number.end]) == ("number", "99")


def test_a_number_inside_a_given_name_is_part_of_the_name():
    assert [spot.value for spot in numbers_in("30 and Qwen3-VL-30B", GIVEN.spans("Qwen3-VL-30B"))]
    assert marked("Qwen3-VL-30B fails.") == []
    assert marked("Qwen3-VL-31B fails.") == ["Qwen3-VL-31B"]


@given(
    value=st.decimals(min_value="0", max_value="9999", places=2),
    decimals=st.integers(min_value=0, max_value=2),
    form=st.sampled_from(["{}", "{} %", "{}%", "{} points", "({})", "−{}", "about {}, say"]),
)
def test_every_given_number_passes_rounded_in_any_form(value, decimals, form):
    allowed = WriterMaterial(texts=(f"It is {value}.",), names=())
    assert marked(form.format(f"{float(value):.{decimals}f}"), allowed) == []


@given(
    given_values=st.lists(st.integers(min_value=0, max_value=400), min_size=1, max_size=12),
    planted=st.integers(min_value=500, max_value=99_999),
    words=st.sampled_from(["It is {}.", "n = {} answers", "{} % fail", "from 3 to {}", "{}–{}"]),
)
def test_every_planted_number_is_caught(given_values, planted, words):
    allowed = WriterMaterial(texts=(" ".join(map(str, [*given_values, 3])),), names=())
    assert str(planted) in [
        text.removesuffix(" %") for text in marked(words.format(planted, 3), allowed)
    ]


NAMES = st.from_regex(r"[A-Z][a-z]{3,9}(-[A-Z0-9][a-z0-9]{1,5})?", fullmatch=True)


@pytest.mark.slow
@given(planted=NAMES, given_name=NAMES)
def test_every_planted_name_is_caught_inside_a_sentence(planted, given_name):
    allowed = WriterMaterial(texts=(f"{given_name} fails.",), names=(given_name,))
    found = marked(f"In all of this {planted} fails.", allowed)
    if planted in given_name:
        return
    assert found
    assert all(piece in planted for piece in found)
    assert marked(f"In all of this {given_name} fails.", allowed) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seventeen", 17), ("ninety-nine", 99), ("three hundred", 300),
        ("two thousand", 2000), ("one hundred and twenty", 120), ("a dozen", 12),
    ],
)  # fmt: skip
def test_number_words_are_read(text, value):
    assert [int(spot.value) for spot in numbers_in(text)] == [value]


def test_the_rules_own_sentences_pass_the_check(demo):
    report = demo.report(ReportSpec(cases=1))
    for brief in briefs(report, demo.look):
        for part in brief.section.parts:
            for passage in part.passages:
                if part.part in brief.parts:
                    assert check(passage.text, brief.given) == (), passage.text
