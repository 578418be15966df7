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
    columns = [kit.Head(title=one.scale)]
    columns += [kit.Head(title=f"{word} or better", number=True) for word in one.levels]
    columns.append(kit.Head(title="marks", number=True))
    rows = [
        kit.Row(
            cells=[
                kit.model(model.name, model.colour),
                *(numbers.percent(share, model.n) for share in model.shares),
                f"{model.n:,}",
            ]
        )
        for model in one.models
    ]
    return kit.table(columns, rows, label=f"marks at or above each level of {one.scale}")
