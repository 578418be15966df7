"""Judges of one study side by side: figures are those of their marks, and lead to them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from atom.analysis.agreement.raters import krippendorff_alpha
from atom.store.people import PEOPLE
from atom.store.standing.marks import marks_of
from atom.views.filters import Filters
from atom.views.judges import (
    MOST_PEOPLE,
    PAGE_SIZE,
    ValuedMarks,
    everyone,
    judges_view,
    shared_marks,
)
from atom.views.study_data import load_study
from tests.judged import LEAVES, QUESTIONS, STUDY, open_judged


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_judged(tmp_path_factory.mktemp("judged")) as opened:
        yield opened


@cache
def loaded(store, judge=None):
    """Load the study once for each judge; no test here writes into the store."""
    return load_study(store, STUDY, judge)


def seen(store, filters=None, **asked):
    data = loaded(store)
    return judges_view(
        store, data, lambda judge: loaded(store, judge),
        filters or Filters(study=data.study.id), **asked,
    )  # fmt: skip


def values(store, judge):
    data = loaded(store, judge)
    found = marks_of(store, data.study, data.table.response_ids, judge)
    return {
        (answer, criterion): mark.value
        for (answer, _), marks in found.items()
        for criterion, mark in marks.items()
        if mark.value is not None
    }


def test_every_two_judges_that_share_marks_are_compared(store):
    view = seen(store)
    assert [judge.name for judge in view.judges] == [
        "Judge X", "Judge Y", "Ann", "Ben", "All people", "Most people",
    ]  # fmt: skip
    pairs = {(cell.first.name, cell.second.name): cell.found for cell in view.cells}
    # A person isn't held against people among whom they are.
    assert ("Ann", "Ben") in pairs
    assert ("Ann", "Most people") not in pairs
    # Two of Judge X's 216 marks have no value.
    assert pairs["Judge X", "Judge Y"].n == 214
    assert pairs["Ann", "Ben"].n == 216
    assert pairs["Ann", "Ben"].clusters == 24


def test_figures_are_those_of_the_marks(store):
    found = seen(store, first="Judge X", second="Ann").whole
    one, other = values(store, "judge-x"), values(store, "person-ann")
    both = sorted(one.keys() & other.keys())
    a, b = ([side[key] for key in both] for side in (one, other))
    assert found.n == len(both)
    assert found.exact.value == pytest.approx(np.mean(np.array(a) == np.array(b)))
    codes = [[str(value) for value in side] for side in (a, b)]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*codes))
    assert found.alpha.value == pytest.approx(krippendorff_alpha(np.array([a, b])))
    assert found.alpha.lo < found.alpha.value < found.alpha.hi


@pytest.mark.slow
def test_parts_add_up_and_lead_to_their_marks(store):
    view = seen(store, first="judge-x", second="judge-y")
    assert sum(group.found.n for group in view.models) == view.whole.n
    assert sum(group.found.n for group in view.questions) == view.whole.n
    nodes = {group.path: group for group in view.nodes}
    assert {*LEAVES} < nodes.keys()
    assert sum(nodes[leaf].found.n for leaf in LEAVES) == view.whole.n
    assert nodes["Perception",].found.n == sum(nodes[leaf].found.n for leaf in LEAVES[:2])
    for group in (*view.nodes, *view.models):
        listed = seen(store, group.filters, first="judge-x", second="judge-y")
        assert listed.listed == group.found.n
        assert listed.whole.n == view.whole.n
    asked = seen(store, first="judge-x", second="judge-y", question=QUESTIONS[1])
    assert asked.listed == nodes[LEAVES[1]].found.n


def test_marks_come_with_reasons_furthest_apart_first_and_doors_to_both(store):
    view = seen(store, first="Judge Y", second="Ben")
    gaps = [abs(one.first - one.second) for one in view.marks]
    assert gaps == sorted(gaps, reverse=True)
    assert len(view.marks) == PAGE_SIZE
    assert view.pages == -(-view.listed // PAGE_SIZE)
    last = seen(store, first="Judge Y", second="Ben", page=99)
    assert last.page == view.pages - 1
    assert 0 < view.apart < view.listed
    first = view.marks[0]
    assert first.first_marks[0].reason.startswith("Judge Y ")
    assert first.second_marks[0].reason.startswith("Ben ")
    assert (first.first_door.judge, first.second_door.judge) == ("judge-y", "person-ben")
    assert first.first_door.criterion == first.first_marks[0].criterion_id
    assert first.first_door.sample == first.sample_id


def test_people_among_themselves_and_together(store):
    view = seen(store)
    ann, ben = values(store, "person-ann"), values(store, "person-ben")
    ratings = np.array([[side[key] for key in sorted(ann)] for side in (ann, ben)])
    assert view.people.n == 216
    assert view.people.alpha.value == pytest.approx(krippendorff_alpha(ratings))
    data = loaded(store)
    both = {judge.id: loaded(store, judge.id) for judge in data.judges[:4]}
    all_ = everyone(data, both, ["person-ann", "person-ben"])
    assert sorted(all_.marks[PEOPLE].value) == pytest.approx(sorted(ratings.mean(axis=0)))
    # Of two people who differ most say nothing.
    equal = int((ratings[0] == ratings[1]).sum())
    assert len(all_.marks[MOST_PEOPLE].key) == equal


def test_filters_narrow_every_figure(store):
    view = seen(store, Filters(root="Reasoning"), first="judge-x", second="judge-y")
    assert {group.path[0] for group in view.nodes} == {"Reasoning"}
    assert view.whole.n == 71


def test_judges_that_share_nothing_make_no_row():
    left = ValuedMarks(key=np.array([1, 3]), value=np.array([0.0, 1.0]))
    right = ValuedMarks(key=np.array([2, 3, 5]), value=np.array([0.5, 0.0, 1.0]))
    shared = shared_marks(left, right)
    assert (shared.key.tolist(), shared.first.tolist(), shared.second.tolist()) == (
        [3], [1.0], [0.0],
    )  # fmt: skip
