import pytest

from atom.engine.people import remarks, tags
from atom.engine.people.annotations import give
from atom.engine.people.slices import save_slice
from atom.errors import UsageError
from atom.exports.base import ExportSource
from atom.exports.whole_samples import whole_samples
from atom.records import Annotation, Checkpoint, Tag
from atom.reports.profile import known_facet
from atom.store import table
from atom.store.labels import labels_of
from atom.store.reading.marks import subjects_of_marks
from atom.store.reading.tags import tags_of_samples
from atom.store.studies import copy_study
from atom.store.together.revisions import held
from atom.views.facets import data_facets
from atom.views.failures.find import NOTHING
from atom.views.failures.page import samples_listed
from atom.views.failures.remarks import said_of, said_of_keys
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters, answers_kept
from atom.views.fingerprints.shape import shape
from atom.views.overview.page import overview
from atom.views.people.annotations import agreement_of, load_annotations
from atom.views.people.score_labels import load_labels
from atom.views.study_data import load_study
from tests.factories import STUDY, open_small


@pytest.fixture
def small(tmp_path):
    with open_small(tmp_path) as store:
        yield store


@pytest.fixture
def key(small):
    return small.select(Checkpoint)[0].key


def study_of(store):
    return load_study(store, STUDY).study.id


def test_a_score_is_a_label_and_a_mark_that_agreement_counts(small, key):
    study = study_of(small)
    remarks.score(small, study, key, "ada", 2)
    remarks.score(small, study, key, "bob", 2)
    labels = load_annotations(small, study)
    assert agreement_of(labels, "score").both == 1
    assert agreement_of(labels, "score").exact == 1
    assert {one.judge_id for one in small.select(Checkpoint)} >= {"person:ada", "person:bob"}
    assert said_of_keys(small, study, [key])[key].scores == [("ada", 2, False), ("bob", 2, False)]


def test_one_more_persons_first_score_is_one_result(small, key):
    study = study_of(small)
    for name in ("ada", "bob"):
        remarks.score(small, study, key, name, 2)
    before = small.mark(study).results
    step = remarks.score(small, study, key, "carol", 3)
    assert (step.results, small.mark(study).results - before) == (1, 1)
    assert remarks.flag(small, study, key, "carol").results == 0
    assert remarks.undo(small, step).results == 1


def test_a_score_given_among_failures_never_corrects_a_mean(small, key):
    data = load_study(small, STUDY)
    remarks.score(small, data.study.id, key, "ada", 2)
    found = load_labels(small, data)
    assert (len(found.row), found.picked) == (0, 1)


def test_every_step_can_be_undone(small, key):
    study = study_of(small)
    first = remarks.score(small, study, key, "ada", 2)
    second = remarks.score(small, study, key, "ada", 5)
    flag = remarks.flag(small, study, key, "ada")
    unflag = remarks.flag(small, study, key, "ada")
    note = remarks.note(small, study, key, "ada", " <b>odd</b> ")
    emptied = remarks.note(small, study, key, "ada", "  ")
    assert remarks.note(small, study, key, "ada", "") is None
    said = said_of_keys(small, study, [key])[key]
    assert (said.scores, said.flags, said.notes) == ([("ada", 5, False)], [], [])
    remarks.undo(small, emptied)
    remarks.undo(small, note)
    remarks.undo(small, unflag)
    assert said_of_keys(small, study, [key])[key].flags == ["ada"]
    remarks.undo(small, flag)
    remarks.undo(small, second)
    said = said_of_keys(small, study, [key])[key]
    assert (said.scores, said.flags, said.notes) == ([("ada", 2, False)], [], [])
    remarks.undo(small, first)
    assert said_of_keys(small, study, [key]) == {}
    assert not [one for one in small.select(Checkpoint) if one.judge_id == "person:ada"]


def test_no_screen_reads_its_study_anew_at_a_key_press(small, key):
    study = study_of(small)
    seen = small.mark(study)
    flagged = remarks.flag(small, study, key, "ada")
    remarks.note(small, study, key, "ada", "look")
    save_slice(small, study, "mine", "q=red", "ada")
    remarks.undo(small, flagged)
    assert small.mark(study) == seen
    scored = remarks.score(small, study, key, "ada", 2)
    remarks.undo(small, scored)
    # They are offered as new results, and what is looked at stays.
    assert small.mark(study).results == seen.results + 2
    assert held(seen, small.mark(study)) == seen


def test_flags_notes_and_slices_are_nobodys_answers(small, key):
    study = study_of(small)
    remarks.flag(small, study, key, "ada")
    remarks.note(small, study, key, "ada", "look")
    assert labels_of(small, study) == []
    view = sample_view(small, load_study(small, STUDY), Filters(
        sample=load_study(small, STUDY).table.sample_ids[0]))  # fmt: skip
    assert set(said_of(small, study, view)) <= {key}


def test_what_people_flagged_or_noted_on_is_a_list(small, key):
    data = load_study(small, STUDY)
    about = subjects_of_marks(small, [key])[key]
    remarks.flag(small, data.study.id, key, "ada")

    def listed(**find):
        return samples_listed(data, Filters(show="all", find=NOTHING.but(**find)), small).tolist()

    sample = data.table.sample[data.table.response_ids.index(about[0])]
    assert listed(told=("flagged",)) == [sample]
    assert listed(told=("noted",)) == []
    assert listed(told=("noted", "flagged")) == [sample]
    assert listed(told=("flagged",), words="no such words") == []
    remarks.flag(small, data.study.id, key, "ada")
    assert listed(told=("flagged",)) == []


def test_what_was_said_goes_with_a_copy(small, key):
    study = study_of(small)
    remarks.flag(small, study, key, "ada")
    remarks.note(small, study, key, "ada", "look")
    copy = copy_study(small, small, study, "A copy")
    said = said_of_keys(small, copy.id, [key])[key]
    assert (said.flags, said.notes) == (["ada"], [("ada", "look")])


def test_a_score_given_blind_is_never_replaced_by_one_in_sight(small, key):
    study = study_of(small)
    give(small, study, "score", key, "ada", value=4)
    with pytest.raises(UsageError, match="4 on Human check"):
        remarks.score(small, study, key, "ada", 2)
    remarks.score(small, study, key, "bob", 2)
    assert said_of_keys(small, study, [key])[key].scores == [("ada", 4, True), ("bob", 2, False)]
    assert len(load_labels(small, load_study(small, STUDY)).row) == 1


@pytest.mark.parametrize("value", [0, 6, -1])
def test_only_scores_of_the_scale_are_taken(small, key, value):
    with pytest.raises(UsageError):
        remarks.score(small, study_of(small), key, "ada", value)


def test_a_note_has_an_end(small, key):
    with pytest.raises(UsageError, match="2,000"):
        remarks.note(small, study_of(small), key, "ada", "x" * 2001)
    assert small.select(Annotation) == []


# --- tags -----------------------------------------------------------------------------------------


def test_a_tag_becomes_a_filter_and_is_undone(small):
    data = load_study(small, STUDY)
    some = data.table.sample_ids[:3]
    first = tags.add_tag(small, some[:1], "look again", "bob")
    done = tags.add_tag(small, some, " look   again ", "ada")
    assert [len(one.added) for one in (first, done)] == [1, 2]
    tagged = load_study(small, STUDY)
    assert tagged.table.facets["tagged"].values == ("look again",)
    # Three models answered each.
    assert answers_kept(tagged, Filters(tags=(("tagged", "look again"),))).sum() == 9
    assert answers_kept(tagged, Filters(without=(("tagged", "look again"),))).sum() == 6
    tags.undo_tag(small, done)
    assert [one.source for one in tags_of_samples(small, some)] == ["person:bob"]
    gone = tags.remove_tag(small, some, "look again")
    assert len(gone.removed) == 1
    assert "tagged" not in load_study(small, STUDY).table.facets
    tags.undo_tag(small, gone)
    assert len(tags_of_samples(small, some)) == 1


def test_nothing_is_tested_by_a_tag(small):
    data = load_study(small, STUDY)
    tags.add_tag(small, data.table.sample_ids[:3], "bad", "ada")
    tags.add_tag(small, data.table.sample_ids[3:], "good", "ada")
    tagged = load_study(small, STUDY)
    assert "tagged" not in data_facets(tagged.table.facets)
    for facet in ("tagged", None):
        assert "tagged" not in overview(tagged, Filters(), facet=facet).facets
        assert shape(tagged, Filters(), facet=facet).facet != "tagged"
    with pytest.raises(UsageError, match="no labels 'tagged'"):
        known_facet(tagged, "tagged")


def test_a_name_that_is_missing_is_asked_for(small):
    with pytest.raises(UsageError, match="give the tag a name first"):
        tags.add_tag(small, [], " ", "ada")
    with pytest.raises(UsageError, match="give the slice a name first"):
        save_slice(small, study_of(small), "", "q=x", "ada")


def test_a_tag_stands_in_what_is_exported(small):
    tags.add_tag(small, load_study(small, STUDY).table.sample_ids[:1], "=look, again", "ada")
    tagged = [
        whole
        for whole in whole_samples(ExportSource(small, study_of(small)))
        if ("tagged", "=look, again") in whole.tags
    ]
    assert len(tagged) == 1


def test_what_files_say_is_never_removed(small):
    sample = load_study(small, STUDY).table.sample_ids[0]
    small.put([Tag(subject="sample", subject_id=sample, source="file", facet="tagged", value="x")])
    assert tags.remove_tag(small, [sample], "x").removed == ()
    assert len(small.select(Tag, table(Tag).c.facet == "tagged")) == 1


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\x00b", "a\u202eb"])
def test_a_tag_has_a_name(small, name):
    with pytest.raises(UsageError):
        tags.add_tag(small, load_study(small, STUDY).table.sample_ids, name, "ada")


def test_many_samples_are_tagged_at_once(small):
    ids = [f"sample-{number}" for number in range(1500)]
    done = tags.add_tag(small, ids, "many", "ada")
    assert len(done.added) == 1500
    assert len(tags.add_tag(small, ids, "many", "ada").added) == 0
    tags.undo_tag(small, done)
    assert tags_of_samples(small, ids) == []


def test_a_hostile_tag_is_a_text(small):
    ids = load_study(small, STUDY).table.sample_ids
    name = "'; DROP TABLE tags; -- %_"
    tags.add_tag(small, ids[:1], name, "ada")
    assert tags.remove_tag(small, ids, "%").removed == ()
    assert len(tags.remove_tag(small, ids, name).removed) == 1
