"""Accuracy both ways: of all that a model was asked, and of the answers that it gave.

A model that declines where it would be wrong must not look better for it; one that a filter stops
must not look worse without a word. So both shares stand side by side, and what wasn't given is
counted by its cause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis import ScoreTable
from atom.records import CAUSES

WITHHELD_WORDS = {
    "refused": "refused",
    "filtered": "stopped by a filter",
    "cut": "cut off",
    "empty": "empty",
    "failed": "failed",
}
"""What became of an answer that wasn't given, by its cause."""


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How often a model is right, both ways.

    Attributes:
        asked: share right of all that it was asked and that is graded, 0-100; a sample that it
            answered several times counts once; NaN without any.
        n_asked: how many answers those are.
        given: share right of the answers that it gave, 0-100; NaN without any.
        n_given: how many those are.
        withheld: what wasn't given: (cause, how many), the most frequent first.
    """

    asked: float
    n_asked: int
    given: float
    n_given: int
    withheld: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """What wasn't given and why: `30 empty, 2 refused`; empty where everything was."""
        return ", ".join(f"{n} {WITHHELD_WORDS[cause]}" for cause, n in self.withheld)


def accuracy_of(table: ScoreTable, answers: NDArray[np.bool_]) -> Accuracy:
    """Count how often some answers are right.

    Args:
        table: the study.
        answers: which of its answers, shape (R,); those without an outcome don't count.
    """
    known = answers & np.isfinite(table.outcome)
    gave = known & (table.cause == 0)
    counts = np.bincount(table.cause[known], minlength=len(CAUSES))
    withheld = [(cause, int(n)) for cause, n in zip(CAUSES, counts, strict=True) if cause and n]

    def share(which: NDArray[np.bool_]) -> float:
        if not which.any():
            return float("nan")
        # A sample that was answered several times counts once (METHODS T3).
        pair = table.model[which].astype(np.int64) * len(table.sample_ids) + table.sample[which]
        _, at, times = np.unique(pair, return_inverse=True, return_counts=True)
        return float(100 * (np.bincount(at, table.outcome[which]) / times).mean())

    return Accuracy(
        asked=share(known),
        n_asked=int(known.sum()),
        given=share(gave),
        n_given=int(gave.sum()),
        withheld=tuple(sorted(withheld, key=lambda one: -one[1])),
    )


def answered_by_all(table: ScoreTable) -> NDArray[np.bool_]:
    """Say which samples every model of the study gave an answer to, shape (S,); read-only.

    A model without any answer in the study asks for nothing.
    """

    def make() -> NDArray[np.bool_]:
        gave = table.counts & (table.cause == 0)
        size = len(table.sample_ids)
        pairs = np.unique(table.model[gave].astype(np.int64) * size + table.sample[gave])
        models = len(np.unique(table.model[table.counts]))
        times = np.bincount(pairs % max(size, 1), minlength=size)
        found: NDArray[np.bool_] = np.asarray(times == models)
        found.setflags(write=False)
        return found

    return table.kept.get("answered by all", make)
