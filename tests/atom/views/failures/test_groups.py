from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from atom.analysis.reasons.groups import GroupCountTrial
from atom.display import writers
from atom.probes.errors import embed
from atom.records.grouped import GroupingChoice, GroupName
from atom.store import Store, list_studies
from atom.views.failures import grouping, words
from atom.views.failures.find import NOTHING
from atom.views.failures.group_tables import group_table, groups_csv
from atom.views.failures.grouping import Group, Grouping, grouping_of, is_grouped
from atom.views.failures.groups import FailureGroups, failure_groups, opened
from atom.views.failures.page import failures, samples_listed
from atom.views.failures.slices import Slice, inside
from atom.views.filters import Filters
from atom.views.study_data import load_study

DEMO = Path(__file__).parents[4] / "data" / "demo"


@pytest.fixture(scope="module")
def demo():
    with Store.open(DEMO, read_only=True) as store:
        yield store, load_study(store, list_studies(store)[0].id)


@pytest.mark.slow
def test_the_kinds_of_the_probe_world_are_found_again(demo):
    store, data = demo
    found = grouping_of(store, data)
    table, rows = data.table, found.rows
    # What the probe judge marks, not what it writes: far misses are 1s, steps without a result are
    # 2s, what isn't said is not addressed, what follows from before is carried.
    planted = table.score[rows] * 4 + table.addressed[rows] * 2 + table.carried[rows]
    assert adjusted_rand_score(planted, found.code) > 0.95
    assert [one.kind for one in found.groups] == [
        "no result", "wrong value", "carried", "omission", "omission",
    ]  # fmt: skip
    assert [one.key for one in found.groups][3:] == ["omission", "omission-2"]
    shuffled = np.random.default_rng(0).permutation(planted)
    assert abs(adjusted_rand_score(shuffled, found.code)) < 0.02


@pytest.mark.slow
def test_a_group_opens_as_a_list_and_as_a_slice(demo):
    store, data = demo
    view = failure_groups(store, data, Filters())
    assert is_grouped(store, data)
    row = view.rows[2]
    filters = opened(Filters(), row.group)
    assert Filters.from_query(filters.to_query()) == filters
    listed = failures(store, data, filters)
    assert (listed.total, listed.checkpoints) == (row.samples, row.n)
    one = Slice(name="x", filters=filters)
    assert one.by_results
    assert inside(store, data, one).rows.sum() == row.n
    gone = Filters(find=NOTHING.but(kind="no-such-group"))
    assert len(samples_listed(data, gone, store)) == 0


@pytest.mark.slow
def test_what_is_searched_for_is_counted_as_the_list_counts_it(demo):
    store, data = demo
    whole = failure_groups(store, data, Filters())
    model = data.candidates[1].id
    for find in (NOTHING.but(words="needle"), NOTHING.but(passes=(model,))):
        sought = Filters(find=find)
        view = failure_groups(store, data, sought)
        assert 0 < view.n < whole.n
        assert view.n == failures(store, data, sought).checkpoints
        row = view.rows[0]
        opened_list = failures(store, data, row.filters)
        assert (opened_list.total, opened_list.checkpoints) == (row.samples, row.n)
    none = failure_groups(store, data, Filters(find=NOTHING.but(words="no such word")))
    assert none.n == 0


@pytest.mark.slow
def test_filters_choose_what_is_counted_and_never_the_groups(demo):
    store, data = demo
    whole = failure_groups(store, data, Filters())
    model = data.candidates[1].id
    mine = failure_groups(store, data, Filters(model=model))
    assert [row.group for row in mine.rows] == [row.group for row in whole.rows]
    assert mine.n == sum(row.by_model[1] for row in whole.rows)
    assert (mine.signature.count == whole.signature.count).all()
    assert sum(row.n for row in whole.rows) + whole.without == whole.n
    assert sum(row.lost_share for row in whole.rows) == pytest.approx(1)
    root = failure_groups(store, data, Filters(root="Perception"))
    assert 0 < root.n < whole.n
    for row in whole.rows:
        first = row.examples[0]
        assert first.reason
        assert first.filters.find.kind == row.group.key
        assert len({one.model for one in row.examples}) == len(row.examples)
    table = group_table(whole)
    shown, held = writers.lines(table)[1], table.documents[0]
    assert shown.startswith("No result")
    ends = f"({100 * held['lo']:.1f}–{100 * held['hi']:.1f})"
    assert f"{100 * held['share']:.1f} {ends}" in shown
    assert (held["key"], held["failures"]) == ("no-result", whole.rows[0].n)
    text = groups_csv(whole)
    assert text.count("\n") == 1 + len(whole.rows) * len(whole.models)
    # The bundled study has something to say: model-b's failures lack a result, surely.
    told = [words.stands_out(whole, m, g) for m, g in whole.standing_out]
    assert told[0].startswith("No result makes up more of model-b’s failures")


def test_a_small_study_says_that_there_is_too_little(store, data):
    view = failure_groups(store, data, Filters())
    assert (view.none, view.rows, view.signature, view.standing_out) == ("few", (), None, ())
    assert groups_csv(view).count("\n") == 1
    assert "Too few" in words.NONE_WORDS[view.none]
    assert words.chosen_words(view) == ""


def test_a_study_without_marks_has_no_groups(store, imported):
    assert failure_groups(store, imported, Filters()).none == "few"


def test_loose_groups_are_called_loose():
    tried = GroupCountTrial(k=2, silhouette=0.3, chance=0.1, stability=0.4)
    nothing = np.zeros(0, dtype=np.int64)
    view = FailureGroups(rows=(), n=0, without=0, models=(), signature=None, none=None,
                         chosen=tried,
                         grouping=Grouping(rows=nothing, code=nothing, groups=()))  # fmt: skip
    assert "The groups are loose" in words.chosen_words(view)


def test_a_group_holds_its_checkpoints():
    group = Group(key="omission", name="Omission", kind="omission", terms=())
    one = Grouping(rows=np.array([1, 4, 5]), code=np.array([0, -1, 0]), groups=(group,))
    assert one.holding("omission", 7).nonzero()[0].tolist() == [1, 5]
    assert one.holding("format", 7) is None


@pytest.mark.slow
def test_embeddings_and_a_judges_names_stand_in_where_they_were_chosen(demo, monkeypatch):
    store, data = demo
    plain = grouping_of(store, data)
    by = GroupingChoice(endpoint="vectors", model="m", at="now", synthetic=True)
    monkeypatch.setattr(grouping, "grouped_by", lambda *of: by)
    monkeypatch.setattr(grouping, "vectors_of", lambda store, model, texts: {
        text: np.array(embed(text)) for text in texts})  # fmt: skip
    found = grouping_of(store, data)
    assert found.by_vectors
    assert all(one.key.endswith(grouping.BY_VECTORS) for one in found.groups)
    assert plain.holding(found.groups[0].key, len(data.table.response)) is None
    # Kinds of the probe world, by its own words: what is carried is told from what isn't.
    assert adjusted_rand_score(plain.code, found.code) > 0.8
    name = GroupName(key=found.groups[0].key, kind="format", name="<b>Stops</b>", says="It stops.")
    by = by.model_copy(update={"names": (name,), "named_by": "j", "named": found.identity})
    view = failure_groups(store, data, Filters())
    first = view.rows[0].group
    assert (first.name, first.kind, first.says) == ("<b>Stops</b>", "format", "It stops.")
    assert view.rows[1].group.name == found.groups[1].name
    assert "synthetic embeddings, by m (vectors). Named by the judge j" in words.made_words(view)
    by = by.model_copy(update={"named": "other groups"})
    assert grouping_of(store, data).groups == found.groups
    assert "groups that have changed" in words.made_words(failure_groups(store, data, Filters()))


@pytest.mark.slow
def test_words_are_used_where_an_embedding_is_missing(demo, monkeypatch):
    store, data = demo
    by = GroupingChoice(endpoint="vectors", model="another", at="now")
    monkeypatch.setattr(grouping, "grouped_by", lambda *of: by)
    view = failure_groups(store, data, Filters())
    assert (view.grouping.by_vectors, view.grouping.missing) == (False, 28)
    assert "words (TF-IDF), offline" in words.made_words(view)
    assert "lacks 28 of them" in words.made_words(view)
