"""What people are asked, and in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from atom.records import Response, Sample
from atom.store import Store
from atom.views.people.annotations import LabelStanding, standing
from atom.views.people.page import conflict_items, error_items, items_of, read_sample
from atom.views.people.reports import profiles, raw_answers, report_items, report_text
from atom.views.people.sample_order import sample_order, sample_roots, shuffled, unsure_share
from atom.views.study_data import load_study
from tests.app.screen_store import make_store
from tests.atom.views.people.test_annotations import label


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("check"))


@pytest.fixture(scope="module")
def store(made):
    with Store.open(made.folder) as store:
        yield store


@pytest.fixture(scope="module")
def data(store, made):
    return load_study(store, made.study.id)


def test_each_first_part_of_the_order_holds_the_roots_in_their_share(store, data):
    """Half of 40 samples under each of two roots: of the first 10, five each."""
    names = tuple(f"s{at}" for at in range(40))
    leaves = (("Perception", "a"), ("Reasoning", "b"))
    table = replace(
        data.table,
        response=np.arange(40, dtype=np.int32),
        criterion=np.zeros(40, dtype=np.int32),
        leaf=(np.arange(40) >= 20).astype(np.int16),
        weight=np.full(40, 10, dtype=np.int8),
        position=np.zeros(40, dtype=np.int8),
        score=np.full(40, 3, dtype=np.int8),
        sample=np.arange(40, dtype=np.int32),
        sample_ids=names,
        leaves=leaves,
    )
    order = sample_order(store, replace(data, table=table), "random")
    assert sorted(order) == sorted(names)
    root = dict(zip(names, sample_roots(table), strict=True))
    for part in (10, 20, 30):
        count = Counter(root[name] for name in order[:part])
        assert abs(count["Perception"] - part / 2) <= 1
    assert order != names


def test_the_order_is_the_same_each_time_and_of_all_samples(store, data, made):
    for pick in ("random", "unsure"):
        order = sample_order(store, data, pick)
        assert order == sample_order(store, data, pick)
        assert sorted(order) == sorted(made.sample_ids)


def test_the_least_sure_sample_comes_first(store, data):
    share = unsure_share(store, data)
    order = sample_order(store, data, "unsure")
    assert share[data.sample_position[order[0]]] == share.max() > 0
    assert (share <= 1).all()
    # Sample 7 has no criteria, so there is nothing to be unsure of.
    assert share[7] == 0


def test_scores_are_asked_answer_by_answer_in_an_order_of_ones_own(store, data, made):
    view = read_sample(store, data, made.sample_ids[0])
    items = items_of(view, "scores", "Ada")
    assert len(items) == 9
    assert [item.at for item in items] == list(range(1, 10))
    assert {item.of for item in items} == {9}
    answers = [item.response_ids[0] for item in items]
    assert answers == sorted(answers, key=answers.index)
    for start in (0, 3, 6):
        here = items[start : start + 3]
        assert len({item.response_ids for item in here}) == 1
        assert tuple(item.criterion_id for item in here) == made.criterion_ids[0]
    orders = {
        tuple(item.response_ids[0] for item in items_of(view, "scores", f"person {at}"))
        for at in range(12)
    }
    assert len(orders) > 2


def test_one_model_alone_can_be_labelled(store, data, made):
    view = read_sample(store, data, made.sample_ids[0])
    items = items_of(view, "scores", "Ada", made.candidate_ids[1])
    assert len(items) == 3


def test_an_items_name_tells_nothing(store, data, made):
    view = read_sample(store, data, made.sample_ids[0])
    secret = {*made.candidate_ids, *(answer.response.id for answer in view.answers)}
    items = [*items_of(view, "scores", "Ada"), *report_items(data, "Ada")]
    assert not secret & {item.id for item in items}
    assert len({item.id for item in items}) == len(items)


def test_what_has_no_score_isnt_asked(store, data, made):
    # Sample 2's second criterion is unscored for all three; sample 7 has no criteria.
    assert len(items_of(read_sample(store, data, made.sample_ids[2]), "scores", "Ada")) == 6
    assert items_of(read_sample(store, data, made.sample_ids[7]), "scores", "Ada") == ()


def test_rankings_hold_the_answers_that_are_there(store, data, made):
    (item,) = items_of(read_sample(store, data, made.sample_ids[8]), "ranking", "Ada")
    assert len(item.response_ids) == 2  # model-c gave none


def test_criteria_are_asked_three_things_two_where_there_is_no_leaf(store, data, made):
    kinds = [
        item.kind for item in items_of(read_sample(store, data, made.sample_ids[9]), "criteria", "")
    ]
    assert Counter(kinds) == {"accuracy": 3, "necessity": 3, "mapping": 2}


def test_errors_are_asked_where_people_and_judge_are_a_point_apart(store, data, made):
    view = read_sample(store, data, made.sample_ids[0])
    items = items_of(view, "scores", "Ada")
    marks = {
        mark.checkpoint.key: mark.checkpoint.score for one in view.criteria for mark in one.marks
    }
    key, near = items[0].subject_id, items[1].subject_id
    away = 1 if marks[key] > 2 else 5
    said = standing([label("score", key, "a", away), label("score", near, "a", marks[near])])
    found = error_items(store, data, said)
    assert [item.subject_id for item in found if item.response_ids] == [key]
    # Sample 3's solution disagrees with the reference: its replay is asked about, too.
    assert [item.sample_id for item in found if not item.response_ids] == [made.sample_ids[3]]


def test_conflicts_are_for_a_third(store, data, made):
    view = read_sample(store, data, made.sample_ids[0])
    key = items_of(view, "scores", "Ada")[0].subject_id
    criterion, sample = made.criterion_ids[1][0], made.sample_ids[2]
    ids = [answer.response.id for answer in read_sample(store, data, sample).answers]
    ranks = list(zip(ids, (1, 2, 3), strict=True))
    labels = [
        label("score", key, "Ada", 1),
        label("score", key, "Bo", 5),
        label("accuracy", criterion, "Ada", 1),
        label("accuracy", criterion, "Bo", 3),
        label("ranking", sample, "Ada", ranks=ranks),
        label("ranking", sample, "Bo", ranks=list(zip(ids, (3, 2, 1), strict=True))),
        label("score", "gone", "Ada", 1),
        label("score", "gone", "Bo", 5),
    ]
    clashes: dict[object, LabelStanding] = standing(labels)
    found, own = conflict_items(store, data, clashes, "Cy")
    assert [(item.kind, item.sample_id) for item in found] == [
        ("score", made.sample_ids[0]),
        ("accuracy", made.sample_ids[1]),
        ("ranking", sample),
    ]
    assert own == 0
    assert conflict_items(store, data, clashes, "Bo") == ((), 4)


def test_a_blind_report_stands_beside_raw_answers_to_the_same_questions(data, store):
    candidates = [one.id for one in data.candidates][:2]
    found = raw_answers(store, data, candidates, "Ada")
    assert found
    given = {
        (one.sample_id, one.candidate_id): one.text
        for one in store.select(Response) if one.repeat == 0
    }  # fmt: skip
    asked = {one.question: one for one in store.select(Sample)}
    for one in found:
        sample = asked[one.question].id
        assert asked[one.question].reference
        assert one.known.endswith(asked[one.question].reference)
        assert one.texts == tuple(given[sample, name] for name in candidates)
    # The same for one person, in either order of the models; no score stands there.
    again = raw_answers(store, data, candidates[::-1], "Ada")
    assert [one.texts[::-1] for one in again] == [one.texts for one in found]
    # A question that one of them didn't answer is nobody's.
    table = data.table
    silent = table.answered & (table.model != 0)
    fewer = replace(data, table=replace(table, answered=silent))
    assert raw_answers(store, fewer, candidates, "Ada") == ()


def test_reports_name_nobody_and_hold_no_number(data, made):
    found = profiles(data)
    assert {one.candidate_id for one in found} == set(made.candidate_ids)
    for one in found:
        text = " ".join(report_text(one))
        assert "model" in text
        assert not any(name in text for name in ("model-a", "model-b", "model-c"))
        assert not any(letter.isdigit() for letter in text)
    assert [(item.at, item.of) for item in report_items(data, "Ada")] == [(1, 3), (2, 3), (3, 3)]


def test_shuffling_depends_on_person_and_place_alone():
    names = tuple("abcdef")
    assert shuffled(names, "Ada", "s1") == shuffled(reversed(names), "Ada", "s1")
    assert len({shuffled(names, "Ada", f"s{at}") for at in range(20)}) > 10
