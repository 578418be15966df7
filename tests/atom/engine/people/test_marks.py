"""People's scores are marks of their own, given and taken back with their labels."""

from __future__ import annotations

import pytest

from atom.engine.people.annotations import give, keep_labels, read_labels, take_back
from atom.engine.people.marks import person
from atom.records import Annotation, Checkpoint, Judge
from atom.views.people.annotations import annotations_csv, load_annotations
from atom.views.study_data import load_study
from tests.judged import STUDY, criterion_id, open_judged, response_id


@pytest.fixture
def store(tmp_path):
    with open_judged(tmp_path / "judged") as opened:
        yield opened


def key_of(store, number=1, place=0, judge="judge-x"):
    marks = store.select(Checkpoint)
    return next(
        one.key for one in marks
        if (one.judge_id, one.criterion_id, one.response_id)
        == (judge, criterion_id(number, place), response_id(number, "cand-a"))
    )  # fmt: skip


def marks_of(store, name):
    return {
        (one.criterion_id, one.response_id): one
        for one in store.select(Checkpoint)
        if one.judge_id == person(name).id
    }


def test_a_label_is_a_mark_of_the_person(store):
    study = load_study(store, STUDY).study
    change = give(store, study.id, "score", key_of(store), "Dora", value=4, note="nearly")
    mark = marks_of(store, "Dora")[criterion_id(1, 0), response_id(1, "cand-a")]
    assert (mark.score, mark.value, mark.raw, mark.reason) == (4, 0.75, "4", "nearly")
    assert store.get(Judge, person("Dora").id).kind == "person"
    # The person is a judge that the study can be looked through.
    data = load_study(store, STUDY, "Dora")
    assert data.judge.name == "Dora"
    assert data.table.score.tolist() == [4]
    assert "Dora" in [judge.name for judge in data.judges]

    give(store, study.id, "score", key_of(store), "Dora", value=2)
    assert [one.score for one in marks_of(store, "Dora").values()] == [2]
    take_back(store, change)
    assert marks_of(store, "Dora") == {}


def test_a_skipped_label_takes_its_mark_along(store):
    study = load_study(store, STUDY).study
    give(store, study.id, "score", key_of(store), "Dora", value=4)
    give(store, study.id, "score", key_of(store), "Dora", skipped=True)
    assert marks_of(store, "Dora") == {}


def test_two_judges_marks_of_one_thing_are_one_thing_to_a_person(store):
    study = load_study(store, STUDY).study
    for judge, value in (("judge-x", 5), ("judge-y", 3)):
        give(store, study.id, "score", key_of(store, judge=judge), "Dora", value=value)
    assert [one.score for one in marks_of(store, "Dora").values()] == [3]


@pytest.mark.slow
def test_labels_given_before_there_were_marks_come_along(store):
    study = load_study(store, STUDY).study
    old = [
        Annotation(
            id=Annotation.make_id(study.id, "score", key_of(store, number), "Dora"),
            study_id=study.id, kind="score", subject_id=key_of(store, number),
            annotator="Dora", value=number, created=f"2026-01-0{number}",
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    store.put(old)
    assert marks_of(store, "Dora") == {}
    give(store, study.id, "score", key_of(store, 4), "Dora", value=5)
    assert sorted(one.score for one in marks_of(store, "Dora").values()) == [1, 2, 3, 5]


def test_a_file_of_labels_brings_marks(store, tmp_path):
    study = load_study(store, STUDY).study
    give(store, study.id, "score", key_of(store), "Dora", value=4)
    text = annotations_csv(load_annotations(store, study.id)).replace("Dora", "Eve")
    keep_labels(store, read_labels(store, study.id, text.encode()), replace=False)
    assert [one.score for one in marks_of(store, "Eve").values()] == [4]
