"""Edits by hand: logged, versioned, undone and done again."""

from __future__ import annotations

import pytest

from atom.errors import ConflictError, ReadOnlyError, UsageError
from atom.records import TreeVersion
from atom.store import Store, copy_study, find_study, load_tree, tree_log, tree_versions
from atom.views.filters import Filters
from atom.views.study_data import load_study
from atom.views.tree.edit import (
    after,
    choices,
    edit_tree,
    step_tree,
    steps,
    take_tree,
    touches,
    use_older,
)
from atom.views.tree.node_table import node_table, placed
from atom.views.tree.versions import node_log, versions
from taxonomy import Node, Tree, tree_version
from taxonomy.edits import Drop, Merge, Move, Rename
from tests.factories import COUNT, DIFFERENCE, SOME, STUDY, TREE, open_small


@pytest.fixture
def store(tmp_path):
    with open_small(tmp_path) as store:
        yield store


@pytest.fixture
def study(store):
    return find_study(store, STUDY)


def leaves(store, study):
    data = load_study(store, study.id)
    return placed(store, data).leaf_of


def test_a_rename_is_logged_and_takes_the_criteria_along(store, study):
    tree = edit_tree(store, study.id, Rename(COUNT, "Count them"), "plainer")
    new = (*COUNT[:3], "Count them")
    assert new in tree
    history = tree_versions(store, study.id)
    assert [(p.origin, p.parent_version) for p in history] == [
        ("seed", None),
        ("hand", tree_version(TREE)),
    ]
    (entry,) = tree_log(store, study.id, 1)
    assert (entry.by, entry.why, entry.edit) == ("hand", "plainer", Rename(COUNT, "Count them"))
    assert find_study(store, STUDY).tree_version == tree_version(tree)
    assert sum(leaf == new for leaf in leaves(store, study).values()) == 6


def test_an_edit_of_a_tree_that_somebody_else_changed_is_refused_and_can_be_made_again(
    store, study
):
    """The second of two people who look at one tree is told what the first one did."""
    seen = study.tree_version
    edit_tree(store, study.id, Rename(COUNT, "Count them"), seen=seen)
    mine = Rename(SOME, "Tell some")
    with pytest.raises(ConflictError, match=r"somebody else changed .* \(.*Count them.*\)"):
        edit_tree(store, study.id, mine, seen=seen)
    now = find_study(store, STUDY).tree_version
    assert [point.origin for point in tree_versions(store, study.id)] == ["seed", "hand"]
    tree = edit_tree(store, study.id, mine, seen=now)
    assert (*COUNT[:3], "Count them") in tree
    assert (*SOME[:-1], "Tell some") in tree


def test_an_edit_that_is_asked_for_twice_is_made_once(store, study):
    """Two presses of one button are no two people."""
    edit, seen = Rename(COUNT, "Count them"), study.tree_version
    tree = edit_tree(store, study.id, edit, seen=seen)
    assert edit_tree(store, study.id, edit, seen=seen) == tree
    assert [point.origin for point in tree_versions(store, study.id)] == ["seed", "hand"]
    edit_tree(store, study.id, Rename(SOME, "Tell some"))
    with pytest.raises(ConflictError, match="Tell some"):
        edit_tree(store, study.id, edit, seen=seen)


def test_a_merge_unites_the_criteria(store, study):
    edit_tree(store, study.id, Merge(SOME, COUNT))
    found = list(leaves(store, study).values())
    assert found.count(COUNT) == 12
    data = load_study(store, study.id)
    nodes = node_table(data, data.tree, placed(store, data), Filters())
    # Candidate c on both: 1 2 3 1 2 and 1 5 3 2 2 -> 22 / 10.
    assert nodes.mean[2, nodes.paths.index(COUNT)] == pytest.approx(25 * 1.2)


def test_a_dropped_leafs_criteria_are_left_unmapped(store, study):
    edit_tree(store, study.id, Drop(DIFFERENCE))
    data = load_study(store, study.id)
    nodes = node_table(data, data.tree, placed(store, data), Filters())
    assert nodes.unplaced == 6


def test_undo_and_redo_go_through_the_whole_stack(store, study):
    first = edit_tree(store, study.id, Rename(COUNT, "One"))
    second = edit_tree(store, study.id, Merge(SOME, (*COUNT[:3], "One")))
    assert steps(tree_versions(store, study.id)).undo.startswith("merge")
    assert step_tree(store, study.id, "undo") == first
    assert step_tree(store, study.id, "undo") == TREE
    with pytest.raises(UsageError, match="nothing to undo"):
        step_tree(store, study.id, "undo")
    assert step_tree(store, study.id, "redo") == first
    assert step_tree(store, study.id, "redo") == second
    with pytest.raises(UsageError, match="nothing to redo"):
        step_tree(store, study.id, "redo")
    step_tree(store, study.id, "undo")
    edit_tree(store, study.id, Rename(SOME, "Other"))
    assert steps(tree_versions(store, study.id)).redo is None
    assert len(tree_versions(store, study.id)) == 9  # history only grows
    assert len(leaves(store, study)) == 18


def test_what_was_undone_is_gone_from_a_node_s_log(store, study):
    """Walk A7: once a node's log kept an edit that was undone."""
    counted = (*COUNT[:3], "Count them")
    edit_tree(store, study.id, Rename(COUNT, "Count them"))
    edit_tree(store, study.id, Merge(DIFFERENCE, counted))

    def log():
        return [line.words for line in node_log(store, load_study(store, study.id), counted)]

    renamed, merged = (
        f"renamed {COUNT[-1]} to Count them",
        f"merged {DIFFERENCE[-1]} into Count them",
    )
    assert log() == [merged, renamed]
    step_tree(store, study.id, "undo")
    assert log() == [renamed]
    step_tree(store, study.id, "redo")
    assert log() == [merged, renamed]
    use_older(store, study.id, tree_versions(store, study.id)[1].version)
    assert log() == [renamed]
    # Another edit from there: the merge stays out of the way that led here.
    edit_tree(store, study.id, Rename(DIFFERENCE, "Subtract"))
    assert log() == [renamed]


def test_a_grown_tree_ends_what_can_be_undone():
    def point(n, origin, note, parent=None):
        return TreeVersion(study_id="s", position=n, version=f"v{n}", origin=origin, note=note,
                           parent_version=parent)  # fmt: skip

    past = [point(0, "seed", ""), point(1, "hand", "rename", "v0")]
    assert steps(past).undo == "rename"
    assert steps([*past, point(2, "induced", "")]).undo is None
    assert steps([*past, point(2, "hand", "back to version 0", "v1")]).undo is None


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Rename(("Perception",), "X"), "anchors"),
        (Rename(COUNT, "Count some"), "choose another name, or merge"),
        (Rename(COUNT, "  "), "name"),
        (Rename(COUNT, "Count all"), "changes nothing"),
        (Move(COUNT, ("Reasoning",)), "layer"),
        (Drop(("Perception", "Nowhere")), "no node"),
    ],
)
def test_an_edit_that_does_not_fit_says_why_and_changes_nothing(store, study, edit, words):
    before = store.revision()
    with pytest.raises(UsageError, match=words):
        edit_tree(store, study.id, edit)
    assert store.revision() == before


def test_a_sealed_study_is_copied_first(store, study, tmp_path):
    store.close()
    with Store.open(tmp_path, read_only=True) as sealed:
        with pytest.raises(ReadOnlyError):
            edit_tree(sealed, study.id, Rename(COUNT, "X"))
        with Store.open(tmp_path / "mine") as mine:
            copy = copy_study(sealed, mine, study.id, "Mine")
            assert copy.copied_from == study.id
            edit_tree(mine, copy.id, Rename(COUNT, "X"))


def test_an_older_version_can_be_used_again(store, study):
    edit_tree(store, study.id, Merge(SOME, COUNT))
    use_older(store, study.id, tree_version(TREE))
    assert find_study(store, STUDY).tree_version == tree_version(TREE)
    with pytest.raises(UsageError, match="another version"):
        use_older(store, study.id, "nowhere")


def test_a_tree_from_a_file_keeps_what_it_can(store, study):
    other = Tree("Mine", (*TREE.roots[:1], Node("New", "", (Node("A", "", (Node("B", "",
                 (Node("C"),)),)),))))  # fmt: skip
    assert take_tree(store, study.id, other, note="read from x.yaml") == 12
    assert load_tree(store, find_study(store, STUDY).tree_version) == Tree("Mine", other.roots)


def test_choices_leave_roots_alone(store, study):
    data = load_study(store, study.id)
    nodes = node_table(data, data.tree, placed(store, data), Filters())
    assert choices(nodes, 0) == choices(nodes, nodes.paths.index(("Perception",)))
    found = choices(nodes, nodes.paths.index(COUNT))
    assert [nodes.paths[i] for i in found.mates] == [SOME, DIFFERENCE]
    assert [nodes.paths[i] for i in found.parents] == [DIFFERENCE[:3]]


def test_where_an_edit_leaves_the_reader():
    assert after(Rename(COUNT, "X")) == (*COUNT[:3], "X")
    assert after(Move(COUNT, DIFFERENCE[:3])) == (*DIFFERENCE[:3], COUNT[3])
    assert after(Merge(SOME, COUNT)) == COUNT
    assert after(Drop(COUNT)) == COUNT[:3]


def test_a_nodes_log_has_the_edits_that_touched_it(store, study):
    edit_tree(store, study.id, Merge(SOME, COUNT))
    edit_tree(store, study.id, Rename(DIFFERENCE, "Gap"))
    data = load_study(store, study.id)
    (line,) = node_log(store, data, COUNT)
    assert (line.words, line.by, line.position) == ("merged Count some into Count all", "hand", 1)
    assert node_log(store, data, ()) == ()
    edit_tree(store, study.id, Rename(COUNT, "Every one"))
    edit_tree(store, study.id, Rename(COUNT[:2], "Things"))
    log = node_log(store, data, (COUNT[0], "Things", COUNT[2], "Every one"))
    assert [line.position for line in log] == [4, 3, 1]
    assert not touches(Rename(DIFFERENCE, "Gap"), COUNT)


def test_versions_are_compared_through_the_log(store, study):
    edit_tree(store, study.id, Merge(SOME, COUNT))
    edit_tree(store, study.id, Rename(DIFFERENCE, "Gap"))
    data = load_study(store, study.id)
    view = versions(store, data, old="0")
    assert [row.position for row in view.rows] == [2, 1, 0]
    assert [row.current for row in view.rows] == [True, False, False]
    assert view.rows[0].leaves == 2
    assert [(row.kind, row.old[-1], row.new[-1], row.criteria) for row in view.diff.rows] == [
        ("merged", "Count some", "Count all", 6),
        ("renamed", "Difference", "Gap", 6),
    ]
    assert view.diff.n_moved == 12
    assert view.diff.kept == 1
    only_last = versions(store, data).diff
    assert [row.kind for row in only_last.rows] == ["renamed"]
    odd = versions(store, data, old="x", new="99").diff
    assert (odd.old, odd.new) == (1, 2)


def test_a_dropped_leaf_is_counted_as_lost(store, study):
    edit_tree(store, study.id, Drop(DIFFERENCE))
    diff = versions(store, load_study(store, study.id)).diff
    assert [(row.kind, row.criteria) for row in diff.rows] == [("dropped", 6)]
    assert diff.lost == 6


def test_a_study_without_history_has_one_version(store, study):
    view = versions(store, load_study(store, study.id))
    assert (len(view.rows), view.diff, view.steps.undo) == (1, None, None)
