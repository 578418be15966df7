"""Does the outcome hang on the weights that the judge gave its criteria?

Reference: ATOM Eq. 2 (weights); METHODS A1, A4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.layout import Mask
from atom.analysis.score_table import ScoreTable
from atom.analysis.sums import group_sums

MIN_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class WeightSensitivity:
    """What changes under equal and under shaken weights.

    Attributes:
        score: mean sample scores as weighted, on [0, 1], shape (K,); NaN = no score.
        equal_score: with equal weights, shape (K,).
        kendall_equal: rank agreement of the two orders (tau-b); NaN under two models.
        same_order: share of shaken draws that keep the whole order.
        same_first: share of shaken draws that keep the first model.
        score_lo: 2.5 % quantile of shaken scores, shape (K,).
        score_hi: 97.5 % quantile.
        worst: lowest leaf by weighted mean, among leaves of five criteria and five samples at
            least; shape (K,), -1 = none.
        equal_worst: the same with equal weights, shape (K,).
        same_worst: share of shaken draws that keep the lowest leaf, shape (K,); NaN = none.
        draws: number of shaken draws.
    """

    score: Floats
    equal_score: Floats
    kendall_equal: float
    same_order: float
    same_first: float
    score_lo: Floats
    score_hi: Floats
    worst: Ints
    equal_worst: Ints
    same_worst: Floats
    draws: int


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Scored checkpoints and where they add to."""

    x: Floats
    weight: Floats
    criterion: NDArray[np.int32]
    response: NDArray[np.int32]
    leaf: Ints
    mapped: Mask


def weight_sensitivity(
    table: ScoreTable,
    rng: Generator,
    rows: Mask | None = None,
    *,
    draws: int = 100,
    spread: float = 0.5,
) -> WeightSensitivity:
    """Re-rank models and re-find their lowest leaf under other weights.

    Shaken weights are `w exp(spread z)`, z standard normal, one draw a criterion, the same for all
    models: a spread of 0.5 takes a weight to between 0.4 and 2.7 times itself in 95 of 100 draws.

    Args:
        rows: bool, shape (N,): checkpoints that count; all when None.
        draws: number of shaken draws; O(N) each.
        spread: of the logarithm of a weight.
    """
    good = np.flatnonzero((table.score > 0) & (True if rows is None else rows))
    model = table.model[table.response[good]].astype(np.int64)
    part = _Rows(
        x=(table.score[good].astype(np.float64) - 1) / 4,
        weight=table.weight[good].astype(np.float64),
        criterion=table.criterion[good],
        response=table.response[good],
        leaf=model * len(table.leaves) + table.leaf[good],
        mapped=table.leaf[good] >= 0,
    )
    testable = _testable(table, good, part)
    score, worst = _scored(table, part, part.weight, testable)
    equal_score, equal_worst = _scored(table, part, np.ones(len(good)), testable)
    shaken = np.empty((draws, table.n_models))
    kept = np.zeros((draws, table.n_models))
    for number in range(draws):
        factor = np.exp(spread * rng.standard_normal(len(table.criterion_ids)))
        shaken[number], found = _scored(table, part, part.weight * factor[part.criterion], testable)
        kept[number] = found == worst
    known = np.isfinite(score)
    order = np.argsort(-score[known], kind="stable")
    orders = np.argsort(-shaken[:, known], axis=1, kind="stable")
    comparable = draws > 0 and bool(known.any())
    nothing = np.full(table.n_models, np.nan)
    return WeightSensitivity(
        score=score,
        equal_score=equal_score,
        kendall_equal=_kendall(score[known], equal_score[known]),
        same_order=float((orders == order).all(axis=1).mean()) if comparable else float("nan"),
        same_first=float((orders[:, 0] == order[0]).mean()) if comparable else float("nan"),
        score_lo=np.quantile(shaken, 0.025, axis=0) if draws else nothing,
        score_hi=np.quantile(shaken, 0.975, axis=0) if draws else nothing,
        worst=worst,
        equal_worst=equal_worst,
        same_worst=np.where(worst >= 0, kept.mean(axis=0), np.nan) if draws else nothing,
        draws=draws,
    )


def _testable(table: ScoreTable, good: Ints, rows: _Rows) -> Mask:
    """Say which (model, leaf) have five criteria and five clusters, shape (K * L,)."""
    size = table.n_models * len(table.leaves)
    cluster = table.cluster[table.sample[table.response[good]]].astype(np.int64)
    n = np.bincount(rows.leaf[rows.mapped], minlength=size)
    n_clusters = int(table.cluster.max(initial=-1)) + 1
    cells = np.unique(rows.leaf[rows.mapped] * max(n_clusters, 1) + cluster[rows.mapped])
    groups = np.bincount(cells // max(n_clusters, 1), minlength=size)
    return np.asarray((n >= MIN_ROWS) & (groups >= MIN_CLUSTERS))


def _scored(table: ScoreTable, rows: _Rows, weight: Floats, testable: Mask) -> tuple[Floats, Ints]:
    """Return mean sample scores and lowest leaves under these weights."""
    k, size = table.n_models, len(testable)
    answers = len(table.sample)
    mass = group_sums(rows.response, weight, answers)
    total = group_sums(rows.response, weight * rows.x, answers)
    has = mass > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = group_sums(table.model[has], total[has] / mass[has], k)
        score = mean / np.bincount(table.model[has], minlength=k)
        leaf, w = rows.leaf[rows.mapped], weight[rows.mapped]
        value = group_sums(leaf, w * rows.x[rows.mapped], size)
        value = value / group_sums(leaf, w, size)
    by_leaf = np.where(testable, value, np.inf).reshape(k, -1)
    if by_leaf.shape[1] == 0:
        return score, np.full(k, -1, dtype=np.int64)
    lowest = by_leaf.argmin(axis=1)
    return score, np.where(np.isfinite(by_leaf.min(axis=1)), lowest, -1)


def _kendall(a: Floats, b: Floats) -> float:
    """Return Kendall's tau-b of two score lists; NaN where one is constant."""
    i, j = np.triu_indices(len(a), 1)
    da, db = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
    scale = float(np.sqrt((da != 0).sum() * (db != 0).sum()))
    return float((da * db).sum() / scale) if scale else float("nan")
