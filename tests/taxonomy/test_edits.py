import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import Node, Tree
from taxonomy.edits import (
    Add,
    Drop,
    EditError,
    LoggedEdit,
    Merge,
    Move,
    Rename,
    apply,
    carry,
    compose,
    replay,
)

ANCHORS = Tree("Anchors", (Node("Seeing"), Node("Thinking")))
COUNT = ("Seeing", "Object", "Counting", "Count all")
TALLY = ("Seeing", "Object", "Counting", "Tally")
COLOUR = ("Seeing", "Object", "Attribute", "Colour")
SUM = ("Thinking", "Quantity", "Arithmetic", "Sum")


@pytest.fixture
def tree():
    grown = ANCHORS
    for leaf in (COUNT, TALLY, COLOUR, SUM):
        grown = apply(grown, Add(leaf[:-1], leaf[-1])).tree
    return grown


def test_adding_a_leaf_adds_its_missing_parents_first(tree):
    assert tree.leaves == (COUNT, TALLY, COLOUR, SUM)
    assert ("Seeing", "Object", "Counting") in tree


def test_an_edit_leaves_the_old_tree_as_it_was(tree):
    apply(tree, Drop(COUNT))
    assert COUNT in tree


def test_merging_leaves_moves_the_one_to_the_other(tree):
    applied = apply(tree, Merge(TALLY, COUNT))
    assert applied.tree.leaves == (COUNT, COLOUR, SUM)
    assert applied.moves == {TALLY: COUNT}


def test_merging_parents_unites_children_of_the_same_name(tree):
    tree = apply(tree, Add(("Seeing", "Object", "Number"), "count ALL")).tree
    applied = apply(tree, Merge(("Seeing", "Object", "Number"), ("Seeing", "Object", "Counting")))
    assert applied.moves == {("Seeing", "Object", "Number", "count ALL"): COUNT}
    assert applied.tree.leaves == (COUNT, TALLY, COLOUR, SUM)


def test_a_parent_without_children_goes_and_a_root_stays(tree):
    applied = apply(tree, Drop(SUM))
    assert applied.moves == {SUM: None}
    assert ("Thinking",) in applied.tree
    assert ("Thinking", "Quantity") not in applied.tree


def test_renaming_and_moving_an_inner_node_takes_its_leaves_along(tree):
    applied = apply(tree, Rename(("Seeing", "Object"), "Things"))
    assert applied.moves[COUNT] == ("Seeing", "Things", "Counting", "Count all")
    applied = apply(tree, Move(("Seeing", "Object", "Counting"), ("Thinking", "Quantity")))
    assert applied.moves[TALLY] == ("Thinking", "Quantity", "Counting", "Tally")
    assert applied.tree.leaves == (COLOUR, SUM, applied.moves[COUNT], applied.moves[TALLY])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Add((), "New"), "name a parent"),
        (Add(("Feeling",), "New"), "the roots are Seeing, Thinking"),
        (Add(COUNT[:-1], "count  all"), "has a child 'Count all' already"),
        (Add(COUNT[:-1], " "), "needs a name"),
        (Rename(("Seeing",), "Sight"), "keep their names"),
        (Rename(COUNT, "tally"), "has a child 'Tally' already"),
        (Rename(("Seeing", "No"), "x"), "there is no node"),
        (Move(COUNT, ("Thinking",)), "layer 4; it can move under a node of layer 3"),
        (Merge(COUNT, COUNT), "with itself"),
        (Merge(COUNT, ("Thinking", "Quantity")), "same layer"),
        (Drop(("Seeing",)), "aren't dropped"),
    ],
)
def test_an_edit_that_does_not_fit_says_why(tree, edit, message):
    with pytest.raises(EditError, match=message):
        apply(tree, edit)


def test_a_leaf_is_followed_through_a_log(tree):
    log = [
        LoggedEdit(edit=Rename(TALLY, "Tallying"), by="judge"),
        LoggedEdit(edit=Merge((*TALLY[:-1], "Tallying"), COUNT), by="judge", why="the same skill"),
        LoggedEdit(edit=Move(COUNT, ("Seeing", "Object", "Attribute")), by="hand"),
        LoggedEdit(edit=Drop(SUM), by="rule"),
    ]
    steps = [applied.moves for applied in replay(tree, log)]
    there = ("Seeing", "Object", "Attribute", "Count all")
    assert carry(TALLY, steps) == there
    assert compose(steps, tree.leaves) == {COUNT: there, TALLY: there, COLOUR: COLOUR, SUM: None}


@st.composite
def logs(draw):
    """Random logs of edits that fit: drawn against the tree as it grows."""
    tree = ANCHORS
    entries = []
    for number in range(draw(st.integers(1, 25))):
        inner = [p for p, _ in tree.walk() if len(p) == 3]
        leaves = [p for p in tree.leaves if len(p) == 4]
        choices = ["add"] + (["merge", "move", "drop", "rename"] if len(leaves) > 1 else [])
        kind = draw(st.sampled_from(choices))
        if kind == "add":
            root = draw(st.sampled_from(["Seeing", "Thinking"]))
            a, b = draw(st.integers(0, 2)), draw(st.integers(0, 2))
            edit = Add((root, f"c{a}", f"p{b}"), f"leaf {number}")
        elif kind == "merge":
            one, other = draw(st.permutations(leaves))[:2]
            edit = Merge(one, other)
        elif kind == "move":
            edit = Move(draw(st.sampled_from(leaves)), draw(st.sampled_from(inner)))
        elif kind == "drop":
            edit = Drop(draw(st.sampled_from(leaves)))
        else:
            edit = Rename(draw(st.sampled_from(leaves)), f"renamed {number}")
        tree = apply(tree, edit).tree
        entries.append(LoggedEdit(edit=edit, by="test"))
    return entries


@given(logs())
def test_no_leaf_is_lost_unless_it_was_dropped(log):
    tree, steps, born = ANCHORS, [], {}
    for number, applied in enumerate(replay(ANCHORS, log)):
        before = set(tree.leaves)
        tree = applied.tree
        steps.append(applied.moves)
        for leaf in set(tree.leaves) - before - set(applied.moves.values()):
            if len(leaf) == 4:
                born[leaf] = number
        # Every leaf of the layer is where the moves say, or where it was.
        for leaf in before:
            here = applied.moves.get(leaf, leaf)
            assert here is None or len(leaf) < 4 or here in tree
    assert [a.tree for a in replay(ANCHORS, log)][-1] == tree
