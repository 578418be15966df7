"""The planted tree is called valid, a random one is not (METHODS B19, E4), at a small size."""

from __future__ import annotations

import json

import numpy as np
import pytest

from atom.analysis.capability.partitions import adjusted_rand
from benchmarks.tree_validity import World, draw, measure, rows


def test_the_world_has_the_shape_that_methods_measured():
    atoms, leaf = draw(World(samples=400), np.random.default_rng(1))
    assert 2.6 <= atoms.score.mean() <= 4.4
    assert set(np.unique(atoms.score)) == {1, 2, 3, 4, 5}
    count = np.bincount(atoms.sample[atoms.model == 0])
    assert set(count) == {3, 4, 5}
    assert len(leaf) == count.sum()
    assert adjusted_rand(atoms.leaf[: len(leaf)].tolist(), leaf.tolist()) == 1


@pytest.mark.slow
def test_the_true_tree_is_valid_and_a_random_one_is_not():
    rates = measure(World(samples=500, models=4), repetitions=30, permutations=39, seed=1)
    assert rates.true >= 0.95
    assert rates.random <= 0.05 + rates.slack
    lines = rows(rates, World())
    assert json.loads(json.dumps(lines[0]))["name"] == "true_tree_called_valid"
    assert not any(str(line["note"]).startswith("short") for line in lines)


@pytest.mark.slow
def test_leaves_without_difference_are_not_called_valid():
    rates = measure(
        World(samples=300, models=2, leaf_sd=0.0, weak=0.0, deviation=0.0),
        repetitions=20, permutations=39, seed=3,
    )  # fmt: skip
    assert rates.true <= 0.05 + rates.slack
