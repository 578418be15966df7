"""Rivals' measured accuracies follow the noise model of design/012, at a small size."""

from __future__ import annotations

import json

import numpy as np
import pytest

from atom.methods.registry import METHODS
from benchmarks import _rivals as rivals

PROBES = 16


@pytest.fixture(scope="module")
def world():
    return rivals.draw(PROBES, 4, mix={"charts": 1, "gauges": 1})


def test_distributions_are_distributions(world):
    for method in set(METHODS) - {"no_replay"}:
        for row in rivals.distributions(world[0], method, "noisy").values():
            assert row.sum() == pytest.approx(1)
    for method in METHODS:
        for row in rivals.chances(world[0], method, "noisy").values():
            assert 0.9 < row.sum() <= 1 + 1e-9  # the rest: an answer that can't be read
    for pair in world[0].people:
        assert rivals.people_chances(world[0], *pair).sum() == pytest.approx(1)


def test_a_weighted_sum_by_hand():
    # Weights 2 and 1, scores 1 or 2 with one half each: 3, 4, 5, 6 with one quarter each.
    fair = [0.5, 0.5, 0, 0, 0]
    found = rivals.weighted_sum([(2, fair), (1, fair)])
    assert found[np.arange(3, 7) - rivals.LEAST].tolist() == [0.25] * 4
    # Two independent draws of it: equal 4 / 16, else one half each of the rest.
    assert rivals.order_chances(found, found) == pytest.approx([0.375, 0.25, 0.375])


@pytest.mark.parametrize("character", ["exact", "noisy"])
@pytest.mark.parametrize("method", ["pointwise", "batch", "scan", "atom", "no_weights",
                                    "no_decomposition"])  # fmt: skip
def test_a_method_does_as_the_model_says(world, method, character):
    assert rivals.measure(world, method, character).follows


@pytest.mark.slow
def test_missed_and_spoilt_steps_are_in_the_prediction(world):
    # All probes: of eight samples the standard error itself is known to a quarter only.
    found = rivals.measure(world, "no_replay", "noisy")
    plain = rivals.measure(world, "no_replay", "exact")
    assert found.follows
    assert found.predicted < plain.predicted


@pytest.mark.parametrize("method", METHODS)
def test_a_coin_sits_at_chance(world, method):
    assert rivals.measure(world, method, "coin").follows


def test_a_judge_that_does_otherwise_falls_short(world):
    found = rivals.Measured(value=0.7, predicted=0.6, se=0.01, ties=0.1, pairs=10)
    line = rivals._line("x", found.value, found.predicted, 10, "", found)
    assert line["note"].startswith("short: required")
    assert set(json.loads(json.dumps(line))) == {
        "name", "value", "unit", "baseline", "ratio", "n", "note"
    }  # fmt: skip
