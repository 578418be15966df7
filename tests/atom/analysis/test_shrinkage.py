import numpy as np
import pytest

from atom.analysis.intervals import Cells, node_stats
from atom.analysis.shrinkage import shrink_flat, shrink_to_zero


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


def test_probability_below_is_the_normal_tail():
    found = shrink_to_zero(np.array([-1.0, 1.0]), np.full(2, 0.01), np.zeros(2, dtype=np.int64))
    tail = found.probability_below(float(found.value[0]))
    assert tail[0] == pytest.approx(0.5)
    assert tail[1] < 1e-6


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
