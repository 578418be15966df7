import json

import pytest

from atom.analysis.capability.evaltree import (
    EvalNode,
    clopper_pearson,
    evaltree_profile,
    node_interval,
)
from atom.errors import FormatError
from atom.formats.tools.evaltree import (
    read_results,
    read_tree,
    to_tree,
    write_statistics,
    write_tree,
)

SMALL = {
    "description": "All",
    "subtrees": {
        "0": {"description": "A", "subtrees": [{"description": "x", "subtrees": 0}] * 1},
        "1": {
            "description": "A",
            "subtrees": {
                "0": {"description": "y", "subtrees": 2},
                "1": {"description": "B", "subtrees": {"0": {"description": "z", "subtrees": 1}}},
            },
        },
    },
}


def raw(value) -> bytes:
    return json.dumps(value).encode()


def test_a_tree_of_any_depth_becomes_ours_with_every_row_on_a_leaf():
    tree, leaf_of = to_tree(read_tree(raw(SMALL)), "Small")
    assert leaf_of == {
        0: ("All", "A"),
        1: ("All", "A (2)", "B"),
        2: ("All", "A (2)", "Other"),
    }
    assert set(leaf_of.values()) == set(tree.leaves)


def test_ours_is_written_in_its_form_and_read_again():
    tree, leaf_of = to_tree(read_tree(raw(SMALL)), "Small")
    rows = {leaf: [row for row, at in leaf_of.items() if at == leaf] for leaf in tree.leaves}
    again = read_tree(write_tree(tree, rows))
    assert sorted(again.rows) == [0, 1, 2]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfe", "isn't a JSON file"),
        (b"[1", "isn't a JSON file"),
        (raw([1]), "a node has `description` and `subtrees`"),
        (raw({"subtrees": "x"}), "a mapping, a list or a row's number"),
        (raw({"subtrees": {"0": {"subtrees": -1}}}), "node 0: a row's number can't be negative"),
        (b'{"subtrees":[' * 3000 + b"]}" * 3000, "deeper|isn't a JSON|a node has"),
    ],
)
def test_what_is_no_tree_says_where(data, message):
    with pytest.raises(FormatError, match=message):
        read_tree(data)


def test_verdicts_in_both_orders_become_shares():
    assert read_results(raw([1, 0, [1, 1], [1, 2], [2, 2]])) == (1, 0, 1, 0.5, 0)
    with pytest.raises(FormatError, match="row 1"):
        read_results(raw([1, "yes"]))


def test_exact_intervals_of_known_cases():
    # 0 of 5: upper end 1 - (alpha/2)^(1/5) = 1 - .025^.2 = 0.5218238; 5 of 5 mirrors it.
    assert clopper_pearson(0, 5) == pytest.approx((0, 0.5218237501), abs=1e-9)
    assert clopper_pearson(5, 5) == pytest.approx((1 - 0.5218237501, 1), abs=1e-9)
    assert node_interval(EvalNode("x", (0, 1, 2, 3)), [1, 1, 1, 1]) is None


# --- the real DS-1000 tree -------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(shared_folder):
    folder = shared_folder / "real" / "evaltree" / "DS-1000"
    model = folder / "deepseek-coder-6.7b-base"
    return (
        read_tree((folder / "capability_tree.json").read_bytes()),
        read_results((model / "results.json").read_bytes()),
        json.loads((model / "confidence_interval.json").read_text(encoding="utf-8")),
        json.loads(
            (model / "weakness_profile_alpha0.05_threshold0.4.json").read_text(encoding="utf-8")
        ),
    )


def parts_of(statistic):
    parts = statistic["subtrees"]
    if isinstance(parts, dict):
        return list(parts.values())
    return parts if isinstance(parts, list) else []


def test_every_interval_of_the_real_tree_is_recomputed(real):
    root, results, statistics, _ = real
    stack, nodes, with_interval = [(root, statistics)], 0, 0
    while stack:
        node, stat = stack.pop()
        nodes += 1
        assert len(node.rows) == stat["size"]
        assert sum(results[row] for row in node.rows) == stat["sum_metrics"]
        for alpha in ("0.01", "0.05"):
            found = node_interval(node, results, float(alpha))
            if stat["confidence_interval"] is None:
                assert found is None
            else:
                assert found == pytest.approx(stat["confidence_interval"][alpha], abs=1e-12)
        with_interval += stat["confidence_interval"] is not None
        stack.extend(zip(node.children, parts_of(stat), strict=False))
    # Rows (600 of them) are counted as nodes, too.
    assert with_interval == 82
    assert nodes == 945


def test_the_real_weakness_profile_is_recomputed_to_the_node(real):
    root, results, _, published = real
    found = evaltree_profile(root, results, threshold=0.4)
    assert sorted((len(node.rows) for node in found), reverse=True) == [94, 68, 32, 17, 15]
    mine = {(node.description, frozenset(node.rows)) for node in found}
    assert mine == {(item["capability"], frozenset(item["instances"])) for item in published}


def test_the_real_tree_is_kept_deeper_than_four_layers(real):
    tree, leaf_of = to_tree(real[0], "DS-1000")
    assert len(leaf_of) == 600
    assert max(len(leaf) for leaf in tree.leaves) > 4
    assert set(leaf_of.values()) <= set(tree.leaves)


def test_statistics_are_written_in_its_form(real):
    root, results, statistics, _ = real
    again = json.loads(write_statistics(root, results))
    assert [again[one] for one in ("size", "sum_metrics")] == [
        statistics[one] for one in ("size", "sum_metrics")
    ]
    found, given = (one["confidence_interval"]["0.05"] for one in (again, statistics))
    assert found == pytest.approx(given, abs=1e-12)
