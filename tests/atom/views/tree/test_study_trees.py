"""A study under any of its trees: the same marks, hung elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from atom.errors import DataError
from atom.store import Store, find_study
from atom.views.filters import Filters, known, unknown
from atom.views.fingerprints.beside import beside_words, shapes_in
from atom.views.fingerprints.shape import shape
from atom.views.study_data import load_study
from atom.views.tree.edit import edit_tree, step_tree
from atom.views.tree.study_trees import study_trees, under_tree
from taxonomy.edits import Merge
from tests.factories import COUNT, STUDY, TREE, open_small


@pytest.fixture
def store(tmp_path):
    with open_small(tmp_path) as store:
        yield store


def merged(store: Store) -> tuple[str, str]:
    """Merge two leaves of the small study; return the versions before and after."""
    before = find_study(store, STUDY).tree_version
    into = next(leaf for leaf in TREE.leaves if leaf[:2] == COUNT[:2] and leaf != COUNT)
    edit_tree(store, STUDY, Merge(COUNT, into))
    return before, find_study(store, STUDY).tree_version


def test_every_tree_of_the_history_can_be_looked_at(store):
    data = load_study(store, STUDY)
    (only,) = study_trees(store, data, data.study.tree_version)
    assert (only.own, only.origin, only.leaves) == (True, "seed tree", len(TREE.leaves))
    before, after = merged(store)
    data = load_study(store, STUDY)
    now, then = study_trees(store, data, after)
    assert (now.version, now.own, now.origin, now.leaves) == (
        after, True, "by hand", len(TREE.leaves) - 1)  # fmt: skip
    assert (then.version, then.own, then.origin) == (before, False, "seed tree")
    # An undo is a point by hand, and the tree is what it was all the same.
    step_tree(store, STUDY, "undo")
    data = load_study(store, STUDY)
    found = {one.version: one for one in study_trees(store, data, before)}
    assert (found[before].own, found[before].origin) == (True, "seed tree")


def test_a_study_under_another_tree_is_the_study_as_it_was(store):
    first = load_study(store, STUDY)
    before, after = merged(store)
    now = load_study(store, STUDY)
    back = under_tree(store, now, before)
    assert back.study.tree_version == before
    assert back.table.leaves == first.table.leaves
    assert np.array_equal(back.table.leaf, first.table.leaf)
    assert back.table.leaf.dtype == first.table.leaf.dtype
    again = under_tree(store, back, after)
    assert again.table.leaves == now.table.leaves
    assert np.array_equal(again.table.leaf, now.table.leaf)
    one, other = (shape(each, Filters()) for each in (first, back))
    assert np.array_equal(one.mean, other.mean, equal_nan=True)
    # The marks themselves are the same ones.
    assert back.table.score is now.table.score


def test_a_link_s_tree_is_kept_only_where_it_is_the_one_that_is_shown(store):
    before, _ = merged(store)
    now = load_study(store, STUDY)
    back = under_tree(store, now, before)
    asked = Filters.from_query({"tree": before})
    assert known(back, asked).tree == before
    assert unknown(back, asked) == ()
    assert asked.to_query() == {"tree": before}
    nowhere = Filters(tree="deadbeef")
    assert known(now, nowhere).tree is None
    assert "no tree 'deadbeef'" in unknown(now, nowhere)[0]
    with pytest.raises(DataError, match="there is no tree"):
        under_tree(store, now, "deadbeef")


def test_two_trees_stand_beside_each_other_on_the_same_models(store):
    before, after = merged(store)
    now = load_study(store, STUDY)
    trees = {one.version: one for one in study_trees(store, now, after)}
    left = shapes_in(now, Filters(), trees[after])
    right = shapes_in(under_tree(store, now, before), Filters(tree=before), trees[before])
    assert left.placed == right.placed <= left.scored == right.scored
    assert len(right.form.paths) > len(left.form.paths)
    # A door of the right leads under the right's tree.
    doors = {mark.filters.tree for radar in right.radars for a in radar.axes for mark in a.marks}
    assert doors == {before}
    # Six samples can't be halved: no tree is called better.
    assert "can't be cut into halves" in beside_words(left, right)
