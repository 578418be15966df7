"""The Judge lab's tab about the study's own judge, and its marks in the fingerprints."""

from __future__ import annotations

import shutil

import pytest

from atom.store import Store
from tests.app.screen_store import make_store
from tests.atom.views.lab.reliability.test_measure import OTHER, calibration_set, score_again

PAGE = "pages/trust/judge_lab.py"
TAB = {"tab": "judge"}


def test_a_judge_of_whom_little_is_known(open_app, made):
    seen = open_app(made.folder, PAGE, TAB)
    assert not seen.test.exception
    for words in ("How far can probe-judge be trusted?", "What to do next", "--repeat 2",
                  "judge calibrate", "can’t be said", "never asked about test pictures",
                  "no votes on pairs", "unknown: one judge", "SYNTHETIC"):  # fmt: skip
        assert words in seen.markup


@pytest.fixture
def rich(tmp_path, made):
    """Return a store with repeats, a second judge and a calibration."""
    shutil.copytree(made.folder, tmp_path / "rich")
    with Store.open(tmp_path / "rich") as store:
        score_again(store)
        store.put([OTHER])
        score_again(store, judge=OTHER.id, repeat=0, shift=1)
        leaves = [("Perception", "x")] * 30 + [("Reasoning", "y")] * 30
        calibration_set(store, leaves, [3] * 30 + [4] * 30)
    return tmp_path / "rich"


@pytest.mark.slow
def test_everything_that_is_stored_shows(open_app, rich):
    seen = open_app(rich, PAGE, TAB)
    assert not seen.test.exception
    for words in ("Asked twice, the judge gives the same score 100 %", "temperature 0",
                  "reads Reasoning a whole point too high", "◑ judge lenient here",
                  "Truth against score", "truth 3, said 4: 30 of 60", "other-judge is kinder",
                  "More samples, or a better judge?", "a better judge"):  # fmt: skip
        assert words in seen.markup


@pytest.mark.slow
def test_a_flaw_is_marked_in_the_fingerprints_with_a_word_and_a_door(open_app, rich):
    seen = open_app(rich, "pages/explore/fingerprints.py")
    assert not seen.test.exception
    assert "judge lenient here" in seen.markup
    assert "◑ Difference of two values" in seen.markup or "◑" in seen.markup
    assert "How far can the judge be trusted?" in seen.markup
    assert "judge-lab?" in seen.markup


def test_without_a_calibration_nothing_is_marked(open_app, made):
    assert "◑" not in open_app(made.folder, "pages/explore/fingerprints.py").markup


@pytest.mark.slow
def test_a_study_without_a_judge_says_what_to_do(open_app, tmp_path):
    made = make_store(tmp_path / "bare", judged=False)
    seen = open_app(made.folder, PAGE, TAB)
    assert not seen.test.exception
    assert "No judge has scored this study yet" in seen.markup


@pytest.mark.slow
def test_a_flaw_is_on_the_tree_s_card(open_app, rich):
    query = {"node": "Reasoning"}
    seen = open_app(rich, "pages/explore/tree.py", query)
    assert not seen.test.exception
    assert "◑ judge lenient here" in seen.markup
    assert "◑" not in open_app(rich, "pages/explore/tree.py", {"node": "Perception"}).markup
