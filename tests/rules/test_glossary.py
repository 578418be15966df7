"""The glossary can be read by a program: one term a line, none twice, none without meaning."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

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
    "around": "the place that it's about: studies_place",
    "given": "marks",
    "held": "what is compared: comparison",
    "induced": "result",
    "moved": "move_result",
    "one": "live_replay",
    "pool": "execution",
    "shelf": "stores",
    "shift": "execution",
    "subjects": "items, or cohorts",
    "wanted": "query, or view_request",
}
"""Words of the house alone that modules are no longer called by, and the field's in their place."""


def test_no_module_is_called_by_a_retired_word(modules):
    names = {module.path.stem: module.name for module in modules}
    assert {names[word]: RETIRED[word] for word in RETIRED.keys() & names.keys()} == {}


IRREGULAR = """
begun broken brought built came chosen come cut done drawn driven felt found given gone got
grown had heard held hidden hold kept known led left lost made meant met paid put ran read said seen
sent set shaken shown shrunk spent split spoken stood taken taught thought told undone unread won
written
"""
"""Participles and pasts that don't end in -ed, and what stands as one."""
POINTERS = """
again against apart around beyond everyone further here how inside near next off other same since
things together who whose why
"""
"""Words that point at something without saying what it is."""
NOUNS = frozenset({"need", "seed", "feed", "speed"})
"""What ends in -ed and is a noun."""
UNNAMED = {
    "atom.ui.shell.frame.Here": "what the reader is looking at: every page takes `here: Here`",
}
"""Types that are called so all the same, and why."""
RETIRED_TYPES = {
    "Ground": "the parts of which run: `ExperimentParts`",
    "Have": "the records of what: `TrialRecords`",
    "Ready": "the parts of which run, or what is ready: `PreparedStudy`",
    "Share": "the share of what: `AnswerShare`",
}
"""Words that said too little of a type, and what says more."""
SHARED = {
    "Study": "notebook.study: the study of a notebook, which its users know by this name",
}
"""Names that two classes have, and why."""


def is_unnamed(name: str) -> bool:
    """Say whether a name says what was done, or where, and not what it holds."""
    word = name.lower()
    if not name[1:].islower() or word in NOUNS:
        return False
    return word.endswith("ed") or word in (IRREGULAR + POINTERS).split()


def types_of(module) -> Iterator[str]:
    """List public classes of a module, and other names for types."""
    for node in module.tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if re.fullmatch("[A-Z]+[a-z][A-Za-z]*", name):
                    yield name


@pytest.mark.parametrize("name", ["Told", "Counted", "Around", "Unread"])
def test_a_participle_is_known(name):
    assert is_unnamed(name)


@pytest.mark.parametrize("name", ["Need", "ToldAll", "Reading", "Study"])
def test_a_noun_is_no_participle(name):
    assert not is_unnamed(name)


def test_a_type_is_called_by_what_it_holds(modules):
    unnamed = {
        f"{module.name}.{name}"
        for module in modules
        for name in types_of(module)
        if is_unnamed(name)
    }
    assert unnamed == UNNAMED.keys()


def test_no_type_is_called_by_a_retired_word(modules):
    names = {name: module.name for module in modules for name in types_of(module)}
    assert {names[word]: RETIRED_TYPES[word] for word in RETIRED_TYPES.keys() & names.keys()} == {}


def test_a_name_stands_for_one_class(modules):
    named = Counter(
        node.name
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name: n for name, n in named.items() if n > 1} == dict.fromkeys(SHARED, 2)
