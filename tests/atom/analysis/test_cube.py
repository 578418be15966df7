import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.analysis.cube import index_nodes, make_cube

LEAVES = (("A", "A1", "x"), ("A", "A1", "y"), ("A", "A2", "z"), ("B", "B1", "w"))

ROWS = [  # model, sample, place, leaf, weight, score
    (0, 0, 0, 0, 2, 5), (0, 0, 1, 0, 3, 1), (0, 0, 2, 1, 5, 3),
    (0, 1, 0, 2, 10, 0), (0, 1, 1, 2, 1, 4), (1, 0, 0, 0, 2, 2),
    (1, 1, 0, -1, 10, 5), (1, 1, 1, 2, 4, -1),
]  # fmt: skip


def test_nodes_are_listed_parents_first():
    nodes = index_nodes(LEAVES)
    assert nodes.paths[:3] == (("A",), ("A", "A1"), ("A", "A1", "x"))
    assert nodes.parent.tolist() == [-1, 0, 1, 1, 0, 4, -1, 6, 7]
    assert nodes.level.tolist() == [0, 1, 2, 2, 1, 2, 0, 1, 2]
    assert nodes.leaf_node.tolist() == [2, 3, 5, 8]


def test_short_leaves_have_no_node_below_them():
    nodes = index_nodes((("A",), ("B", "C")))
    assert nodes.ancestor.tolist() == [[0, 1], [-1, 2]]


def test_means_of_the_hand_worked_case(build):
    cube = make_cube(build(ROWS, leaves=LEAVES))
    nodes = index_nodes(LEAVES)
    at = {path: number for number, path in enumerate(nodes.paths)}
    atom = cube.node_values(nodes)
    # Model 0 on A1: scores 5, 1, 3 -> x 1, 0, .5 -> mean .5; on A: and 4 -> 2.25/4 = .5625.
    assert atom.mean[0, at["A", "A1"]] == pytest.approx(0.5, abs=1e-12)
    assert atom.mean[0, at["A",]] == pytest.approx(0.5625, abs=1e-12)
    assert atom.n[0, at["A",]] == 4
    assert atom.unscored[0, at["A",]] == 1
    # Weighted: (2*1 + 3*0 + 5*.5) / 10 = .45.
    weighted = cube.node_values(nodes, "weighted")
    assert weighted.mean[0, at["A", "A1"]] == pytest.approx(0.45, abs=1e-12)
    # Macro: A1 = (x .5 + y .5)/2 = .5; A2 = .75; A = .625.
    macro = cube.node_values(nodes, "macro")
    assert macro.mean[0, at["A",]] == pytest.approx(0.625, abs=1e-12)
    # Model 1's unmapped 5 is in no node; its failed checkpoint is counted, not scored.
    assert atom.n[1].sum() == 3
    assert atom.unscored[1, at["A", "A2"]] == 1
    assert np.isnan(atom.mean[1, at["B",]])


def test_failed_shares_for_every_threshold(build):
    cube = make_cube(build(ROWS, leaves=LEAVES))
    nodes = index_nodes(LEAVES)
    # Model 0 on A: scores 5, 1, 3, 4.
    assert [cube.failed_share(nodes, t)[0, 0] for t in (2, 3, 4)] == [0.25, 0.5, 0.75]


def test_a_mask_is_the_same_as_leaving_rows_out(build):
    mask = np.array([row[5] > 1 for row in ROWS])
    masked = make_cube(build(ROWS, leaves=LEAVES), mask)
    left = make_cube(build([r for r, k in zip(ROWS, mask, strict=True) if k], leaves=LEAVES))
    assert (masked.counts == left.counts).all()


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 3), st.integers(1, 5)),
        max_size=40,
    ),
    st.randoms(),
)
def test_a_parent_is_the_weighted_mean_of_its_children_in_any_order(build, rows, random):
    full = [(m, s, at, leaf, 1, score) for at, (m, s, leaf, score) in enumerate(rows)]
    shuffled = full[:]
    random.shuffle(shuffled)
    nodes = index_nodes(LEAVES)
    values = make_cube(build(full, leaves=LEAVES, samples=5)).node_values(nodes)
    again = make_cube(build(shuffled, leaves=LEAVES, samples=5)).node_values(nodes)
    assert np.array_equal(values.mean, again.mean, equal_nan=True)
    for node in range(nodes.n_nodes):
        children = np.flatnonzero(nodes.parent == node)
        if len(children):
            n, mean = values.n[:, children], np.nan_to_num(values.mean[:, children])
            assert (n.sum(axis=1) == values.n[:, node]).all()
            known = values.n[:, node] > 0
            mixed = (n * mean).sum(axis=1)[known] / n.sum(axis=1)[known]
            assert mixed == pytest.approx(values.mean[known, node], abs=1e-12)


def test_an_empty_leaf_changes_nothing(build):
    more = (*LEAVES, ("B", "B1", "empty"))
    few = make_cube(build(ROWS, leaves=LEAVES)).node_values(index_nodes(LEAVES))
    many = make_cube(build(ROWS, leaves=more)).node_values(index_nodes(more))
    assert np.array_equal(few.mean, many.mean[:, :-1], equal_nan=True)
    assert many.n[:, -1].tolist() == [0, 0]


def test_no_rows_and_no_leaves_are_sane(build):
    cube = make_cube(build([], leaves=(), samples=0))
    assert cube.node_values(index_nodes(())).mean.shape == (2, 0)
