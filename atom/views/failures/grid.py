"""Samples by models: how much each model loses on each sample, and where it fails.

The list of failures is sorted by these cells, and the grid shows them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.views.failures.find import Sort
from atom.views.filters import Filters, Measure, answer_values
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class FailureCells:
    """Samples by models, arrays of shape (S, K).

    Attributes:
        value: the mean there, 0 to 1; NaN where nothing is known. By process it is the share of
            weight held: of the criteria's weight, what the marks leave.
        seen: checkpoints (by outcome or votes, answers) with a value.
        failed: how many of them fail.
    """

    value: Floats
    seen: Ints
    failed: Ints
    model_ids: tuple[str, ...]

    def failing(self, models: Sequence[str]) -> Mask:
        """Say which samples all of some models fail, shape (S,)."""
        return np.asarray((self.failed[:, self._places(models)] > 0).all(axis=1))

    def passing(self, models: Sequence[str]) -> Mask:
        """Say which samples all of some models were marked on without failing, shape (S,)."""
        at = self._places(models)
        return np.asarray(((self.seen[:, at] > 0) & (self.failed[:, at] == 0)).all(axis=1))

    def _places(self, models: Sequence[str]) -> list[int]:
        return [self.model_ids.index(one) for one in models if one in self.model_ids]

    @cached_property
    def models_failing(self) -> Ints:
        """How many models fail each sample, shape (S,)."""
        return np.asarray((self.failed > 0).sum(axis=1))

    @cached_property
    def models_seen(self) -> Ints:
        """How many models have a value on each sample, shape (S,)."""
        return np.asarray((self.seen > 0).sum(axis=1))

    @cached_property
    def mean(self) -> Floats:
        """The models' mean on each sample, shape (S,); NaN without any."""
        known = np.isfinite(self.value)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(known, self.value, 0).sum(axis=1) / known.sum(axis=1))

    @cached_property
    def spread(self) -> Floats:
        """The best model's value less the worst's, shape (S,); NaN under two models."""
        known = np.isfinite(self.value)
        most = np.where(known, self.value, -math.inf).max(axis=1, initial=-math.inf)
        least = np.where(known, self.value, math.inf).min(axis=1, initial=math.inf)
        return np.where(known.sum(axis=1) > 1, most - least, math.nan)

    def told(self, sort: Sort, samples: Ints) -> dict[int, str]:
        """Say for some samples what they are sorted by, in words."""
        if sort == "models":
            return {
                at: f"{self.models_failing[at]:,} of {self.models_seen[at]:,} models fail"
                for at in samples.tolist()
            }
        if sort == "spread":
            return {
                at: f"{100 * self.spread[at]:.0f} points apart"
                for at in samples.tolist()
                if math.isfinite(self.spread[at])
            }
        return {}


def cells_of(
    data: StudyData,
    filters: Filters,
    keep: NDArray[np.bool_],
    measure: Measure,
    rows: Mask | None,
) -> FailureCells:
    """Bring checkpoints, or answers, up to samples by models.

    Args:
        filters: what decides an answer's value.
        keep: answers that count, of all models, shape (R,).
        measure: what counts as failed.
        rows: by process, the checkpoints that are looked at, shape (N,).
    """
    table = data.table
    size = len(table.sample_ids), table.n_models
    place = table.sample.astype(np.int64) * size[1] + table.model
    if measure == "process":
        at = np.flatnonzero(table.of_answers(keep) & (True if rows is None else rows))
        at = at[table.score[at] > 0]
        of, weight = place[table.response[at]], table.weight[at].astype(np.float64)
        value, fails = (table.score[at].astype(np.float64) - 1) / 4, table.fails[at]
    else:
        every = answer_values(data, filters, measure)
        at = np.flatnonzero(keep & np.isfinite(every))
        of, weight, value = place[at], np.ones(len(at)), every[at]
        fails = value < 0.5
    n = size[0] * size[1]
    total = np.bincount(of, weight, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(of, weight * value, n) / total
    return FailureCells(
        value=mean.reshape(size),
        seen=np.bincount(of, minlength=n).reshape(size),
        failed=np.bincount(of[fails], minlength=n).reshape(size),
        model_ids=table.model_ids,
    )


def order_by(
    sort: Sort,
    samples: Ints,
    severity: Floats,
    failed: Ints,
    cells: FailureCells | None,
    model: str | None,
) -> Ints:
    """Put the listed samples in the order chosen; equal ones stay as they are, worst first.

    Args:
        sort: what comes first.
        samples: the listed samples, worst first.
        severity: weight lost of each sample, shape (S,).
        failed: failed checkpoints of each sample, shape (S,).
        cells: samples by models, for the orders that need them.
        model: the chosen model: then scores are its own.
    """
    if sort == "loss":
        return samples
    if sort == "order":
        return np.sort(samples)
    if sort == "failed" or cells is None:
        key: Floats = -failed.astype(np.float64)
    elif sort == "models":
        key = -cells.models_failing.astype(np.float64)
    elif sort == "spread":
        key = -cells.spread
    elif model in cells.model_ids:
        key = cells.value[:, cells.model_ids.index(str(model))]
    else:
        key = cells.mean
    return samples[np.argsort(key[samples], kind="stable")]
