"""Whose scale scores are on: judge-scale until people have labelled enough, then both in sight."""

from __future__ import annotations

import shutil

import pytest

from atom.engine.people.annotations import give
from atom.records import Checkpoint
from atom.store import Store
from atom.store import table as columns_of
from tests.app.screen_store import JUDGE

LAB = "pages/trust/judge_lab.py"
TAB = {"tab": "judge"}
ENOUGH = 3
"""Samples that the tests call enough: their study has twelve."""


@pytest.fixture(scope="module")
def labelled(tmp_path_factory, made):
    """Return a store in which ada scores every checkpoint, as a rule a point under the judge."""
    folder = tmp_path_factory.mktemp("labels") / "store"
    shutil.copytree(made.folder, folder)
    with Store.open(folder) as store:
        where = columns_of(Checkpoint).c.judge_id == JUDGE.id
        points = [row for row in store.select(Checkpoint, where) if row.state == "scored"]
        for at, point in enumerate(sorted(points, key=lambda row: row.key)):
            value = max(point.score - (at % 3 > 0), 1)
            give(store, made.study.id, "score", point.key, "ada", value=value)
    return folder


@pytest.fixture
def few_suffice(monkeypatch):
    """Let three samples be enough, everywhere."""
    for place in (
        "atom.views.people.scale_rows",
        "atom.views.people.scale_words",
        "atom.analysis.agreement.debias",
        "atom.reports.findings.caveats",
    ):
        monkeypatch.setattr(f"{place}.MIN_LABELLED", ENOUGH)


@pytest.mark.slow
def test_without_labels_every_score_is_judge_scale(open_app, made):
    seen = open_app(made.folder)
    # Plain words are read, the term is one hover away.
    assert seen.markup.count("judge’s own scale") == 2
    assert seen.markup.count('data-tip="judge-scale: ') == 2
    assert "People’s scale" not in seen.markup
    assert "judge-scale" in open_app(made.folder, "pages/explore/fingerprints.py").markup


def test_the_lab_says_that_nobody_has_labelled_and_where_to(open_app, made):
    seen = open_app(made.folder, LAB, TAB)
    assert not seen.test.exception
    for words in ("On people’s scale", "No person has scored a checkpoint here yet", "human-check"):
        assert words in seen.markup


@pytest.mark.slow
def test_too_few_labels_lift_nothing(open_app, labelled):
    seen = open_app(labelled)
    assert "samples labelled by people" in seen.markup
    assert "People’s scale" not in seen.markup
    lab = open_app(labelled, LAB, TAB)
    assert not lab.test.exception
    for words in ("30 of a model’s are needed", "○ not yet", "Not by capability yet",
                  "Label more answers", "Where judge and people differ"):  # fmt: skip
        assert words in lab.markup


@pytest.mark.slow
def test_enough_labels_put_both_scales_side_by_side(open_app, labelled, few_suffice):
    seen = open_app(labelled)
    assert not seen.test.exception
    for words in ("People’s scale", "by the judge", "on people’s scale", "tab=judge"):
        assert words in seen.markup
    lab = open_app(labelled, LAB, {**TAB, "half": "9"})
    assert not lab.test.exception
    for words in ("put every model’s score on people’s scale", "kinder than people",
                  "needed for ±9", "labels alone", "SYNTHETIC"):  # fmt: skip
        assert words in lab.markup
    assert "on people’s scale" in open_app(labelled, "pages/explore/fingerprints.py").markup


@pytest.mark.slow
def test_a_half_width_that_makes_no_sense_is_the_usual_one(open_app, labelled, few_suffice):
    for text in ("nan", "wide", ""):
        assert "needed for ±3" in open_app(labelled, LAB, {**TAB, "half": text}).markup
    assert "needed for ±0.5" in open_app(labelled, LAB, {**TAB, "half": "-4"}).markup


@pytest.mark.slow
def test_the_planted_labels_of_the_bundled_study_are_too_few_to_move_a_score(open_app, project):
    seen = open_app(None, LAB, TAB, demo=project / "data" / "demo")
    assert "People have labelled 6 samples; 30 of a model’s are needed" in seen.markup
    assert seen.markup.count("○ not yet") >= 8
    assert "on people’s scale" not in open_app(None, demo=project / "data" / "demo").markup
