import numpy as np
import pytest
from scipy.stats import spearmanr

from atom.analysis.agreement.irt import additive, logit


def complete(k=3, items=8, seed=0):
    rng = np.random.default_rng(seed)
    model, item = np.divmod(np.arange(k * items), items)
    return rng.random(k * items), model, item


def test_with_all_answers_abilities_are_means():
    value, model, item = complete()
    found = additive(value, model, item, 3, 8)
    assert found.ability == pytest.approx([value[model == k].mean() for k in range(3)])
    expected = [value.mean() - value[item == i].mean() for i in range(8)]
    assert found.difficulty == pytest.approx(expected)


def test_with_answers_missing_it_is_least_squares():
    value, model, item = complete(4, 12, 1)
    kept = np.random.default_rng(2).random(len(value)) < 0.6
    value, model, item = value[kept], model[kept], item[kept]
    found = additive(value, model, item, 4, 12)
    design = np.zeros((len(value), 16))
    design[np.arange(len(value)), model] = 1
    design[np.arange(len(value)), 4 + item] = -1
    solution = np.linalg.lstsq(design, value, rcond=None)[0]
    assert found.ability - found.ability.mean() == pytest.approx(
        solution[:4] - solution[:4].mean(), abs=1e-9
    )
    fitted = found.ability[model] - found.difficulty[item]
    assert fitted == pytest.approx(design @ solution, abs=1e-9)


@pytest.mark.parametrize("fit", [additive, logit])
def test_strong_models_on_hard_samples_are_not_punished(fit):
    """METHODS B8: informative missingness: raw means at most .8, two-way at least .95."""
    rng = np.random.default_rng(3)
    raw, fitted = [], []
    for _ in range(6):
        k, items = 8, 300
        ability, hard = rng.permutation(np.linspace(-1, 1, k)), rng.normal(0, 1.2, items)
        model, item = (part.ravel() for part in np.indices((k, items)))
        seen = rng.random(k * items) < 1 / (1 + np.exp(-3 * ability[model] * hard[item]))
        model, item = model[seen], item[seen]
        p = 1 / (1 + np.exp(-(ability[model] - hard[item])))
        value = rng.binomial(4, p) / 4
        means = np.bincount(model, weights=value) / np.bincount(model)
        raw.append(spearmanr(means, ability).statistic)
        fitted.append(spearmanr(fit(value, model, item, k, items).ability, ability).statistic)
    assert np.mean(raw) <= 0.8
    assert np.mean(fitted) >= 0.95


def test_the_logit_fit_is_a_penalised_optimum():
    value, model, item = complete(4, 30, 4)
    found = logit(value, model, item, 4, 30, sweeps=400)
    assert found.converged
    p = 1 / (1 + np.exp(-(found.ability[model] - found.difficulty[item])))
    pull = np.bincount(model, weights=4 * (value - p)) - found.ability / 4
    assert pull == pytest.approx(np.full(4, pull.mean()), abs=1e-3)


def test_constant_scores_and_absent_models_stay_finite():
    value, model, item = np.ones(6), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])
    for fit in (additive, logit):
        found = fit(value, model, item, 3, 4)
        assert np.isfinite(found.ability[:2]).all()
        assert np.isnan(found.ability[2])
        assert np.isnan(found.difficulty[3])
        none = fit(np.zeros(0), np.zeros(0, int), np.zeros(0, int), 2, 0)
        assert np.isnan(none.ability).all()
