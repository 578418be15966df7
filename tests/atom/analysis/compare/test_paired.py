import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as reference

from atom.analysis.compare.paired import (
    item_means,
    mcnemar,
    mcnemar_of,
    paired_gap,
    paired_items,
    paired_nodes,
    paired_samples,
)
from atom.analysis.layout import tree_layout
from tests.planted import WorldSettings, plant


def test_mcnemar_of_the_hand_worked_case():
    found = mcnemar(15, 5)
    assert found.exact == pytest.approx(0.0413895, abs=5e-8)
    assert found.mid_p == pytest.approx(0.0266037, abs=5e-8)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 4), (7, 7), (3, 9), (30, 12)])
def test_mcnemar_equals_statsmodels(b, c):
    expected = reference([[5, b], [c, 5]], exact=True).pvalue if b + c else 1.0
    assert mcnemar(b, c).exact == pytest.approx(expected, abs=1e-9)
    assert mcnemar(b, c).mid_p <= mcnemar(b, c).exact
    assert mcnemar(b, c).mid_p == mcnemar(c, b).mid_p


def test_mcnemar_counts_disagreements():
    found = mcnemar_of(np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool))
    assert (found.first_only, found.second_only) == (1, 1)


def test_the_gap_equals_a_clustered_regression():
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 25, 90)
    d = rng.normal(0.1, 0.3, 90) + rng.normal(0, 0.1, 25)[cluster]
    fit = sm.OLS(d, np.ones(90)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}, use_t=True
    )
    groups = len(set(cluster))
    found = paired_gap(d, cluster)
    assert found.se == pytest.approx(fit.bse[0] * np.sqrt(groups / (groups - 1)), rel=1e-9)
    assert found.gap == pytest.approx(d.mean())
    assert found.clusters == groups


def test_degenerate_gaps():
    none = paired_gap(np.zeros(0), np.zeros(0, dtype=np.int64))
    assert none.n == 0
    assert np.isnan(none.p)
    assert np.isnan(paired_gap(np.array([0.5]), np.array([0])).p)
    assert paired_gap(np.zeros(6), np.arange(6)).p == 1.0
    # Six equal differences: the exact test of flipping signs, 2 * (1/2)^6 = 1/32; and as seldom as
    # (.025)^(1/6) = .5407 of the time a difference would show in six of six one time in forty.
    flat = paired_gap(np.full(6, 0.25), np.arange(6))
    assert flat.p == 1 / 32
    assert (flat.lo, flat.hi) == (pytest.approx(0.25 * 0.5407, abs=1e-4), 0.25)
    assert paired_gap(np.full(10, -1.0), np.arange(10)).p == 2**-9


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=12))
def test_intervals_stay_where_differences_can_be(differences):
    found = paired_gap(np.array(differences), np.arange(len(differences)), bound=1.0)
    assert -1 <= found.lo <= found.gap <= found.hi <= 1
    assert 0 < found.p <= 1


def test_nodes_equal_gaps_by_hand_and_sides_swap():
    drawn = plant(WorldSettings(samples=80, models=3, missing=0.2), np.random.default_rng(1))
    table = drawn.table()
    layout = tree_layout(table)
    found = paired_nodes(layout, 0, 2)
    both = drawn.answered[0] & drawn.answered[2]
    for leaf in (0, 3, 11):
        mine = np.flatnonzero((drawn.leaf == leaf) & both[drawn.sample])
        d = (drawn.judged[0, mine].astype(float) - drawn.judged[2, mine]) / 4
        node = layout.group_node[leaf]
        assert found.n[node] == len(mine)
        assert found.gap[node] == pytest.approx(d.mean(), abs=1e-9)
        assert found.clusters[node] == len(set(drawn.sample[mine]))
    turned = paired_nodes(layout, 2, 0)
    for name, other in (("first", "second"), ("p", "p"), ("adjusted", "adjusted")):
        assert getattr(turned, name) == pytest.approx(getattr(found, other), nan_ok=True)
    for name, other in (("gap", "gap"), ("lo", "hi")):
        assert getattr(turned, name) == pytest.approx(-getattr(found, other), nan_ok=True)


def test_any_value_of_the_items_can_stand_on_the_other_side(build):
    # One model on three criteria of two samples: 5, 3, 1 are 1, .5, 0.
    layout = tree_layout(build([(0, 0, 0, 0, 4, 5), (0, 0, 1, 1, 6, 3), (0, 1, 0, 0, 10, 1)]))
    mine = item_means(layout, layout.model == 0)
    assert mine == pytest.approx([1, 0.5, 0])
    found = paired_items(layout, layout.model == 0, np.array([0.5, np.nan, 0.25]))
    # Root A holds items 0 and 2: (1 - .5) and (0 - .25); leaf y (item 1) has no other value.
    assert (found.n[0], found.gap[0]) == (2, pytest.approx(0.125))
    assert (found.first[0], found.second[0]) == pytest.approx((0.5, 0.375))
    assert found.n[layout.group_node[1]] == 0
    assert np.isnan(found.p).all()


def test_repeats_of_an_item_are_averaged_first(build):
    twice = [(0, 0, 0, 0, 10, 5), (0, 0, 0, 0, 10, 2), (1, 0, 0, 0, 10, 3)]
    layout = tree_layout(build(twice))
    # (1 + .25) / 2 less .5.
    assert paired_nodes(layout, 0, 1).gap[0] == pytest.approx(0.125)


def test_samples_weigh_the_items_that_both_have():
    found = paired_samples(
        sample=np.array([0, 0, 0, 2]),
        weight=np.array([2.0, 3.0, 5.0, 10.0]),
        first=np.array([1.0, 0.5, 0.75, np.nan]),
        second=np.array([0.0, np.nan, 0.25, 1.0]),
        n_samples=3,
    )
    # Sample 0 by weights 2 and 5: (2 + 3.75) / 7 and 1.25 / 7; sample 1 has no item, 2 no pair.
    assert found.first[0] == pytest.approx(5.75 / 7)
    assert found.second[0] == pytest.approx(1.25 / 7)
    assert found.gap[0] == pytest.approx(4.5 / 7)
    assert found.weight.tolist() == [7, 0, 0]
    assert found.shared.tolist() == [True, False, False]
    assert np.isnan(found.gap[1:]).all()


def test_models_that_share_nothing_are_not_compared(build):
    rows = [(0, s, 0, 0, 1, 3) for s in range(6)] + [(1, s, 0, 0, 1, 3) for s in range(6, 12)]
    layout = tree_layout(build(rows))
    found = paired_nodes(layout, 0, 1)
    assert found.n.sum() == 0
    assert np.isnan(found.p).all()


def test_the_size_is_nominal_and_ignoring_clusters_is_not():
    """METHODS B9: size in [.035, .065] over 1500 repetitions; row by row .10 and more."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(40), 4)
    hits = naive = 0
    for _ in range(1500):
        d = rng.normal(0, 0.25, 160) + rng.normal(0, 0.2, 40)[cluster]
        hits += paired_gap(d, cluster).p <= 0.05
        naive += paired_gap(d, np.arange(160)).p <= 0.05
    assert 0.035 <= hits / 1500 <= 0.065
    assert naive / 1500 > 0.09
