import io

import pytest
from PIL import Image

from atom.errors import UsageError
from atom.records import (
    Annotation,
    Call,
    Candidate,
    Judge,
    Outcome,
    PictureSlot,
    Preference,
    Response,
    Sample,
    Sampling,
    Study,
    StudySample,
    Verdict,
)
from atom.stages import verdicts
from atom.store import (
    Store,
    check_store,
    copy_study,
    count_study,
    delete_study,
    find_study,
    list_studies,
    rename_study,
    study_candidates,
    study_places,
)
from tests.factories import add_to_study


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "a") as opened:
        out = io.BytesIO()
        Image.new("RGB", (8, 8), "red").save(out, "PNG")
        picture = opened.add_picture(out.getvalue())
        samples = [
            Sample(
                id=f"s{n}", dataset="d", source_id=str(n), question="?",
                pictures=(PictureSlot(picture_id=picture.id),),
            )
            for n in range(3)
        ]  # fmt: skip
        opened.put(samples)
        opened.put(
            [Candidate(id="m", name="m"), Candidate(id="k", name="k"), Judge(id="j", name="j")]
        )
        opened.put(
            [Call(id="call", request_hash="h", task="answer", endpoint="e", model="m", prompt="p")]
        )
        opened.put(
            Response(
                id=f"r{n}", sample_id=f"s{n}", candidate_id="m", prompt="imported", call_id="call"
            )
            for n in range(3)
        )
        opened.put([Outcome(response_id="r0", how="imported", value=1.0)])
        opened.put([Study(id=Study.make_id("one"), name="one", judge_id="j")])
        with opened.write() as writer:
            add_to_study(writer, Study.make_id("one"), ["s2", "s0"], ["k", "m"], first_position=0)
        yield opened


def test_a_study_is_a_selection_in_its_own_order(store):
    study = find_study(store, "one")
    assert [place.sample_id for place in study_places(store, study.id)] == ["s2", "s0"]
    assert [candidate.id for candidate in study_candidates(store, study.id)] == ["k", "m"]
    counts = count_study(store, study.id)
    assert (counts.samples, counts.candidates, counts.responses) == (2, 2, 2)


def test_an_unknown_study_is_answered_with_those_that_exist(store):
    with pytest.raises(UsageError, match="no study 'two'; studies in this store: 'one'"):
        find_study(store, "two")


def test_a_renamed_study_keeps_its_id(store):
    study = find_study(store, "one")
    assert rename_study(store, study.id, " first ").id == study.id
    assert [s.name for s in list_studies(store)] == ["first"]
    with pytest.raises(UsageError, match="is empty"):
        rename_study(store, study.id, " ")


def test_a_copy_in_the_same_store_shares_records_and_has_its_own_places(store):
    copy = copy_study(store, store, "one", "two")
    assert copy.copied_from == Study.make_id("one")
    delete_study(store, "one")
    assert len(study_places(store, copy.id)) == 2
    assert len(store.select(Sample)) == 3
    with pytest.raises(UsageError, match="'two' is taken"):
        copy_study(store, store, "two", "two")


def test_a_copy_into_another_store_brings_all_it_selects_and_nothing_else(store, tmp_path):
    with Store.open(tmp_path / "b") as other:
        copy = copy_study(store, other, "one", "mine", created="2026-01-01T00:00:00Z")
        assert check_store(other).problems == ()
        assert {s.id for s in other.select(Sample)} == {"s0", "s2"}
        assert {r.id for r in other.select(Response)} == {"r0", "r2"}
        assert other.get(Call, "call") is not None
        assert other.get(Outcome, "r0", "imported", "") is not None
        assert [place.sample_id for place in study_places(other, copy.id)] == ["s2", "s0"]
        assert other.get(StudySample, copy.id, "s1") is None


def test_a_name_freed_by_renaming_can_be_used_again(store):
    rename_study(store, "one", "first")
    copy = copy_study(store, store, "first", "one")
    assert copy.id != find_study(store, "first").id


def test_a_copy_takes_the_votes_between_its_answers_along(store, tmp_path):
    study = find_study(store, "one")
    seated = [candidate.id for candidate in study_candidates(store, study.id)]
    assert "m" in seated
    first = store.select(Response)[0]
    other = first.model_copy(update={"id": "r0again", "repeat": 1})
    stranger = first.model_copy(update={"id": "elsewhere", "candidate_id": "nobody"})
    store.put([other, stranger])
    ids = {"sample_id": first.sample_id, "response_a": first.id, "verdict": "a"}
    store.put(
        [
            Preference(id="inside", response_b=other.id, **ids),
            Preference(id="outside", response_b=stranger.id, **ids),
        ]
    )
    with Store.open(tmp_path / "b") as target:
        copy_study(store, target, study.id, "copy")
        assert [vote.id for vote in target.select(Preference)] == ["inside"]
    delete_study(store, study.id)
    assert len(store.select(Preference)) == 2


def test_labels_and_verdicts_go_with_their_study(store, tmp_path):
    study = find_study(store, "one")
    label = Annotation(
        id=Annotation.make_id(study.id, "score", "key", "ann"),
        study_id=study.id, kind="score", subject_id="key", annotator="ann", value=4,
    )  # fmt: skip
    said = verdicts.blank(study.id, "s0", "pointwise/r0", "judge", "pointwise/1", Sampling())
    said = said.model_copy(update={"state": "scored", "value": 7.0, "call_id": "call"})
    store.put([label, said])
    with Store.open(tmp_path / "b") as target:
        copy = copy_study(store, target, study.id, "copy")
        mine = target.select(Annotation)[0]
        assert mine.value == 4
        assert mine.study_id == copy.id
        assert mine.id == Annotation.make_id(copy.id, "score", "key", "ann")
        again = verdicts.blank(copy.id, "s0", "pointwise/r0", "judge", "pointwise/1", Sampling())
        assert target.get(Verdict, again.key).value == 7
        assert target.get(Call, "call") is not None
        delete_study(target, copy.id)
        assert target.select(Annotation) == target.select(Verdict) == []
    assert store.get(Annotation, label.id) == label
