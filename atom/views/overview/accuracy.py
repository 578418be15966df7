"""Accuracy both ways: of all that a model was asked, and of the answers that it gave.

A model that declines where it would be wrong must not look better for it; one that a filter stops
must not look worse without a word. So both shares stand side by side, and what wasn't given is
counted by its cause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.score_table import ScoreTable
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


def accuracies(table: ScoreTable, answers: NDArray[np.bool_]) -> tuple[Accuracy, ...]:
    """Count how often each model's answers are right, all models in one pass.

    Args:
        table: the study.
        answers: which of its answers, shape (R,); those without an outcome don't count.

    Returns:
        One for each model, in the study's order.
    """
    k, n_samples, n_causes = table.n_models, len(table.sample_ids), len(CAUSES)

    def shares(which: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        model = table.model[which].astype(np.int64)
        # A sample that was answered several times counts once (METHODS T3).
        pair, size = model * n_samples + table.sample[which], k * n_samples
        times = np.bincount(pair, minlength=size).reshape(k, n_samples)
        total = np.bincount(pair, table.outcome[which], minlength=size).reshape(k, n_samples)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(times > 0, total / times, 0.0).sum(axis=1) / (times > 0).sum(axis=1)
        return times.sum(axis=1), 100 * mean

    known = np.flatnonzero(answers & np.isfinite(table.outcome))
    n_asked, asked = shares(known)
    n_given, given = shares(known[table.cause[known] == 0])
    why = table.model[known].astype(np.int64) * n_causes + table.cause[known]
    causes = np.bincount(why, minlength=k * n_causes).reshape(k, n_causes)
    return tuple(
        Accuracy(
            asked=float(asked[at]),
            n_asked=int(n_asked[at]),
            given=float(given[at]),
            n_given=int(n_given[at]),
            withheld=tuple(
                (CAUSES[cause], int(causes[at, cause]))
                for cause in np.argsort(-causes[at], kind="stable")
                if CAUSES[cause] and causes[at, cause]
            ),
        )
        for at in range(k)
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
