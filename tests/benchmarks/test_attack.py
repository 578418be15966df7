"""The frame of the attacks: what fell and what couldn't be tried is never taken for a success."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module

import pytest

from atom.errors import FormatError
from benchmarks.attack import (
    FELL,
    UNTRIED,
    groups,
    row_of,
    save_row,
    saved_rows,
    status,
    whole_table,
)
from benchmarks.attacks._tried import CannotTryError, Tried, refuses
from benchmarks.attacks.patterns import slow


def test_a_row_counts_what_was_tried_and_names_what_fell():
    row = row_of("g", "words", lambda: [Tried(name="one"), Tried(name="two", fell="it hung")])
    assert (row.tries, row.fell, row.which) == (2, 1, ("two: it hung",))
    assert status([row]) == FELL


def test_what_could_not_be_tried_is_no_success():
    def none_here():
        raise CannotTryError("there is no browser")
        yield

    row = row_of("g", "words", none_here)
    assert (row.tries, row.skipped) == (0, "there is no browser")
    assert status([row]) == status([]) == UNTRIED
    assert row_of("g", "words", lambda: []).skipped == "the group tried nothing"
    assert status([row_of("g", "words", lambda: [Tried(name="one")])]) == 0


def test_an_attack_that_breaks_half_way_keeps_what_it_tried(capsys):
    def breaks():
        yield Tried(name="one", fell="it hung")
        raise KeyError("two")

    row = row_of("g", "words", breaks)
    assert (row.tries, row.fell, row.which) == (1, 1, ("one: it hung",))
    assert row.skipped == "the attack itself broke after 1 tries: KeyError('two')"
    assert capsys.readouterr().err == "g 1: one FELL: it hung\n"


def test_a_whole_run_is_made_of_parts_at_one_commit(tmp_path):
    file, names = tmp_path / "rows.jsonl", ("a", "b", "c")
    held = row_of("a", "words", lambda: [Tried(name="one")])
    save_row(file, replace(held, commit="111", fell=1, which=("one: it hung",)))
    save_row(file, replace(held, group="b", commit="222"))
    save_row(file, replace(held, commit="222"))  # done again: in place of the one that fell
    told = whole_table(saved_rows(file), "222", names)
    assert [(row.group, row.tries, row.skipped) for row in told] == [
        ("a", 1, ""), ("b", 1, ""), ("c", 0, "not tried yet"),
    ]  # fmt: skip
    assert status(told) == UNTRIED
    assert status(whole_table(saved_rows(file), "222", names[:2])) == 0
    later = whole_table(saved_rows(file), "333", names[:1])
    assert [row.skipped for row in later] == ["last tried at 222"]
    save_row(file, replace(held, group="c", commit="222", fell=1, which=("one: it hung",)))
    assert status(whole_table(saved_rows(file), "222", names)) == FELL


def test_only_a_sentence_of_ours_is_a_refusal():
    def ours():
        raise FormatError("it can't be read; get it again")

    assert refuses("x", ours).fell == ""
    assert refuses("x", lambda: 1 / 0).fell.startswith("ZeroDivisionError")
    assert refuses("x", lambda: None).fell == "it was taken without a word"
    assert refuses("x", lambda: None, may_pass=True).fell == ""


def test_there_are_groups_by_name():
    assert "patterns" in groups()
    assert not any(name.startswith("_") for name in groups())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "is_slow"),
    [
        (r"(a+)+b", True),  # exponential
        (r"a+b", True),  # a search begins at every a and runs to the end
        (r"(?<!a)a+b", False),
        (r"\s+$", True),
        (r"x\s{0,9}$", False),
        (r"<a>.*?</a>", True),
    ],
)
def test_a_slow_expression_is_found_and_a_fast_one_is_not(pattern, is_slow):
    assert bool(slow(re.compile(pattern))) == is_slow


def test_what_is_only_matched_at_the_start_is_tried_there():
    assert slow(re.compile(r"a+b"), anchored=True) == ""


MENDED = (
    ("atom.asked.rules", "_NUMBER", False),
    ("atom.engine.endpoints.configured", "_BLANK", False),
    ("atom.formats.tools.evalscope", "_PICTURE", False),
    ("atom.formats.benchmarks.mllm_bench", "_QUESTION", False),
    ("atom.formats.benchmarks.mllm_bench", "_QUESTION_END", False),
    ("atom.formats.pictures", "_BASE64", True),
    ("atom.formats.benchmarks.prometheus", "_SECTION", False),
    ("atom.formats.tools.vlmevalkit", "_RESTS", False),
    ("atom.judgebench.critic_bench.code", "_BLOCK", False),
    ("atom.probes.bench.critic_bench", "_CLAIM", True),
    ("atom.probes.answers.reading", "_BOUNDARY", False),
    ("atom.probes.answers.reading", "_NOT_BUT", False),
    ("atom.reports.checker", "_SENTENCE_END", False),
    ("atom.ui.plain", "_BREAKS", False),
    ("atom.views.tree.network", "_LINKS", False),
)
"""Expressions that were quadratic; `attack.py --only patterns` tries all there are."""


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name", "anchored"), MENDED)
def test_what_was_quadratic_grows_as_the_text_does(module, name, anchored):
    assert slow(getattr(import_module(module), name), anchored=anchored) == ""


def test_a_long_gap_after_an_option_is_read_at_once():
    """Three runs of spaces side by side made this cubic: 400 spaces took a second."""
    from atom.stages.texts.options import _LETTER

    assert slow(_LETTER, anchored=True) == ""
    assert _LETTER.fullmatch("The correct option is : (B) it")["letter"] == "B"
