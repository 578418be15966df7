import numpy as np
import pytest

from atom.analysis.layout import facet_layout, tree_layout
from atom.analysis.nodes import index_nodes


def random_rows(rng, n=120, models=3, samples=20, leaves=3):
    seen = set()
    rows = []
    while len(rows) < n:
        m, s, p = rng.integers(models), rng.integers(samples), rng.integers(5)
        if (m, s, p) not in seen:
            seen.add((m, s, p))
            leaf = (s * 7 + p * 3) % (leaves + 1) - 1
            rows.append((m, s, p, leaf, 2, rng.integers(-1, 6)))
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_cells_equal_sums_by_hand(build, seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng)
    table = build(rows, models=3, samples=20, cluster=np.arange(20) // 2)
    layout = tree_layout(table)
    mask = rng.random(len(rows)) < 0.7
    keep = layout.usable(mask)
    value = np.where(keep, layout.value, 0).astype(float)
    cells = layout.cells(*layout.base_sums(value, keep))
    paths = index_nodes(table.leaves).paths
    found = {
        (int(u), int(n)): (c, t)
        for u, n, c, t in zip(cells.cluster, cells.node, cells.count, cells.total, strict=True)
    }
    expected = {}
    for (m, s, _, leaf, _, score), kept in zip(rows, mask, strict=True):
        if kept and score > 0 and leaf >= 0:
            for node, path in enumerate(paths):
                if table.leaves[leaf][: len(path)] == path:
                    key = (m * 10 + s // 2, m * len(paths) + node)
                    count, total = expected.get(key, (0, 0.0))
                    expected[key] = (count + 1, total + (score - 1) / 4)
    assert sorted(found) == sorted(expected)
    for key, pair in expected.items():
        assert found[key] == pytest.approx(pair)


def test_labels_may_overlap_and_unlabelled_answers_are_left_out(build):
    labels = {(0, 0): ["a", "b"], (0, 1): ["a"], (1, 0): ["b"]}
    outcome = {(0, 0): 1, (0, 1): 0, (1, 0): 1, (1, 1): 1}
    layout = facet_layout(build([], samples=2, outcome=outcome, labels=labels), "kind")
    keep = layout.usable()
    assert keep.tolist() == [True, True, True, False]
    cells = layout.cells(*layout.base_sums(layout.value.astype(float), keep))
    sums = np.bincount(cells.node, weights=cells.total, minlength=4)
    counts = np.bincount(cells.node, weights=cells.count, minlength=4)
    assert sums.tolist() == [1, 1, 0, 1]
    assert counts.tolist() == [2, 1, 0, 1]


def test_nothing_at_all_is_sane(build):
    layout = tree_layout(build([], leaves=(), samples=0))
    assert layout.n_rows == 0
    assert layout.usable().shape == (0,)
