import numpy as np
import pytest

from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.compare.contrasts import moderate
from atom.analysis.cube import index_nodes
from atom.analysis.intervals import Cells, node_stats
from atom.analysis.layout import tree_layout
from atom.analysis.planted import WorldSettings, plant
from atom.analysis.shrinkage import shrink_flat, shrink_nested, shrink_to_zero


def test_departures_of_the_hand_worked_case():
    # d = (.3, -.3, 0, .1), v = .01: w = 100; Q = 100*.19 = 19; tau2 = (19 - 4)/400 = .0375.
    # B = .0375/.0475 = .789474.
    d = np.array([0.3, -0.3, 0.0, 0.1])
    found = shrink_to_zero(d, np.full(4, 0.01), np.zeros(4, dtype=np.int64))
    assert found.spread == pytest.approx(np.full(4, 0.0375), abs=1e-12)
    assert found.value == pytest.approx(d * 0.0375 / 0.0475, abs=1e-12)
    assert found.variance == pytest.approx(np.full(4, 0.01 * 0.0375 / 0.0475), abs=1e-12)


def test_means_of_the_hand_worked_case():
    # m = (.2, .4, .9), v = .01: w = 100, centre .5, Q = 100*(.09+.01+.16) = 26, df 2,
    # C = 300 - 30000/300 = 200, tau2 = 24/200 = .12; B = .12/.13; centre's variance .13/3.
    m = np.array([0.2, 0.4, 0.9])
    found = shrink_flat(m, np.full(3, 0.01), np.zeros(3, dtype=np.int64))
    b = 0.12 / 0.13
    assert found.value == pytest.approx(b * m + (1 - b) * 0.5, abs=1e-12)
    assert found.variance == pytest.approx(np.full(3, b * 0.01 + (1 - b) ** 2 * 0.13 / 3))


def test_no_spread_means_full_pooling_and_families_stay_apart():
    m, family = np.array([0.5, 0.5, 0.9, 0.9]), np.array([0, 0, 1, 1])
    found = shrink_flat(m, np.full(4, 0.02), family)
    assert found.value == pytest.approx(m)
    assert found.spread.tolist() == [0, 0, 0, 0]


def test_the_unknown_takes_what_is_above_it():
    nodes = index_nodes((("A", "x"), ("A", "y"), ("B", "z")))
    mean = np.array([0.4, 0.3, np.nan, 0.8, 0.8])
    found = shrink_nested(mean, np.where(np.isnan(mean), np.nan, 0.001), nodes.parent, nodes.level)
    assert found.value[2] == pytest.approx(found.value[0])
    assert found.variance[2] >= found.variance[0]
    alone = shrink_to_zero(np.array([np.nan]), np.array([np.nan]), np.zeros(1, dtype=np.int64))
    assert np.isnan(alone.value[0])
    assert np.isnan(alone.probability_below(-0.1)[0])


def test_probability_below_is_the_normal_tail():
    found = shrink_to_zero(np.array([-1.0, 1.0]), np.full(2, 0.01), np.zeros(2, dtype=np.int64))
    tail = found.probability_below(float(found.value[0]))
    assert tail[0] == pytest.approx(0.5)
    assert tail[1] < 1e-6


def test_pooling_shortens_the_error_and_covers():
    """METHODS B7: RMSE at most .75 of raw where leaves are small; coverage in [.92, .97]."""
    raw_error, pooled_error, hits, cases = 0.0, 0.0, 0, 0
    for seed in range(12):
        settings = WorldSettings(samples=200, flat_leaves=52, weak=0, models=4)
        world = plant(settings, np.random.default_rng(seed))
        layout = tree_layout(world.table())
        seen = diagnose(layout)
        pool = np.zeros(layout.n_nodes, dtype=np.int64)
        truth = (world.expected() - 1) / 4
        for model in range(4):
            n, samples = seen.n[model], seen.samples[model].astype(float)
            stats = node_stats_of(layout, model)
            se, _ = moderate(stats.se**2, samples, n.astype(float), pool + layout.level)
            found = shrink_nested(seen.mean[model], se**2, layout.parent, layout.level)
            leaf = layout.group_node[n[layout.group_node] > 0]
            wanted = truth[model][n[layout.group_node] > 0]
            raw_error += ((seen.mean[model][leaf] - wanted) ** 2).sum()
            pooled_error += ((found.value[leaf] - wanted) ** 2).sum()
            half = 1.96 * np.sqrt(found.variance[leaf])
            hits += (np.abs(found.value[leaf] - wanted) <= half).sum()
            cases += len(leaf)
    assert np.sqrt(pooled_error / raw_error) <= 0.75
    assert 0.92 <= hits / cases <= 0.97


def node_stats_of(layout, model):
    keep = layout.usable() & (layout.model == model)
    cells = layout.cells(*layout.base_sums(np.where(keep, layout.value, 0).astype(float), keep))
    shifted = Cells(
        cluster=cells.cluster,
        node=cells.node - model * layout.n_nodes,
        total=cells.total,
        count=cells.count,
    )
    return node_stats(shifted, layout.n_nodes, layout.level)
