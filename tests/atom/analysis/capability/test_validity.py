import numpy as np
import pytest

from atom.analysis.capability.validity import Atoms, leave_one_out, leave_one_sample_out, validity


def atoms(score, leaf, sample=None, model=None):
    n = len(score)
    return Atoms(
        score=np.asarray(score, dtype=float),
        leaf=np.asarray(leaf, dtype=np.int64),
        sample=np.arange(n) if sample is None else np.asarray(sample, dtype=np.int64),
        model=np.zeros(n, dtype=np.int64) if model is None else np.asarray(model, dtype=np.int64),
    )


def brute(data, whole_sample):
    """Leave out by hand, with loops."""
    far, near = [], []
    for i in range(len(data.score)):
        out = data.sample == data.sample[i] if whole_sample else np.arange(len(data.score)) == i
        mine = (data.model == data.model[i]) & ~out
        leaf = mine & (data.leaf == data.leaf[i])
        if leaf.any():
            far.append(abs(data.score[i] - data.score[mine].mean()))
            near.append(abs(data.score[i] - data.score[leaf].mean()))
    return np.mean(far), np.mean(near), len(far)


def test_the_papers_measure_of_the_hand_worked_case():
    # y = (1,5,3,5,5), leaf = (a,a,b,b,b), m = 3.8, n/(n-1) = 1.25:
    # MAE_G = (2.8+1.2+0.8+1.2+1.2)/5 * 1.25 = 1.8.
    # a: m = 3, |..| = 2,2 times 2 = 4,4; b: m = 13/3, |..| = 4/3,2/3,2/3 times 1.5 = 2,1,1.
    # MAE_I = 12/5 = 2.4; delta -0.6.
    found = leave_one_out(atoms([1, 5, 3, 5, 5], [0, 0, 1, 1, 1]))
    assert found.mae_global == pytest.approx(1.8, abs=1e-9)
    assert found.mae_node == pytest.approx(2.4, abs=1e-9)
    assert found.delta == pytest.approx(-0.6, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_equal_leaving_out_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = 60
    data = atoms(
        rng.integers(1, 6, n), rng.integers(0, 6, n), rng.integers(0, 15, n), rng.integers(0, 3, n)
    )
    for whole, found in ((False, leave_one_out(data)), (True, leave_one_sample_out(data))):
        far, near, count = brute(data, whole)
        assert (found.mae_global, found.mae_node, found.n) == pytest.approx((far, near, count))


def test_nothing_to_leave_out_is_undefined_and_not_valid():
    verdict = validity(atoms([3.0], [0]), np.random.default_rng(0), permutations=9)
    assert np.isnan(verdict.loso.delta)
    assert verdict.p == 1.0
    assert not verdict.valid()


def test_permuting_leaves_keeps_the_global_error():
    rng = np.random.default_rng(0)
    data = atoms(rng.integers(1, 6, 200), rng.integers(0, 4, 200), np.repeat(np.arange(50), 4))
    other = Atoms(
        score=data.score, model=data.model, sample=data.sample, leaf=rng.permutation(data.leaf)
    )
    assert leave_one_out(other).mae_global == pytest.approx(leave_one_out(data).mae_global)


def planted(rng, n_samples, leaf_sd, n_leaves=24, n_models=4):
    """Scores with leaf effects; a sample's criteria come mostly from two leaves of its task."""
    sizes = rng.integers(3, 6, n_samples)
    sample = np.repeat(np.arange(n_samples), sizes)
    task = rng.integers(0, n_leaves, (n_samples, 2))
    own = task[sample, rng.integers(0, 2, len(sample))]
    leaf = np.where(rng.random(len(sample)) < 0.6, own, rng.integers(0, n_leaves, len(sample)))
    scores, models = [], []
    for model in range(n_models):
        effect = rng.normal(0, leaf_sd, n_leaves)
        base = 3 + effect[leaf] + rng.normal(0, 0.5, n_samples)[sample]
        scores.append(np.clip(np.round(base + rng.normal(0, 0.9, len(leaf))), 1, 5))
        models.append(np.full(len(leaf), model))
    return Atoms(
        score=np.concatenate(scores),
        model=np.concatenate(models),
        sample=np.tile(sample, n_models),
        leaf=np.tile(leaf, n_models),
    )


def test_a_true_tree_is_valid_and_its_delta_adjusted_is_positive():
    verdict = validity(planted(np.random.default_rng(1), 400, 0.4), np.random.default_rng(2), 99)
    assert verdict.valid()
    assert verdict.delta_adjusted > 0


@pytest.mark.slow
def test_a_tree_that_says_nothing_is_called_valid_no_more_often_than_it_should():
    """METHODS B19: type I error near .05, while the paper's LOO with atom shuffles inflates."""
    hits, runs = 0, 120
    for seed in range(runs):
        rng = np.random.default_rng(1000 + seed)
        hits += validity(planted(rng, 120, 0.0), rng, 39).valid()
    assert hits / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_shuffles_are_judged_as_trees_of_their_own():
    data, seed = planted(np.random.default_rng(3), 30, 0.4), 5
    mine = [np.flatnonzero((data.model == 0) & (data.sample == one)) for one in range(30)]
    size = np.array([len(rows) for rows in mine])
    rng, deltas = np.random.default_rng(seed), []
    for _ in range(9):
        leaf = data.leaf.copy()
        for members in (np.flatnonzero(size == n) for n in np.unique(size)):
            for sample, donor in zip(members, rng.permutation(members), strict=True):
                leaf[data.sample == sample] = np.tile(data.leaf[mine[donor]], 4)
        other = Atoms(score=data.score, model=data.model, sample=data.sample, leaf=leaf)
        deltas.append(leave_one_sample_out(other).delta)
    own = leave_one_sample_out(data).delta
    found = validity(data, np.random.default_rng(seed), 9)
    assert found.delta_adjusted == pytest.approx(own - np.mean(deltas), abs=1e-12)
    assert found.p == (1 + sum(delta >= own for delta in deltas)) / 10
