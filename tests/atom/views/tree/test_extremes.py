from __future__ import annotations

import numpy as np
import pytest

from atom.store import Store
from atom.views.filters import Filters
from atom.views.study_data import load_study
from atom.views.tree.extremes import LEAST_SAMPLES, extremes
from atom.views.tree.node_table import node_table, placed
from tests.app.tree_store import make_tree_store


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = make_tree_store(tmp_path_factory.mktemp("tree"), 8, samples=60)
    with Store.open(made.folder, read_only=True) as store:
        data = load_study(store, made.study.id)
        yield node_table(data, data.tree, placed(store, data), Filters())


@pytest.mark.parametrize("model", [None, 2])
def test_the_extremes_are_leaves_and_nothing_lies_beyond(nodes, model):
    found = extremes(nodes, model)
    means = nodes.mean.mean(axis=0) if model is None else nodes.mean[model]
    leaves = np.flatnonzero(nodes.is_leaf & (nodes.samples >= LEAST_SAMPLES))
    assert len(leaves) == 8
    assert {found.lowest[0], found.highest[0]} <= set(leaves.tolist())
    assert found.lowest == (leaves[means[leaves].argmin()], means[leaves].min())
    assert found.highest[1] == means[leaves].max() > found.lowest[1]


def test_thin_leaves_are_neither(nodes):
    from dataclasses import replace

    thin = replace(nodes, samples=np.minimum(nodes.samples, LEAST_SAMPLES - 1))
    assert extremes(thin, None) is None
