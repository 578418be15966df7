import numpy as np
import pytest

from atom.records import Sample
from atom.store import Store
from atom.views.filters import Filters
from atom.views.guessing import lucky_by_chance
from atom.views.study_data import load_study
from tests.factories import STUDY, open_small


def test_open_questions_cannot_be_guessed(store, data):
    questions = store.select(Sample)
    if not any(sample.choices for sample in questions):
        assert lucky_by_chance(store, data, Filters()) == {}


@pytest.fixture
def with_options(tmp_path) -> Store:
    """Give every sample four options."""
    with open_small(tmp_path / "options") as store:
        samples = store.select(Sample)
        store.replace([s.model_copy(update={"choices": ("a", "b", "c", "d")}) for s in samples])
        yield store


def test_the_guess_rate_follows_from_options_and_passing_share(with_options):
    data = load_study(with_options, STUDY)
    found = lucky_by_chance(with_options, data, Filters())
    # B: 3 of 5 answers pass (pi = .6), g = 1/4: .4/4 / (.6 + .4/4) = .1/.7.
    assert found["cand-b"] == pytest.approx(100 * 0.1 / 0.7)
    # A passes always: nothing is left to be guessed.
    assert found["cand-a"] == pytest.approx(0)
    # C: none of 4 answers with a known outcome passes: only a guess could be right.
    assert found["cand-c"] == pytest.approx(100)


def test_nobody_left_gives_no_number(with_options):
    data = load_study(with_options, STUDY)
    assert np.isfinite(
        list(lucky_by_chance(with_options, data, Filters(outcome="wrong")).values())
    ).all()
