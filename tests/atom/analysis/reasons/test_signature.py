import math

import numpy as np
import pytest
from scipy import stats

from atom.analysis.reasons.signature import signatures


def draw(rng, models=5, clusters=40, tilt=None):
    """Draw failures whose clusters have kinds of their own, the same for every model."""
    model, code, cluster = [], [], []
    for c in range(clusters):
        mix = rng.dirichlet([4, 2, 2])
        for m in range(models):
            n = rng.poisson(1.5)
            odds = mix * (np.array([1, 1, 1]) if tilt is None or m else np.array(tilt))
            model += [m] * n
            cluster += [c] * n
            code += rng.choice(3, n, p=odds / odds.sum()).tolist()
    return np.array(model), np.array(code), np.array(cluster), models


def test_a_gap_by_hand():
    # Two models in six clusters. Model 0 fails once in each, in group 0 in clusters 0-3: 4 of 6.
    # Model 1 fails once in each, in group 0 in clusters 0 and 1: 2 of 6.
    model = np.repeat([0, 1], 6)
    cluster = np.tile(np.arange(6), 2)
    code = np.array([0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1])
    found = signatures(model, code, cluster, 2)
    assert found.count.tolist() == [[4, 2], [2, 4]]
    assert found.gap[0, 0] == pytest.approx(4 / 6 - 2 / 6)
    # psi_c = (x0 - 4/6)/6 - (x1 - 2/6)/6: clusters 0, 1: (2 - 4 - 6 + 2 = -2)/36 each with x = 1, 1
    # -> (1/3 - 2/3)/6 = -1/18; 2, 3: (1/3 + 1/3)/6 = 1/9; 4, 5: (-2/3 + 1/3)/6 = -1/18.
    # Sum of squares = 4/324 + 2/81 = 1/27; V = 6/5/27 = .04444. Floor: q = 1/2, 1/4 (1/6 + 1/6)
    # = .08333, which is more.
    half = stats.t.ppf(0.975, 5) * math.sqrt(0.25 / 3)
    assert found.hi[0, 0] == pytest.approx(min(1 / 3 + half, 1))
    assert found.lo[0, 0] == pytest.approx(1 / 3 - half)
    p = 2 * stats.t.sf(1 / 3 / math.sqrt(0.25 / 3), 5)
    # Four tests with one p-value: adjusted by 4/4.
    assert found.adjusted == pytest.approx(np.full((2, 2), p))


def test_shares_add_up_and_gaps_cancel():
    model, code, cluster, k = draw(np.random.default_rng(1))
    found = signatures(model, code, cluster, k)
    assert found.share.sum(axis=1) == pytest.approx(np.ones(k))
    assert found.gap.sum(axis=1) == pytest.approx(np.zeros(k))
    order = np.random.default_rng(2).permutation(len(model))
    again = signatures(model[order], code[order], cluster[order] * 7 + 3, k)
    assert again.gap == pytest.approx(found.gap)
    assert again.adjusted == pytest.approx(found.adjusted)


def test_alike_models_are_told_apart_seldom():
    inside, claimed = [], []
    for seed in range(60):
        found = signatures(*draw(np.random.default_rng([5, seed])))
        inside.append(((found.lo <= 0) & (found.hi >= 0)).mean())
        claimed.append((found.adjusted <= 0.1).any())
    # Intervals of 95 % over samples; any claim in at most a tenth of the worlds.
    assert 0.93 <= np.mean(inside) <= 0.985
    assert np.mean(claimed) <= 0.1


def test_a_planted_signature_is_found():
    found = signatures(*draw(np.random.default_rng(3), clusters=80, tilt=[0.3, 3, 1]))
    assert found.adjusted[0, 1] < 0.01
    assert found.gap[0, 1] > 0.1
    assert found.gap[0, 0] < -0.1
    assert (found.adjusted[1:, 2] > 0.1).all()


def test_models_without_failures_and_thin_ones_are_not_tested():
    model = np.array([0] * 30 + [1] * 3)
    cluster = np.array([*range(30), 0, 1, 2])
    found = signatures(model, np.array([0, 1] * 15 + [1, 1, 1]), cluster, 3, groups=3)
    assert math.isnan(found.share[2, 0])
    assert np.isnan(found.adjusted[1:]).all()
    assert np.isfinite(found.adjusted[0, :2]).all()
    assert found.count[:, 2].tolist() == [0, 0, 0]
    alone = signatures(np.zeros(20, int), np.array([0, 1] * 10), np.arange(20), 1)
    assert np.isnan(alone.adjusted).all()
