from atom.analysis.nodes import index_nodes

LEAVES = (("A", "A1", "x"), ("A", "A1", "y"), ("A", "A2", "z"), ("B", "B1", "w"))


def test_nodes_are_listed_parents_first():
    nodes = index_nodes(LEAVES)
    assert nodes.paths[:3] == (("A",), ("A", "A1"), ("A", "A1", "x"))
    assert nodes.parent.tolist() == [-1, 0, 1, 1, 0, 4, -1, 6, 7]
    assert nodes.level.tolist() == [0, 1, 2, 2, 1, 2, 0, 1, 2]
    assert nodes.leaf_node.tolist() == [2, 3, 5, 8]


def test_short_leaves_have_no_node_below_them():
    nodes = index_nodes((("A",), ("B", "C")))
    assert nodes.ancestor.tolist() == [[0, 1], [-1, 2]]


def test_a_leaf_belongs_to_itself_and_to_all_above_it():
    under = index_nodes(LEAVES).membership
    # Rows: A, A1, x, y, A2, z, B, B1, w; columns: x, y, z, w.
    assert under.astype(int).tolist() == [
        [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0],
        [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1],
    ]  # fmt: skip


def test_no_leaves_have_no_nodes():
    assert index_nodes(()).n_nodes == 0
