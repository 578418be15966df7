"""What more votes bring a judge on VL-RewardBench.

Reference: VL-RewardBench 4.2, Figure 5b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from atom.judgebench.base import BenchResult, MetricRow
from atom.judgebench.vl_rewardbench.measures import SIZES

METRICS: Final = ("macro_average_accuracy", "overall_accuracy")


@dataclass(frozen=True, kw_only=True)
class ScalingPercent:
    """Accuracy by a majority of K votes, percent.

    Attributes:
        votes: K.
        measured: NaN where fewer votes were asked.
        lo: lower end of its 95 % interval.
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
    points: tuple[ScalingPercent, ...]
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


def _point(size: int, measured: MetricRow | None, closed: MetricRow | None) -> ScalingPercent:
    nan = math.nan
    return ScalingPercent(
        votes=size,
        measured=measured.value if measured else nan,
        lo=measured.lo if measured else nan,
        hi=measured.hi if measured else nan,
        foretold=closed.value if closed else nan,
    )
