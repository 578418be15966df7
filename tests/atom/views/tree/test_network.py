"""The network page: nothing from anywhere, names as data, no two nodes in one place."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from atom.store import Store
from atom.views.filters import Filters
from atom.views.overview.evidence import Evidence, NodeEvidence
from atom.views.study_data import load_study
from atom.views.tree.network import FEW_LEAVES, layout, network_html
from atom.views.tree.node_table import node_table, placed
from atom.views.tree.page import shown
from tests.app.tree_store import HOSTILE, make_tree_store


@pytest.fixture(scope="module", params=[24, 500])
def nodes(request, tmp_path_factory):
    made = make_tree_store(tmp_path_factory.mktemp("tree"), request.param, samples=60)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        return node_table(data, data.tree, placed(store, data), Filters())


@pytest.fixture(scope="module")
def page(nodes):
    return network_html(nodes, shown(nodes), "light", whose="Mean")


def drawn(page):
    return json.loads(re.search(r"nodes = new vis\.DataSet\((\[.*?\])\);", page, re.DOTALL)[1])


def test_nothing_is_fetched_from_anywhere(page):
    assert not re.search(r"""(?:\s(?:src|href)\s*=\s*|url\()["'\s]*(?:https?:)?//""", page)
    assert not re.search(r"<(?:link|iframe|object|embed|base)\b", page)
    assert re.search(r"<script[^>]*\ssrc", page) is None
    assert "default-src 'none'" in page


def test_names_cannot_become_markup(page):
    assert HOSTILE not in page
    assert "<script>window.pwned" not in page
    assert any(HOSTILE[:12] in (node.get("title") or "") for node in drawn(page))


def test_nothing_moves(page):
    assert all(node["fixed"] is True and "x" in node and "y" in node for node in drawn(page))
    assert '"physics": {"enabled": false}' in page or '"physics":{"enabled":false}' in page


def test_every_node_is_there_and_none_lies_on_another(nodes, page):
    spots = layout(nodes, shown(nodes))
    assert {spot.index for spot in spots} == set(range(len(nodes.paths)))
    ids = {node["id"] for node in drawn(page)}
    assert set(range(len(nodes.paths))) <= ids
    points = np.array([(spot.x, spot.y) for spot in spots if nodes.is_leaf[spot.index]])
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    assert apart[~np.eye(len(points), dtype=bool)].min() > 10


def test_a_narrow_window_has_room_for_every_name(nodes, page):
    """Where a small tree fans out to one side, names of 15 have 9 px and more in 654 pixels."""
    spots = layout(nodes, shown(nodes), narrow=True)
    points = np.array([(spot.x, spot.y) for spot in spots if nodes.is_leaf[spot.index]])
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    assert apart[~np.eye(len(points), dtype=bool)].min() > 10
    if nodes.n_leaves > FEW_LEAVES:
        return
    assert {spot.side for spot in spots if spot.index} == {1}
    named = [node for node in drawn(page) if node["shape"] == "text"]
    ends = [node["slim"][0] + 0.29 * node["font"]["size"] * len(node["label"]) for node in named]
    assert max(ends) + 150 < 654 * 15 / 9


def test_few_leaves_are_labelled_beside_their_node(nodes, page):
    labels = [node for node in drawn(page) if str(node["id"]).startswith("label-")]
    assert bool(labels) == (nodes.n_leaves <= FEW_LEAVES)


def test_names_fit_once_it_is_known_how_wide_they_are(page):
    assert page.index("drawGraph();") < page.index("network.once('afterDrawing', fit)")
    assert "network.on('resize', fit)" in page


def test_filters_leave_nodes_out(nodes):
    view = shown(nodes, max_depth=2)
    spots = layout(nodes, view)
    assert {spot.index for spot in spots} == set(view.nodes.tolist())


def test_both_schemes_have_their_ground(nodes):
    assert "#0F1216" in network_html(nodes, shown(nodes, max_depth=1), "dark", whose="Mean")


def test_evidence_stands_before_the_name_and_in_the_tooltip(nodes):
    path = nodes.paths[1]
    one = NodeEvidence(label="suspected", frame="own", effect=-9.0, lo=-19.0, hi=1.0, n=12,
                       samples=11, more_samples=30.5)  # fmt: skip
    held = Evidence(frame="own", margin=2.5, q=0.1, nodes={path: one})
    view = shown(nodes, colouring="evidence", model=0, evidence=held)
    found = {node["id"]: node for node in drawn(network_html(nodes, view, "light", whose="m"))}
    label = found.get("label-1", found[1])
    assert label["label"].startswith("▽ ")
    assert found[1]["title"].split("\n")[2:] == [
        "m: ▽ suspected weakness",
        "9.0 (−1.0 to 19.0) points of 100 lower",
        "than on the rest of its own criteria",
        "own frame, confounded with difficulty; n 11 samples, 12 checkpoints",
        "about 31 more samples there would settle it",
    ]
    other = found.get("label-2", found[2])
    assert other["label"].startswith("○ ")
    assert "no score here yet" in found[2]["title"]
