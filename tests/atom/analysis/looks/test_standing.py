"""How models stand at a look, and where the next one goes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from atom.analysis.capability.diagnosis import CONFIRMED, NOTHING
from atom.analysis.capability.weaknesses import diagnose
from atom.analysis.layout import tree_layout
from atom.analysis.looks.choice import (
    Aim,
    chances,
    draw,
    first_look,
    leader_settled,
    look_sizes,
    need_of,
    unsettled,
)
from atom.analysis.looks.standing import LookMarks, earlier_shares, stand
from benchmarks.looks import AIM, in_looks, marks_of
from tests.planted import WorldSettings, plant

SETTINGS = WorldSettings(samples=400)


@pytest.fixture(scope="module")
def world():
    return plant(SETTINGS, np.random.default_rng(11))


@pytest.fixture(scope="module")
def looked(world):
    return in_looks(world, 0.6, 11)[0]


def test_everything_judged_says_what_the_diagnosis_says(world):
    layout = tree_layout(world.table())
    whole = stand(marks_of(world, world.answered))
    seen = diagnose(layout)
    leaves = layout.group_node
    assert whole.mean == pytest.approx(seen.mean[:, leaves])
    assert whole.effect == pytest.approx(seen.effect[:, leaves], abs=0.02)
    both = (whole.label == CONFIRMED) & (seen.label[:, leaves] == CONFIRMED)
    assert both.sum() >= 0.9 * (seen.label[:, leaves] == CONFIRMED).sum() > 5
    assert (whole.share == 1).all()


def test_means_are_put_at_their_planned_shares():
    # Two nodes of two samples; the model is marked twice at the easy one, once at the hard one:
    # plainly (1 + 1 + 0) / 3, at planned shares (1 + 0) / 2.
    marks = LookMarks(
        value=np.array([[1.0, 1.0, 0.0, np.nan]]),
        planned=np.ones((1, 4), dtype=bool),
        sample=np.arange(4),
        node=np.array([0, 0, 1, 1]),
        n_samples=4,
        n_nodes=2,
    )
    found = stand(marks)
    assert found.overall == pytest.approx([0.5])
    assert found.share == pytest.approx(np.array([[1.0, 0.5]]))
    # With criteria of weight 1, 1, 2 and 2 the hard node has two thirds of the score.
    assert stand(replace(marks, weight=np.array([1.0, 1, 2, 2]))).overall == pytest.approx([1 / 3])


def test_looks_find_most_of_the_weaknesses_and_claim_no_end(world, looked):
    whole = stand(marks_of(world, world.answered)).label == CONFIRMED
    found = looked[-1].label == CONFIRMED
    assert (found & whole).sum() >= 0.7 * whole.sum()
    assert (found & ~world.weak).sum() <= 0.2 * found.sum()
    shares = [one.share for one in looked]
    assert all((a <= b).all() for a, b in pairwise(shares))
    # What nothing was found of stays open until its end, or until nothing fits into its interval.
    last = looked[-1]
    silent = (last.label == NOTHING) & (last.share < 1) & (last.effect_lo < -0.025)
    assert silent.any()
    assert unsettled(last, AIM)[silent].all()


def test_the_first_model_leads_when_it_is_surely_ahead(looked):
    last = looked[-1]
    assert leader_settled(last) == bool(
        (np.delete(last.ahead[last.overall.argmax()], last.overall.argmax()) <= 0.05 / 7).all()
    )
    assert not leader_settled(replace(last, ahead=np.full(last.ahead.shape, 0.5)))


def test_a_look_costs_what_it_may_and_leaves_nothing_out(world, looked):
    judged = np.zeros(world.answered.shape, dtype=bool)
    judged[:, :80] = True
    marks = marks_of(world, judged)
    need = need_of(stand(marks), AIM)
    chance = chances(need, marks, ~judged, 300)
    assert chance.sum() == pytest.approx(300, abs=1)
    assert (chance[judged] == 0).all()
    # A fifth of 300 calls over 8 x 320 free answers.
    assert chance[~judged].min() >= 0.2 * 300 / 2560 - 1e-9
    assert draw(chance, 300, np.random.default_rng(0)).sum() <= 300
    whole = first_look(~judged, 100, np.random.default_rng(0))
    assert set(whole.sum(axis=0)) == {0, 8}
    assert whole.sum() == 96


def test_narrow_capabilities_need_no_more(looked):
    wide = need_of(looked[0], Aim(goal="nodes", within=0.05))
    assert ((wide > 0) == unsettled(looked[0], Aim(goal="nodes", within=0.05))).all()
    assert not need_of(looked[0], Aim(goal="nodes", within=1.0)).any()


def test_a_budget_is_split_into_looks():
    # A fifth of 1,000 answers first, then (600 - 200) / 4 each.
    assert look_sizes(1000, 600) == [200, 100, 100, 100, 100]
    assert look_sizes(1000, 90, 3, begun=True) == [30, 30, 30]
    assert look_sizes(1000, 150) == [150]


def test_what_was_known_at_a_look_is_read_from_what_was_asked_later():
    marks = LookMarks(
        value=np.array([[1.0, 0.0, 1.0, np.nan]]),
        planned=np.ones((1, 4), dtype=bool),
        sample=np.arange(4),
        node=np.zeros(4, dtype=np.int64),
        n_samples=4,
        n_nodes=1,
    )
    judged = np.array([[True, True, True, False]])
    looks = [np.array([[True, False, False, False]]), np.array([[False, True, True, False]])]
    # Before the second look one of four samples was judged.
    (share,) = earlier_shares(marks, judged, looks)
    assert share == pytest.approx(np.array([[0.25]]))
