"""Sentences: numbers with n and interval, varied without chance, right in number and gender."""

from __future__ import annotations

import re

import pytest

from atom.display.numbers import count
from atom.reports.compose import compose, n_words, place_words, sentence
from atom.reports.draft import ReportSpec
from atom.reports.printed import listed, p_words, share_number, with_interval
from atom.reports.records import Finding, Number


def finding(**changes) -> Finding:
    base = {
        "id": "w", "kind": "weakness", "part": "weak", "models": ("m",), "owner": "m",
        "place": ("Seeing", "Text", "Digits"), "frame": "peer frame",
        "facts": {"effect": "8.0 (4.0–12.0) points of 100 lower than expected", "q": "p = 0.01"},
        "numbers": (Number(name="effect", text="-8.0", value=-8.0, unit="points of 100", n=20,
                           n_unit="criteria"),
                    Number(name="samples", text="9", value=9.0, unit="samples")),
    }  # fmt: skip
    return Finding.model_validate(base | changes)


def test_a_weakness_names_its_size_frame_n_and_samples():
    text = sentence(finding())
    assert "Digits (under Seeing)" in text
    assert "8.0 (4.0–12.0) points of 100 lower" in text
    assert "peer frame; n = 20 criteria from 9 samples, p = 0.01" in text


def test_a_rank_is_out_of_those_that_have_one_or_out_of_nothing():
    score = Number(name="score", text="71.0", value=71.0, unit="points of 100", n=9,
                   n_unit="answers")  # fmt: skip
    rank = Number(name="rank", text="1–2", value=1.0, lo=1.0, hi=2.0, unit="rank")
    models = Number(name="models", text="8", value=8.0, unit="models")
    told = {"kind": "ranking", "part": "ahead", "frame": "absolute", "facts": {}}
    text = sentence(finding(**told, numbers=(score, rank, models)))
    assert "at ranks 1–2 of 8." in text
    assert "at ranks 1–2." in sentence(finding(**told, numbers=(score, rank)))


def test_wording_varies_by_turn_and_comes_round():
    texts = [sentence(finding(), turn) for turn in range(5)]
    assert len(set(texts[:4])) == 4
    assert texts[4] == texts[0]


def test_a_label_names_its_facet():
    assert place_words(finding(place=("skills", "geometry"), label=True)) == "geometry (skills)"
    assert place_words(finding(place=("Seeing",))) == "Seeing"


def test_one_of_something_is_in_the_singular():
    one = Number(name="effect", text="1", value=1.0, unit="x", n=1, n_unit="criteria")
    assert n_words(finding(numbers=(one,)), "effect") == "n = 1 criterion"
    assert count(1, "sample") == "1 sample"
    assert count(2_000, "sample") == "2,000 samples"


@pytest.mark.parametrize(
    ("names", "text"), [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c")]
)
def test_names_are_listed(names, text):
    assert listed(tuple(names)) == text


def test_numbers_are_printed_with_their_interval():
    nan = float("nan")
    assert with_interval(62.14, 58.4, 65.66) == "62.1 (58.4–65.7)"
    assert with_interval(-3.0, -5.0, 1.0) == "-3.0 (-5.0 to 1.0)"
    assert with_interval(nan, nan, nan) == "–"
    assert with_interval(5.0, nan, nan) == "5.0"
    # 3 of 8 is 37.5 %: no decimals under 200 cases.
    assert share_number("s", 3, 8, 0.1, 0.7, n_unit="x").text == "38 (10–70) %"
    assert share_number("s", 0, 0, nan, nan, n_unit="x").value is None
    assert p_words(0.0004) == "p < .001"
    assert p_words(0.0304) == "p = .030"
    assert p_words(nan) == ""


def test_every_finding_of_every_kind_can_be_said(draft, outcomes, votes, demo):
    for seen in (draft, outcomes, votes, demo):
        for one in seen.findings:
            for turn in range(3):
                text = sentence(one, turn, seen.look.measure)
                assert text.strip().endswith((".", "%."))
                assert not re.search(r"\bnan\b|None|  |\{|\}", text), text
                assert not re.search(r"\b1 (samples|answers|criteria|models)\b", text), text
                assert not re.search(r"(?<!\w)-\d", text), f"no minus sign: {text}"


def test_told_findings_of_every_model_are_all_in_the_text(demo):
    report = demo.report(ReportSpec(cases=0))
    told = [name for s in report.sections for part in s.parts for p in part.passages
            for name in p.findings]  # fmt: skip
    ranked = {f.id for f in report.told if f.kind == "ranking" and f.owner is None}
    assert set(told) == {f.id for f in report.told} - ranked
    assert len(set(told)) == len(told)


def test_sections_have_parts_in_a_fixed_order(demo):
    parts = [part.part for part in compose(demo.report(ReportSpec(cases=0)).told, None, "process")]
    assert parts == ["ahead", "apart", "hard", "health", "care"]
