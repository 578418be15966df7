import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from atom.analysis.multiplicity import adjust, simes, tree_bh

ONE = np.zeros(4, dtype=np.int64)


def test_three_discoveries_of_the_hand_worked_case():
    # p = .01 .02 .03 .5 at q = .05: p_(3) = .03 <= 3/4 * .05 = .0375; p_(4) = .5 > .05.
    assert (adjust(np.array([0.01, 0.02, 0.03, 0.5]), ONE) <= 0.05).tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize(("control", "name"), [("bh", "fdr_bh"), ("by", "fdr_by")])
def test_adjustment_equals_statsmodels_in_every_family(control, name):
    rng = np.random.default_rng(1)
    p, family = rng.random(60) ** 3, rng.integers(0, 3, 60)
    p[::7] = np.nan
    found = adjust(p, family, control)
    for number in range(3):
        mine = (family == number) & np.isfinite(p)
        assert found[mine] == pytest.approx(multipletests(p[mine], method=name)[1], abs=1e-12)
        scipys = false_discovery_control(p[mine], method=control)
        assert found[mine] == pytest.approx(scipys, abs=1e-12)
    assert np.isnan(found[::7]).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.randoms())
def test_adjustment_is_monotone_and_ignores_order(p, random):
    p = np.array(p)
    family = np.zeros(len(p), dtype=np.int64)
    found = adjust(p, family)
    order = np.argsort(p, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert (found >= p - 1e-12).all()
    at = list(range(len(p)))
    random.shuffle(at)
    assert adjust(p[at], family) == pytest.approx(found[at])


def test_tree_discoveries_of_the_hand_worked_case():
    # Roots with leaves {.001, .8} and {.4, .6}: Simes 2*.001 = .002 and min(2*.4, .6) = .6.
    # BH at .1 over (.002, .6): the first root only; its children at .1 * 1/2 = .05: .001 <= .025.
    parent = np.array([-1, 0, 0, -1, 3, 3])
    level = np.array([0, 1, 1, 0, 1, 1])
    leaf_p = np.array([np.nan, 0.001, 0.8, np.nan, 0.4, 0.6])
    found = tree_bh(leaf_p, parent, level, 0.1)
    assert found.p[[0, 3]] == pytest.approx([0.002, 0.6])
    assert found.selected.tolist() == [True, True, False, False, False, False]


def test_untested_leaves_are_no_part_of_a_family():
    parent, level = np.array([-1, 0, 0]), np.array([0, 1, 1])
    found = tree_bh(np.array([np.nan, 0.04, np.nan]), parent, level, 0.05)
    assert found.selected.tolist() == [True, True, False]
    assert np.isnan(simes(np.array([np.nan])))
    none = tree_bh(np.full(3, np.nan), parent, level, 0.05)
    assert not none.selected.any()
