import math

import pytest

from atom.engine.people.slices import delete_slice, save_slice
from atom.store.reading.tags import saved_slices
from atom.store.studies import copy_study
from atom.views.failures.find import NOTHING
from atom.views.failures.page import samples_listed
from atom.views.failures.slices import (
    WHOLE,
    Side,
    Slice,
    bare,
    compare_slices,
    inside,
    slices_of,
)
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.factories import COUNT, STUDY, open_small


def part(name="x", **changes):
    find = NOTHING.but(**changes.pop("find", {}))
    return Slice(name=name, filters=Filters(find=find, **changes))


EVERYTHING = Slice(name=WHOLE, filters=Filters())
EASY = part(among=(("level", "easy"),))
HARD = part(without=(("level", "easy"),))


def test_a_slice_is_saved_replaced_copied_and_deleted(tmp_path):
    with open_small(tmp_path) as store:
        data = load_study(store, STUDY)
        study = data.study.id
        assert slices_of(store, data, "key") == ()
        filters = Filters(study="s", model="m", sample="n", among=(("level", "easy"),),
                          find=NOTHING.but(words="red", sort="spread"))  # fmt: skip
        assert bare(filters).model is None
        assert save_slice(store, study, "Reds", "q=red&among=level:easy&sort=x", "ada") is None
        (one,) = slices_of(store, data, "key")
        assert (one.name, one.who, one.filters.study) == ("Reds", "ada", "key")
        assert one.filters.but(study="") == bare(filters)
        assert save_slice(store, study, "Reds", "q=blue", "bob").label.startswith("q=red")
        (one,) = slices_of(store, data, "key")
        assert one.filters.find.words == "blue"
        copy = copy_study(store, store, study, "A copy")
        assert [one.subject_id for one in saved_slices(store, copy.id)] == ["Reds"]
        delete_slice(store, study, "Reds")
        assert slices_of(store, data, "key") == ()
        assert len(saved_slices(store, copy.id)) == 1


def test_a_hostile_slice_is_read_as_far_as_it_can_be(tmp_path):
    with open_small(tmp_path) as store:
        data = load_study(store, STUDY)
        save_slice(store, data.study.id, "<b>", "q=%00'%3B--&sort=rm&node=&x=" + "y" * 9000, "ada")
        (one,) = slices_of(store, data, "key")
        assert one.filters.find.words == "\x00';--"
        assert inside(store, data, one).samples(data) == 0


@pytest.mark.parametrize(
    ("one", "by_results"),
    [
        (EASY, False),
        (part(node=COUNT, find={"words": "red", "places": ("question", "criterion")}), False),
        (part(find={"words": "red"}), True),
        (part(find={"fails": ("cand-a",)}), True),
        (part(find={"stateless": ("silent",)}), True),
        (part(find={"told": ("flagged",)}), True),
        (part(outcome="wrong"), True),
        (part(among=(("tagged", "look again"),)), True),
        (part(without=(("tagged", "look again"),)), True),
    ],
)
def test_a_slice_chosen_by_results_is_known(one, by_results):
    assert one.by_results is by_results


def test_what_a_slice_holds_is_what_its_list_looks_at(store, data):
    for one in (EASY, HARD, part(node=COUNT), part(find={"words": "says 3"}),
                part(find={"fails": ("cand-b",)}), part(find={"outside": (COUNT,)})):  # fmt: skip
        there = inside(store, data, one)
        listed = samples_listed(data, one.filters.but(show="all"), store)
        kept = [at for at in listed.tolist() if not data.table.quarantined[at]]
        assert there.samples(data) == len(kept)


def test_two_slices_of_one_model_by_hand(store, data):
    found = compare_slices(store, data, Side(part=EASY, model=2), Side(part=HARD, model=2))
    # C's sample scores: easy 1.0, 4.4, 3.0 of 5: 0, .85, .5; hard 1.8, 2.0: .2, .25.
    assert found.samples == (3, 2)
    assert found.whole.apart.first == pytest.approx((0 + 0.85 + 0.5) / 3)
    assert found.whole.apart.second == pytest.approx(0.225)
    assert found.whole.verdict == "thin"
    assert found.nodes == ()  # under five checkpoints on a side


def test_one_slice_of_two_models_is_paired(store, data):
    found = compare_slices(
        store, data, Side(part=EVERYTHING, model=0), Side(part=EVERYTHING, model=2)
    )
    assert found.whole.apart.shared == 5
    assert found.whole.apart.df <= 4
    assert found.whole.apart.gap > 0
    assert {one.path for one in found.nodes} >= {("Perception",), COUNT}
    counting = next(one for one in found.nodes if one.path == COUNT)
    # A 5 5 5 4 5, C 1 2 3 1 2, on 0-1: means .95 and .2.
    assert counting.apart.gap == pytest.approx(0.75)
    assert counting.verdict == "better"
    assert counting.adjusted >= counting.apart.p


def test_a_slice_chosen_by_results_is_shown_and_not_tested(store, data):
    wrong = part(outcome="wrong")
    found = compare_slices(store, data, Side(part=wrong, model=2), Side(part=EVERYTHING, model=2))
    assert found.by_results
    assert math.isfinite(found.whole.apart.gap)
    assert all(math.isnan(one.adjusted) for one in (found.whole, *found.nodes))


def test_an_outcome_study_is_sliced_by_its_answers(store, imported):
    geometry = part(among=(("skills", "geometry"),))
    found = compare_slices(
        store, imported, Side(part=geometry, model=0), Side(part=EVERYTHING, model=0)
    )
    assert found.nodes == ()
    assert found.samples[0] == 3
