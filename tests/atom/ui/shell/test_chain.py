"""The chain says what the screen's numbers follow, and strikes through what they don't."""

from __future__ import annotations

import re
from html import unescape

import pytest

from atom.store import Store
from atom.ui.pages import COMPARE, FAILURES, OVERVIEW, REPORTS, RUNS, SCREENS
from atom.ui.shell.chain import UNUSED, chain
from atom.views.filters import Filters
from atom.views.stores import StudyEntry
from atom.views.study_data import load_study
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("chain"))


@pytest.fixture(scope="module")
def drawn(made):
    """Return a function that draws a screen's chain with everything chosen."""
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        entry = StudyEntry(key=made.study.id, study=made.study, bundled=False)
        whole = Filters(
            study=made.study.id,
            model=made.candidate_ids[0],
            node=data.table.leaves[0],
            criterion=made.criterion_ids[0][1],
            sample=made.sample_ids[0],
            outcome="wrong",
        )

        def draw(screen, **changes):
            return str(chain(screen, entry, store, data, whole.but(**changes)))

        yield draw


def struck(markup):
    """Return the kinds of choices that are struck through."""
    return re.findall(r'aria-label="(\w+)[^"]* ' + UNUSED, markup)


def test_where_every_number_follows_nothing_is_struck(drawn):
    markup = drawn(FAILURES)
    assert struck(markup) == []
    assert UNUSED not in markup
    kinds = re.findall(r'class="kind">(\w+)<', markup)
    assert kinds == ["Study", "Model", "Capability", "Criterion", "Sample"]


def test_a_capability_that_the_numbers_ignore_is_struck_through(drawn):
    """Walk A6: once a chosen capability stood in the chain over numbers of the whole study."""
    # Once Overview said "model-b is first" with "Capability Needle" in the chain above it.
    markup = drawn(REPORTS)
    assert struck(markup) == ["Model", "Capability", "Criterion", "Sample"]
    assert "struck through: not used here" in unescape(markup)
    assert struck(drawn(RUNS)) == ["Model", "Capability", "Criterion", "Sample", "Filter"]


def test_what_only_some_numbers_follow_says_which(drawn):
    assert "In part: the table of capabilities opens at it." in unescape(drawn(OVERVIEW))
    assert "In part: the pairs, not the first sentence." in unescape(drawn(COMPARE))


def test_nothing_unchosen_takes_room(drawn):
    markup = drawn(OVERVIEW, model=None, node=(), criterion=None, sample=None, outcome=None)
    assert "any model" not in markup
    assert re.findall(r'class="kind">(\w+)<', markup) == ["Study"]


def test_each_screen_says_what_it_follows():
    """Walk A6: once no screen said what its numbers follow."""
    known = {"model", "capability", "criterion", "sample", "filters", "search"}
    assert all(set(screen.follows) <= known for screen in SCREENS)
