"""The benchmark of view-models, at a small size: it runs, and its rows keep their form."""

from __future__ import annotations

import json

from atom.analysis.nodes import index_nodes
from atom.views.filters import Filters
from atom.views.overview.node_means import node_means
from benchmarks._study_store import plant_rows
from benchmarks.view_models import Row, crowd, frame_means, frame_of, measure, noted, study_of

FIELDS = {"name", "value", "unit", "baseline", "ratio", "n", "note"}


def test_every_row_keeps_the_contract():
    rows = measure(2_000, intervals=100, means=150) + crowd(1_000, sessions=3, changes=2)
    lines = [json.loads(row.line()) for row in rows]
    assert all(set(line) == FIELDS for line in lines)
    assert {line["name"] for line in lines} >= {
        "overview_2k", "failures_2k", "tree_card_2k", "fingerprint_means_2k",
        "overview_20_sessions_p95".replace("20", "3"),
    }  # fmt: skip
    assert all(line["value"] > 0 for line in lines)


def test_a_missed_target_is_called_short():
    assert noted(101, 100, "words").startswith("short")
    assert noted(99, 100, "words").startswith("reached")
    assert noted(99, None, "words") == "words"
    # 300 ms against 100 ms: three times as fast.
    row = Row(name="x", value=100, unit="ms", baseline=300, n=1, note="")
    assert json.loads(row.line())["ratio"] == 3


def test_pandas_and_ours_compute_the_same_means():
    data = study_of(plant_rows(2_000).table())
    table = data.table
    frame = frame_means(frame_of(table), table.score > -2)
    values = node_means(data, Filters())
    nodes = index_nodes(table.leaves)
    for (model, leaf), row in frame.iterrows():
        at = int(model) * nodes.n_nodes + int(nodes.leaf_node[int(leaf)])
        assert values.n[at] == row["count"]
        assert abs(4 * values.mean[at] + 1 - row["mean"]) < 1e-9
