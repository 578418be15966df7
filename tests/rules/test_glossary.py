"""The glossary can be read by a program: one term a line, none twice, none without meaning."""

from __future__ import annotations

import ast
import re

import pytest

from tests.syntax import every

ENTRY = re.compile(r"\*\*([^*]+)\*\* — (\S.*\.)")


@pytest.fixture(scope="module")
def lines(project) -> list[str]:
    """Return the lines that hold terms."""
    text = (project / "docs" / "glossary.md").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("**")]


def test_every_line_has_a_term_and_a_sentence(lines):
    assert [line for line in lines if not ENTRY.fullmatch(line)] == []


def test_no_term_is_explained_twice(lines):
    terms = [ENTRY.fullmatch(line)[1].lower() for line in lines]
    assert len(terms) == len(set(terms))


def test_definitions_fit_a_tooltip(lines):
    assert [line for line in lines if len(line) > 300] == []


@pytest.mark.parametrize(
    "term", ["Scored", "Unscored", "Failed", "Lucky", "Synthetic", "Judge-scale", "Insufficient"]
)
def test_the_words_on_the_screens_are_there(lines, term):
    assert any(line.startswith(f"**{term}**") for line in lines)


def test_every_term_that_a_screen_explains_is_there(lines, modules):
    asked = {
        node.args[0].value
        for module in modules
        if module.name.startswith(("atom.ui", "pages"))
        if "term(" in module.text or "meaning(" in module.text
        for node in every(module.tree, ast.Call)
        if ast.unparse(node.func) in {"kit.term", "term", "meaning"}
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    terms = [term for line in lines for term in ENTRY.fullmatch(line)[1].lower().split(", ")]
    assert {word.lower() for word in asked} - set(terms) == set()


RETIRED = {
    "agenda": "worklist",
    "one": "live_replay",
    "pool": "execution",
    "shelf": "stores",
    "shift": "execution",
    "subjects": "items, or cohorts",
}
"""Words of the house alone that modules are no longer called by, and the field's in their place."""


def test_no_module_is_called_by_a_retired_word(modules):
    names = {module.path.stem: module.name for module in modules}
    assert {names[word]: RETIRED[word] for word in RETIRED.keys() & names.keys()} == {}
