from __future__ import annotations

import math

import numpy as np
import pytest

from atom.analysis.compare.votes import (
    COMBINED,
    combine,
    combine_votes,
    position_bias,
    share_of_votes,
)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("a", "a", "a"),
        ("b", "b", "b"),
        ("a", None, "a"),
        (None, "b", "b"),
        ("a", "b", "conflict"),
        ("b", "a", "conflict"),
        ("tie", "tie", "tie"),
        ("tie", None, "tie"),
        ("a", "tie", "tie"),
        (None, None, "undecided"),
    ],
)
def test_both_orders_together(first, second, together):
    assert combine(first, second) == together


def test_arrays_say_what_single_votes_say():
    votes = ("a", "b", "tie", None)
    pairs = [(first, second) for first in votes for second in votes]
    code = {"a": 0, "b": 1, "tie": 2, None: -1}
    flat = np.array([code[vote] for pair in pairs for vote in pair], dtype=np.int8)
    group = np.repeat(np.arange(len(pairs)), 2)
    found = combine_votes(flat, group, len(pairs))
    assert [COMBINED[code] for code in found] == [combine(*pair) for pair in pairs]


def test_shares_count_ties_and_conflicts_half_and_leave_undecided_out():
    # Answer 0: a win, an order conflict, an undecided: (1 + .5) / 2 = .75; answer 1: 0;
    # answer 2: .5 against 0, and a tie with 3: .5; answer 4 was only undecided.
    share = share_of_votes(
        np.array([0, 0, 0, 2]), np.array([1, 2, 4, 3]),
        np.array([0, 3, 4, 2], dtype=np.int8), 5,
    )  # fmt: skip
    assert share[:4].tolist() == [0.75, 0.0, 0.5, 0.5]
    assert math.isnan(share[4])


def test_position_bias_by_hand():
    # Three pairs won by the first place twice, one by the second, one by the same answer, one asked
    # once: beta = .5 ln(3.5/1.5), SE = .5 sqrt(1/3.5 + 1/1.5).
    vote = np.array([0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0], dtype=np.int8)
    first = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0], dtype=np.int8)
    group = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5])
    bias = position_bias(vote, first, group, 6)
    assert (bias.first_twice, bias.second_twice, bias.consistent, bias.pairs) == (3, 1, 1, 5)
    assert bias.beta == pytest.approx(0.5 * math.log(3.5 / 1.5))
    assert bias.se == pytest.approx(0.5 * math.sqrt(1 / 3.5 + 1 / 1.5))
    # Winner = first shown: 6 of the first three pairs, none of the fourth, 1 of the fifth, 1 more.
    assert bias.first_share == pytest.approx(8 / 11)


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_a_planted_pull_is_found_again(beta):
    # Logit of preferring the first place: quality + beta; quality 0 for all pairs.
    rng = np.random.default_rng(1)
    n = 20_000
    chance = 1 / (1 + math.exp(-beta))
    vote = np.empty(2 * n, dtype=np.int8)
    vote[0::2] = rng.random(n) >= chance
    vote[1::2] = rng.random(n) < chance
    first = np.tile(np.array([0, 1], dtype=np.int8), n)
    bias = position_bias(vote, first, np.repeat(np.arange(n), 2), n)
    # FF / SS = chance² / (1 - chance)², so half its log is the planted logit.
    assert bias.lo - 0.02 < beta < bias.hi + 0.02


def test_no_votes_at_all():
    none = np.zeros(0, dtype=np.int8)
    bias = position_bias(none, none, np.zeros(0, dtype=np.int64), 0)
    assert (bias.pairs, bias.beta) == (0, 0.0)
    assert math.isnan(bias.first_share)
    assert np.isnan(share_of_votes(none.astype(int), none.astype(int), none, 2)).all()
