"""Where solids stand: parts of a picture, what overlaps, and scenes without hidden solids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from numpy.random import Generator

from atom.probes.worlds.kit import Rect
from atom.probes.worlds.solids import FLOOR_BOTTOM, FLOOR_TOP, SIZE, Solid
from atom.probes.worlds.steps import whole

PLACES: Final = (
    "upper left",
    "upper middle",
    "upper right",
    "lower left",
    "lower middle",
    "lower right",
)


def place_of(solid: Solid) -> str:
    """Name the part of the picture in which the middle of a solid's box lies."""
    x, y = solid.middle
    side = "left" if x < SIZE[0] / 3 else "middle" if x < SIZE[0] * 2 / 3 else "right"
    return f"{'upper' if y < SIZE[1] / 2 else 'lower'} {side}"


def clear_place(solid: Solid, margin: float = 14.0) -> bool:
    """Tell whether a solid stands clear of the lines between the six parts of the picture."""
    x, y = solid.middle
    lines = (SIZE[0] / 3, SIZE[0] * 2 / 3)
    return min(abs(x - line) for line in lines) >= margin and abs(y - SIZE[1] / 2) >= margin


def near_places(place: str) -> list[str]:
    """Return the parts of the picture that share an edge with this one."""
    row, side = place.split()
    sides = ("left", "middle", "right")
    at = sides.index(side)
    beside = [f"{row} {sides[i]}" for i in (at - 1, at + 1) if 0 <= i < 3]
    other = "lower" if row == "upper" else "upper"
    return [f"{other} {side}", *beside]


def radius_at(y: float, scale: float) -> float:
    """Return half the width of an object that stands at this height: lower is nearer, larger."""
    share = (y - FLOOR_TOP) / (FLOOR_BOTTOM - FLOOR_TOP)
    return scale * (25.0 + 27.0 * share)


def overlap(a: Rect, b: Rect) -> float:
    """Return the shared area of two rectangles over the area of the first."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / ((a[2] - a[0]) * (a[3] - a[1]))


def scatter(
    rng: Generator,
    names: Sequence[tuple[str, str]],
    *,
    hidden: float,
    scales: tuple[float, float] = (0.86, 1.14),
) -> tuple[Solid, ...] | None:
    """Place solids of the given colours and shapes on the floor, or give up.

    Args:
        names: (colour, shape) of each solid.
        hidden: largest share of a box that a nearer solid's box may cover.
        scales: range of true sizes.
    """
    placed: list[Solid] = []
    shrink = 1.0 if len(names) <= 9 else 0.86
    for colour, shape in names:
        for _ in range(60):
            y = rng.uniform(FLOOR_TOP, FLOOR_BOTTOM)
            radius = radius_at(y, shrink * rng.uniform(*scales))
            x = rng.uniform(radius * 1.3 + 6, SIZE[0] - radius * 1.45 - 6)
            solid = Solid(
                shape=shape, colour=colour, x=x, y=y, radius=radius, turn=whole(rng, 0, 3)
            )
            if all(_apart(solid, other, hidden) for other in placed):
                placed.append(solid)
                break
        else:
            return None
    return tuple(placed)


def _apart(a: Solid, b: Solid, hidden: float) -> bool:
    far, near = (a, b) if a.y < b.y else (b, a)
    floor = math.hypot(a.x - b.x, (a.y - b.y) / 0.5)
    if floor < (a.radius + b.radius) * 1.02:
        return False
    return overlap(far.rect, near.rect) <= hidden
