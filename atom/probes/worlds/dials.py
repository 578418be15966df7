"""A round dial, as gauges and clocks have: its size, its rim and its marks."""

from __future__ import annotations

from typing import Final

from atom.probes.program import Box
from atom.probes.worlds.kit import PAPER, Canvas, Point, Rect, polar, thousandths

SIZE: Final = (520, 480)
CENTRE: Final[Point] = (260.0, 240.0)
RADIUS: Final = 208.0
GROUND: Final = "#eef1f5"
SHADOW: Final = "#e3e6eb"


def box_of(rect: Rect) -> Box:
    """Return a rectangle of a dial's picture as a region box."""
    return thousandths(rect, SIZE)


def draw_tick(
    canvas: Canvas, angle: float, outer: float, inner: float, width: float, fill: str
) -> None:
    """Draw a mark of the scale, between two distances from the centre."""
    canvas.line(polar(CENTRE, outer, angle), polar(CENTRE, inner, angle), width, fill)


def draw_bezel(canvas: Canvas) -> None:
    """Draw the rim and the face."""
    x, y = CENTRE
    canvas.disc((x, y + 7), RADIUS + 2, "#dde2e9")
    canvas.disc((x, y + 4), RADIUS + 1, "#cfd5de")
    for inset, fill in (
        (0, "#8b95a3"),
        (2, "#c3cad4"),
        (6, "#e9edf2"),
        (11, "#aab3bf"),
        (13, PAPER),
    ):
        canvas.disc(CENTRE, RADIUS - inset, fill)
