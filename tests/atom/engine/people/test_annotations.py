"""Labels written: replaced, taken back, skipped, settled, read from a file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import true

from atom.engine.people.annotations import (
    LabelChange,
    annotator_name,
    give,
    keep_labels,
    read_labels,
    take_back,
)
from atom.errors import FormatError, ReadOnlyError, UsageError
from atom.records import Annotation, RankedAnswer
from atom.store import Store
from atom.views.people.annotations import annotations_csv, load_annotations
from tests.app.screen_store import make_store


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a judged study."""
    return make_store(tmp_path_factory.mktemp("labels"))


@pytest.fixture
def store(made):
    """Return its store, without labels."""
    with Store.open(made.folder) as store:
        yield store
        with store.write() as writer:
            writer.delete(Annotation, true())


@pytest.fixture
def clock():
    """Return a clock that goes on by a second at each look."""
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]

    def look() -> datetime:
        moment[0] += timedelta(seconds=1)
        return moment[0]

    return look


def test_a_label_replaces_the_same_persons_and_nobody_elses(store, made, clock):
    name = made.criterion_ids[0][0]
    for who, value in (("Ada", 1), ("Bo", 3), ("Ada", 2)):
        give(store, made.study.id, "accuracy", name, who, value=value, clock=clock)
    found = load_annotations(store, made.study.id, "accuracy")
    assert [(one.annotator, one.value) for one in found] == [("Bo", 3.0), ("Ada", 2.0)]


def test_undo_restores_what_stood_there_before(store, made, clock):
    name = made.criterion_ids[0][0]
    first = give(store, made.study.id, "accuracy", name, "Ada", value=1, clock=clock)
    second = give(store, made.study.id, "accuracy", name, "Ada", value=3, clock=clock)
    assert second.before == first.now
    take_back(store, second)
    assert load_annotations(store, made.study.id) == (first.now,)
    take_back(store, first)
    assert load_annotations(store, made.study.id) == ()


def test_a_skip_is_kept_and_says_nothing(store, made):
    change = give(store, made.study.id, "score", "k", " Ada \n", skipped=True)
    assert change.now.state == "skipped"
    assert change.now.value is None
    assert change.now.annotator == "Ada"


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("score", {"value": 6}),
        ("score", {"value": 2.5}),
        ("score", {}),
        ("score", {"value": float("nan")}),
        ("accuracy", {"value": 4}),
        ("ranking", {"ranks": [RankedAnswer(response_id="a", rank=1)]}),
        ("mapping", {"label": " "}),
        ("error_type", {}),
    ],
)
def test_a_label_that_its_kind_doesnt_know_is_refused(store, made, kind, more):
    with pytest.raises(UsageError):
        give(store, made.study.id, kind, "x", "Ada", **more)
    assert load_annotations(store, made.study.id) == ()


@pytest.mark.parametrize("name", ["", "  ", "\n", "x" * 61])
def test_a_name_that_cant_stand_on_a_label(name):
    with pytest.raises(UsageError):
        annotator_name(name)


def test_a_sealed_study_takes_no_label(made):
    with Store.open(made.folder, read_only=True) as sealed, pytest.raises(ReadOnlyError):
        give(sealed, made.study.id, "accuracy", made.criterion_ids[0][0], "Ada", value=1)


def label_everything(store, made, clock):
    study, sample, criterion = made.study.id, made.sample_ids[0], made.criterion_ids[0][0]
    ranks = [RankedAnswer(response_id=name, rank=1) for name in ("r-1", "r-2")]
    give(store, study, "ranking", sample, "=Ada", ranks=ranks, shown=["r-2", "r-1"], clock=clock)
    give(store, study, "accuracy", criterion, "Bo, the 2nd", value=2, clock=clock)
    give(store, study, "mapping", criterion, "Ada", label='Perception › "odd", name', clock=clock)
    give(store, study, "necessity", criterion, "Cy", value=1, adjudicates=True, clock=clock)
    give(store, study, "report", made.candidate_ids[0], "Ada", skipped=True, clock=clock)


def test_a_file_of_labels_comes_back_as_it_was(store, made, clock):
    label_everything(store, made, clock)
    before = load_annotations(store, made.study.id)
    data = annotations_csv(before).encode()
    same = read_labels(store, made.study.id, data)
    assert (len(same.new), len(same.changed), same.same, same.skipped) == (0, 0, 5, ())
    for label in before:
        take_back(store, LabelChange(now=label, before=None))
    found = read_labels(store, made.study.id, data)
    assert found.by_kind == {
        "accuracy": 1, "mapping": 1, "necessity": 1, "ranking": 1, "report": 1,
    }  # fmt: skip
    assert load_annotations(store, made.study.id) == ()
    assert keep_labels(store, found, replace=False) == 5
    assert load_annotations(store, made.study.id) == before


def test_what_differs_replaces_only_when_asked(store, made, clock):
    label_everything(store, made, clock)
    text = annotations_csv(load_annotations(store, made.study.id)).replace(",2.0,", ",3.0,")
    found = read_labels(store, made.study.id, text.encode())
    assert (len(found.changed), found.same) == (1, 4)
    assert keep_labels(store, found, replace=False) == 0
    assert keep_labels(store, found, replace=True) == 1
    values = [one.value for one in load_annotations(store, made.study.id, "accuracy")]
    assert values == [3.0]


def test_rows_that_cant_be_used_are_named_and_the_others_kept(store, made):
    name = made.criterion_ids[0][0]
    rows = [
        "kind,subject_id,annotator,value,ranks",
        f"accuracy,{name},Ada,3,",
        f"accuracy,{name},Ada,2,",
        f"accuracy,{name},Bo,9,",
        f"accuracy,{name},Bo,three,",
        "taste,x,Ada,1,",
        "accuracy,elsewhere,Ada,1,",
        f"accuracy,{name},,1,",
        "",
        f'ranking,{made.sample_ids[0]},Ada,,"[{{""a"": 1}}]"',
        f"ranking,{made.sample_ids[0]},Ada,,[oops",
        f"score,{name}",
    ]
    found = read_labels(store, made.study.id, "\n".join(rows).encode("utf-8-sig"))
    assert [one.value for one in found.new] == [2.0]
    assert [row for row, _ in found.skipped] == [1, 3, 4, 5, 6, 7, 9, 10, 11]
    assert dict(found.skipped)[6] == "what it labels isn't in this study"


def test_a_row_that_ends_before_its_kind_is_named(store, made):
    found = read_labels(store, made.study.id, b"subject_id,annotator,kind\nx,Ada\n")
    assert found.skipped == ((1, "unknown kind ''"),)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00k", b"a,b\n1,2\n", b"\x00\x01\x02"])
def test_what_is_no_file_of_labels_is_refused_in_words(store, made, data):
    with pytest.raises(FormatError) as error:
        read_labels(store, made.study.id, data)
    assert "file" in error.value.message
