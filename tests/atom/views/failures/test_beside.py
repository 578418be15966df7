from atom.views.failures.beside import difference, others
from atom.views.failures.sample import sample_view
from atom.views.filters import Filters
from atom.views.study_data import load_study
from tests.factories import STUDY, open_small


def view_of(store, data, model="cand-a"):
    return sample_view(store, data, Filters(sample=data.table.sample_ids[0], model=model))


def test_other_models_answers_can_stand_beside(store, data):
    view = view_of(store, data)
    there = others(store, data, view)
    assert [(one.key, one.after) for one in there] == [("cand-b", False), ("cand-c", False)]
    same = difference(view, there, "cand-b")
    assert same.shared == 1
    assert {part.kind for part in same.parts} == {"same"}
    assert difference(view, there, "cand-z") is None
    assert difference(view, there, None) is None


def test_a_later_try_stands_beside_and_its_words_are_told_apart(tmp_path):
    with open_small(tmp_path) as store:
        data = load_study(store, STUDY)
        first = view_of(store, data).answer.response
        again = first.model_copy(
            update={"id": "again", "parent_id": first.id, "arm": "guided",
                    "text": first.text.replace("1 balls", "two balls")}
        )  # fmt: skip
        store.put([again, again.model_copy(update={"id": "odd", "arm": "no such arm"})])
        view = view_of(store, load_study(store, STUDY))
        there = others(store, data, view)
        after = there[-1]
        assert len(there) == 3
        assert (after.key, after.after, after.name) == (
            "again", True, "after: Asked about failed steps",
        )  # fmt: skip
        found = difference(view, there, "again")
        assert [part.text for part in found.parts if part.kind == "gone"] == ["1"]
        assert [part.text for part in found.parts if part.kind == "new"] == ["two"]
        assert found.shared == 2 * (len(first.text) - 1) / (2 * (len(first.text) - 1) + 1 + 3)
