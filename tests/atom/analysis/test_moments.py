"""Sums by pairs of groups equal sums cell by cell."""

import numpy as np
import pytest

from atom.analysis import grounds as grounds_module
from atom.analysis import moments as moments_module
from atom.analysis.capability.diagnosis import DiagnosisSettings
from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.layout import Layout, facet_layout, tree_layout
from atom.analysis.moments import count_rows, linear, list_pairs, quadratic, units_in
from tests.one_part import peer_residuals
from tests.planted import WorldSettings, plant

WORLDS = (
    WorldSettings(samples=60, models=4, missing=0.2, unscored=0.1),
    WorldSettings(samples=60, models=4, per_picture=12),
    WorldSettings(samples=40, models=3, flat_leaves=12),
)


def sums(layout, seed=1):
    rng = np.random.default_rng(seed)
    keep = layout.usable(rng.random(layout.n_rows) < 0.7)
    return layout.base_sums(rng.normal(size=layout.n_rows), keep), keep


@pytest.mark.parametrize("world", WORLDS)
def test_pairs_give_what_cells_give(world):
    layout = tree_layout(plant(world, np.random.default_rng(2)).table())
    pairs = list_pairs(layout)
    assert pairs is not None
    (total, count), keep = sums(layout)
    cells = layout.cells(total, count)
    size = layout.n_models * layout.n_nodes

    def of_node(values):
        return np.bincount(cells.node, weights=values, minlength=size)

    np.testing.assert_allclose(linear(layout, total), of_node(cells.total), atol=1e-10)
    for one, other, product in (
        (total, total, cells.total**2),
        (total, count, cells.total * cells.count),
        (count, count, cells.count**2),
    ):
        np.testing.assert_allclose(
            quadratic(layout, pairs, one, other), of_node(product), atol=1e-10
        )
    assert units_in(layout, pairs, count).tolist() == of_node(np.ones(len(cells.node))).tolist()
    assert count_rows(layout, pairs, keep).n.tolist() == of_node(cells.count).tolist()


def test_hand_worked_products():
    # Sample 0 has criteria on leaves that share a root for some seed; one model, three clusters.
    layout = tree_layout(
        plant(WorldSettings(samples=3, models=1, unscored=0.0), np.random.default_rng(5)).table()
    )
    pairs = list_pairs(layout)
    ones = np.ones(len(layout.base_group))
    for node in range(layout.n_nodes):
        under = np.flatnonzero(layout.under[node])
        # One for each (unit, group): a unit with g groups under the node adds g * g.
        mine = layout.base_unit[np.isin(layout.base_group, under)]
        squares = sum(int(n) ** 2 for n in np.bincount(mine))
        assert quadratic(layout, pairs, ones, ones)[node] == squares


@pytest.mark.parametrize("frame", ["peer", "own", "absolute"])
@pytest.mark.parametrize("world", WORLDS)
def test_a_diagnosis_is_the_same_by_pairs_and_by_cells(world, frame, monkeypatch):
    table = plant(world, np.random.default_rng(3)).table()
    settings = DiagnosisSettings(frame=frame)
    by_pairs = diagnose(tree_layout(table), settings=settings)
    monkeypatch.setattr(moments_module, "MOST_PAIRS", -1)
    layout = tree_layout(table)
    assert list_pairs(layout) is None or not len(list_pairs(layout).first)
    by_cells = diagnose(layout, settings=settings)
    for name in ("mean", "lo", "hi", "effect", "se", "p_weak", "pooled", "n", "samples", "label"):
        np.testing.assert_allclose(
            getattr(by_pairs, name), getattr(by_cells, name), rtol=1e-9, atol=1e-12, err_msg=name
        )


def test_labels_that_overlap_have_no_pairs():
    table = plant(WorldSettings(samples=30, models=2), np.random.default_rng(1)).table()
    layout = facet_layout(table, "parity")
    assert len(list_pairs(layout).first) == 0


@pytest.mark.parametrize("world", WORLDS)
def test_rows_laid_out_by_themselves_give_the_same_as_a_mask(world, monkeypatch):
    layout = tree_layout(plant(world, np.random.default_rng(3)).table())
    rows = np.random.default_rng(4).random(layout.n_rows) < 0.4
    few = diagnose(layout, rows)
    monkeypatch.setattr(grounds_module, "FEW", 0)
    whole = diagnose(layout, rows)
    assert few.label.tolist() == whole.label.tolist()
    assert few.without_peers.tolist() == whole.without_peers.tolist()
    for name in ("n", "samples", "mean", "lo", "hi", "effect", "se", "pooled", "adjusted_weak"):
        assert getattr(few, name) == pytest.approx(getattr(whole, name), abs=1e-10, nan_ok=True)


def test_a_narrowed_layout_numbers_its_rows_items_and_clusters_anew():
    layout = tree_layout(plant(WORLDS[0], np.random.default_rng(3)).table())
    keep = layout.model == 1
    few, used = layout.narrow(np.flatnonzero(keep))
    assert few.n_rows == keep.sum()
    assert set(few.model) == {1}
    assert few.n_items == len(set(layout.item[keep])) == few.item.max() + 1
    assert few.base_group.tolist() == layout.base_group[used].tolist()
    assert few.group_of_row.tolist() == layout.group_of_row[keep].tolist()


def test_peers_row_by_row_equal_peers_by_sums(monkeypatch):
    layout = tree_layout(plant(WORLDS[0], np.random.default_rng(5)).table())
    keep = layout.usable(np.random.default_rng(6).random(layout.n_rows) < 0.6)
    assert layout.single
    by_row = peer_residuals(layout, keep)
    monkeypatch.setattr(Layout, "single", False)
    by_sums = peer_residuals(layout, keep)
    assert by_row.keep.tolist() == by_sums.keep.tolist()
    assert by_row.value == pytest.approx(by_sums.value, abs=1e-12, nan_ok=True)
