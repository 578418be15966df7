"""The form of a self-correction experiment: what is missing, and what can't be claimed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atom.analysis.correction.effects import CONTRASTS
from atom.store import Store
from atom.views.correction.form import (
    ARM_WORDS,
    ARMS,
    EFFECT_WORDS,
    USUAL,
    CorrectionForm,
    arms_possible,
    first_form,
    nodes_of,
)
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.app.screen_store import LEAVES, make_store

FORM = CorrectionForm(model="m")


def test_everything_has_words():
    assert set(ARM_WORDS) == set(ARMS)
    assert set(EFFECT_WORDS) == {contrast.name for contrast in CONTRASTS}


def test_the_usual_arms_lose_no_claim():
    assert FORM.arms == USUAL
    assert FORM.warnings == ()
    assert FORM.problem == ""


@pytest.mark.parametrize(
    ("without", "words"),
    [
        ("rejudge", "nothing may be called a gain"),
        ("sham", "a long message may do as much"),
        ("told", "the paper's own gain can't be shown"),
        ("fresh", "luck isn't measured by itself"),
    ],
)
def test_a_missing_control_costs_a_claim(without, words):
    form = replace(FORM, arms=tuple(arm for arm in USUAL if arm != without))
    assert any(words in line for line in form.warnings)


def test_what_cannot_be_started():
    assert replace(FORM, model="").problem
    assert replace(FORM, arms=()).problem
    assert replace(FORM, arms=("fresh",), right_answers=5).problem


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Return a judged study and one with outcomes alone."""
    found = []
    for judged in (True, False):
        made = make_store(tmp_path_factory.mktemp("form"), judged=judged)
        with Store.open(made.folder) as store:
            found.append(load_study(store, made.study.id))
    return found


def test_the_chain_sets_model_and_capability(studies):
    data = studies[0]
    chain = Filters(model=data.candidates[2].id, node=("Perception",))
    form = first_form(data, chain)
    assert (form.model, form.node, form.arms) == (data.candidates[2].id, ("Perception",), USUAL)
    assert first_form(data, Filters()).model == data.candidates[0].id


def test_without_criteria_nothing_is_asked_about(studies):
    data = studies[1]
    assert first_form(data, Filters()).arms == ("rejudge", "fresh", "told")
    assert "guided" not in arms_possible(data)


def test_places_of_the_tree_stand_from_the_top(studies):
    found = nodes_of(studies[0])
    assert found[:2] == (("Perception",), ("Reasoning",))
    assert set(LEAVES) <= set(found)
