import math

import numpy as np
import pytest

from atom.analysis.agreement.raters import alpha_interval, krippendorff_alpha
from atom.analysis.resampling import percentiles, resample_interval


def test_the_interval_of_a_mean_is_as_wide_as_its_standard_error():
    rng = np.random.default_rng(1)
    value = rng.normal(size=400)
    lo, hi = resample_interval(lambda at: float(value[at].mean()), np.arange(400), rng, draws=2000)
    # 1.96 / sqrt(400) on either side.
    assert (hi - lo) / 2 == pytest.approx(0.098 * value.std(), rel=0.08)
    assert lo < value.mean() < hi


def test_clusters_are_drawn_whole():
    """Ten equal things a cluster say no more than one: the width is that of 40 values."""
    rng = np.random.default_rng(2)
    single = rng.normal(size=40)
    value, cluster = np.repeat(single, 10), np.repeat(np.arange(40), 10)
    shuffled = rng.permutation(400)
    value, cluster = value[shuffled], cluster[shuffled]
    sizes = set()

    def mean(at):
        sizes.add(len(at))
        return float(value[at].mean())

    lo, hi = resample_interval(mean, cluster, rng, draws=2000)
    assert sizes == {400}
    assert (hi - lo) / 2 == pytest.approx(1.96 * single.std() / math.sqrt(40), rel=0.1)


def test_little_data_and_undefined_figures_have_no_interval():
    rng = np.random.default_rng(3)
    four = resample_interval(lambda at: float(len(at)), np.arange(4), rng)
    undefined = resample_interval(lambda at: math.nan, np.arange(40), rng)
    none = resample_interval(lambda at: 1.0, np.zeros(0, dtype=np.int64), rng)
    assert np.isnan([*four, *undefined, *none]).all()
    assert np.isnan(percentiles([])).all()
    assert percentiles([1.0, 1.0, math.nan]) == (1.0, 1.0)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alphas_interval_is_that_of_drawing_things_again(level):
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 120)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 120)), 1, 5).astype(float)
    ratings[rng.random((3, 120)) < 0.2] = np.nan
    cluster = np.arange(120) // 2
    fast = alpha_interval(ratings, cluster, np.random.default_rng(5), level, draws=300)
    slow = resample_interval(
        lambda at: krippendorff_alpha(ratings[:, at], level),
        cluster, np.random.default_rng(5), draws=300,
    )  # fmt: skip
    # The same draws of clusters, counted in two ways.
    assert fast == pytest.approx(slow, abs=1e-9)
    assert np.isnan(alpha_interval(ratings[:, :6], cluster[:6], rng, level)).all()
