"""Votes between answers, loaded as columns: who won against whom, and what share of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.compare.votes import VOTE_A, VOTE_B, combine_votes, share_of_votes
from atom.analysis.intervals import Ints
from atom.store.reading.columns.rows import VoteColumns


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """A study's votes, arrays of shape (V,), one entry a vote in one order.

    The answer with the smaller index is always `a`.

    Attributes:
        a: int32, index of an answer row.
        b: int32, index of the other answer row.
        first: int8, who was shown first: 0 = a, 1 = b.
        verdict: int8, 0 = a, 1 = b, 2 = tie, -1 = no vote (unable, unread or failed).
        strength: int8, 2 = much better, 1 otherwise.
        judge: int16, index into `judges`.
        repeat: int32.
        judges: ids, or names where votes were imported.
    """

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    first: NDArray[np.int8]
    verdict: NDArray[np.int8]
    strength: NDArray[np.int8]
    judge: NDArray[np.int16]
    repeat: NDArray[np.int32]
    judges: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many votes."""
        return len(self.a)


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """Votes with both orders taken together, arrays of shape (G,).

    Attributes:
        a: int32, index of an answer row.
        b: int32, index of the other.
        result: int8, 0 = a, 1 = b, 2 = tie, 3 = order conflict, 4 = undecided.
        judge: int16, index into the votes' `judges`.
        group: int64, shape (V,): each vote's comparison.
    """

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    result: NDArray[np.int8]
    judge: NDArray[np.int16]
    group: Ints


def preferences_of(votes: VoteColumns) -> Preferences:
    """Put a study's votes so that of two answers the one with the smaller index is `a`."""
    turned = votes.a > votes.b
    decided = (votes.verdict == VOTE_A) | (votes.verdict == VOTE_B)
    return Preferences(
        a=np.where(turned, votes.b, votes.a).astype(np.int32),
        b=np.where(turned, votes.a, votes.b).astype(np.int32),
        first=np.where(turned, 1 - votes.first, votes.first).astype(np.int8),
        verdict=np.where(turned & decided, 1 - votes.verdict, votes.verdict).astype(np.int8),
        strength=votes.strength.astype(np.int8),
        judge=votes.judge.astype(np.int16),
        repeat=votes.repeat.astype(np.int32),
        judges=votes.judges,
    )


def compare(preferences: Preferences) -> Comparisons:
    """Take the votes of one judge on one pair together, over both orders."""
    a, b = preferences.a.astype(np.int64), preferences.b.astype(np.int64)
    _, pair = np.unique(a * (int(b.max(initial=0)) + 1) + b, return_inverse=True)
    asked = pair * len(preferences.judges) + preferences.judge
    key = asked * (int(preferences.repeat.max(initial=0)) + 1) + preferences.repeat
    keys, first_at, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.astype(np.int64)
    return Comparisons(
        a=preferences.a[first_at],
        b=preferences.b[first_at],
        result=combine_votes(preferences.verdict, group, len(keys)),
        judge=preferences.judge[first_at],
        group=group,
    )


def compared(
    preferences: Preferences, model: NDArray[np.int16], n_models: int
) -> NDArray[np.bool_]:
    """Say which models were voted on side by side, shape (K, K), symmetric.

    Args:
        model: the model of each answer row, shape (R,).
        n_models: K.
    """
    found = np.zeros((n_models, n_models), dtype=np.bool_)
    found[model[preferences.a], model[preferences.b]] = True
    return found | found.T


def anchor_of(sides: NDArray[np.bool_]) -> int | None:
    """Return the model that stands in every comparison; None where there is none.

    With a single pair of models neither is an anchor: each is measured against the other.

    Args:
        sides: which models were voted on side by side (`compared`), shape (K, K).
    """
    if np.count_nonzero(sides.any(axis=1)) < 3:
        return None
    pairs = np.argwhere(np.triu(sides)).tolist()
    shared = set.intersection(*map(set, pairs))
    return int(shared.pop()) if len(shared) == 1 else None


def share_won(preferences: Preferences, n_answers: int) -> NDArray[np.float32]:
    """Return the share of its comparisons that each answer won, shape (R,).

    Win 1, tie or order conflict 1/2, loss 0; undecided comparisons don't count. NaN where nothing
    is decided.
    """
    found = compare(preferences)
    shares = share_of_votes(
        found.a.astype(np.int64), found.b.astype(np.int64), found.result, n_answers
    )
    return shares.astype(np.float32)
