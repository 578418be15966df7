"""A study of many models has a report that somebody can read, and that doesn't take minutes."""

from __future__ import annotations

import numpy as np
import pytest

from atom.reports import MOST_SECTIONS, ReportDraft, ReportSpec
from atom.store import Store
from atom.views.filters import Filters
from atom.views.study_data import load_study
from benchmarks._study_store import make_study
from tests.planted import WorldSettings, plant

MODELS = MOST_SECTIONS + 4


@pytest.fixture(scope="module")
def draft(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    world = plant(WorldSettings(samples=8, models=MODELS), np.random.default_rng(1))
    study = make_study(folder, world)
    with Store.open(folder) as store:
        yield ReportDraft.of(store, load_study(store, study.id), Filters(study=study.id))


def test_the_first_of_the_ranking_have_a_section_and_the_rest_is_told(draft):
    ranking = [row.model_id for row in draft.look.view.ranking]
    report = draft.report(ReportSpec(cases=0))
    assert [section.id for section in report.sections] == ["study", *ranking[:MOST_SECTIONS]]
    told = {setting.name: setting.value for setting in report.settings}
    assert told["Models with a section"].startswith("24, the first in the ranking; 4 more")
    assert len(report.sections[0].bars) == MODELS


def test_those_that_are_chosen_have_one_wherever_they_stand(draft):
    last = [row.model_id for row in draft.look.view.ranking[-2:]]
    report = draft.report(ReportSpec(models=tuple(last), landscape=False, cases=1))
    assert [section.id for section in report.sections[1:]] == last
    assert {f.owner for f in report.findings} - {None} == set(last)
    assert "Models with a section" not in {setting.name for setting in report.settings}
    # The cases are read without the other models' answers.
    assert all(len(section.exhibits) == 1 for section in report.sections[1:])
