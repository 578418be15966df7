"""What a file's path and a cell say."""

from __future__ import annotations

import pytest

from atom.errors import FormatError
from atom.formats.judgments.paths import fields_of, is_template, match_cell, match_path

PATTERN = "results_{judge}_{_}/{task}/{model}/{criterion}.json"


def test_a_path_is_matched_at_its_end() -> None:
    """Folders before the pattern don't matter; a field never spans two folders."""
    path = "/data/x/results_gemini_0shot/ImagenHub_IG/ControlNet/SC.json"
    assert match_path(PATTERN, path) == {
        "judge": "gemini", "task": "ImagenHub_IG", "model": "ControlNet", "criterion": "SC",
    }  # fmt: skip
    assert match_path(PATTERN, path.removeprefix("/data/x/")) is not None
    assert match_path(PATTERN, "SC.json") is None
    assert match_path("{a}.csv", "x/y.csv") == {"a": "y"}
    assert match_path("*_rater{judge}.tsv", "IG_rater3.tsv") == {"judge": "3"}
    assert match_path("y.csv", "xy.csv") is None
    assert match_path("a.csv", "aXcsv") is None


def test_a_cell_is_matched_as_a_whole() -> None:
    """Fields of a cell take as little as they can."""
    found = match_cell("story_{story}_{model}_test{criterion}", "story_9_GPT3.5_test5")
    assert found == {"story": "9", "model": "GPT3.5", "criterion": "5"}
    assert match_cell("{a}_{b}", "nothing") is None
    assert match_cell("{_}Criteria: {rest}", "Do it.\nCriteria: 1. a\n2. b") == {
        "rest": "1. a\n2. b"
    }


def test_a_field_named_twice_says_one_thing() -> None:
    """The second place must hold what the first does."""
    assert match_path("{task}/{task}_x.csv", "a/a_x.csv") == {"task": "a"}
    assert match_path("{task}/{task}_x.csv", "a/b_x.csv") is None


def test_braces_that_are_no_fields() -> None:
    """They are refused with what a field looks like."""
    with pytest.raises(FormatError, match=r"\{judge\}"):
        match_path("{not a field}.csv", "x.csv")


def test_templates() -> None:
    """A map's value with fields is made of several columns."""
    assert is_template("{task}/{uid}")
    assert not is_template("uid")
    assert fields_of("{task}/{uid}/{task}{_}") == ("task", "uid")
