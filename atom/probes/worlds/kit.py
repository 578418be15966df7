"""The drawing kit: a super-sampled canvas in logical pixels, one font, one palette.

Everything is drawn at three times the size with whole-number coordinates and then averaged by
`Image.reduce`, which gives the same pixels on every Pillow from 11.3 on. Text is Aileron, the
scalable font inside Pillow: it holds ASCII and the degree sign, and shows an empty box for much
else, so other characters are refused.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from numpy.random import Generator
from PIL import Image, ImageDraw, ImageFont

from atom.probes.program import Box, ProgramStep

SCALE: Final = 3
DRAWABLE: Final = frozenset(string.ascii_letters + string.digits + string.punctuation + " °")

INK: Final = "#1f2a37"
MUTED: Final = "#6b7684"
FAINT: Final = "#a3acb8"
HAIRLINE: Final = "#e5e9ee"
PAPER: Final = "#ffffff"

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
Align = Literal["l", "m", "r"]


@dataclass(frozen=True, kw_only=True)
class DrawnSample:
    """A drawn sample before it is encoded: what its program says, and its pictures."""

    question: str
    answer: str
    answer_step: str
    """The step whose value is the answer."""
    choices: tuple[str, ...]
    """Empty for an open question."""
    steps: tuple[ProgramStep, ...]
    """In the order of reasoning."""
    knobs: dict[str, float | int | str | bool]
    difficulty: float
    """0 easy .. 1 hard."""
    size: tuple[int, int]
    """Width and height in pixels."""
    images: tuple[Image.Image, ...]
    """The pictures in order, RGB, at their final size."""
    quantise: bool = True
    """Whether 128 colours are enough (never for shaded scenes: it damages their colours)."""


Maker = Callable[[Generator], DrawnSample]
"""Draws one sample by one question template."""


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size * SCALE)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("this Pillow has no scalable default font (built without FreeType)")
    return font


def _whole(value: float) -> int:
    return math.floor(value * SCALE + 0.5)


def thousandths(rect: Rect, size: tuple[int, int], *, picture: int = 1) -> Box:
    """Turn a rectangle in logical pixels into a region box.

    Args:
        rect: left, top, right, bottom in pixels of the final picture.
        size: the picture's width and height in pixels.
        picture: 1-based index of the picture in the sample.

    Returns:
        The box in thousandths, grown to whole numbers and kept inside the picture.
    """
    width, height = size
    left, top, right, bottom = rect
    return Box(
        picture=picture,
        box=(
            max(0, min(999, math.floor(left * 1000 / width))),
            max(0, min(999, math.floor(top * 1000 / height))),
            max(1, min(1000, math.ceil(right * 1000 / width))),
            max(1, min(1000, math.ceil(bottom * 1000 / height))),
        ),
    )


def around(points: Iterable[Point], pad: float) -> Rect:
    """Return the rectangle that holds all points, grown by `pad` pixels on each side."""
    xs, ys = zip(*points, strict=True)
    return (min(xs) - pad, min(ys) - pad, max(xs) + pad, max(ys) + pad)


class Canvas:
    """A picture that is drawn in logical pixels and finished by averaging 3 x 3 blocks."""

    def __init__(self, width: int, height: int, ground: str = PAPER) -> None:
        self.size = (width, height)
        self._image = Image.new("RGB", (width * SCALE, height * SCALE), ground)
        self._draw = ImageDraw.Draw(self._image)

    def box(self, rect: Rect, *, picture: int = 1) -> Box:
        """Return a rectangle of this canvas as a region box."""
        return thousandths(rect, self.size, picture=picture)

    def finish(self) -> Image.Image:
        """Return the finished picture at its logical size."""
        return self._image.reduce(SCALE)

    def turned(self, degrees: float, ground: str) -> Image.Image:
        """Return the finished picture turned counter-clockwise about its centre."""
        turned = self._image.rotate(
            degrees, resample=Image.Resampling.BICUBIC, fillcolor=ground, expand=False
        )
        return turned.reduce(SCALE)

    def rect(
        self,
        rect: Rect,
        fill: str | None = None,
        *,
        radius: float = 0.0,
        outline: str | None = None,
        width: float = 1.0,
        corners: tuple[bool, bool, bool, bool] = (True, True, True, True),
    ) -> None:
        """Fill a rectangle, with rounded corners (clockwise from top left) where asked."""
        left, top, right, bottom = (_whole(v) for v in rect)
        if right <= left or bottom <= top:
            return
        reach = min(_whole(radius), (right - left) // 2, (bottom - top) // 2)
        self._draw.rounded_rectangle(
            (left, top, right - 1, bottom - 1),
            radius=reach,
            fill=fill,
            outline=outline,
            width=_whole(width) if outline else 0,
            corners=corners,
        )

    def polygon(self, points: Sequence[Point], fill: str) -> None:
        """Fill a polygon."""
        self._draw.polygon([(_whole(x), _whole(y)) for x, y in points], fill=fill)

    def disc(self, centre: Point, radius: float, fill: str) -> None:
        """Fill a circle."""
        x, y = _whole(centre[0]), _whole(centre[1])
        r = _whole(radius)
        self._draw.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def ring(self, centre: Point, radius: float, width: float, fill: str) -> None:
        """Draw a circle line whose outer edge has the given radius."""
        x, y = _whole(centre[0]), _whole(centre[1])
        r = _whole(radius)
        self._draw.ellipse((x - r, y - r, x + r, y + r), outline=fill, width=_whole(width))

    def arc(
        self, centre: Point, radius: float, width: float, start: float, end: float, fill: str
    ) -> None:
        """Draw a band along a circle; angles in degrees, counter-clockwise from three o'clock."""
        steps = max(2, math.ceil(abs(end - start) / 2.0))
        angles = [start + (end - start) * i / steps for i in range(steps + 1)]
        outer = [polar(centre, radius, angle) for angle in angles]
        inner = [polar(centre, radius - width, angle) for angle in reversed(angles)]
        self.polygon(outer + inner, fill)

    def line(
        self, start: Point, end: Point, width: float, fill: str, *, round_ends: bool = False
    ) -> None:
        """Draw a straight line as a polygon (Pillow's own lines are uneven at an angle)."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = math.sqrt(dx * dx + dy * dy)
        if length == 0.0:
            return
        nx, ny = -dy / length * width / 2, dx / length * width / 2
        self.polygon(
            [
                (start[0] + nx, start[1] + ny),
                (end[0] + nx, end[1] + ny),
                (end[0] - nx, end[1] - ny),
                (start[0] - nx, start[1] - ny),
            ],
            fill,
        )
        if round_ends:
            self.disc(start, width / 2, fill)
            self.disc(end, width / 2, fill)

    def hline(self, x0: float, x1: float, y: float, fill: str, width: float = 1.0) -> None:
        """Draw a crisp horizontal hairline that covers whole final pixels."""
        top = math.floor(y)
        self.rect((x0, top, x1, top + width), fill)

    def polyline(self, points: Sequence[Point], width: float, fill: str) -> None:
        """Draw joined lines with round corners."""
        for start, end in pairwise(points):
            self.line(start, end, width, fill, round_ends=True)

    def dotted(self, x0: float, x1: float, y: float, fill: str, *, gap: float = 5.0) -> None:
        """Draw a row of dots (a leader)."""
        x = math.ceil(x0 / gap) * gap
        while x <= x1:
            self.disc((x, y), 0.7, fill)
            x += gap

    def text(
        self,
        at: Point,
        words: str,
        size: int,
        fill: str = INK,
        *,
        align: Align = "l",
        vertical: Literal["s", "m"] = "s",
        bold: bool = False,
    ) -> Rect:
        """Write one line of text and return the rectangle of its ink.

        Args:
            at: the anchor, on the baseline (`s`) or the middle of the line (`m`).
            words: ASCII and the degree sign only.
            size: font size in logical pixels.
            fill: colour.
            align: which end of the text lies at the anchor.
            vertical: whether the anchor is on the baseline or the middle.
            bold: thicken by drawing twice, a third of a pixel apart.

        Raises:
            ValueError: a character that the font can't show.
        """
        odd = set(words) - DRAWABLE
        if odd:
            raise ValueError(f"the font can't draw {sorted(odd)!r} in {words!r}; use ASCII")
        font = _font(size)
        x, y = _whole(at[0]), _whole(at[1])
        anchor = align + vertical
        for shift in (0, 1) if bold else (0,):
            self._draw.text((x + shift, y), words, font=font, fill=fill, anchor=anchor)
        left, top, right, bottom = self._draw.textbbox((x, y), words, font=font, anchor=anchor)
        return (left / SCALE, top / SCALE, right / SCALE, bottom / SCALE)

    def digits(self, right: float, y: float, words: str, size: int, fill: str = INK) -> Rect:
        """Write a number right-aligned on a baseline, each figure in a cell of equal width."""
        cell = text_width("0", size)
        x = right
        boxes = []
        for char in reversed(words):
            if char.isdigit():
                boxes.append(self.text((x - cell / 2, y), char, size, fill, align="m"))
                x -= cell
            else:
                boxes.append(self.text((x, y), char, size, fill, align="r"))
                x -= text_width(char, size)
        return union(boxes)


def text_width(words: str, size: int) -> float:
    """Return the advance width of a text in logical pixels."""
    return _font(size).getlength(words) / SCALE


def union(rects: Sequence[Rect]) -> Rect:
    """Return the smallest rectangle that holds all rectangles."""
    return (
        min(r[0] for r in rects),
        min(r[1] for r in rects),
        max(r[2] for r in rects),
        max(r[3] for r in rects),
    )


def grow(rect: Rect, pad: float) -> Rect:
    """Return the rectangle with `pad` pixels more on each side."""
    return (rect[0] - pad, rect[1] - pad, rect[2] + pad, rect[3] + pad)


def polar(centre: Point, radius: float, degrees: float) -> Point:
    """Return the point at an angle counter-clockwise from three o'clock (y grows downwards)."""
    angle = math.radians(degrees)
    return (centre[0] + radius * math.cos(angle), centre[1] - radius * math.sin(angle))
