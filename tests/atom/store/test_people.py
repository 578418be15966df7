"""All people together are a judge whose repeats are the people."""

from __future__ import annotations

import numpy as np
import pytest

from atom.store.people import ALL_PEOPLE, PEOPLE, one_after_another
from atom.store.standing.marks import marks_of, repeated_marks
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from atom.views.snapshot import open_study
from atom.views.study_data import load_study
from tests.judged import STUDY, criterion_id, open_judged, response_id, sample_id


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_judged(tmp_path_factory.mktemp("judged")) as opened:
        yield opened


def by_thing(data):
    table = data.table
    return {
        (table.response_ids[answer], table.criterion_ids[criterion]): value
        for answer, criterion, value in zip(
            table.response, table.criterion, table.value, strict=True
        )
    }


def test_people_together_give_the_mean_of_their_marks(store):
    ann, ben, both = (
        by_thing(load_study(store, STUDY, name)) for name in ("Ann", "Ben", "All people")
    )
    assert both.keys() == ann.keys() == ben.keys()
    for thing, value in both.items():
        assert value == pytest.approx((ann[thing] + ben[thing]) / 2)
    assert any(ann[thing] != ben[thing] for thing in both)


def test_they_are_offered_as_a_judge_where_there_are_several(store):
    data = load_study(store, STUDY)
    assert data.judges[-1] == ALL_PEOPLE
    assert data.judge_id("All people") == PEOPLE
    assert load_study(store, STUDY, PEOPLE).judge == ALL_PEOPLE
    again = open_study(store, STUDY, PEOPLE)
    assert np.array_equal(again.table.value, load_study(store, STUDY, PEOPLE).table.value)


def test_each_persons_mark_stays_with_its_reason(store):
    data = load_study(store, STUDY, PEOPLE)
    answer, criterion = response_id(3, "cand-b"), criterion_id(3, 1)
    found = repeated_marks(store, data.study, [answer], PEOPLE, data.scale)
    assert [one.judge_id for one in found[criterion, answer]] == ["person-ann", "person-ben"]
    assert {one.reason.split()[0] for one in found[criterion, answer]} == {"Ann", "Ben"}
    first = marks_of(store, data.study, [answer], PEOPLE)
    assert first[answer, 0][criterion].judge_id == "person-ann"
    view = sample_view(
        store, data, Filters(sample=sample_id(3), criterion=criterion, model="cand-b")
    )
    assert len(view.mark.repeats) == 2
    assert view.mark.score == pytest.approx(
        1 + 4 * np.mean([one.value for one in view.mark.repeats])
    )


def test_places_count_for_each_thing_by_itself():
    each = {
        "ann": {("r", 0): {"c": "a1", "d": "a2"}, ("r", 1): {"c": "a3"}},
        "ben": {("r", 0): {"c": "b1"}, ("s", 0): {"c": "b2"}},
    }
    assert one_after_another(each) == {
        ("r", 0): {"c": "a1", "d": "a2"}, ("r", 1): {"c": "a3"}, ("r", 2): {"c": "b1"},
        ("s", 0): {"c": "b2"},
    }  # fmt: skip
