from hypothesis import given
from hypothesis import strategies as st

from taxonomy import Node, Tree
from taxonomy.edits import Merge
from taxonomy.grow import GrownTree, additions
from taxonomy.unite import SameMeaning, unite

ROOTS = Tree("T", (Node("A"),))


def path(*names):
    return ("A", *names)


def merges(verdicts, criteria):
    found = unite(verdicts, criteria, by="j", round_=3)
    assert all((entry.by, entry.round) == ("j", 3) for entry in found)
    return [entry.edit for entry in found]


X, Y, Z = path("G", "P", "X"), path("G", "P", "Y"), path("G", "Q", "Z")


def test_the_larger_takes_the_smaller_whatever_the_order():
    counts = {X: 3, Y: 9}
    assert merges([SameMeaning(first=X, second=Y)], counts) == [Merge(X, Y)]
    assert merges([SameMeaning(first=Y, second=X)], counts) == [Merge(X, Y)]
    (entry,) = unite(
        [SameMeaning(first=X, second=Y, why="both read a bar")], counts, by="j", round_=1
    )
    assert entry.why == "both read a bar"


def test_verdicts_do_not_chain():
    verdicts = [SameMeaning(first=X, second=Y), SameMeaning(first=Y, second=Z)]
    # Z is the largest and takes Y; X was only called the same as Y, and waits.
    assert merges(verdicts, {X: 2, Y: 3, Z: 9}) == [Merge(Y, Z)]
    # With the middle one largest, both were called the same as it.
    assert merges(verdicts, {X: 2, Y: 9, Z: 3}) == [Merge(X, Y), Merge(Z, Y)]


def test_a_node_and_what_is_below_it_are_not_touched_in_one_round():
    group, other = path("G"), path("H")
    verdicts = [
        SameMeaning(first=group, second=other),
        SameMeaning(first=X, second=path("K", "P", "X")),
    ]
    assert merges(verdicts, {group: 9, other: 20, X: 5}) == [Merge(group, other)]


def test_other_layers_and_itself_are_left_alone():
    assert (
        merges(
            [SameMeaning(first=X, second=path("G", "P")), SameMeaning(first=X, second=X)], {X: 1}
        )
        == []
    )


nodes = st.sampled_from(
    [path(*p) for p in [("G",), ("H",)]]
    + [path(g, p) for g in "GH" for p in "PQ"]
    + [path(g, p, x) for g in "GH" for p in "PQ" for x in "XY"]
)


@given(st.lists(st.builds(SameMeaning, first=nodes, second=nodes), max_size=12), st.integers(0, 99))
def test_the_merges_can_be_applied_in_their_order(verdicts, salt):
    grown = GrownTree(tree=ROOTS)
    for g in "GH":
        for p in "PQ":
            for x in "XY":
                leaf = path(g, p, x)
                grown = grown.edited(additions(grown.tree, leaf, {}, by="j", why="", round_=1))
    counts = {v.first: (sum(map(ord, "".join(v.first))) * salt) % 7 for v in verdicts}
    entries = unite(verdicts, counts, by="j", round_=3)
    done = grown.edited(entries)
    assert len(done.log) == len(grown.log) + len(entries)
