"""Each model's answers by how they end and how they get there."""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.capability.quadrant import Quadrant, quadrant_of
from atom.views.filters import Filters
from atom.views.overview.ranking import RankRow
from atom.views.overview.sums import OverviewSums

MIN_SAMPLES = 5
"""A node with fewer samples is `insufficient` (METHODS A9)."""


@dataclass(frozen=True, kw_only=True)
class ModelQuadrant:
    """A model's quadrant: right or wrong answers against the process behind them."""

    model_id: str
    name: str
    colour: int
    counts: Quadrant
    filters: Filters


def quadrants_of(
    filters: Filters, sums: OverviewSums, ranking: tuple[RankRow, ...]
) -> tuple[ModelQuadrant, ...]:
    """Count each model's answers by how they end and how they get there."""
    terse = sums.terse
    if not sums.graded or not (sums.kinds.any() or terse.any()):
        return ()
    sizes = sums.kinds.tolist()
    found = []
    for row in ranking:
        broken, lucky, slip, sound = sizes[row.colour]
        counts = quadrant_of(
            sound=sound, lucky=lucky, slip=slip, broken=broken, terse=int(terse[row.colour])
        )
        if counts.n or counts.terse:
            found.append(
                ModelQuadrant(
                    model_id=row.model_id,
                    name=row.name,
                    colour=row.colour,
                    counts=counts,
                    filters=filters.but(
                        model=row.model_id,
                        outcome="right",
                        process="flawed",
                        show="all",
                        sample=None,
                        criterion=None,
                        node=(),
                    ),
                )
            )
    return tuple(found)
