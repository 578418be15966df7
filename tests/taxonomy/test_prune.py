from hypothesis import given
from hypothesis import strategies as st

from taxonomy import Node, Tree
from taxonomy.edits import Drop, Merge, replay
from taxonomy.grow import GrownTree, additions
from taxonomy.prune import RULE, Support, prune, support

ROOTS = Tree("T", (Node("A"), Node("B")))


def leaf(name, root="A"):
    return (root, "Group", "Parent", name)


def grown_of(counts, samples_each=None):
    """Make a tree whose leaves have so many criteria, each of a sample of its own."""
    grown = GrownTree(tree=ROOTS)
    sample_of = {}
    for path, count in counts.items():
        grown = grown.edited(additions(grown.tree, path, {}, by="j", why="", round_=1))
        for number in range(count):
            name = f"{path}{number}"
            sample_of[name] = f"{path}{number % (samples_each or count)}"
            grown = grown.hung({name: path})
    return grown, sample_of


def first(_, others):
    return others[0]


def nobody(_path, _others):
    return None


def test_criteria_and_samples_are_counted():
    grown, sample_of = grown_of({leaf("Strong"): 6, leaf("Bare"): 0}, samples_each=2)
    assert support(grown, sample_of) == {
        leaf("Strong"): Support(criteria=6, samples=2),
        leaf("Bare"): Support(),
    }
    assert not Support(criteria=6, samples=2).enough()
    assert Support(criteria=5, samples=5).enough()


def test_a_weak_leaf_joins_its_nearest_and_brings_its_criteria():
    grown, sample_of = grown_of({leaf("Big"): 9, leaf("Small"): 4})
    done = prune(grown, sample_of, first, round_=7)
    (entry,) = done.log[len(grown.log) :]
    assert entry.edit == Merge(leaf("Small"), leaf("Big"))
    assert (entry.by, entry.round) == (RULE, 7)
    assert "4 criteria of 4 samples" in entry.why
    assert set(done.leaf_of.values()) == {leaf("Big")}


def test_two_weak_leaves_can_stand_together():
    grown, sample_of = grown_of({leaf("One"): 3, leaf("Two"): 2})
    done = prune(grown, sample_of, first)
    assert done.tree.leaves == (leaf("One"),)
    assert len(done.leaf_of) == 5


def test_a_leaf_that_none_is_like_goes_and_its_criteria_hang_nowhere():
    grown, sample_of = grown_of({leaf("Big"): 9, leaf("Odd", "B"): 4, leaf("Empty"): 0})
    done = prune(grown, sample_of, nobody)
    assert [e.edit for e in done.log[len(grown.log) :]] == [
        Drop(leaf("Empty")),
        Drop(leaf("Odd", "B")),
    ]
    assert len(done.leaf_of) == 9
    assert [root.name for root in done.tree.roots] == ["A", "B"]


def test_many_criteria_of_few_samples_are_not_enough():
    grown, sample_of = grown_of({leaf("Big"): 9, leaf("Narrow"): 20}, samples_each=9)
    sample_of = {c: ("s" if "Narrow" in c else s) for c, s in sample_of.items()}
    assert prune(grown, sample_of, first).tree.leaves == (leaf("Big"),)


counts = st.dictionaries(
    st.sampled_from([leaf(n, r) for n in ["One", "Two", "Three", "Four"] for r in "AB"]),
    st.integers(0, 9),
    min_size=1,
)


@given(counts, st.sampled_from([first, nobody]))
def test_nothing_weak_is_left_and_nothing_is_invented(numbers, nearest):
    grown, sample_of = grown_of(numbers)
    done = prune(grown, sample_of, nearest)
    assert all(s.enough() for s in support(done, sample_of).values())
    assert set(done.leaf_of) <= set(grown.leaf_of)
    assert set(done.tree.leaves) <= set(grown.tree.leaves)
    if nearest is first and sum(numbers.values()) >= 5:
        assert len(done.leaf_of) == len(grown.leaf_of)
    *_, last = replay(ROOTS, done.log)
    assert last.tree == done.tree
