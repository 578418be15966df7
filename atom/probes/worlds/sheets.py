"""A sheet of squared paper for figures: outlines, labels, right angles, and how a figure fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from atom.probes.program import Box
from atom.probes.worlds.kit import INK, Canvas, Point, Rect, around, polar, text_width, thousandths

SIZE: Final = (640, 480)
_GROUND: Final = "#fbfcfd"
_GRID: Final = "#eef2f6"
ACCENT: Final = "#1f6fd6"
WASH: Final = "#e6f0fc"
MARK: Final = "#d9480f"


def box_of(rect: Rect) -> Box:
    """Return a rectangle of the sheet as a region box."""
    return thousandths(rect, SIZE)


def draw_sheet() -> Canvas:
    """Return an empty sheet of squared paper."""
    canvas = Canvas(*SIZE, _GROUND)
    for x in range(20, SIZE[0], 24):
        canvas.rect((x, 0, x + 1, SIZE[1]), _GRID)
    for y in range(12, SIZE[1], 24):
        canvas.rect((0, y, SIZE[0], y + 1), _GRID)
    return canvas


def draw_label(
    canvas: Canvas, at: Point, words: str, size: int, fill: str, *, bold: bool = False
) -> Rect:
    """Write a label on a small patch of ground, so that no line runs through it."""
    half = text_width(words, size) / 2 + 4
    canvas.rect(
        (at[0] - half, at[1] - size * 0.62, at[0] + half, at[1] + size * 0.62), _GROUND, radius=5
    )
    return canvas.text(at, words, size, fill, align="m", vertical="m", bold=bold)


def fitted(points: Sequence[Point], room: Rect) -> list[Point]:
    """Scale and move points so that they fill a rectangle, keeping their proportions."""
    left, top, right, bottom = around(points, 0)
    scale = min((room[2] - room[0]) / (right - left), (room[3] - room[1]) / (bottom - top))
    dx = (room[0] + room[2] - scale * (left + right)) / 2
    dy = (room[1] + room[3] - scale * (top + bottom)) / 2
    return [(x * scale + dx, y * scale + dy) for x, y in points]


def turned(points: Sequence[Point], degrees: float) -> list[Point]:
    """Return points turned about the origin."""
    cos, sin = polar((0.0, 0.0), 1.0, degrees)
    return [(x * cos - y * sin, x * sin + y * cos) for x, y in points]


def direction(start: Point, end: Point) -> float:
    """Return the direction from one point to another, in degrees."""
    return math.degrees(math.atan2(start[1] - end[1], end[0] - start[0]))


def toward(start: Point, end: Point, distance: float) -> Point:
    """Return the point at a distance from one point toward another."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.sqrt(dx * dx + dy * dy)
    return (start[0] + dx / length * distance, start[1] + dy / length * distance)


def draw_square(canvas: Canvas, corner: Point, first: Point, second: Point, *, side: float) -> Rect:
    """Draw the mark of a right angle."""
    a, b = toward(corner, first, side), toward(corner, second, side)
    far = (a[0] + b[0] - corner[0], a[1] + b[1] - corner[1])
    canvas.polyline([a, far, b], 2.0, MARK)
    return around([corner, a, b, far], 5)


def draw_outline(canvas: Canvas, points: Sequence[Point], width: float = 2.6) -> None:
    """Draw a closed line."""
    canvas.polyline([*points, points[0]], width, INK)
