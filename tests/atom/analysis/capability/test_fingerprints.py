import numpy as np
import pytest

from atom.analysis.capability.fingerprints import identify, profiles
from atom.analysis.layout import tree_layout
from tests.planted import WorldSettings, plant

EQUAL = {"weak": 0, "ability_low": 0.5, "ability_high": 0.5, "flat_leaves": 52}


def layout_of(seed, **changes):
    return tree_layout(plant(WorldSettings(**changes), np.random.default_rng(seed)).table())


def test_the_profile_of_a_hand_worked_case(build):
    # Leaf x: model 0 has 5 and 5, model 1 has 3 and 1; leaf y: both 3.
    # Item means (x): .75, .5; y .5. Differences of model 0: x .25, .5; y 0: its mean .25.
    # Profile: x .375 - .25 = .125, y -.25; model 1 the mirror image.
    rows = [(0, 0, 0, 0, 1, 5), (0, 1, 0, 0, 1, 5), (0, 2, 0, 1, 1, 3),
            (1, 0, 0, 0, 1, 3), (1, 1, 0, 0, 1, 1), (1, 2, 0, 1, 1, 3)]  # fmt: skip
    found = profiles(tree_layout(build(rows, leaves=(("x",), ("y",)))))
    assert found.value[0] == pytest.approx([0.125, -0.25])
    assert found.value[1] == pytest.approx([-0.125, 0.25])
    assert found.n.tolist() == [[2, 1], [2, 1]]


def test_a_hard_item_is_nobodys_profile():
    drawn = plant(WorldSettings(samples=200, models=4), np.random.default_rng(0))
    layout = tree_layout(drawn.table())
    assert np.nansum(profiles(layout).value * profiles(layout).n, axis=1) == pytest.approx(
        np.zeros(4), abs=1e-9
    )


def test_equal_models_are_named_by_chance():
    """METHODS B17: no profiles, top-1 within .06 of 1/8 (Monte Carlo slack of 3 sd)."""
    found = [
        identify(layout_of(seed, samples=250, profile_sd=0.0, **EQUAL),
                 np.random.default_rng(seed), splits=10).top1
        for seed in range(14)
    ]  # fmt: skip
    assert np.mean(found) == pytest.approx(0.125, abs=0.06)


@pytest.mark.slow
def test_distinct_profiles_are_recognised():
    """METHODS B17: spread .3, 1000 samples: top-1 at least .95."""
    found = [
        identify(layout_of(seed, samples=1000, profile_sd=0.3, **EQUAL),
                 np.random.default_rng(seed), splits=10)
        for seed in range(4)
    ]  # fmt: skip
    assert np.mean([each.top1 for each in found]) >= 0.95
    assert np.mean([each.two_way for each in found]) >= 0.97


def test_planted_weaknesses_identify_models():
    """METHODS D4 at 300 samples: top-1 at least .90, two-way at least .97."""
    found = [
        identify(layout_of(seed, samples=300), np.random.default_rng(seed), splits=8)
        for seed in range(10)
    ]
    assert np.mean([each.top1 for each in found]) >= 0.90
    assert np.mean([each.two_way for each in found]) >= 0.97
    one = found[0]
    assert one.similarity == pytest.approx(one.similarity.T)
    assert one.pairwise == pytest.approx(one.pairwise.T, nan_ok=True)
    assert one.named.sum(axis=1) == pytest.approx(np.ones(8))
    assert one.chance == 0.125


def test_the_same_seed_gives_the_same_answer():
    layout = layout_of(1, samples=60)
    one, two = (identify(layout, np.random.default_rng(5), splits=4) for _ in range(2))
    assert one.top1 == two.top1
    assert np.array_equal(one.similarity, two.similarity, equal_nan=True)


@pytest.mark.parametrize(("models", "samples"), [(1, 20), (4, 1), (2, 0)])
def test_too_little_to_split_is_undefined(build, models, samples):
    rows = [(m, s, 0, s % 2, 1, 1 + (m + s) % 5) for m in range(models) for s in range(samples)]
    layout = tree_layout(build(rows, leaves=(("x",), ("y",)), models=models, samples=samples))
    found = identify(layout, np.random.default_rng(0), splits=3)
    assert np.isnan(found.top1)
    assert np.isnan(found.two_way)


def test_constant_scores_are_undefined_but_no_error(build):
    rows = [(m, s, 0, s % 2, 1, 3) for m in range(3) for s in range(12)]
    layout = tree_layout(build(rows, leaves=(("x",), ("y",)), models=3))
    found = identify(layout, np.random.default_rng(0), splits=3)
    assert np.isnan(found.similarity).all()
