"""Hard pairs: what weak judges fail at, and why such a set can't rank those judges.

A pair is put to every weak judge as often in either order; a judge fails at it where most of its
votes are wrong, or as many as are right, or none can be read. A pair that enough judges fail at is
hard, and goes to the strong judge.

Reference: METHODS T9, A13; VL-RewardBench 2.2.1; Multi-Crit 3.2.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Ints
from atom.judgebench.base import BenchPlan
from atom.judgebench.rates import INVALID, RIGHT, WRONG
from atom.judgebench.vl_rewardbench.ask import HARD_PART, PairWorklist, orders_of
from atom.judgebench.vl_rewardbench.measures import ABSENT, SIZES, scaling
from atom.records import BenchItem, PairsTask, Verdict
from atom.stages.verdicts import Ask

Mask = NDArray[np.bool_]
Decision = Literal["keep", "invert", "drop", "vague", "open"]
"""What becomes of a hard pair: it stays, turned round, out (the strong judge says the opposite),
out (nobody can tell), or nobody has confirmed it."""
DECIDED: Final[tuple[Decision, ...]] = ("keep", "invert", "drop", "vague", "open")


# --- asking ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class HardWorklist:
    """Asks weak judges for every pair, then the strong one for those that they fail at.

    Args:
        plan: the pairs as items; its judge is of no account.
        task: who is asked, and how often.
    """

    plan: BenchPlan
    task: PairsTask

    def asks(self, have: Mapping[str, Verdict]) -> list[Ask]:
        """Return all questions that can be asked by now."""
        asks = [ask for judge in self.task.weak_ids for ask in self.about(judge, self.plan.items)]
        if self.task.strong_id is None:
            return asks
        there = {ask.key for ask in asks if ask.key in have}
        waiting = {ask.blank.subject_id for ask in asks if ask.key not in there}
        votes = read_votes(self.task, have.values())
        hard = {name for name, one in zip(votes.names, is_hard(votes.weak, self.task.fail),
                                          strict=True) if one}  # fmt: skip
        sure = [one for one in self.plan.items if one.id in hard and one.id not in waiting]
        return [*asks, *self.about(self.task.strong_id, sure)]

    def about(self, judge: str, items: Sequence[BenchItem]) -> list[Ask]:
        """Return the questions to one judge on some of the pairs."""
        plan = replace(self.plan, judge=judge, items=items, votes=2 * self.task.votes)
        return PairWorklist(plan, part=HARD_PART, by=judge).asks({}) if items else []


# --- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WeakStrongVotes:
    """Votes on n pairs, V of each judge: 1 right, 0 wrong, -1 unreadable, -2 not there.

    Attributes:
        weak: of the weak judges, shape (J, n, V).
        strong: of the strong judge, shape (n, V); V = 0 without one.
    """

    names: tuple[str, ...]
    weak: Ints
    strong: Ints


def read_votes(task: PairsTask, verdicts: Iterable[Verdict]) -> WeakStrongVotes:
    """Read a run's votes; those that it didn't ask for (another warmth, more votes) stay out.

    Args:
        verdicts: of the study.
    """
    names = tuple(pair.name for pair in task.pairs)
    at = {name: place for place, name in enumerate(names)}
    better = {pair.name: pair.better for pair in task.pairs}
    judges = (*task.weak_ids, *((task.strong_id,) if task.strong_id else ()))
    found = np.full((len(judges), len(names), 2 * task.votes), ABSENT, dtype=np.int64)
    orders = {name: orders_of(name, 2 * task.votes) for name in names}
    row = {judge: place for place, judge in enumerate(judges)}
    for one in verdicts:
        if one.part != HARD_PART or one.judge not in row or one.subject_id not in at:
            continue
        if one.sampling.key != task.sampling.key or one.state == "failed":
            continue
        asked = orders[one.subject_id]
        if one.repeat >= len(asked) or asked[one.repeat] != one.order:
            continue
        code = INVALID
        if one.state == "scored":
            code = RIGHT if one.label == better[one.subject_id] else WRONG
        found[row[one.judge], at[one.subject_id], one.repeat] = code
    weak = found[: len(task.weak_ids)]
    strong = found[-1] if task.strong_id else np.zeros((len(names), 0), dtype=np.int64)
    return WeakStrongVotes(names=names, weak=weak, strong=strong)


Stand = Literal["right", "wrong", "unsettled", "open"]


def stand_of(votes: Ints) -> list[Stand]:
    """Say where a judge stands on each pair; `open` where nothing was asked yet.

    Args:
        votes: of shape (n, V).
    """
    right, wrong = (votes == RIGHT).sum(axis=1), (votes == WRONG).sum(axis=1)
    asked = (votes != ABSENT).sum(axis=1)
    return [
        "open" if not n else "right" if r > w else "wrong" if w > r else "unsettled"
        for r, w, n in zip(right.tolist(), wrong.tolist(), asked.tolist(), strict=True)
    ]


def fails(votes: Ints) -> Mask:
    """Say at which pairs a judge fails: wrong, or not settled, of what was asked.

    Args:
        votes: of shape (..., V).
    """
    right, wrong = (votes == RIGHT).sum(axis=-1), (votes == WRONG).sum(axis=-1)
    return np.asarray((right <= wrong) & (votes != ABSENT).any(axis=-1))


def is_hard(weak: Ints, fail: int) -> Mask:
    """Say which pairs at least so many judges fail at; only pairs that all were asked about are.

    Args:
        weak: votes of shape (J, n, V).
        fail: at least so many.
    """
    asked = (weak != ABSENT).any(axis=-1).all(axis=0)
    return np.asarray((fails(weak).sum(axis=0) >= fail) & asked)


def decide(stand: Stand | None, people: str | None, better: str) -> Decision:
    """Say what becomes of a hard pair: people decide, else the strong judge.

    Args:
        stand: where the strong judge stands; None without one.
        people: what most people say: `a`, `b`, `tie`; None = nothing.
        better: the answer that is known to be better.
    """
    if people is not None:
        return "vague" if people == "tie" else "keep" if people == better else "invert"
    if stand is None or stand == "open":
        return "open"
    return "keep" if stand == "right" else "drop" if stand == "wrong" else "vague"


# --- more votes -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class VotePoint:
    """Accuracy of a majority of K votes, 0 to 1.

    Attributes:
        votes: K.
        value: expected over all ways to take K of the votes.
        lo: lower end of its 95 % interval over pairs.
    """

    votes: int
    value: float
    lo: float
    hi: float


def by_votes(votes: Ints) -> tuple[VotePoint, ...]:
    """Say what a majority of 1, 3, 5, ... votes gets right; pairs with all votes alone.

    Args:
        votes: of one judge, shape (n, V).

    Reference:
        METHODS A13.
    """
    whole = votes[(votes != ABSENT).all(axis=1)]
    return tuple(
        VotePoint(votes=one.votes, value=one.measured, lo=one.lo, hi=one.hi)
        for one in scaling(whole, SIZES)
    )


def fresh_accuracy(weak: Ints, fail: int) -> list[tuple[float, int]]:
    """Say how right each judge is on hard pairs by votes that did not choose them.

    The votes are halved, each half shown as often in either order; one half chooses the pairs by
    the same rule, the other one votes, and the other way round. What is lost against the votes that
    chose is chance: pairs that only looked hard.

    Args:
        weak: votes of shape (J, n, V), V a multiple of 2.
        fail: as many judges fail at a hard pair.

    Returns:
        A judge's share of single votes that are right on such pairs, and how many votes that is of;
        NaN and 0 where nothing was chosen.
    """
    # Votes come in twos that show both orders (`orders_of`), so that each two is balanced.
    twos = weak.shape[-1] // 2
    if twos < 2:
        return [(math.nan, 0)] * len(weak)
    first = np.repeat(np.arange(twos) % 2 == 0, 2)
    gained: dict[int, list[int]] = defaultdict(list)
    for half in (first, ~first):
        chosen = is_hard(weak[..., half], fail)
        for judge, votes in enumerate(weak[:, chosen][..., ~half]):
            asked = votes[votes != ABSENT]
            gained[judge] += (asked == RIGHT).astype(int).tolist()
    return [
        (float(np.mean(gained[judge])) if gained[judge] else math.nan, len(gained[judge]))
        for judge in range(len(weak))
    ]
