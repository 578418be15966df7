"""Versions: planted losses are found, worlds without change fail rarely, and since when is told."""

from __future__ import annotations

import numpy as np
import pytest

from atom.analysis.compare.paired import beyond_margin
from atom.store.versions import line_of
from atom.views.compare.page import compare
from atom.views.compare.sides import ComparedSides, choices
from atom.views.compare.versions import latest_of, version_line, version_step
from atom.views.filters import Filters
from tests.atom.views.compare.test_page import study_of
from tests.planted import WorldSettings, plant


def step(data, before, after, **more):
    there = choices(data)
    picked = ComparedSides(first=there[after], second=there[before])
    return version_step(compare(data, Filters(), picked), **more)


def test_a_planted_loss_is_found_where_it_is():
    world = plant(WorldSettings(samples=300, models=2, drop=2.0), np.random.default_rng(3))
    found = step(study_of(world.table()), 0, 1)
    weak = [world.leaves[at] for at in np.flatnonzero(world.weak[1] & ~world.weak[0])]
    worse = {one.path for one in found.regressed}
    assert sum(leaf in worse for leaf in weak) >= len(weak) - 1
    assert all(one.gap < 0 for one in found.regressed)
    # Seen the other way round the same is better, and nothing else.
    back = step(study_of(world.table()), 1, 0)
    assert {one.path for one in back.found("better")} == worse
    assert (back.whole.fixed, back.whole.broke) == (found.whole.broke, found.whole.fixed)


def test_worlds_without_change_rarely_fail():
    """Of 40 worlds in which both are equal, one in twenty fails by the bound: 2; 6 has p < .02."""
    same = WorldSettings(samples=120, models=2, ability_low=0.5, ability_high=0.5, profile_sd=0.0,
                         weak=0)  # fmt: skip
    failed = 0
    for seed in range(40):
        world = plant(same, np.random.default_rng(seed))
        failed += bool(step(study_of(world.table()), 0, 1).regressed)
    assert failed <= 5


def test_a_larger_margin_claims_less():
    world = plant(WorldSettings(samples=300, models=2, drop=2.0), np.random.default_rng(3))
    data = study_of(world.table())
    known = [{one.path for one in step(data, 0, 1, margin=m).regressed} for m in (0, 5, 20, 60)]
    assert known[0] >= known[1] >= known[2] >= known[3] == set()
    assert known[1] < known[0]


def test_a_margin_shifts_the_test():
    # t = (.30 - .10) / .05 = 4 with 30 degrees of freedom: 2 T(-4) = .000385; within it p is 1.
    gap, se, df = np.array([-0.3, 0.05, 0.2]), np.array([0.05, 0.01, 0.05]), np.full(3, 30.0)
    p = np.array([1e-6, 1e-5, np.nan])
    found = beyond_margin(gap, se, df, p, 0.1)
    assert found[0] == pytest.approx(0.000385, abs=5e-6)
    assert found[1] == 1
    assert np.isnan(found[2])
    assert beyond_margin(gap, se, df, p, 0.0) is p


def test_a_line_says_since_when():
    world = plant(WorldSettings(samples=80, models=3), np.random.default_rng(1))
    data = study_of(world.table())
    first, second, third = (one.id for one in data.candidates)
    declared = {third: second, second: first}
    assert latest_of(data, declared) == (third,)
    line = version_line(data, Filters(), declared, third)
    assert [one.model_id for one in line.sides] == [first, second, third]
    assert [(one.before, one.after) for one in line.steps] == [(first, second), (second, third)]
    fails = {}
    for at, name in enumerate((first, second, third)):
        there = choices(data)
        other = there[0 if at else 1]
        view = compare(data, Filters(), ComparedSides(first=there[at], second=other))
        fails[name] = view.pairs.first_fails
    now = fails[third]
    assert [one.samples for one in line.since] == [
        int((now & fails[second] & fails[first]).sum()),
        int((now & fails[second] & ~fails[first]).sum()),
        int((now & ~fails[second]).sum()),
    ]
    assert [one.first for one in line.since] == [True, False, False]
    assert version_line(data, Filters(), declared, first) is None


def test_a_line_is_never_a_ring():
    assert line_of({"c": "b", "b": "a"}, "c") == ["c", "b", "a"]
    assert line_of({"a": "a"}, "a") is None
    assert line_of({"c": "b", "b": "c"}, "b") is None
