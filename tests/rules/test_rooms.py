"""A folder is a room that a newcomer can look round in: few files, each of a size to be read."""

from __future__ import annotations

from collections import Counter

MOST_FILES = 20
MOST_LINES = 500
BY_HAND = 1017
"""How many statements the formatter is told to leave: only ever made smaller."""


def test_a_folder_has_few_files(modules):
    files = Counter(module.path.parent.as_posix() for module in modules)
    assert {folder: n for folder, n in files.items() if n > MOST_FILES} == {}


def test_a_module_is_short(modules):
    long = [m.path.as_posix() for m in modules if m.text.count("\n") > MOST_LINES]
    assert not long


def test_no_more_is_laid_out_by_hand(modules):
    assert sum(module.text.count("# fmt: skip") for module in modules) <= BY_HAND
