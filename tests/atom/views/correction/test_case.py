"""One answer before and after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.store import Store
from atom.views.correction.case import MOST_WORDS, case_view, word_diff
from atom.views.study_data import load_study
from tests.app.correction_store import first_id, put_experiment
from tests.app.screen_store import HOSTILE, make_store


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return the study with an experiment, its store open."""
    made = make_store(tmp_path_factory.mktemp("case"))
    experiment = put_experiment(made)
    with Store.open(made.folder) as store:
        yield made, store, load_study(store, made.study.id), experiment


def view(world, number, **more):
    made, store, data, _ = world
    return case_view(store, data, first_id(made, number), **more)


def test_words_that_changed_are_told_from_those_that_stayed():
    parts = word_diff("The bar is 35 high.", "The bar is 20 high, not 35.")
    assert [(part.kind, part.text) for part in parts if part.kind != "same"] == [
        ("gone", "35"), ("new", "20"), ("gone", "high."), ("new", "high, not 35."),
    ]  # fmt: skip


@given(st.text(max_size=200), st.text(max_size=200))
def test_both_texts_can_be_had_back(before, after):
    parts = word_diff(before, after)
    assert "".join(part.text for part in parts if part.kind != "new") == before
    assert "".join(part.text for part in parts if part.kind != "gone") == after


def test_very_long_texts_are_not_compared():
    long = "word " * (MOST_WORDS + 1)
    assert [part.kind for part in word_diff(long, f"{long}end")] == ["gone", "new"]


def test_scores_before_again_and_after(world):
    found = view(world, 3)
    assert found.chosen.arm == "guided"
    assert found.control.arm == "sham"
    assert [(s.before, s.again, s.after, s.control, s.asked) for s in found.steps] == [
        (1, 1, 5, 1, True), (3, 3, 4, 3, False), (2, 2, 1, 2, True),
    ]  # fmt: skip
    # Weights 3, 3, 4: (3 + 9 + 8) / 10 before, (15 + 12 + 4) / 10 after.
    assert found.mean("before") == pytest.approx(2.0)
    assert found.mean("after") == pytest.approx(3.1)
    assert (found.failed("before"), found.failed("after")) == (2, 1)


def test_the_worst_step_is_looked_at_first(world):
    assert view(world, 3).sample.criterion.number == 1
    assert view(world, 4).sample.criterion.number == 2


def test_feedback_and_hints_with_their_writer(world):
    found = view(world, 3, arm="peer")
    assert found.chosen.correction.feedback == f"Look again (peer). {HOSTILE}"
    hint = found.chosen.hints[0]
    assert (hint.number, hint.peer) == (1, "model-b")
    assert found.chosen.correction.gates == ("no hint on criterion 12345678: no peer passed it",)


def test_judging_again_has_no_new_text(world):
    found = view(world, 3, arm="rejudge")
    assert found.diff == ()
    assert found.chosen.response == found.first
    assert [step.after for step in found.steps] == [1, 3, 2]


def test_an_arm_that_brought_nothing_says_why(world):
    found = view(world, 0, arm="guided")
    assert found.chosen.response is None
    assert found.chosen.correction.detail == "rate limit"
    assert found.diff == ()


def test_an_answer_that_nobody_tried_again(world):
    found = view(world, 2)
    assert (found.tries, found.chosen, found.control) == ((), None, None)
    assert len(found.steps) == 3


def test_no_such_answer(world):
    _, store, data, _ = world
    assert case_view(store, data, "nothing") is None
