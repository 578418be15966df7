"""Where the next look goes: what would settle most for the calls it costs.

Reference: METHODS T7 (next look in proportion to the expected narrowing, a floor for all nodes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.random import Generator

from atom.analysis.capability.diagnosis import CONFIRMED, INSUFFICIENT, MARGIN
from atom.analysis.intervals import Floats
from atom.analysis.layout import Mask
from atom.analysis.looks.standing import EarlyStanding, LookMarks

Goal = Literal["leader", "weaknesses", "nodes"]
FLOOR = 0.2
"""Share of a look's calls that goes to everything alike."""
MOST_LOOKS = 5
FIRST = 0.2
"""Share of all answers that the first look judges."""
LEADER_LEVEL = 0.05
_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What is to be known.

    Attributes:
        goal: who leads, which weaknesses there are, or every node to within `within`.
        within: half of the widest interval that is let pass, on [0, 1] (`nodes` alone).
        pairs: (model, node) that are asked about, shape (K, M); all when None.
    """

    goal: Goal
    within: float = 0.05
    pairs: Mask | None = None


def leader_settled(standing: EarlyStanding, level: float = LEADER_LEVEL) -> bool:
    """Tell whether the first model is surely ahead of every other one (Bonferroni over them)."""
    first, rivals = _rivals(standing, level)
    return len(standing.overall) < 2 or (first >= 0 and not rivals.any())


def _rivals(standing: EarlyStanding, level: float = LEADER_LEVEL) -> tuple[int, Mask]:
    """Return the model that is first, and which others it isn't surely ahead of."""
    k = len(standing.overall)
    first = int(np.nanargmax(standing.overall))
    near = ~(standing.ahead[first] <= level / max(k - 1, 1))
    near[first] = False
    return first, near


def unsettled(standing: EarlyStanding, aim: Aim) -> Mask:
    """Say which (model, node) the goal still waits for, shape (K, M).

    A node of which nothing was found is unsettled until all that was planned is judged, or until
    its interval leaves no room for a weakness beyond the margin.
    """
    asked = np.ones(standing.share.shape, dtype=bool) if aim.pairs is None else aim.pairs
    if aim.goal == "leader":
        first, near = _rivals(standing)
        near[first] = near.any()
        return np.asarray(near[:, None] & (standing.share < 1) & asked)
    if aim.goal == "nodes":
        wide = ~((standing.hi - standing.lo) / 2 <= aim.within)
        return np.asarray(wide & (standing.share < 1) & asked)
    return np.asarray(standing.open & asked)


def need_of(standing: EarlyStanding, aim: Aim, q: float = 0.10) -> Floats:
    """Say how much each (model, node) calls for more, in [0, 1], shape (K, M).

    For weaknesses: the chance that it would be confirmed were all of it judged,
    `Phi((-margin - z se_full - m) / sd)` with the pooled departure m and its deviation. For nodes:
    how much too wide the interval is. For the leader: 1 at whoever may lead.
    """
    open_ = unsettled(standing, aim)
    if aim.goal == "leader":
        return open_.astype(np.float64)
    if aim.goal == "nodes":
        half = (standing.hi - standing.lo) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            need = 1 - (aim.within / half) ** 2
        return np.where(open_, np.clip(np.where(np.isfinite(half), need, 1.0), 0, 1), 0.0)
    tests = max(standing.share.shape[1], 1)
    found = (standing.label == CONFIRMED).sum(axis=1, keepdims=True)
    quantile = -scipy.special.ndtri(q * np.minimum(found + 1, tests) / tests)
    bar = -MARGIN - quantile * standing.se * np.sqrt(standing.share)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = scipy.special.ndtr((bar - standing.pooled) / standing.spread)
    unknown = ~np.isfinite(chance) | (standing.label == INSUFFICIENT)
    return np.where(open_, np.where(unknown, 0.5, chance), 0.0)


def chances(need: Floats, marks: LookMarks, free: Mask, calls: int, floor: float = FLOOR) -> Floats:
    """Return how likely each (model, sample) is to be in the next look, shape (K, N).

    An answer's worth is the sum of its nodes' needs, squared, so that calls go where several
    questions meet; the floor goes to all free answers alike. Expected calls are as asked.

    Args:
        need: `need_of`, shape (K, M).
        free: answers that aren't judged and may be, shape (K, N).
        calls: how many the look may cost.
        floor: share of them for all alike.
    """
    left = int(free.sum())
    if calls >= left:
        return free.astype(np.float64)
    cell = np.unique(marks.node * marks.n_samples + marks.sample)
    node, sample = cell // marks.n_samples, cell % marks.n_samples
    worth = np.stack([np.bincount(sample, row[node], minlength=marks.n_samples) for row in need])
    worth = np.where(free, worth**2, 0.0)
    even = np.where(free, floor * calls / left if worth.any() else calls / left, 0.0)
    low, high = 0.0, calls / max(float(worth[worth > 0].min(initial=np.inf)), 1e-12)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        over = np.minimum(even + middle * worth, 1.0).sum() > calls
        low, high = (low, middle) if over else (middle, high)
    return np.asarray(np.minimum(even + low * worth, 1.0))


def draw(chance: Floats, calls: int, rng: Generator) -> Mask:
    """Draw answers by their chances, `calls` at most, shape (K, N)."""
    taken = rng.random(chance.shape) < chance
    extra = int(taken.sum()) - calls
    if extra > 0:
        drop = rng.choice(np.flatnonzero(taken), extra, replace=False)
        taken.reshape(-1)[drop] = False
    return taken


def first_look(free: Mask, calls: int, rng: Generator) -> Mask:
    """Draw whole questions at random, all their free answers, up to so many calls."""
    order = rng.permutation(free.shape[1])
    spent = np.cumsum(free[:, order].sum(axis=0))
    chosen = np.zeros(free.shape[1], dtype=bool)
    chosen[order[spent <= calls]] = True
    return np.asarray(free & chosen)


def look_sizes(
    answers: int, budget: int, looks: int = MOST_LOOKS, *, begun: bool = False
) -> Sequence[int]:
    """Split a budget of calls into looks: the first by `FIRST` of all answers, the rest evenly.

    Args:
        answers: answers that are planned in all.
        budget: calls that may be spent.
        looks: how many looks at most.
        begun: whether anything is judged already, so that no look needs to go everywhere.
    """
    first = 0 if begun else min(round(FIRST * answers), budget)
    rest, later = budget - first, looks if begun else looks - 1
    sizes = [rest * (at + 1) // later - rest * at // later for at in range(later)]
    return [size for size in [first, *sizes] if size > 0]
