"""What needs the picture, and what is left when the rest is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atom.store import Store
from atom.store.standing.answers import study_answers
from atom.views.filters import Filters, answers_kept
from atom.views.fingerprints.blind import alone, blind_view, left_out, needs_by_node
from atom.views.overview.page import overview
from atom.views.study_data import load_study
from tests.app.screen_store import make_store
from tests.blinded import put_blind

EASY = (0, 1, 9)


@pytest.fixture(scope="module")
def blinded(tmp_path_factory):
    """Return (store, study, made) with a blind control of three easy questions."""
    made = make_store(tmp_path_factory.mktemp("blinded"))
    with Store.open(made.folder) as store:
        before = study_answers(store, made.study)
        assert put_blind(store, made, EASY) == len(EASY)
        assert study_answers(store, made.study) == before
        yield store, load_study(store, made.study.id), made


def test_gains_are_marks_with_less_marks_without(blinded):
    store, data, made = blinded
    view = blind_view(store, data, Filters(study=made.study.id))
    table = data.table
    # By hand: every scored checkpoint that counts, less 1 (score 5) or .25 (score 2).
    keep = table.of_answers(answers_kept(data, Filters())) & (table.score > 0)
    easy = {made.sample_ids[number] for number in EASY}
    gains = [
        (float(table.score[at]) - 1) / 4
        - (1 if table.sample_ids[table.sample[table.response[at]]] in easy else 0.25)
        for at in np.flatnonzero(keep)
    ]
    assert view.overall.value == pytest.approx(100 * np.mean(gains))
    assert view.overall.n == len(gains)
    root = needs_by_node(view)[("Perception",)]
    assert root.gain.value == pytest.approx(root.seen - root.blind)
    assert view.models == 3
    assert not view.few_models
    assert all(not math.isnan(node.gain.value) for node in view.nodes)


def test_easy_questions_are_listed_and_a_filter_leaves_them_out(blinded):
    store, data, made = blinded
    view = blind_view(store, data, Filters(study=made.study.id))
    assert {one.sample_id for one in view.easy} == {made.sample_ids[n] for n in EASY}
    assert view.n_easy == 3
    # Set aside (3) and without criteria (7): never asked, so never measured.
    assert view.measured == view.questions == 12 - 2
    out, only = left_out(Filters()), alone(Filters())
    table = data.table
    easy = np.isin(np.array(table.sample_ids)[table.sample], [made.sample_ids[n] for n in EASY])
    every = answers_kept(data, Filters())
    assert (answers_kept(data, out) == (every & ~easy)).all()
    assert (answers_kept(data, only) == (every & easy)).all()
    moved = {one.now.name: one for one in view.moved}
    for row in overview(data, out).ranking:
        assert moved[row.name].less.score == row.score
        assert moved[row.name].now.score.n > row.score.n
    # What is found is the same whether they are left out or not.
    again = blind_view(store, data, out.but(study=made.study.id))
    assert (again.n_easy, again.overall) == (view.n_easy, view.overall)


def test_the_filter_lives_in_the_link_once():
    filters = left_out(alone(left_out(Filters(study="s"))))
    assert Filters.from_query(filters.to_query()) == filters
    assert filters.without == (("answerable from text", "yes"),)
    assert filters.tags == ()


def test_without_a_control_there_is_nothing(store, data):
    assert blind_view(store, data, Filters()) is None
    assert needs_by_node(None) == {}
