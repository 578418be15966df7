"""What more votes bring a judge on VL-RewardBench, and what picking by judges brought.

Reference: VL-RewardBench 4.2, Figure 5b (votes), 3.3, Figure 4 (best of N).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.judgebench.vl_rewardbench.best_of_n import best_of_n
from atom.judgebench.vl_rewardbench.measures import SIZES

METRICS: Final = ("macro_average_accuracy", "overall_accuracy")


@dataclass(frozen=True, kw_only=True)
class ScalingPoint:
    """Accuracy by a majority of K votes, percent.

    Attributes:
        votes: K.
        measured: NaN where fewer votes were asked.
        lo: lower end of its 95 % interval.
        hi: upper end.
        foretold: by the closed form; NaN where there is none.
    """

    votes: int
    measured: float
    lo: float
    hi: float
    foretold: float


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """One judge's curve.

    Attributes:
        label: what is measured.
        points: by K.
        chance: percent that a coin reaches.
        n: pairs with all their votes.
    """

    label: str
    points: tuple[ScalingPoint, ...]
    chance: float
    n: int

    @property
    def trend(self) -> float:
        """Last less first measured accuracy, points."""
        known = [point.measured for point in self.points if math.isfinite(point.measured)]
        return known[-1] - known[0]


def scaling_of(result: BenchResult) -> Scaling | None:
    """Take the macro average's curve from a judge's figures; the overall one where it has none.

    Returns:
        The curve; None with fewer than two measured points.
    """
    rows = {row.metric: row for table in result.tables for row in table.rows}
    for metric in METRICS:
        points = tuple(
            _point(size, rows.get(f"{metric}_k{size}"), rows.get(f"{metric}_k{size}_closed_form"))
            for size in SIZES
        )
        if sum(math.isfinite(point.measured) for point in points) > 1:
            first = rows[f"{metric}_k{SIZES[0]}"]
            label = "Macro average" if metric == METRICS[0] else "Overall accuracy"
            return Scaling(label=label, points=points, chance=first.chance, n=first.n)
    return None


def _point(size: int, measured: MetricRow | None, closed: MetricRow | None) -> ScalingPoint:
    nan = math.nan
    return ScalingPoint(
        votes=size,
        measured=measured.value if measured else nan,
        lo=measured.lo if measured else nan,
        hi=measured.hi if measured else nan,
        foretold=closed.value if closed else nan,
    )


def read_picked(text: str) -> dict[str, float]:
    """Read lines `judge = percent`: what picking the best of N by each judge brought.

    Lines that hold no number are left out.
    """
    found: dict[str, float] = {}
    for line in text.splitlines():
        name, _, number = line.rpartition("=")
        try:
            value = float(number.replace("%", "").strip())
        except ValueError:
            continue
        if name.strip() and math.isfinite(value):
            found[name.strip()] = value
    return found


def best_of_n_table(
    results: Mapping[str, BenchResult], names: Mapping[str, str], picked: Mapping[str, float]
) -> MetricTable:
    """Correlate the judges' overall accuracies on a set with what picking by them brought.

    Args:
        results: figures by the judge's id.
        names: judge's id → name.
        picked: judge's name → best-of-N accuracy, percent.
    """
    measured = {
        names.get(judge, judge): row.value
        for judge, result in results.items()
        for row in result.headline
        if row.metric == "overall_accuracy" and row.rule == "strict"
    }
    return best_of_n(measured, picked)
