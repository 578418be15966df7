"""Shaded solids on a floor: a small renderer that knows which pixels belong to which object.

Everything is drawn at twice the size in float arrays, with an array of object numbers beside it, so
that boxes and visible shares are exact. Only `+ - * /` and `sqrt` shape the pixels: these give the
same bits on every machine, which `sin`, `cos` and `exp` need not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from atom.probes.worlds.kit import Point, Rect

SIZE: Final = (640, 480)
FACTOR: Final = 2
HORIZON: Final = 100.0
FLOOR_TOP: Final = 176.0
FLOOR_BOTTOM: Final = 440.0

COLOURS: Final[dict[str, tuple[int, int, int]]] = {
    "red": (205, 50, 48),
    "blue": (42, 98, 205),
    "green": (46, 150, 82),
    "yellow": (242, 196, 44),
    "purple": (128, 70, 178),
    "orange": (240, 126, 34),
}
SHAPES: Final = ("sphere", "cube", "cylinder", "cone")

_WALL: Final = (246.0, 246.0, 249.0)
_FLOOR: Final = (228.0, 231.0, 234.0)
_TILT: Final = 0.34
"""Height of a floor circle over its width: how steeply the camera looks down."""
_LIGHT: Final = (-0.48, -0.64, 0.6)
_TURNS: Final = ((24 / 25, 7 / 25), (12 / 13, 5 / 13), (15 / 17, 8 / 17), (4 / 5, 3 / 5))
"""Cosine and sine of the yaws that a cube can have."""

_LEVELS: Final = [(v + 1) // 3 * 3 for v in range(256)] * 3
"""Every third level only: no eye sees the step, and the files are a third smaller."""

Grid = NDArray[np.float64]
Numbers = NDArray[np.int16]


@dataclass(frozen=True, kw_only=True)
class Solid:
    """One object of a scene; positions and sizes in logical pixels of the final picture."""

    shape: str
    colour: str
    x: float
    """Where it stands, from the left."""
    y: float
    """Where it stands, from the top: the centre of its footprint; larger is nearer."""
    radius: float
    """Half of its width."""
    turn: int = 0
    """Which yaw a cube has."""

    @property
    def name(self) -> str:
        """Colour and shape, as questions name it."""
        return f"{self.colour} {self.shape}"

    @property
    def height(self) -> float:
        """Height above the footprint's centre."""
        return (
            self.radius * {"sphere": 1.86, "cube": 1.62, "cylinder": 1.9, "cone": 2.15}[self.shape]
        )

    @property
    def rect(self) -> Rect:
        """A close guess of its box, before anything is drawn."""
        half = self.radius * (1.12 if self.shape == "cube" else 1.0)
        foot = self.radius * (0.14 if self.shape == "sphere" else _TILT)
        top = self.height + (self.radius * _TILT if self.shape in ("cube", "cylinder") else 0.0)
        return (self.x - half, self.y - top, self.x + half, self.y + foot)

    @property
    def middle(self) -> Point:
        """The centre of its box."""
        left, top, right, bottom = self.rect
        return ((left + right) / 2, (top + bottom) / 2)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A rendered scene."""

    image: Image.Image
    boxes: tuple[Rect, ...]
    """The visible part of each solid, in the order given."""
    visible: tuple[float, ...]
    """Visible share of each solid's pixels, 0..1."""


@dataclass(frozen=True)
class _Patch:
    """The part of the picture that a solid may touch: its slices and coordinates."""

    rows: slice
    columns: slice
    x: Grid
    y: Grid


def render(solids: Sequence[Solid], *, light: float = 1.0, contrast: float = 1.0) -> Scene:
    """Render solids on the floor, the farthest first.

    Args:
        solids: the objects in any order.
        light: brightness of the whole picture, 1 as usual.
        contrast: how far colours stand from grey, 1 as usual.
    """
    width, height = SIZE[0] * FACTOR, SIZE[1] * FACTOR
    picture = _ground(width, height).copy()
    numbers: Numbers = np.full((height, width), -1, dtype=np.int16)
    own: dict[int, int] = {}
    for solid in solids:
        _shadow(picture, solid)
    for number in sorted(range(len(solids)), key=lambda i: solids[i].y):
        own[number] = _draw(picture, numbers, solids[number], number, contrast)
    boxes, visible = [], []
    for number, solid in enumerate(solids):
        box, seen = _seen(numbers, solid, number)
        boxes.append(box)
        visible.append(seen / max(1, own[number]))
    if light != 1.0:
        picture *= light
    picture += 0.5
    pixels = np.clip(picture, 0.0, 255.0, out=picture).astype(np.uint8)
    image = Image.fromarray(pixels).reduce(FACTOR).point(_LEVELS)
    return Scene(image=image, boxes=tuple(boxes), visible=tuple(visible))


def _seen(numbers: Numbers, solid: Solid, number: int) -> tuple[Rect, int]:
    """Return the box of a solid's visible pixels (empty where none is) and their number."""
    patch = _patch(_reach(solid))
    if patch is None:
        return (0.0, 0.0, 0.0, 0.0), 0
    mine = numbers[patch.rows, patch.columns] == number
    rows, columns = np.flatnonzero(mine.any(axis=1)), np.flatnonzero(mine.any(axis=0))
    if len(rows) == 0:
        return (0.0, 0.0, 0.0, 0.0), 0
    left, top = patch.columns.start, patch.rows.start
    box = (
        float(left + columns[0]) / FACTOR,
        float(top + rows[0]) / FACTOR,
        float(left + columns[-1] + 1) / FACTOR,
        float(top + rows[-1] + 1) / FACTOR,
    )
    return box, int(mine.sum())


def _reach(solid: Solid) -> Rect:
    """Return a rectangle that surely holds a solid."""
    r = solid.radius
    return (solid.x - r * 1.2, solid.y - r * 2.5, solid.x + r * 1.2, solid.y + r * 0.7)


@lru_cache(maxsize=1)
def _ground(width: int, height: int) -> Grid:
    rows = (np.arange(height, dtype=np.float64) + 0.5) / FACTOR
    share = np.clip((rows - (HORIZON - 26)) / 52, 0.0, 1.0)
    share = share * share * (3 - 2 * share)
    column = np.empty((height, 3))
    for channel in range(3):
        column[:, channel] = _WALL[channel] + (_FLOOR[channel] - _WALL[channel]) * share
    return np.broadcast_to(np.floor(column + 0.5)[:, None, :], (height, width, 3)).copy()


def _patch(rect: Rect) -> _Patch | None:
    left = max(0, int(rect[0] * FACTOR) - 2)
    top = max(0, int(rect[1] * FACTOR) - 2)
    right = min(SIZE[0] * FACTOR, int(rect[2] * FACTOR) + 3)
    bottom = min(SIZE[1] * FACTOR, int(rect[3] * FACTOR) + 3)
    if right <= left or bottom <= top:
        return None
    x = (np.arange(left, right, dtype=np.float64) + 0.5) / FACTOR
    y = (np.arange(top, bottom, dtype=np.float64) + 0.5) / FACTOR
    return _Patch(slice(top, bottom), slice(left, right), x[None, :], y[:, None])


def _shadow(picture: Grid, solid: Solid) -> None:
    """Darken the floor with a soft ellipse that leans away from the light."""
    reach_x = solid.radius * (1.5 if solid.shape != "cone" else 1.35)
    reach_y = reach_x * 0.42
    cx, cy = solid.x + solid.radius * 0.3, solid.y + solid.radius * 0.06
    patch = _patch((cx - reach_x, cy - reach_y, cx + reach_x, cy + reach_y))
    if patch is None:
        return
    away = ((patch.x - cx) / reach_x) ** 2 + ((patch.y - cy) / reach_y) ** 2
    depth = np.clip(1.0 - away, 0.0, 1.0)
    factor = 1.0 - 0.30 * depth * depth * (3 - 2 * depth)
    picture[patch.rows, patch.columns] *= factor[:, :, None]


def _draw(picture: Grid, numbers: Numbers, solid: Solid, number: int, contrast: float) -> int:
    patch = _patch(_reach(solid))
    if patch is None:
        return 0
    painters: dict[str, Callable[[Solid, _Patch], _PaintedSolid]] = {
        "sphere": _sphere,
        "cube": _cube,
        "cylinder": _cylinder,
        "cone": _cone,
    }
    painted = painters[solid.shape](solid, patch)
    base = np.array(COLOURS[solid.colour], dtype=np.float64)
    grey = base.sum() / 3
    base = grey + (base - grey) * contrast
    lit = base[None, None, :] * painted.diffuse[:, :, None]
    lit = lit + (255.0 - lit) * painted.gloss[:, :, None]
    cover = np.clip(painted.cover, 0.0, 1.0)
    area = picture[patch.rows, patch.columns]
    picture[patch.rows, patch.columns] = area + (lit - area) * cover[:, :, None]
    inside = cover > 0.5
    numbers[patch.rows, patch.columns][inside] = number
    return int(inside.sum())


@dataclass(frozen=True)
class _PaintedSolid:
    cover: Grid
    diffuse: Grid
    gloss: Grid


def _lambert(nx: Grid, ny: Grid, nz: Grid) -> Grid:
    return np.clip(nx * _LIGHT[0] + ny * _LIGHT[1] + nz * _LIGHT[2], 0.0, 1.0)


def _sphere(solid: Solid, patch: _Patch) -> _PaintedSolid:
    r = solid.radius
    cy = solid.y - r * 0.86
    dx, dy = (patch.x - solid.x) / r, (patch.y - cy) / r
    away = dx * dx + dy * dy
    distance = np.sqrt(away)
    cover = (1.0 - distance) * r * FACTOR + 0.5
    nz = np.sqrt(np.clip(1.0 - away, 0.0, 1.0))
    light = _lambert(dx, dy, nz)
    bounce = np.clip(dy, 0.0, 1.0) * 0.10
    diffuse = 0.56 + 0.52 * light + bounce
    spot = np.clip(1.0 - ((dx + 0.36) ** 2 + (dy + 0.42) ** 2) / 0.17, 0.0, 1.0)
    return _PaintedSolid(cover, diffuse, 0.62 * spot * spot)


def _half_planes(points: Sequence[Point], patch: _Patch) -> Grid:
    """Return coverage of a convex polygon whose corners run clockwise on the screen."""
    inside: Grid | None = None
    for start, end in zip(points, [*points[1:], points[0]], strict=True):
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = float(np.sqrt(dx * dx + dy * dy))
        distance = ((patch.y - start[1]) * dx - (patch.x - start[0]) * dy) / length
        inside = distance if inside is None else np.minimum(inside, distance)
    assert inside is not None
    return inside * FACTOR + 0.5


def _cube(solid: Solid, patch: _Patch) -> _PaintedSolid:
    cos, sin = _TURNS[solid.turn % len(_TURNS)]
    half = solid.radius * 0.80
    tall = solid.height

    def floor(u: float, v: float) -> Point:
        return (
            solid.x + half * (u * cos - v * sin),
            solid.y + half * (u * sin + v * cos) * _TILT * 1.05,
        )

    near, left, right, back = floor(1, 1), floor(-1, 1), floor(1, -1), floor(-1, -1)

    def up(point: Point) -> Point:
        return (point[0], point[1] - tall)

    top = [up(back), up(right), up(near), up(left)]
    left_face = [up(left), up(near), near, left]
    right_face = [up(near), up(right), right, near]
    outline = [up(back), up(right), right, near, left, up(left)]
    cover = _half_planes(outline, patch)
    shape = np.broadcast_to(cover, (patch.y.shape[0], patch.x.shape[1]))
    drop = np.clip((patch.y - (solid.y - tall)) / tall, 0.0, 1.0)
    diffuse = np.broadcast_to(0.92 - 0.10 * drop, shape.shape).copy()
    for face, shade, fade in ((left_face, 0.90, 0.10), (right_face, 0.70, 0.08), (top, 1.14, 0.0)):
        share = np.clip(_half_planes(face, patch), 0.0, 1.0)
        diffuse = diffuse + (shade - fade * drop - diffuse) * share
    gloss = 0.10 * np.clip(_half_planes(top, patch), 0.0, 1.0)
    return _PaintedSolid(shape.copy(), diffuse, gloss)


def _ellipse(solid: Solid, patch: _Patch, y: float) -> Grid:
    r = solid.radius
    dx, dy = (patch.x - solid.x) / r, (patch.y - y) / (r * _TILT)
    distance = np.sqrt(dx * dx + dy * dy)
    slope = np.sqrt((dx / r) ** 2 + (dy / (r * _TILT)) ** 2) / np.maximum(distance, 1e-6)
    return (1.0 - distance) / np.maximum(slope, 1e-6) * FACTOR + 0.5


def _cylinder(solid: Solid, patch: _Patch) -> _PaintedSolid:
    r = solid.radius
    top_y = solid.y - solid.height
    top = _ellipse(solid, patch, top_y)
    body = np.minimum(
        np.minimum(r - (patch.x - solid.x), r + (patch.x - solid.x)),
        np.minimum(patch.y - top_y, solid.y - patch.y),
    )
    cover = np.maximum(np.maximum(body * FACTOR + 0.5, top), _ellipse(solid, patch, solid.y))
    nx = np.clip((patch.x - solid.x) / r, -1.0, 1.0)
    nz = np.sqrt(1.0 - nx * nx)
    flat = np.zeros_like(nx)
    drop = np.clip((patch.y - top_y) / solid.height, 0.0, 1.0)
    side = 0.57 + 0.54 * _lambert(nx, flat, nz) - 0.08 * drop
    share = np.clip(top, 0.0, 1.0)
    diffuse = side + (1.12 - side) * share
    streak = np.clip(1.0 - ((nx + 0.46) / 0.26) ** 2, 0.0, 1.0)
    gloss = (0.30 * streak * streak) * (1.0 - share) + 0.10 * share
    return _PaintedSolid(cover, diffuse, gloss)


def _cone(solid: Solid, patch: _Patch) -> _PaintedSolid:
    r, tall = solid.radius, solid.height
    apex = solid.y - tall
    # The two edges touch the footprint's ellipse, so that no corner shows at the rim.
    touch = _TILT * r / tall
    edge = float(np.sqrt(1.0 - touch * touch))
    rim_y = solid.y - touch * r * _TILT
    left, right = (solid.x - r * edge, rim_y), (solid.x + r * edge, rim_y)
    body = _half_planes([(solid.x, apex), right, left], patch)
    foot = _ellipse(solid, patch, solid.y)
    cover = np.maximum(body, foot)
    depth = np.clip((patch.y - apex) / tall, 0.04, 1.0)
    nx = np.clip((patch.x - solid.x) / (r * depth), -1.0, 1.0)
    nz = np.sqrt(1.0 - nx * nx)
    tilt = np.full_like(nx, -0.30)
    diffuse = 0.56 + 0.53 * _lambert(nx, tilt, nz) - 0.06 * depth
    streak = np.clip(1.0 - ((nx + 0.42) / 0.30) ** 2, 0.0, 1.0)
    return _PaintedSolid(cover, diffuse, 0.30 * streak * streak * np.clip(depth * 1.6, 0.0, 1.0))
