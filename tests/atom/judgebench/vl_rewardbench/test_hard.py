"""What is hard, who confirms it, and what more votes do on what was chosen."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.judgebench.vl_rewardbench.hard import (
    by_votes,
    decide,
    fails,
    fresh_accuracy,
    is_hard,
    stand_of,
)


def test_where_a_judge_stands():
    votes = np.array([[1, 1, 0], [1, 0, -1], [0, 0, 1], [-1, -1, -1], [-2, -2, -2], [1, -2, -2]])
    # 2 against 1; 1 against 1; 1 against 2; none can be read; nothing asked; one vote so far.
    assert stand_of(votes) == ["right", "unsettled", "wrong", "unsettled", "open", "right"]
    assert fails(votes).tolist() == [False, True, True, True, False, False]


def test_a_pair_is_hard_where_enough_judges_fail_and_all_were_asked():
    weak = np.array([[[1, 1], [0, 0], [0, 1], [0, 0]], [[0, 0], [0, 1], [1, 1], [-2, -2]]])
    assert is_hard(weak, 2).tolist() == [False, True, False, False]
    assert is_hard(weak, 1).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("stand", "people", "decision"),
    [
        (None, None, "open"), ("open", None, "open"), ("right", None, "keep"),
        ("wrong", None, "drop"), ("unsettled", None, "vague"), ("right", "b", "invert"),
        ("wrong", "a", "keep"), ("right", "tie", "vague"),
    ],
)  # fmt: skip
def test_people_decide_and_else_the_strong_judge(stand, people, decision):
    assert decide(stand, people, "a") == decision


def test_more_votes_are_worse_on_what_was_chosen():
    # One pair with 2 of 6 votes right: a single one is right in 2 / 6; of the 20 threes, those with
    # both right ones, 4; of the 6 fives none, since no five holds three right ones.
    one, three, five = by_votes(np.array([[1, 1, 0, 0, 0, 0]]))
    assert (one.votes, three.votes, five.votes) == (1, 3, 5)
    assert one.value == pytest.approx(2 / 6)
    assert three.value == pytest.approx(4 / 20)
    assert five.value == 0


rights = st.lists(st.integers(0, 6), min_size=1, max_size=20)


@settings(max_examples=30, deadline=None)
@given(rights)
def test_no_judge_gains_by_more_votes_where_it_fails_at_every_pair(counts):
    votes = np.array([[1] * k + [0] * (6 - k) for k in counts])
    hard = is_hard(votes[None], 1)
    values = [point.value for point in by_votes(votes[hard])]
    assert all(later <= before + 1e-9 for before, later in pairwise(values))
    assert hard.tolist() == [k <= 3 for k in counts]


def test_fresh_votes_take_the_luck_out():
    # Votes come in twos: the first and third two choose, the second and fourth vote, and round.
    # Pair 1: the first half is 0 0 0 0, hard; its other half is 1 1 1 0. Chosen by the other half
    # it isn't. Pair 2: the first half is right; the second is 0 1 0 1, a tie, hard: the first half
    # says 1 1 1 1. Fresh votes: 3 + 4 right of 8.
    votes = np.array([[0, 0, 1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 1, 1, 0, 1]])[None]
    ((share, n),) = fresh_accuracy(votes, 1)
    assert (share, n) == (7 / 8, 8)
    assert math.isnan(fresh_accuracy(votes[..., :2], 1)[0][0])
