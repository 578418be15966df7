import numpy as np
import pytest
import statsmodels.api as sm

from atom.analysis.compare.contrasts import moderate
from atom.analysis.layout import tree_layout
from tests.one_part import contrast_vs_rest, peer_residuals
from tests.planted import WorldSettings, plant

FLAT = (("x",), ("y",))


def world(seed=0, **changes):
    settings = WorldSettings(**{"samples": 60, "models": 4, **changes})
    return plant(settings, np.random.default_rng(seed))


def test_the_contrast_equals_a_clustered_regression(build):
    """A 0/1 regressor's clustered error is the closed form; ours has G/(G-1) of the node on top."""
    rng = np.random.default_rng(4)
    rows = [
        (0, s, p, int(rng.random() < 0.4), 2, int(rng.integers(1, 6)))
        for s in range(30)
        for p in range(rng.integers(2, 6))
    ]
    layout = tree_layout(build(rows, leaves=FLAT, models=1))
    found = contrast_vs_rest(layout, layout.value.astype(float), layout.usable())
    y = np.array([(r[5] - 1) / 4 for r in rows])
    inside = np.array([r[3] == 0 for r in rows], dtype=float)
    sample = np.array([r[1] for r in rows])
    fit = sm.OLS(y, sm.add_constant(inside)).fit(
        cov_type="cluster", cov_kwds={"groups": sample, "use_correction": False}
    )
    assert found.effect[0, 0] == pytest.approx(fit.params[1], abs=1e-12)
    groups = [len(set(sample[inside == side])) for side in (1, 0)]
    raw = [fit.bse[1] ** 2 * g / (g - 1) for g in groups]
    n = np.array([inside.sum(), (1 - inside).sum()])
    # Both nodes share one pool: s2_0 is the (G-1)-weighted mean of V n.
    s2 = raw * n
    df = np.array(groups) - 1
    pool = (df * s2).sum() / df.sum()
    expected = np.sqrt((10 * pool + df * s2) / (10 + df) / n)
    assert found.se[0] == pytest.approx(expected, rel=1e-6)
    assert found.df[0].tolist() == [10 + groups[0] - 1, 10 + groups[1] - 1]
    assert found.effect[0, 1] == pytest.approx(-found.effect[0, 0], abs=1e-12)


def test_the_closed_form_equals_influences_summed_by_hand():
    layout = tree_layout(world().table())
    value, keep = layout.value.astype(float), layout.usable()
    found = contrast_vs_rest(layout, value, keep)
    leaf_of = np.full(layout.n_rows, -1)
    leaf_of[layout.pair_row] = layout.base_group[layout.pair_base] % layout.n_groups
    model, leaf = 1, 5
    mine = np.flatnonzero(layout.model == model)
    y, unit, inside = value[mine], layout.unit[mine], leaf_of[mine] == leaf
    node = layout.group_node[leaf]
    psi = np.zeros(unit.max() + 1)
    np.add.at(psi, unit[inside], (y[inside] - y[inside].mean()) / inside.sum())
    np.add.at(psi, unit[~inside], -(y[~inside] - y[~inside].mean()) / (~inside).sum())
    groups = len(set(unit[inside]))
    variance = (psi**2).sum() * groups / (groups - 1)
    assert found.effect[model, node] == pytest.approx(y[inside].mean() - y[~inside].mean())
    # Undo the moderation with a pool that is the node itself.
    alone, _ = moderate(
        np.array([variance]), np.array([groups]), np.array([inside.sum()]), np.array([0])
    )
    assert alone[0] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.n[model, node] == inside.sum()
    assert found.clusters[model, node] == groups


def test_a_node_with_everything_in_it_has_no_rest(build):
    layout = tree_layout(build([(0, s, 0, 0, 1, 3 + s % 2) for s in range(8)], leaves=(("x",),)))
    found = contrast_vs_rest(layout, layout.value.astype(float), layout.usable())
    assert np.isnan(found.effect).all()
    assert np.isnan(found.se).all()


def test_peer_residuals_equal_a_regression():
    table = world(3, missing=0.2, unscored=0.1).table()
    layout = tree_layout(table)
    keep = layout.usable()
    found = peer_residuals(layout, keep)
    y = layout.value.astype(float)
    means = [y[keep & (layout.model == k)].mean() for k in range(4)]
    model = 2
    x, mine = [], []
    for row in np.flatnonzero(keep & (layout.model == model)):
        peers = np.flatnonzero(keep & (layout.item == layout.item[row]) & (layout.model != model))
        if len(peers):
            mine.append(row)
            x.append(np.mean([y[p] - means[layout.model[p]] for p in peers]))
    mine, x = np.array(mine), np.array(x)
    leaf = table.leaf[mine]
    m = np.array([x[leaf == at].mean() for at in leaf])
    fit = sm.OLS(y[mine], np.stack([np.ones(len(x)), x, x**2, m, m**2], axis=1)).fit()
    assert found.value[mine] == pytest.approx(fit.resid, abs=1e-8)
    assert found.keep[layout.model == model].sum() == len(mine)
    assert found.without_peers[model] == (keep & (layout.model == model)).sum() - len(mine)


def test_few_groups_keep_their_weakness(build):
    """A bend in two group means would follow them: the slope on them is fixed instead."""
    rng = np.random.default_rng(1)
    rows = [
        (m, s, 0, s % 2, 1, int(np.clip(rng.integers(2, 6) - 2 * (m == 0 and s % 2), 1, 5)))
        for m in range(5)
        for s in range(60)
    ]
    layout = tree_layout(build(rows, leaves=FLAT, models=5))
    found = peer_residuals(layout, layout.usable())
    seen = contrast_vs_rest(layout, found.value, found.keep)
    assert seen.effect[0, 1] < -0.3
    y = layout.value.astype(float)
    mine = layout.model == 0
    means = [y[layout.model == k].mean() for k in range(5)]
    peers = np.mean([y[layout.model == k] - means[k] for k in range(1, 5)], axis=0)
    leaf = np.arange(60) % 2
    m = np.array([peers[leaf == 0].mean(), peers[leaf == 1].mean()])[leaf]
    fit = sm.OLS(y[mine] - m, sm.add_constant(peers - m)).fit()
    assert found.value[mine] == pytest.approx(fit.resid, abs=1e-9)


def test_rows_without_peers_leave_the_frame_and_are_counted(build):
    rows = [(0, s, 0, s % 2, 1, 1 + s % 5) for s in range(10)]
    rows += [(1, s, 0, s % 2, 1, 3) for s in range(6)]
    layout = tree_layout(build(rows, leaves=FLAT))
    found = peer_residuals(layout, layout.usable())
    assert found.without_peers.tolist() == [4, 0]
    assert found.keep.sum() == 12


def test_a_node_without_variance_of_its_own_takes_its_pools():
    se, df = moderate(
        np.array([np.nan, 0.04, 0.02]),
        np.array([1, 9, 21]),
        np.array([2, 10, 30]),
        np.zeros(3, int),
    )
    # s2 = .4, .6; pool = (8*.4 + 20*.6)/28 = .542857.
    pool = (8 * 0.4 + 20 * 0.6) / 28
    assert se[0] == pytest.approx(np.sqrt(pool / 2))
    assert se[1] == pytest.approx(np.sqrt((10 * pool + 8 * 0.4) / 18 / 10))
    assert df.tolist() == [10, 18, 30]


def test_nothing_known_gives_no_error():
    se, _ = moderate(np.array([np.nan]), np.array([1]), np.array([1]), np.array([0]))
    assert np.isnan(se[0])
