from taxonomy import Node, Tree
from taxonomy.compare import compare
from taxonomy.edits import Add, Drop, Merge, Move, Rename, apply, compose

ROOTS = Tree("t", (Node("A"), Node("B")))
ONE, TWO, THREE, FOUR = (
    ("A", "c", "p", "one"),
    ("A", "c", "p", "two"),
    ("A", "c", "q", "three"),
    ("B", "c", "p", "four"),
)


def grown(*leaves):
    tree = ROOTS
    for leaf in leaves:
        tree = apply(tree, Add(leaf[:-1], leaf[-1])).tree
    return tree


def test_equal_trees_do_not_differ():
    diff = compare(grown(ONE, TWO), grown(ONE, TWO))
    assert diff.kept[:2] == (ONE, TWO)
    assert diff.added + diff.dropped + diff.renamed + diff.moved + diff.merged == ()


def test_known_edits_are_told_apart():
    old = grown(ONE, TWO, THREE, FOUR)
    tree, steps = old, []
    for edit in (
        Merge(TWO, ONE), Rename(THREE, "drei"), Move(FOUR, ("A", "c", "p")),
        Add(("B", "d", "e"), "new"),
    ):  # fmt: skip
        applied = apply(tree, edit)
        tree, steps = applied.tree, [*steps, applied.moves]
    before = {"x": ONE, "y": TWO, "z": TWO, "w": FOUR}
    moves = compose(steps, old.leaves)
    after = {criterion: moves[leaf] for criterion, leaf in before.items()}
    diff = compare(old, tree, before, after, moves)
    assert [(c.old, c.new, c.criteria) for c in diff.merged] == [(TWO, ONE, 2)]
    assert [(c.old[-1], c.new[-1]) for c in diff.renamed] == [("three", "drei")]
    assert [(c.old, c.new, c.criteria) for c in diff.moved] == [(FOUR, ("A", "c", "p", "four"), 1)]
    assert diff.added == (("B", "d", "e", "new"),)
    assert diff.criteria_moved == 3


def test_without_a_log_criteria_say_where_a_leaf_went():
    new = grown(ONE, ("B", "c", "p", "deux"))
    diff = compare(
        grown(ONE, TWO), new, {"x": TWO, "y": TWO, "z": TWO},
        {"x": ("B", "c", "p", "deux"), "y": ("B", "c", "p", "deux"), "z": ONE},
    )  # fmt: skip
    assert [(c.old, c.new, c.criteria) for c in diff.moved] == [(TWO, ("B", "c", "p", "deux"), 2)]
    assert diff.criteria_moved == 3


def test_a_leaf_that_nothing_became_is_dropped():
    old = grown(ONE, TWO)
    assert compare(old, apply(old, Drop(TWO)).tree).dropped == (TWO,)
