"""The share of marks at or above each level: what an ordinal scale can say without a mean.

Reference: METHODS T11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.records import MarkScale
from atom.views.filters import Filters
from atom.views.reading import score_rows_kept
from atom.views.study_data import StudyData

_CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True)
class ModelLevels:
    """One model's marks on an ordinal scale.

    Attributes:
        colour: its place in the study.
        n: its scored marks on the scale.
        shares: share of them at or above each level but the worst, 0-100.
    """

    name: str
    colour: int
    n: int
    shares: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class LevelShares:
    """An ordinal scale's marks, model by model.

    Attributes:
        scale: what the scale is called.
        levels: its levels but the worst, ascending, as they are written.
        models: those that have any mark on it, in the study's order.
    """

    scale: str
    levels: tuple[str, ...]
    models: tuple[ModelLevels, ...]


def level_shares(data: StudyData, filters: Filters) -> tuple[LevelShares, ...]:
    """Count the marks at or above each level of every ordinal scale; nothing without one.

    A criterion that takes points away stands turned round, as it does in every mean.

    Args:
        filters: what narrows it; the chain (model, node, ...) doesn't.
    """
    table = data.table
    if not table.ordinal:
        return ()
    kept = score_rows_kept(data, filters) & (table.score > 0)
    found = []
    for number, scale in enumerate(table.scales):
        rows = np.flatnonzero(kept & (table.scale == number))
        if not (scale.ordinal and len(rows)):
            continue
        model, value = table.model[table.response[rows]], (table.score[rows] - 1.0) / 4
        models = [
            ModelLevels(
                name=candidate.name,
                colour=at,
                n=len(mine),
                shares=tuple(
                    100 * float((mine >= level - _CLOSE).mean()) for level in scale.values[1:]
                ),
            )
            for at, candidate in enumerate(data.candidates)
            if len(mine := value[model == at])
        ]
        found.append(
            LevelShares(scale=scale.name or scale.id, levels=_words(scale), models=tuple(models))
        )
    return tuple(found)


def _words(scale: MarkScale) -> tuple[str, ...]:
    """Name each value of a scale but the worst by its marks, `good / fine`."""
    return tuple(
        " / ".join(word for word, worth in scale.levels if worth == value)
        for value in scale.values[1:]
    )
