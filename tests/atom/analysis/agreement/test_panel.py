"""A panel of judges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atom.analysis.agreement.panel import (
    calibrated,
    judges_needed,
    narrowing,
    panel_mean,
    read_panel,
    reliability_of,
)
from tests.planted import WorldSettings, confusion, judge_scores

KIND = confusion(WorldSettings())


def parallel(rng, judges, noise, samples=200, each=4):
    """Draw parallel judges: the truth and independent noise of known size."""
    truth = rng.normal(0.6, 0.2, samples * each)
    values = truth + rng.normal(0, noise, (judges, len(truth)))
    return values, np.repeat(np.arange(samples), each)


def test_spearman_brown_by_hand():
    # r = .5: two judges 2 x .5 / 1.5 = .667; .8 takes 4 x .5 / .5 = 4.
    assert reliability_of(0.5, 2) == pytest.approx(2 / 3)
    assert judges_needed(0.5) == 4
    # r = .8 is there with one; r = .45 takes 4 x .55 / .45 = 4.9.
    assert (judges_needed(0.8), judges_needed(0.45)) == (1, 5)
    assert math.isinf(judges_needed(-0.1))
    assert math.isnan(judges_needed(math.nan))


def test_values_and_disagreement_by_hand():
    values = np.array([[0.0, 0.5, np.nan], [1.0, 0.5, np.nan], [0.5, np.nan, 0.25]])
    found = read_panel(values, np.arange(3))
    assert found.value == pytest.approx([0.5, 0.5, 0.25])
    # Deviations -.5, .5, 0: sqrt(.5 / 2); two alike; one judge alone has none.
    assert found.disagreement == pytest.approx([0.5, 0.0, np.nan], nan_ok=True)
    assert found.judges.tolist() == [3, 2, 1]
    # The first judge: 0 less .75 and .5 less .5.
    assert found.shift[0] == pytest.approx((-0.75 + 0) / 2)
    # Under thirty shared clusters nothing is read.
    assert math.isnan(found.mean_correlation)
    assert found.drop is None


@pytest.mark.parametrize(("noise", "truth"), [(0.1, 1), (0.15, 3), (0.2, 4), (0.22, 5)])
def test_how_many_judges_within_one_of_the_truth(noise, truth):
    # 4 (1 - r) / r = 4 noise^2 / .04: 1, 2.25, 4 and 4.84.
    for seed in range(20):
        values, cluster = parallel(np.random.default_rng([seed, 3]), 3, noise)
        found = read_panel(values, cluster)
        assert abs(found.needed - truth) <= 1
        assert found.needed_lo <= found.needed <= found.needed_hi


def test_the_lenient_judge_is_named_and_no_other():
    named = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 5])
        values, cluster = parallel(rng, 4, 0.15)
        assert read_panel(values, cluster).lenient == ()
        values[2] += 0.06
        named.append(read_panel(values, cluster).lenient)
    assert named.count((2,)) >= 38


def test_a_judge_that_only_adds_noise_is_to_be_dropped():
    rng = np.random.default_rng(7)
    values, cluster = parallel(rng, 4, 0.1)
    assert read_panel(values, cluster).drop is None
    values[1] = rng.normal(0.6, 0.3, values.shape[1])
    found = read_panel(values, cluster)
    assert found.drop == 1
    assert found.without[1] > found.reliability


def test_the_panels_interval_covers():
    lenient = confusion(WorldSettings(lenient=0.8, diagonal=0.75))
    covered, combined, raw = [], [], []
    for seed in range(200):
        rng = np.random.default_rng([seed, 9])
        hard = np.repeat(rng.normal(0, 1, 240), 4)
        truth = np.clip(np.round(3.0 + hard + rng.normal(0, 1.2, 960)), 1, 5).astype(np.int64)
        cluster = np.repeat(np.arange(240), 4)
        scores = np.stack([judge_scores(truth, kind, rng) for kind in (KIND, KIND, lenient)])
        human = np.where(cluster < 60, truth, np.nan)
        values, why = calibrated(scores, human, cluster, rng)
        assert why == ""
        found = panel_mean(read_panel(values, cluster).value, (human - 1) / 4, cluster)
        # 3.0 on 1..5 as clipped and rounded: the mean over very many.
        covered.append(found.lo <= MEAN <= found.hi)
        combined.append(found.value)
        raw.append(read_panel((scores - 1) / 4, cluster).value.mean())
    # 200 worlds: .95 with an error of .015.
    assert 0.92 <= np.mean(covered) <= 0.98
    assert np.mean(combined) == pytest.approx(MEAN, abs=0.004)
    assert np.mean(raw) > MEAN + 0.005


def _mean() -> float:
    rng = np.random.default_rng(0)
    drawn = np.round(3.0 + rng.normal(0, math.sqrt(1 + 1.2**2), 4_000_000))
    return float((np.clip(drawn, 1, 5).mean() - 1) / 4)


MEAN = _mean()


def test_no_judge_is_calibrated_where_one_cant_be():
    rng = np.random.default_rng(3)
    scores = rng.integers(1, 6, (2, 40))
    human = np.full(40, np.nan)
    human[:10] = 3
    values, why = calibrated(scores, human, np.arange(40), rng)
    assert values is None
    assert why


def test_what_would_narrow_by_hand():
    # Two judges, two clusters of one mark: means .5 and .25; judges .2 and -.2, then .05 and -.05.
    found = narrowing(np.array([[0.7, 0.3], [0.3, 0.2]]), np.arange(2))
    # Means lie .125 off their mean: 2/1/4 x 2 x .125^2 = .015625, root .125.
    assert found.now == pytest.approx(0.125)
    # Each judge lies .125 beyond its mean shift, .2 - .125 and .05 - .125: .075 either way.
    # Twice 2/4 x 2 x .075^2 / 2 = .005625.
    assert found.judges == pytest.approx(0.075)
    assert found.twice == pytest.approx(0.125 / math.sqrt(2))
    assert found.another == pytest.approx(math.sqrt(0.015625 - 0.005625 / 3))
    assert math.isnan(found.repeat)
    # Asked once more: (.04 + .04) / (4 x 2) x (1 - 1/2) = .005 of the variance goes.
    again = narrowing(np.array([[0.7, 0.3], [0.3, 0.2]]), np.arange(2), np.array([0.04, 0.04]))
    assert again.repeat == pytest.approx(math.sqrt(0.015625 - 0.005))


def test_another_judge_narrows_as_planted():
    # Noise .3 a mark, spread of samples .2, four marks each: (.04 + .09 / 2 / 4) / 200 with two.
    now, another, after = [], [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 31])
        truth = np.repeat(rng.normal(0.6, 0.2, 200), 4)
        values = truth + rng.normal(0, 0.3, (3, 800))
        cluster = np.repeat(np.arange(200), 4)
        two, three = narrowing(values[:2], cluster), narrowing(values, cluster)
        now.append(two.now**2)
        another.append(two.another**2)
        after.append(three.now**2)
    assert np.mean(now) == pytest.approx((0.04 + 0.09 / 8) / 200, rel=0.05)
    assert np.mean(another) == pytest.approx((0.04 + 0.09 / 12) / 200, rel=0.05)
    assert np.mean(another) == pytest.approx(np.mean(after), rel=0.05)
