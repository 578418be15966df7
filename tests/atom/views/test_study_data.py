import numpy as np
import pytest

from atom.errors import UsageError
from atom.records import Mapping, TreeRecord
from atom.store import Store, copy_study
from atom.views.study_data import load_study
from taxonomy import Tree, to_json, tree_version
from tests.factories import COUNT, DIFFERENCE, SOME, TREE


def test_the_table_holds_every_checkpoint_with_its_state(data):
    table = data.table
    # 6 samples x 3 candidates x 3 criteria = 54, one of which is still to be scored.
    assert len(table.score) == 53
    assert data.pending == 1
    assert (table.score == 0).sum() == 1
    assert (table.score == -1).sum() == 1
    assert table.leaves == (COUNT, SOME, DIFFERENCE)
    assert data.tree == TREE
    assert table.quarantined.tolist() == [False] * 5 + [True]


def test_outcomes_and_labels_are_brought_to_the_answers(data):
    # 18 answers, one outcome unknown.
    assert np.isfinite(data.table.outcome).sum() == 17
    level = data.table.facets["level"]
    assert sorted(level.values) == ["easy", "hard"]
    assert len(level.response) == 18
    assert data.table.facets["source"].values == ("balls",)


def test_a_study_without_criteria_is_looked_at_by_outcome(imported):
    assert not imported.has_process
    assert imported.has_outcome
    assert imported.tree is None
    # An answer may carry several labels: 8 algebra + 3 geometry.
    assert len(imported.table.facets["skills"].response) == 11


def test_reading_twice_gives_equal_columns(store, data):
    again = load_study(store, data.study.name)
    assert np.array_equal(again.table.score, data.table.score)
    assert again.revision == data.revision


def test_an_unknown_study_is_named(store):
    with pytest.raises(UsageError, match="no study 'x'"):
        load_study(store, "x")


def test_leaves_come_in_the_trees_order_and_not_by_name(tmp_path, store, data):
    with Store.open(tmp_path) as mine:
        copy = copy_study(store, mine, data.study.id, "Turned")
        turned = Tree("Turned", tuple(reversed(TREE.roots)))
        version = tree_version(turned)
        mappings = [m.model_copy(update={"tree_version": version}) for m in mine.select(Mapping)]
        mine.put([TreeRecord(version=version, name="Turned", body=to_json(turned)), *mappings])
        mine.replace([copy.model_copy(update={"tree_version": version})])
        assert load_study(mine, copy.id).table.leaves == (DIFFERENCE, COUNT, SOME)
