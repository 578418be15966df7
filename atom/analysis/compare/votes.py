"""Votes between two answers: both orders taken together, and how much the order itself decides.

A judge is asked twice, each answer shown first once. Votes that point one way are a win; two
different winners mean that the order decided (an order conflict), which counts as a tie.

Reference: METHODS B12 (position bias), 0 (unread replies are a counted state); the combination
rule is the one that MLLM-Bench publishes its counts by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.sums import group_sums

PairOutcome = Literal["a", "b", "tie", "conflict", "undecided"]
"""What both orders say together."""
COMBINED: tuple[PairOutcome, ...] = ("a", "b", "tie", "conflict", "undecided")
VOTE_A, VOTE_B, VOTE_TIE, VOTE_NONE = 0, 1, 2, -1
"""Codes of one vote; -1 = it says nothing (the judge was unable, or couldn't be read)."""
CONFLICT, UNDECIDED = 3, 4
"""Codes of combined votes beyond a, b and tie."""
_CODE = {"a": VOTE_A, "b": VOTE_B, "tie": VOTE_TIE, None: VOTE_NONE}


def combine(
    first: Literal["a", "b", "tie"] | None, second: Literal["a", "b", "tie"] | None
) -> PairOutcome:
    """Take a judge's votes in both orders together.

    The same winner twice, or a winner and no vote: that winner. Two different winners: the order
    decided. Nothing in either order: undecided. A tie beside anything else stays a tie: the win
    didn't survive the swap.

    Args:
        first: the vote in one order; None = unable, unread or never asked.
        second: the vote in the other order.

    Returns:
        What they say together.
    """
    votes = np.array([_CODE[first], _CODE[second]], dtype=np.int8)
    return COMBINED[int(combine_votes(votes, np.zeros(2, dtype=np.int64), 1)[0])]


def combine_votes(vote: NDArray[np.int8], group: Ints, n_groups: int) -> NDArray[np.int8]:
    """Combine votes by group, as `combine` does.

    Args:
        vote: codes, shape (n,).
        group: the comparison that each vote belongs to, shape (n,).
        n_groups: number of comparisons G.

    Returns:
        Codes of shape (G,): 0 = a, 1 = b, 2 = tie, 3 = order conflict, 4 = undecided.
    """
    a, b, tie = (
        np.bincount(group[vote == code], minlength=n_groups) > 0
        for code in (VOTE_A, VOTE_B, VOTE_TIE)
    )
    found = np.full(n_groups, UNDECIDED, dtype=np.int8)
    found[a] = VOTE_A
    found[b] = VOTE_B
    found[tie] = VOTE_TIE
    found[a & b] = CONFLICT
    return found


def votes_value(combined: NDArray[np.int8]) -> Floats:
    """Return what a comparison is worth to answer a: 1, 0, or 1/2 for ties; NaN undecided."""
    worth = np.array([1.0, 0.0, 0.5, 0.5, np.nan])
    return worth[combined]


def share_of_votes(a: Ints, b: Ints, combined: NDArray[np.int8], n_answers: int) -> Floats:
    """Average what each answer's comparisons are worth to it.

    Args:
        a: answer index, shape (G,).
        b: the other answer's index, shape (G,).
        combined: codes of `combine_votes`, shape (G,).
        n_answers: number of answers R.

    Returns:
        Shares in [0, 1], shape (R,); NaN where no comparison is decided.
    """
    value = votes_value(combined)
    known = np.isfinite(value)
    answers = np.concatenate([a[known], b[known]]).astype(np.int64)
    worth = np.concatenate([value[known], 1 - value[known]])
    count = np.bincount(answers, minlength=n_answers)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(group_sums(answers, worth, n_answers) / count)


@dataclass(frozen=True, kw_only=True)
class PositionBias:
    """How much the place in which an answer is shown decides.

    Attributes:
        first_twice: pairs whose first-shown answer won in both orders.
        second_twice: pairs whose second-shown answer won in both orders.
        consistent: pairs with the same winner in both orders.
        pairs: pairs with a winner in both orders.
        first_share: share of all single votes with a winner that went to the answer shown first.
        beta: half the log odds of the two kinds of conflict; 0 = no pull, positive = towards the
            answer shown first.
        se: its standard error.
    """

    first_twice: int
    second_twice: int
    consistent: int
    pairs: int
    first_share: float
    beta: float
    se: float

    @property
    def lo(self) -> float:
        """Lower end of the 95 % interval of `beta`."""
        return self.beta - 1.96 * self.se

    @property
    def hi(self) -> float:
        """Upper end of the 95 % interval of `beta`."""
        return self.beta + 1.96 * self.se


def position_bias(
    vote: NDArray[np.int8], first: NDArray[np.int8], group: Ints, n_groups: int
) -> PositionBias:
    """Measure the pull of the place from pairs judged in both orders.

    `beta = .5 ln((n_FF + .5)/(n_SS + .5))`, `SE = .5 sqrt(1/(n_FF + .5) + 1/(n_SS + .5))`.

    Args:
        vote: codes, shape (n,).
        first: who was shown first, 0 = a, 1 = b, shape (n,).
        group: the comparison that each vote belongs to, shape (n,).
        n_groups: number of comparisons.

    Returns:
        The bias; without pairs in both orders `beta` is 0 with a wide error.

    Reference:
        METHODS B12.
    """
    won = (vote == VOTE_A) | (vote == VOTE_B)
    seats = np.full((n_groups, 2), VOTE_NONE, dtype=np.int8)
    seats[group[won], first[won]] = vote[won]
    both = (seats >= 0).all(axis=1)
    a_first, b_first = seats[both, 0], seats[both, 1]
    forward = int(((a_first == VOTE_A) & (b_first == VOTE_B)).sum())
    backward = int(((a_first == VOTE_B) & (b_first == VOTE_A)).sum())
    n_won = int(won.sum())
    return PositionBias(
        first_twice=forward,
        second_twice=backward,
        consistent=int((a_first == b_first).sum()),
        pairs=int(both.sum()),
        first_share=float((vote[won] == first[won]).mean()) if n_won else float("nan"),
        beta=0.5 * float(np.log((forward + 0.5) / (backward + 0.5))),
        se=0.5 * float(np.sqrt(1 / (forward + 0.5) + 1 / (backward + 0.5))),
    )
