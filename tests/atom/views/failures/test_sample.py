from atom.records import Sample
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from tests.factories import COUNT, HOSTILE


def view(store, data, number, **filters):
    return sample_view(store, data, Filters(sample=Sample.make_id("balls", str(number)), **filters))


def test_the_whole_chain_of_a_sample(store, data):
    found = view(store, data, 0, model="cand-b")
    assert [c.number for c in found.criteria] == [1, 2, 3]
    assert found.criteria[0].leaf == COUNT
    assert found.criteria[2].stated_weight == 4.0
    assert [m.label for m in found.criteria[1].marks] == ["5", "2", "1"]
    assert found.answer.candidate.id == "cand-b"
    assert found.answer.score == (2 * 5 + 3 * 2 + 5 * 1) / 10
    assert found.mark.checkpoint.score == 5
    assert found.mark.checkpoint.call_id in found.calls
    start, end = found.mark.checkpoint.span
    assert found.answer.response.text[start:end] == found.mark.checkpoint.quote
    assert found.replay.steps[0].regions
    assert not found.quarantined


def test_the_chosen_criterion_is_marked_and_an_unknown_one_means_the_first(store, data):
    chosen = view(store, data, 0).criteria[2].criterion.id
    assert view(store, data, 0, criterion=chosen).criterion.number == 3
    assert view(store, data, 0, criterion="nothing").criterion.number == 1


def test_states_have_their_own_marks(store, data):
    assert [m.label for m in view(store, data, 2).criteria[1].marks] == ["5", "∅", "3"]
    assert [m.label for m in view(store, data, 3).criteria[2].marks] == ["5", "!", "2"]
    assert [m.label for m in view(store, data, 4).criteria[1].marks] == ["5", "…", "2"]


def test_missing_pictures_and_quarantine_are_told(store, data):
    assert [slot.name for slot in view(store, data, 4).missing] == ["lost.png"]
    assert view(store, data, 5).quarantined
    assert len(view(store, data, 2).sample.pictures) == 2


def test_hostile_text_is_handed_on_as_it_is(store, data):
    assert view(store, data, 3).sample.question == HOSTILE


def test_an_imported_sample_has_answers_and_no_criteria(store, imported):
    found = sample_view(store, imported, Filters(sample="imp-0"))
    assert found.criteria == ()
    assert found.mark is None
    assert found.answers[0].outcomes[0].how == "imported"


def test_a_sample_of_another_study_is_none(store, data):
    assert sample_view(store, data, Filters(sample="imp-0")) is None
    assert sample_view(store, data, Filters()) is None
