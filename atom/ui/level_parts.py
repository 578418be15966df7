"""Marks by level, where a scale's levels have no known distance."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html
from atom.views.level_shares import LevelShares


def levels(scales: Sequence[LevelShares]) -> Html | None:
    """Draw the share of marks at or above each level; nothing without an ordinal scale."""
    if not scales:
        return None
    return kit.section(
        "Marks by level",
        kit.note(
            "The distance between these levels isn’t known, so a mean depends on the values they "
            "were given; the share at or above a level doesn’t.",
        ),
        [_scale(one) for one in scales],
        data_levels=True,
    )


def _scale(one: LevelShares) -> Html:
    return kit.grid(
        one.models,
        kit.MarkupColumn(one.scale, lambda model: kit.model(model.name, model.colour)),
        *kit.each(
            range(len(one.levels)),
            lambda at: f"{one.levels[at]} or better",
            lambda model, at: numbers.percent(model.shares[at], model.n),
        ),
        kit.number("marks", lambda model: f"{model.n:,}"),
        label=f"marks at or above each level of {one.scale}",
        tight=False,
    )
