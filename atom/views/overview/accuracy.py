"""Accuracy both ways: of all that a model was asked, and of the answers that it gave.

A model that declines where it would be wrong must not look better for it; one that a filter stops
must not look worse without a word. So both shares stand side by side, and what wasn't given is
counted by its cause.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.merged import Additive
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


@dataclass(frozen=True, kw_only=True)
class AccuracySums(Additive):
    """What accuracies are made of, arrays of shape (K,) unless said otherwise.

    Attributes:
        n_asked: answers with an outcome.
        asked_samples: samples that these are to.
        asked: sum over those samples of the share right.
        n_given: the same of the answers that were given.
        given_samples: likewise.
        given: likewise.
        causes: answers by what became of them, shape (K, causes).
    """

    n_asked: NDArray[np.int64]
    asked_samples: NDArray[np.int64]
    asked: NDArray[np.float64]
    n_given: NDArray[np.int64]
    given_samples: NDArray[np.int64]
    given: NDArray[np.float64]
    causes: NDArray[np.int64]


def accuracy_sums(table: ScoreTable, answers: NDArray[np.bool_]) -> AccuracySums:
    """Count how often each model's answers in a part are right, all models in one pass.

    Args:
        answers: which of its answers, shape (R,); those without an outcome don't count.
    """
    k, n_causes = table.n_models, len(CAUSES)
    known = np.flatnonzero(answers & np.isfinite(table.outcome))
    cause = table.cause[known]
    n_asked, asked_samples, asked = _right(table, known)
    same = not cause.any()
    n_given, given_samples, given = (
        (n_asked, asked_samples, asked) if same else _right(table, known[cause == 0])
    )
    why = table.model[known].astype(np.int64) * n_causes + cause
    return AccuracySums(
        n_asked=n_asked,
        asked_samples=asked_samples,
        asked=asked,
        n_given=n_given,
        given_samples=given_samples,
        given=given,
        causes=np.bincount(why, minlength=k * n_causes).reshape(k, n_causes),
    )


def _right(
    table: ScoreTable, which: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return answers, samples and the sum of shares right over samples, by model."""
    k, n_samples = table.n_models, len(table.sample_ids)
    model = table.model[which].astype(np.int64)
    n = np.bincount(model, minlength=k)
    if not table.repeat[which].any():
        return n, n, np.bincount(model, table.outcome[which], minlength=k).astype(np.float64)
    # A sample that was answered several times counts once (METHODS T3).
    pair, size = model * n_samples + table.sample[which], k * n_samples
    times = np.bincount(pair, minlength=size).reshape(k, n_samples)
    right = np.bincount(pair, table.outcome[which], minlength=size).reshape(k, n_samples)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(times > 0, right / times, 0.0).sum(axis=1)
    return n, (times > 0).sum(axis=1), share


def accuracies(table: ScoreTable, answers: NDArray[np.bool_]) -> tuple[Accuracy, ...]:
    """Say how often each model's answers are right, in the study's order.

    Args:
        answers: which of its answers, shape (R,); those without an outcome don't count.
    """
    return accuracies_of(accuracy_sums(table, answers))


def accuracies_of(sums: AccuracySums) -> tuple[Accuracy, ...]:
    """Say how often each model's answers are right, from the sums of all parts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        asked = 100 * sums.asked / sums.asked_samples
        given = 100 * sums.given / sums.given_samples
    return tuple(
        Accuracy(
            asked=float(asked[at]),
            n_asked=int(sums.n_asked[at]),
            given=float(given[at]),
            n_given=int(sums.n_given[at]),
            withheld=tuple(
                (CAUSES[cause], int(causes[cause]))
                for cause in np.argsort(-causes, kind="stable")
                if CAUSES[cause] and causes[cause]
            ),
        )
        for at, causes in enumerate(sums.causes)
    )


def answered_by_all(table: ScoreTable) -> NDArray[np.bool_]:
    """Say which samples every model of the study gave an answer to, shape (S,); read-only.

    A model without any answer in the study asks for nothing.
    """

    def make() -> NDArray[np.bool_]:
        gave = table.counts & (table.cause == 0)
        size = len(table.sample_ids)
        pairs = np.unique(table.model[gave].astype(np.int64) * size + table.sample[gave])
        models = table.n_present or len(np.unique(table.model[table.counts]))
        times = np.bincount(pairs % max(size, 1), minlength=size)
        found: NDArray[np.bool_] = np.asarray(times == models)
        found.setflags(write=False)
        return found

    return table.kept.get("answered by all", make)
