import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import DEPTH, Node, Tree, load_anchors
from taxonomy.edits import Drop, LoggedEdit, Merge, Rename, replay
from taxonomy.grow import (
    GrownTree,
    ProposalRefused,
    additions,
    check_place,
    only_leaves,
    roots_of,
    spelled,
)

ROOTS = Tree("T", (Node("Perception", "What is seen."), Node("Reasoning")))
BAR = ("Perception", "Charts", "Marks", "Bar height")
DOT = ("Perception", "Charts", "Marks", "Dot height")
SUM = ("Reasoning", "Numbers", "Arithmetic", "Sum")


def hang(grown, leaf, *criteria):
    entries = additions(grown.tree, leaf, {}, by="j", why="for: x", round_=1)
    return grown.edited(entries).hung(dict.fromkeys(criteria, leaf))


def test_a_leaf_brings_its_parents_first():
    entries = additions(ROOTS, BAR, {BAR: "Read a bar."}, by="j", why="for: q", round_=1)
    assert [(e.edit.parent, e.edit.name) for e in entries] == [
        (BAR[:1], "Charts"),
        (BAR[:2], "Marks"),
        (BAR[:3], "Bar height"),
    ]
    grown = GrownTree(tree=ROOTS).edited(entries)
    assert grown.tree.node(BAR).meaning == "Read a bar."
    assert additions(grown.tree, BAR, {}, by="j", why="", round_=2) == ()
    assert grown.tree.leaves == (BAR,)


def test_bare_roots_are_no_leaves():
    assert roots_of(load_anchors()).leaves == ()
    assert len(roots_of(load_anchors()).roots) == 6


def test_names_are_spelled_as_the_tree_spells_them():
    tree = hang(GrownTree(tree=ROOTS), BAR).tree
    written = ("perception", "CHARTS", "new  parent", "bar height")
    assert spelled(tree, written) == ("Perception", "Charts", "new parent", "bar height")
    assert check_place(tree, tuple(name.upper() for name in BAR)) == BAR


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (BAR[:3], "has 3 names"),
        ((*BAR, "deeper"), "has 5 names"),
        (("Vision", *BAR[1:]), "no root; the roots are Perception, Reasoning"),
        ((*BAR[:3], "7"), "can't be a name"),
        ((*BAR[:3], "x" * 61), "can't be a name"),
        ((*BAR[:3], "a › b"), "can't be a name"),
        ((*BAR[:3], "<b>bold</b>"), "can't be a name"),
        ((*BAR[:3], "Input / output"), "can't be a name"),
        ((*BAR[:2], "", "Bar"), "can't be a name"),
    ],
)
def test_what_is_no_place(path, words):
    with pytest.raises(ProposalRefused, match=words):
        check_place(ROOTS, path)


@pytest.mark.parametrize("name", ["Input/output", "24-hour form", "Wörter lesen", "图表 阅读"])
def test_what_is_a_name(name):
    assert check_place(ROOTS, (*BAR[:3], name))[-1] == name


def test_criteria_go_with_their_leaves():
    grown = hang(hang(hang(GrownTree(tree=ROOTS), BAR, "a", "b"), DOT, "c"), SUM, "d")
    merged = grown.edited([LoggedEdit(edit=Merge(DOT, BAR), by="j")])
    assert merged.leaf_of == {"a": BAR, "b": BAR, "c": BAR, "d": SUM}
    renamed = merged.edited([LoggedEdit(edit=Rename(BAR[:2], "Graphs"), by="j")])
    assert renamed.leaf_of["a"] == ("Perception", "Graphs", "Marks", "Bar height")
    dropped = renamed.edited([LoggedEdit(edit=Drop(SUM), by="j")])
    assert set(dropped.leaf_of) == {"a", "b", "c"}
    *_, last = replay(ROOTS, dropped.log)
    assert last.tree == dropped.tree


def test_only_some_leaves():
    tree = hang(hang(hang(GrownTree(tree=ROOTS), BAR), DOT), SUM).tree
    cut = only_leaves(tree, [DOT])
    assert cut.leaves == (DOT,)
    assert [root.name for root in cut.roots] == ["Perception", "Reasoning"]
    assert only_leaves(tree, tree.leaves) == tree


leaves = st.tuples(
    st.sampled_from(["Perception", "Reasoning"]),
    st.sampled_from(["One", "Two"]),
    st.sampled_from(["One", "Two"]),
    st.sampled_from(["First", "Second", "Third"]),
)


@given(st.lists(leaves, min_size=1, max_size=12))
def test_a_grown_tree_is_its_log(places):
    grown = GrownTree(tree=ROOTS)
    for number, leaf in enumerate(places):
        grown = hang(grown, check_place(grown.tree, leaf), str(number))
    assert set(grown.tree.leaves) == set(places)
    assert {len(leaf) for leaf in grown.tree.leaves} == {DEPTH}
    *_, last = replay(ROOTS, grown.log)
    assert last.tree == grown.tree
