"""Verdicts in five levels against one baseline: much better, better, tie, worse, much worse.

Reference: WildVision-Arena (Lu et al., 2024), the table of WildVision-Bench.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from atom.analysis.intervals import Ints

LEVEL_WORTH = {2: 100.0, 1: 50.0, 0: 0.0, -1: -50.0, -2: -100.0}
"""What a verdict adds to a model's reward, by level: 2 = much better than the baseline."""
UNREAD_LEVEL = -9
"""Code of a verdict that couldn't be read."""
UnreadLevel = Literal["tie", "left out"]
"""How such a verdict is counted: as a tie (as the published table does), or not at all."""


@dataclass(frozen=True, kw_only=True)
class LevelCounts:
    """How often a model was better or worse than the baseline.

    Attributes:
        much_better: verdicts for the model, strongly.
        better: verdicts for it.
        tie: ties; verdicts that couldn't be read among them where they are counted so.
        worse: verdicts for the baseline.
        much_worse: verdicts for it, strongly.
        unread: verdicts that couldn't be read.
    """

    much_better: int
    better: int
    tie: int
    worse: int
    much_worse: int
    unread: int
    counted: UnreadLevel

    @property
    def n(self) -> int:
        """Verdicts in the denominator."""
        return self.much_better + self.better + self.tie + self.worse + self.much_worse

    @property
    def win_rate(self) -> float:
        """Share of verdicts for the model; a tie is no win. NaN without any."""
        return (self.much_better + self.better) / self.n if self.n else math.nan

    @property
    def reward(self) -> float:
        """Mean worth of a verdict, -100 to 100. NaN without any."""
        counts = (self.much_better, self.better, self.tie, self.worse, self.much_worse)
        worth = sum(n * LEVEL_WORTH[2 - at] for at, n in enumerate(counts))
        return worth / self.n if self.n else math.nan


def count_levels(level: Ints, *, unread: UnreadLevel = "tie") -> LevelCounts:
    """Count verdicts by level.

    Args:
        level: 2, 1, 0, -1, -2 as the model was much better ... much worse, or `UNREAD_LEVEL`;
            shape (n,).
        unread: how verdicts that couldn't be read are counted.

    Returns:
        The counts. Toy: levels (2, 0, -1, unread) with ties: win rate 1/4, reward
        (100 + 0 - 50 + 0)/4; left out: 1/3 and 50/3.
    """
    missing = int((level == UNREAD_LEVEL).sum())
    found = {name: int((level == name).sum()) for name in LEVEL_WORTH}
    return LevelCounts(
        much_better=found[2],
        better=found[1],
        tie=found[0] + (missing if unread == "tie" else 0),
        worse=found[-1],
        much_worse=found[-2],
        unread=missing,
        counted=unread,
    )


def level_of(verdict: Literal["a", "b", "tie"] | None, strength: int, model: str) -> int:
    """Return a vote's level for a model.

    Args:
        verdict: who won; None = couldn't be read.
        strength: 2 = much better.
        model: `a` or `b`, which of the two answers is the model's.

    Returns:
        2, 1, 0, -1, -2 or `UNREAD_LEVEL`.
    """
    if verdict is None:
        return UNREAD_LEVEL
    if verdict == "tie":
        return 0
    return strength if verdict == model else -strength
