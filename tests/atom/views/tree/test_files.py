"""Trees as files, out and in again."""

from __future__ import annotations

import io
import json

import networkx as nx
import pytest

from atom.errors import FormatError, UsageError
from atom.formats.tools.evaltree import read_tree
from atom.store import Store, find_study
from atom.views.filters import Filters
from atom.views.study_data import load_study
from atom.views.tree.edit import edit_tree
from atom.views.tree.files import graphml, take_file, write_file
from atom.views.tree.node_table import node_table, placed
from taxonomy import parse_tree
from taxonomy.edits import Rename
from tests.app.tree_store import make_tree_store
from tests.factories import COUNT, STUDY, TREE, open_small


@pytest.fixture
def store(tmp_path):
    with open_small(tmp_path) as store:
        yield store


@pytest.fixture
def data(store):
    return load_study(store, STUDY)


@pytest.fixture
def nodes(store, data):
    return node_table(data, data.tree, placed(store, data), Filters())


def test_yaml_comes_back_the_same(store, data, nodes):
    file = write_file("yaml", store, data, nodes)
    assert file.name == "small-tree.yaml"
    assert parse_tree(file.data.decode()) == TREE


def test_graphml_holds_numbers_and_edges(nodes):
    graph = nx.read_graphml(io.BytesIO(graphml(nodes, ["a", "b", "c"])))
    assert graph.number_of_nodes() == len(nodes.paths)
    assert graph.number_of_edges() == len(nodes.paths) - 1
    leaf = next(d for _, d in graph.nodes(data=True) if d["path"].endswith("Count all"))
    assert (leaf["criteria"], leaf["samples"], leaf["layer"]) == (6, 6, 4)
    assert leaf["score: c"] == pytest.approx(20.0)
    assert leaf["lo: c"] < 20 < leaf["hi: c"]


def test_hostile_names_survive_graphml(tmp_path):
    made = make_tree_store(tmp_path / "big", 12, samples=4)
    with Store.open(made.folder) as store:
        data = load_study(store, made.study.id)
        nodes = node_table(data, data.tree, placed(store, data), Filters())
    graph = nx.read_graphml(io.BytesIO(graphml(nodes, ["m\x00\x0b<>&", "b", "c", "d"])))
    assert any("</script>" in d["label"] for _, d in graph.nodes(data=True))


def test_evaltree_form_has_a_row_a_criterion(store, data, nodes):
    root = read_tree(write_file("evaltree", store, data, nodes).data)
    assert sorted(root.rows) == list(range(18))


def test_an_evaltree_tree_is_taken_as_it_is_and_not_edited(store, data):
    def row(n):
        return {"description": f"row {n}", "subtrees": n}

    deep = {"description": "All", "subtrees": {"0": {"description": "A", "subtrees": {"0": {
        "description": "B", "subtrees": {"0": {"description": "C", "subtrees": {
            "0": {"description": "D", "subtrees": {"0": row(0), "1": row(1), "2": row(2)}},
            "1": {"description": "E", "subtrees": {"0": row(3), "1": row(4), "2": row(5)}},
        }}}}}}}}  # fmt: skip
    taken = take_file(store, data, json.dumps(deep).encode(), "capability_tree.json")
    assert (taken.depth, taken.leaves, taken.criteria) == (5, 2, 18)
    again = load_study(store, STUDY)
    assert again.tree.leaves[0] == ("All", "A", "B", "C", "D")
    with pytest.raises(UsageError, match="layer 5"):
        edit_tree(store, again.study.id, Rename(("All", "A"), "X"))


def test_a_yaml_tree_is_taken(store, data):
    text = write_file(
        "yaml", store, data, node_table(data, data.tree, placed(store, data), Filters())
    ).data
    taken = take_file(store, data, text.replace(b"Count some", b"Count a few"), "mine.yaml")
    assert (taken.leaves, taken.criteria) == (3, 12)
    assert find_study(store, STUDY).tree_version != data.study.tree_version
    assert COUNT in load_study(store, STUDY).tree


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"\xff\xfe\x00", UsageError, "UTF-8"),
        (b"name: x", UsageError, "roots"),
        (b"roots: [{name: A, children: [{name: B}]}]", UsageError, "layer 4"),
        (b'{"subtrees": 5', FormatError, "JSON"),
        (b'{"description": "x", "subtrees": "y"}', FormatError, "subtrees"),
    ],
)
def test_what_is_no_tree_says_why(store, data, content, error, words):
    with pytest.raises(error, match=words):
        take_file(store, data, content, "x.yaml")
