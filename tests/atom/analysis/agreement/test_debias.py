"""People's labels take the judge's error out of its scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from atom.analysis.agreement.debias import (
    MIN_LABELLED,
    debiased_nodes,
    inverse_confusion,
    labels_needed,
    ppi_mean,
)
from atom.analysis.intervals import make_cells, node_stats
from tests.planted import WorldSettings, confusion, judge_scores, plant

WORLDS = 12
LABELLED = 60


def _ints(values):
    return np.asarray(values, dtype=np.int64)


def test_single_rows_with_full_trust_are_plain_prediction_powered_inference():
    rng = np.random.default_rng(3)
    n, others = 4000, 9000
    truth = rng.normal(size=n)
    judge = truth + 0.5 * rng.normal(size=n) + 0.3
    rest = rng.normal(size=others) + 0.3
    found = ppi_mean(
        np.r_[judge, rest],
        np.r_[truth, np.full(others, np.nan)],
        np.arange(n + others),
        tuning=1.0,
    )
    # Angelopoulos et al. 2023: mean(f_U) + mean(y - f), variance var(f_U)/N + var(y - f)/n.
    # (ppi-python gives the same; its wheel holds a package `tests` that would hide this one.)
    value = rest.mean() + (truth - judge).mean()
    se = np.sqrt(np.var(rest, ddof=1) / others + np.var(truth - judge, ddof=1) / n)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.se == pytest.approx(se, rel=1e-9)
    assert found.hi - found.value == pytest.approx(stdtrit(n - 1, 0.975) * se, rel=1e-9)


def test_a_mean_by_hand():
    # Labelled: samples 0 and 1, one row each, people 4, 2, judge 5, 3; then judge 3, 5.
    judge = np.array([5.0, 3, 3, 5])
    human = np.array([4.0, 2, np.nan, np.nan])
    found = ppi_mean(judge, human, np.arange(4))
    # m_y = 3, m_f = 4, m_U = 4: the labels' mean isn't moved, whatever lambda is.
    assert found.value == pytest.approx(3)
    # cov(y, f) = 2, pooled var f = (1 * 2 + 1 * 2) / 2 = 2, 1 + n/N = 2: lambda = 2 / 4.
    assert found.tuning == pytest.approx(0.5)
    # (2 + .25 * 2 - 2 * .5 * 2) / 2 + .25 * 2 / 2 = .25 + .25
    assert found.se == pytest.approx(math.sqrt(0.5))
    assert (found.human, found.judge, found.shift) == (3, 4, 1)
    assert not found.enough


def test_a_perfect_judge_is_relied_on_and_a_blind_one_is_not():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=10_000)
    human = np.where(np.arange(10_000) < 1000, truth, np.nan)
    good = ppi_mean(truth + 2, human, np.arange(10_000))
    blind = ppi_mean(rng.normal(size=10_000), human, np.arange(10_000))
    # lambda = 1 / (1 + n/N) = 1 / (1 + 1/9) = .9 for a judge that is off by a constant.
    assert good.tuning == pytest.approx(0.9, abs=0.05)
    assert blind.tuning < 0.1
    assert good.hi - good.lo < 0.5 * (good.human_hi - good.human_lo)
    assert blind.hi - blind.lo <= 1.001 * (blind.human_hi - blind.human_lo)


def test_all_labelled_leaves_the_labels_alone():
    y = np.array([1.0, 3, 5, 4])
    found = ppi_mean(np.array([2.0, 2, 2, 2]), y, np.arange(4))
    assert found.value == y.mean()
    assert (found.tuning, found.unlabelled) == (0, 0)


@pytest.mark.parametrize("labelled", [0, 1])
def test_too_few_labels_claim_nothing(labelled):
    human = np.full(10, np.nan)
    human[:labelled] = 3
    found = ppi_mean(np.arange(10.0), human, np.arange(10))
    assert math.isnan(found.value)
    assert found.judge == 4.5
    assert labels_needed(np.arange(10.0), human, np.arange(10), 0.1) is None


def test_the_other_rows_of_a_labelled_sample_count_nowhere():
    judge = np.array([5.0, 1, 3, 3, 4])
    human = np.array([4.0, np.nan, 2, np.nan, np.nan])
    with_row = ppi_mean(judge, human, np.array([0, 0, 1, 2, 3]))
    without = ppi_mean(judge[[0, 2, 3, 4]], human[[0, 2, 3, 4]], np.array([0, 1, 2, 3]))
    assert with_row.value == pytest.approx(without.value)
    assert with_row.se == pytest.approx(without.se)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**31),
    st.floats(-5, 5),
    st.floats(0.1, 10),
)
def test_the_scale_doesn_t_matter(seed, shift, stretch):
    rng = np.random.default_rng(seed)
    judge, truth = rng.normal(size=(2, 60))
    human = np.where(np.arange(60) < 20, truth, np.nan)
    cluster = rng.integers(0, 30, 60)
    one = ppi_mean(judge, human, cluster)
    other = ppi_mean(stretch * judge + shift, stretch * human + shift, cluster)
    assert other.value == pytest.approx(stretch * one.value + shift, abs=1e-8)
    assert other.se == pytest.approx(stretch * one.se, abs=1e-8)


def test_more_labels_are_needed_for_a_narrower_interval():
    rng = np.random.default_rng(8)
    truth = rng.normal(size=2000)
    judge = truth + rng.normal(size=2000)
    human = np.where(np.arange(2000) < 60, truth, np.nan)
    wide, narrow = (labels_needed(judge, human, np.arange(2000), half) for half in (0.2, 0.1))
    assert MIN_LABELLED <= wide < narrow <= 2000
    # What it promises is what comes of it, within what 60 labels can know of the spread.
    then = np.where(np.arange(2000) < narrow, truth, np.nan)
    found = ppi_mean(judge, then, np.arange(2000))
    assert (found.hi - found.lo) / 2 == pytest.approx(0.1, rel=0.25)
    assert labels_needed(judge, human, np.arange(2000), 1e-6) is None


def _labelled_world(seed, samples=1200, **more):
    world = plant(WorldSettings(samples=samples, **more), np.random.default_rng(seed))
    model, atom = np.nonzero(world.judged > 0)
    judge, truth = _ints(world.judged[model, atom]), _ints(world.true_score[model, atom])
    sample, leaf = _ints(world.sample[atom]), _ints(world.leaf[atom])
    chosen = np.random.default_rng(seed + 1).choice(samples, LABELLED, replace=False)
    return world, model, leaf, sample, judge, truth, np.isin(sample, chosen)


def test_leaves_come_back_to_people_s_scale_where_the_judge_alone_misses_it():
    raw, debiased, error = [], [], []
    for seed in range(WORLDS):
        world, model, leaf, sample, judge, truth, labelled = _labelled_world(seed)
        inverse = inverse_confusion(
            judge[labelled], truth[labelled], sample[labelled], rng=np.random.default_rng(seed)
        )
        expected = world.expected(by_judge=False)
        nodes = debiased_nodes(
            judge, model * expected.shape[1] + leaf, sample, expected.size, inverse
        )
        goal = expected.ravel()
        known = np.isfinite(nodes.mean)
        debiased.append(np.mean((nodes.lo <= goal)[known] & (goal <= nodes.hi)[known]))
        node = model * expected.shape[1] + leaf
        alone = node_stats(make_cells((judge - 1) / 4, node, sample, expected.size), expected.size)
        x = (goal - 1) / 4
        raw.append(np.mean((alone.lo <= x)[known] & (x <= alone.hi)[known]))
        error.append(np.abs(inverse.confusion - confusion(world.settings)).mean())
    # METHODS B13b: inverse .939, raw .768.
    assert 0.92 <= np.mean(debiased) <= 0.97
    assert np.mean(raw) < 0.90
    assert np.mean(error) <= 0.03


def test_an_exact_judge_stands_for_itself():
    points = np.tile(np.arange(1, 6), 400)
    inverse = inverse_confusion(
        _ints(points), _ints(points), np.arange(2000), rng=np.random.default_rng(0)
    )
    assert inverse.refused == ""
    np.testing.assert_allclose(inverse.score, np.arange(1, 6), atol=0.02)


def test_why_it_is_refused():
    rng = np.random.default_rng(1)
    truth = _ints(rng.integers(1, 6, 500))
    few = inverse_confusion(truth[:20], truth[:20], np.arange(20), rng=rng)
    assert f"at least {MIN_LABELLED}" in few.refused
    high = np.maximum(truth, 3)
    assert (
        "never gave the score 1, 2"
        in inverse_confusion(high, high, np.arange(500), rng=rng).refused
    )
    coin = _ints(rng.integers(1, 6, 500))
    blind = inverse_confusion(coin, truth, np.arange(500), rng=rng)
    assert "condition number" in blind.refused
    with pytest.raises(ValueError, match="condition number"):
        debiased_nodes(coin, np.zeros(500, dtype=np.int64), np.arange(500), 1, blind)


def test_a_judge_that_is_lenient_on_one_root_is_noticed():
    rng = np.random.default_rng(4)
    truth = _ints(rng.integers(1, 6, 1500))
    root = _ints(rng.integers(0, 3, 1500))
    sample = _ints(np.arange(1500) // 3)
    same = _ints(judge_scores(truth, confusion(WorldSettings()), rng))
    kind = np.where(root == 2, np.minimum(same + 1, 5), same)
    fair = inverse_confusion(same, truth, sample, root, rng=rng)
    odd = inverse_confusion(kind, truth, sample, root, rng=rng)
    assert fair.homogeneous_p > 0.01
    assert odd.homogeneous_p < 1e-6


def test_empty_and_single_nodes():
    points = np.tile(np.arange(1, 6), 40)
    inverse = inverse_confusion(
        _ints(points), _ints(points), np.arange(200), rng=np.random.default_rng(0)
    )
    nodes = debiased_nodes(_ints([5, 1, 3]), _ints([0, 0, 2]), _ints([0, 1, 0]), 3, inverse)
    assert np.isnan(nodes.mean[1])
    assert nodes.raw[0] == 3
    assert np.isfinite(nodes.mean[2])
