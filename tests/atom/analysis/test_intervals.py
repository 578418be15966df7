import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from atom.analysis.intervals import make_cells, node_stats, wilson


def stats_of(values, clusters, nodes=None, n_nodes=1, level=None):
    values = np.asarray(values, dtype=float)
    nodes = np.zeros(len(values), dtype=np.int64) if nodes is None else np.asarray(nodes)
    cells = make_cells(values, nodes, np.asarray(clusters, dtype=np.int64), n_nodes)
    return node_stats(cells, n_nodes, level)


def test_the_cluster_robust_error_of_the_hand_worked_case():
    # y = (1,3 | 5,5 | 2) in points: mean 16/5 = 3.2.
    # r: (1+3)-2*3.2 = -2.4; 10-6.4 = 3.6; 2-3.2 = -1.2; squares 5.76+12.96+1.44 = 20.16.
    # V = 3/2 * 20.16 / 25 = 1.2096, SE = 1.0998 points; on x = (s-1)/4 a quarter of it.
    x = (np.array([1, 3, 5, 5, 2]) - 1) / 4
    found = stats_of(x, [0, 0, 1, 1, 2])
    assert found.mean[0] == pytest.approx((3.2 - 1) / 4, abs=1e-12)
    assert found.se[0] == pytest.approx(np.sqrt(1.2096) / 4, abs=1e-12)


def test_the_error_equals_a_clustered_regression_on_a_constant():
    rng = np.random.default_rng(3)
    cluster = np.sort(rng.integers(0, 40, 300))
    y = np.clip(rng.normal(0.5, 0.2, 300) + rng.normal(0, 0.1, 40)[cluster], 0, 1)
    model = sm.OLS(y, np.ones(300)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    groups = len(np.unique(cluster))
    expected = model.bse[0] * np.sqrt(groups / (groups - 1))
    assert stats_of(y, cluster).se[0] == pytest.approx(expected, rel=1e-9)


def test_the_moderated_interval_of_a_hand_worked_node():
    # Five clusters of one value, x = (1,1,1,0,0): m = 0.6, V = 5/4 * 5*0.24/25... per cluster
    # r^2: 3*0.16 + 2*0.36 = 1.2; V = 5/4 * 1.2/25 = 0.06; phi = 0.06*5/0.24 = 1.25, which is the
    # level's pool as well, so phi~ = 1.25; n_eff = 5/1.25 = 4; q = t_14(.975) = 2.1447867.
    # centre = (0.6 + q2/8)/(1 + q2/4) with q2 = 4.6001 -> 1.17501/2.15003 = 0.546512
    # half = q*sqrt(0.24/4 + q2/64)/2.15003 = 2.1447867*sqrt(0.1318766)/2.15003 = 0.362267
    found = stats_of([1, 1, 1, 0, 0], range(5))
    assert found.lo[0] == pytest.approx(0.546512 - 0.362267, abs=2e-5)
    assert found.hi[0] == pytest.approx(0.546512 + 0.362267, abs=2e-5)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_constant_scores_still_have_a_width(value, n):
    found = stats_of([value] * n, range(n))
    assert np.isfinite([found.lo[0], found.hi[0]]).all()
    assert found.lo[0] <= value <= found.hi[0]
    assert found.hi[0] - found.lo[0] > 0


def test_an_empty_node_is_undefined_and_changes_nothing_else():
    alone = stats_of([0.2, 0.4, 0.9], [0, 1, 2])
    beside = stats_of([0.2, 0.4, 0.9], [0, 1, 2], nodes=[1, 1, 1], n_nodes=3)
    assert beside.n.tolist() == [0, 3, 0]
    assert np.isnan(beside.mean[0])
    assert np.isnan(beside.lo[2])
    assert beside.lo[1] == alone.lo[0]


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=60
    ),
    st.randoms(),
)
def test_row_order_and_cluster_names_do_not_matter_and_bounds_hold(rows, random):
    shuffled = rows[:]
    random.shuffle(shuffled)
    a = stats_of(
        [(s - 1) / 4 for s, _, _ in rows], [c for _, c, _ in rows], [n for *_, n in rows], 3
    )
    b = stats_of(
        [(s - 1) / 4 for s, _, _ in shuffled],
        [90 - 7 * c for _, c, _ in shuffled],
        [n for *_, n in shuffled],
        3,
    )
    assert np.allclose(a.lo, b.lo, equal_nan=True)
    assert np.allclose(a.hi, b.hi, equal_nan=True)
    known = a.n > 0
    assert (a.lo[known] <= a.mean[known] + 1e-9).all()
    assert (a.mean[known] <= a.hi[known] + 1e-9).all()
    assert (a.lo[known] >= 0).all()
    assert (a.hi[known] <= 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("groups", [8, 15, 60])
def test_the_interval_covers_a_planted_mean_where_a_naive_one_does_not(groups):
    """METHODS B2: coverage in [.93, .985] for few samples, [.935, .97] for many (3 sd of slack)."""
    rng = np.random.default_rng(groups)
    repetitions, truth = 1200, 0.6
    hit = naive = 0
    for _ in range(repetitions):
        effect = np.clip(rng.normal(0, 0.25, groups), -0.4, 0.4)
        sizes = rng.integers(3, 6, groups)
        cluster = np.repeat(np.arange(groups), sizes)
        # Mean over samples is planted at the truth: scores are coin flips around truth + effect.
        p = np.clip(truth + effect, 0, 1)[cluster]
        x = (rng.random(len(p)) < p).astype(float)
        found = stats_of(x, cluster)
        hit += bool(found.lo[0] <= truth <= found.hi[0])
        se = x.std(ddof=1) / np.sqrt(len(x))
        naive += bool(abs(x.mean() - truth) <= 1.96 * se)
    slack = 3 * np.sqrt(0.05 * 0.95 / repetitions)
    low, high = (0.93, 0.985) if groups < 12 else (0.935, 0.97)
    assert low - slack <= hit / repetitions <= high + slack
    assert naive / repetitions < 0.90


def test_wilson_equals_statsmodels_and_nothing_of_nothing_is_undefined():
    for hits, n in [(0, 5), (3, 10), (10, 10)]:
        expected = proportion_confint(hits, n, method="wilson")
        assert wilson(hits, n) == pytest.approx(expected, abs=1e-6)
    assert np.isnan(wilson(0, 0)).all()
