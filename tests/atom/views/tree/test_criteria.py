"""Which criteria are unsound, what speaks against each, and whether weights decide the order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from atom.records import Annotation, Criterion
from atom.store import Store
from atom.views.filters import Filters
from atom.views.study_data import StudyData, load_study
from atom.views.tree.criteria import criteria_view, shaken_weights
from tests.factories import STUDY, open_small


@pytest.fixture
def store(tmp_path):
    with open_small(tmp_path) as store:
        yield store


@pytest.fixture
def data(store):
    return load_study(store, STUDY)


def alone(judge: str) -> StudyData:
    raise AssertionError(f"one judge marked it: {judge} isn't asked for")


def label(data: StudyData, criterion: str, who: str, value: float) -> Annotation:
    return Annotation(
        id=Annotation.make_id(data.study.id, "accuracy", criterion, who),
        study_id=data.study.id,
        kind="accuracy",
        subject_id=criterion,
        annotator=who,
        value=value,
        created=f"2026-01-01T00:00:0{int(value)}Z",
    )


def test_what_everybody_passes_is_told_and_leads_to_its_sample(store, data):
    # The planted marks: no criterion that counts is at one end for all three models. Make it so.
    table = data.table
    at = int(table.criterion[0])
    score = np.where(table.criterion == at, 5, table.score).astype(table.score.dtype)
    view = criteria_view(store, replace(data, table=replace(table, score=score)), Filters(), alone)
    (passed,) = (group for group in view.groups if group.kind == "passed")
    found = {row.criterion_id: row for row in passed.rows}
    row = found[table.criterion_ids[at]]
    assert (row.n, row.mean, row.why) == (3, 100.0, "100 % of 3 answers at the best mark")
    assert row.filters.criterion == row.criterion_id
    assert store.get(Criterion, row.criterion_id).sample_id == row.filters.sample
    assert row.filters.show == "all"
    assert row.question == store.get(Criterion, row.criterion_id).question
    assert row.leaf == table.leaves[int(table.leaf[table.criterion == at][0])]
    # Whatever nothing is known against is sound; each criterion counts once.
    wrong = {row.criterion_id for group in view.groups for row in group.rows}
    assert view.sound == view.criteria - len(wrong)


def test_what_people_doubt_is_told_with_their_word(store, data):
    first, second, third = data.table.criterion_ids[:3]
    store.put([
        label(data, first, "ann", 1), label(data, second, "ann", 3), label(data, second, "bob", 1),
        label(data, third, "ann", 3),
    ])  # fmt: skip
    view = criteria_view(store, data, Filters(), alone)
    (doubted,) = (group for group in view.groups if group.kind == "doubted")
    assert {row.criterion_id: row.why for row in doubted.rows} == {
        first: "people call it wrong",
        second: "people disagree: 1, 3 of 3",
    }
    assert view.labelled == 3


def test_where_two_judges_lie_apart_is_told_in_points(store, data):
    table = data.table
    at = int(table.criterion[0])
    mine = table.criterion == at
    # The other judge gives 5 where this one gives 1, and is of one mind with it elsewhere.
    ours = replace(data, table=replace(table, score=np.where(mine, 1, table.score)))
    theirs = replace(data, table=replace(table, score=np.where(mine, 5, table.score)))
    other = data.judge.model_copy(update={"id": "other", "name": "other"})
    ours = replace(ours, judges=(data.judge, other))
    view = criteria_view(store, ours, Filters(), {data.judge.id: ours, "other": theirs}.__getitem__)
    (apart,) = (group for group in view.groups if group.kind == "apart")
    assert [row.criterion_id for row in apart.rows] == [table.criterion_ids[at]]
    assert apart.rows[0].why == f"judges lie 100 points of 100 apart on {int(mine.sum())} answers"
    assert view.judges == 2


def test_weights_that_decide_nothing_keep_the_order(data):
    shaken = shaken_weights(data, Filters())
    scores = [row.score for row in shaken.rows]
    assert scores == sorted(scores, reverse=True)
    assert (shaken.draws, shaken.same_first) == (100, 1.0)
    for row in shaken.rows:
        assert row.lo <= row.score <= row.hi
    # A study without scores, or of one model, has no order.
    nobody = replace(data, table=replace(data.table, score=np.zeros_like(data.table.score)))
    assert shaken_weights(nobody, Filters()) is None


def test_a_store_without_labels_and_a_second_judge_says_so(store, data):
    assert isinstance(store, Store)
    view = criteria_view(store, data, Filters(), alone)
    assert (view.judges, view.labelled) == (1, 0)
    assert {group.kind for group in view.groups}.isdisjoint({"apart", "doubted"})
