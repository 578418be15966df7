"""A judge against exact truth: what is planted is found, and nothing else is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atom.analysis.agreement.calibration import Truths, calibrate
from atom.views.lab.judge_marks import WORDS, find_mark, marks_of
from tests.planted import WorldSettings, confusion, judge_scores

ROOTS = ("Perception", "Understanding", "Reasoning", "Knowledge", "Trustworthiness", "Generation")
LEAVES = tuple((root, f"{root} {at}") for root in ROOTS for at in range(2))
SHARE = np.repeat([0.15, 0.15, 0.10, 0.05, 0.03, 0.02], 2)


def drawn(rng, *, probes=80, noisy=True, lenient=None, blind=None):
    """Draw probes with three steps and four answers each, and a judge's scores of them."""
    leaf = np.repeat(rng.choice(len(LEAVES), (probes, 3), p=SHARE), 4, axis=0).reshape(-1)
    cluster = np.repeat(np.arange(probes), 12)
    hard = rng.normal(0, 0.8, probes)[cluster]
    truth = np.clip(np.round(3.6 + hard + rng.normal(0, 1, len(leaf))), 1, 5).astype(np.int64)
    said = truth.copy()
    if noisy:
        said = judge_scores(truth, confusion(WorldSettings()), rng).astype(np.int64)
    if lenient is not None:
        rows = leaf // 2 == lenient
        said[rows] = np.minimum(said[rows] + 1, 5)
    if blind is not None:
        rows = leaf // 2 == blind
        said[rows] = rng.permutation(said[rows])
    return Truths(truth=truth, said=said, leaf=leaf, cluster=cluster, leaves=LEAVES)


def small(truth, said, leaf=None, cluster=None):
    n = len(truth)
    return Truths(
        truth=np.array(truth),
        said=np.array(said),
        leaf=np.array(leaf if leaf is not None else [0] * n),
        cluster=np.array(cluster if cluster is not None else range(n)),
        leaves=(("A", "a"), ("B", "b")),
    )


def test_a_hand_worked_case():
    # Gaps 0, +1, -1, +1, 0, 0: bias 1/6, right 3 of 6; the last step has no score.
    found = calibrate(small([1, 2, 3, 4, 5, 5, 2], [1, 3, 2, 5, 5, 5, 0])).whole
    assert found.n == 6
    assert found.unscored == 1
    assert found.bias == pytest.approx(1 / 6)
    assert found.accuracy == pytest.approx(0.5)
    assert found.counts[3].tolist() == [0, 0, 0, 0, 1]
    # Squares around 1/6 with six clusters: 3 - 6/36 = 17/6; V = 6/5 * 17/6 / 36 = 17/180.
    assert found.bias_hi - found.bias == pytest.approx(
        # Pooled with itself the variance stays; df = 10 + 5.
        2.131449546 * math.sqrt(17 / 180),
        rel=1e-6,
    )


def test_a_judge_without_errors_has_no_flaw_and_no_nan():
    found = calibrate(drawn(np.random.default_rng(0), noisy=False))
    assert found.whole.accuracy == 1
    assert found.whole.alpha == 1
    assert found.flawed == ()
    assert found.homogeneity.p == 1
    assert all(math.isfinite(one.bias_lo) for one in found.roots if one.n)


@pytest.mark.parametrize("noisy", [False, True])
def test_a_judge_that_is_lenient_on_one_root_only_is_found_there(noisy):
    found = calibrate(drawn(np.random.default_rng(1), noisy=noisy, lenient=3))
    assert {one.path for one in found.flawed if len(one.path) == 1} == {("Knowledge",)}
    assert all(one.path[0] == "Knowledge" and one.flaw == "lenient" for one in found.flawed)
    assert found.homogeneity.p < 0.001
    marks = marks_of(found)
    assert find_mark(marks, ("Knowledge", "Knowledge 1")).word == WORDS["lenient"]
    assert find_mark(marks, ("Reasoning", "Reasoning 0")) is None
    assert next(iter(marks)) == ("Knowledge",)


def test_a_judge_that_is_blind_on_one_root_is_found_though_it_is_not_kinder():
    found = calibrate(drawn(np.random.default_rng(2), probes=150, blind=2))
    reasoning = next(one for one in found.roots if one.path == ("Reasoning",))
    assert reasoning.flaw == "blind"
    assert reasoning.drop < -0.2
    assert found.homogeneity.p < 0.05


@pytest.mark.parametrize("top", [5, 4])
def test_a_judge_that_only_adds_a_point_is_lenient_and_never_blind(top):
    """No score is exactly right, but all go up with the truth: a shift."""
    rng = np.random.default_rng(7)
    truths = drawn(rng, probes=120, noisy=False)
    truth = np.minimum(truths.truth, top)
    rows = truths.leaf // 2 == 3
    view = calibrate(
        Truths(truth=truth, said=np.where(rows, np.minimum(truth + 1, 5), truth),
               leaf=truths.leaf, cluster=truths.cluster, leaves=LEAVES)
    )  # fmt: skip
    assert {(one.path[0], one.flaw) for one in view.flawed} == {("Knowledge", "lenient")}
    # The others make no error at all: their variance is 0, and the test has to see that.
    assert view.homogeneity.p < 0.001


def test_a_harsh_judge_is_called_harsh():
    rng = np.random.default_rng(3)
    truth = rng.integers(2, 6, 200)
    said = truth - (rng.random(200) < 0.7)
    found = calibrate(small(truth, said, leaf=np.zeros(200, int), cluster=np.arange(200) // 4))
    assert [one.flaw for one in found.roots] == ["harsh", None]


@pytest.mark.slow
def test_the_noisy_judge_has_no_marked_branch_and_the_test_keeps_its_size():
    rng = np.random.default_rng(4)
    views = [calibrate(drawn(rng, probes=50)) for _ in range(60)]
    assert sum(bool(view.flawed) for view in views) <= 1
    # Three standard errors above 5 % of 60.
    assert sum(view.homogeneity.p <= 0.05 for view in views) <= 8


def test_a_root_of_easy_answers_is_not_taken_for_a_lenient_one():
    """At truth 1 all near misses go up, at 5 all go down: a confusion, not a branch's fault."""
    rng = np.random.default_rng(5)
    leaf = np.repeat([0, 1], 600)
    truth = np.where(leaf == 0, 1, 5)
    said = judge_scores(truth, confusion(WorldSettings()), rng).astype(np.int64)
    view = calibrate(small(truth, said, leaf=leaf, cluster=np.arange(1200) // 4))
    assert view.roots[0].bias > 0.1
    assert view.roots[1].bias < -0.1
    assert view.flawed == ()
    # Each truth stands in one branch only: there is nothing to compare them by.
    assert view.homogeneity.p == 1


@pytest.mark.parametrize("said", [[0] * 6, [-1] * 6])
def test_nothing_read_is_undefined(said):
    view = calibrate(small([1, 2, 3, 4, 5, 5], said))
    assert view.whole.n == 0
    assert view.whole.unscored == 6
    assert math.isnan(view.whole.bias)
    assert math.isnan(view.whole.accuracy)
    assert view.flawed == ()
    assert math.isnan(view.homogeneity.p)


def test_no_rows_at_all():
    none = np.zeros(0, dtype=np.int64)
    view = calibrate(Truths(truth=none, said=none, leaf=none, cluster=none, leaves=()))
    assert view.roots == ()
    assert view.whole.n == 0


def test_one_constant_score_is_blind_everywhere_it_can_be_tested():
    rng = np.random.default_rng(6)
    truths = drawn(rng, probes=120, noisy=False)
    view = calibrate(
        Truths(truth=truths.truth, said=np.full_like(truths.truth, 3), leaf=truths.leaf,
               cluster=truths.cluster, leaves=LEAVES)
    )  # fmt: skip
    flaws = {one.flaw for one in view.roots if one.n > 150}
    assert flaws == {"blind"}
