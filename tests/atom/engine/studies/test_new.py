"""The user's own studies: a copy of a sealed one, a new one, an agreement taken back."""

from __future__ import annotations

import pytest

from atom.engine.consent import give_consent
from atom.engine.studies.new import DEMO_COPY, find_copy, new_study, own_copy, withdraw_consent
from atom.errors import UsageError
from atom.records import Sampling, Study
from atom.store import Store, count_study, list_studies


def test_a_copy_is_made_once(store, tmp_path):
    study = list_studies(store)[0]
    with Store.open(tmp_path / "own") as target:
        assert find_copy(target, study.id) is None
        copy = own_copy(store, study.id, target)
        assert copy.name == DEMO_COPY
        assert own_copy(store, study.id, target) == copy
        assert count_study(target, copy.id).samples == count_study(store, study.id).samples


def test_a_taken_name_gets_a_number(store, tmp_path):
    study = list_studies(store)[0]
    with Store.open(tmp_path / "own") as target:
        new_study(target, DEMO_COPY, study)
        assert own_copy(store, study.id, target).name == f"{DEMO_COPY} 2"


def test_a_new_study_takes_the_settings_and_needs_a_free_name(tmp_path):
    like = Study(id="x", name="x", answer_sampling=Sampling(temperature=0.3))
    with Store.open(tmp_path / "own") as target:
        made = new_study(target, " Mine ", like)
        assert made.name == "Mine"
        assert made.answer_sampling == like.answer_sampling
        for name in ("Mine", "  ", "x" * 121):
            with pytest.raises(UsageError, match="choose another name"):
                new_study(target, name, like)


def test_an_agreement_is_taken_back(tmp_path):
    with Store.open(tmp_path / "own") as target:
        study = new_study(target, "Mine", Study(id="x", name="x"))
        give_consent(target, study.id, ["a.example", "b.example"])
        assert withdraw_consent(target, study.id, ["a.example"]).consent == ("b.example",)
