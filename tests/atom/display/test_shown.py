"""Signs that act on what stands around them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.display.shown import begins_a_formula, in_json, level, on_terminal

LRE, RLE, PDF, LRO, RLO = "\u202a", "\u202b", "\u202c", "\u202d", "\u202e"
LRI, RLI, FSI, PDI = "\u2066", "\u2067", "\u2068", "\u2069"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("plain", "plain"),
        (f"a{RLO}b{LRO}c", "a\ufffdb\ufffdc"),
        (f"{RLE}a", f"{RLE}a{PDF}"),
        (f"{RLE}a{PDF}", f"{RLE}a{PDF}"),
        (f"{RLI}a{LRE}b", f"{RLI}a{LRE}b{PDF}{PDI}"),
        (f"{RLI}a{LRE}b{PDI}", f"{RLI}a{LRE}b{PDI}"),
        (f"a{PDI}{PDF}", f"a{PDI}{PDF}"),
        ("\u05d0\u200f1", "\u05d0\u200f1"),
    ],
)
def test_a_texts_direction_ends_with_it(text, made):
    assert level(text) == made


def test_a_terminal_is_driven_by_nothing():
    """Fall 23 of design/074."""
    told = on_terminal(f"\x1b[31mred\x07 \x9b2J {RLO}\tb\nc\rd\x7f \u2028é数")
    assert told == r"\x1b[31mred\x07 \x9b2J \u202e" + "\tb\nc" + r"\x0dd\x7f \u2028é数"


@pytest.mark.slow
@given(st.text())
def test_json_says_the_same(text):
    written = in_json(json.dumps([text], ensure_ascii=False, indent=2))
    assert json.loads(written) == [text]
    assert on_terminal(written) == written


@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\n", "\u200b", "\ufeff", "\u2060\u202e", "\xa0", "\xad"]
)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "﹢"])
def test_a_formula_is_seen_behind_what_is_not_seen(before, sign):
    """Fall 26 of design/074."""
    assert begins_a_formula(f"{before}{sign}1+1")
    assert not begins_a_formula(f"{before}x{sign}1")


def test_nothing_begins_no_formula():
    assert not begins_a_formula("")
    assert not begins_a_formula("\u200b")
