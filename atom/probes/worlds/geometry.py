"""Geometry figures: thin ink, one accent, marks for equal sides and right angles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from numpy.random import Generator
from PIL import Image

from atom.probes.program import Box, Program, Step
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    INK,
    MUTED,
    Canvas,
    Drawn,
    Point,
    Rect,
    around,
    grow,
    polar,
    text_width,
    thousandths,
    union,
)
from atom.probes.worlds.steps import (
    blend,
    chance,
    choice_list,
    generator,
    number,
    option,
    pick,
    spread,
    whole,
)

TEMPLATES: Final = ("angle", "area")

_SIZE: Final = (640, 480)
_GROUND: Final = "#fbfcfd"
_GRID: Final = "#eef2f6"
_ACCENT: Final = "#1f6fd6"
_WASH: Final = "#e6f0fc"
_MARK: Final = "#d9480f"

Kind = Literal["right", "isosceles", "exterior"]
Shape = Literal["rectangle", "parallelogram", "triangle"]

_FACTS: Final = (
    "angle sum of a triangle",
    "equal base angles",
    "exterior angle theorem",
    "vertical angles",
    "corresponding angles",
)
_FACT_NEAR: Final = {
    "right": ("exterior angle theorem",),
    "isosceles": ("equal base angles",),
    "exterior": ("angle sum of a triangle",),
}
_FACT_WORDS: Final = {
    "angle sum of a triangle": ("triangle angle sum", "sum of the angles in a triangle"),
    "exterior angle theorem": ("theorem of the exterior angle", "remote interior angles rule"),
    "equal base angles": ("base angles theorem",),
}
_FORMULAS: Final = (
    "base times height",
    "half of base times height",
    "side squared",
    "pi times radius squared",
)
_FORMULA_WORDS: Final = {
    "base times height": ("length times width",),
    "half of base times height": ("half the base times the height",),
}
_LETTERS: Final = (("A", "B", "C"), ("P", "Q", "R"), ("K", "L", "M"), ("D", "E", "F"))
_LENGTH_UNITS: Final = ("cm", "m", "mm")


def draw(seed: int, index: int, template: str | None = None) -> Drawn:
    """Draw one geometry sample; the template is drawn at random where none is named."""
    rng = generator(seed, index)
    chosen = pick(rng, TEMPLATES)
    chosen = template or chosen
    makers = {"angle": _angle, "area": _area}
    return makers[chosen](rng, seed, index)


def _box(rect: Rect) -> Box:
    return thousandths(rect, _SIZE)


def _sheet() -> Canvas:
    canvas = Canvas(*_SIZE, _GROUND)
    for x in range(20, _SIZE[0], 24):
        canvas.rect((x, 0, x + 1, _SIZE[1]), _GRID)
    for y in range(12, _SIZE[1], 24):
        canvas.rect((0, y, _SIZE[0], y + 1), _GRID)
    return canvas


def _label(
    canvas: Canvas, at: Point, words: str, size: int, fill: str, *, bold: bool = False
) -> Rect:
    """Write a label on a small patch of ground, so that no line runs through it."""
    half = text_width(words, size) / 2 + 4
    canvas.rect(
        (at[0] - half, at[1] - size * 0.62, at[0] + half, at[1] + size * 0.62), _GROUND, radius=5
    )
    return canvas.text(at, words, size, fill, align="m", vertical="m", bold=bold)


def _fit(points: Sequence[Point], room: Rect) -> list[Point]:
    """Scale and move points so that they fill a rectangle, keeping their proportions."""
    left, top, right, bottom = around(points, 0)
    scale = min((room[2] - room[0]) / (right - left), (room[3] - room[1]) / (bottom - top))
    dx = (room[0] + room[2] - scale * (left + right)) / 2
    dy = (room[1] + room[3] - scale * (top + bottom)) / 2
    return [(x * scale + dx, y * scale + dy) for x, y in points]


def _turn(points: Sequence[Point], degrees: float) -> list[Point]:
    cos, sin = polar((0.0, 0.0), 1.0, degrees)
    return [(x * cos - y * sin, x * sin + y * cos) for x, y in points]


def _direction(start: Point, end: Point) -> float:
    return math.degrees(math.atan2(start[1] - end[1], end[0] - start[0]))


def _toward(start: Point, end: Point, distance: float) -> Point:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.sqrt(dx * dx + dy * dy)
    return (start[0] + dx / length * distance, start[1] + dy / length * distance)


def _span(corner: Point, first: Point, second: Point) -> tuple[float, float]:
    """Return start angle and opening of the smaller angle between two rays, in degrees."""
    start, end = _direction(corner, first), _direction(corner, second)
    opening = (end - start) % 360
    return (start, opening) if opening <= 180 else (end, 360 - opening)


def _wedge(
    canvas: Canvas, corner: Point, first: Point, second: Point, *, fill: str, radius: float
) -> None:
    start, opening = _span(corner, first, second)
    rim = [polar(corner, radius, start + opening * i / 24) for i in range(25)]
    canvas.polygon([corner, *rim], fill)


def _wedge_label(
    canvas: Canvas,
    corner: Point,
    first: Point,
    second: Point,
    *,
    words: str,
    radius: float,
    fill: str,
) -> Rect:
    start, opening = _span(corner, first, second)
    canvas.arc(corner, radius, 2.0, start, start + opening, fill)
    distance = radius + 22 + max(0.0, 60 - opening) * 0.55
    at = polar(corner, distance, start + opening / 2)
    words_rect = canvas.text(at, words, 18, fill, align="m", vertical="m", bold=True)
    rim = [polar(corner, radius, start + opening * i / 8) for i in range(9)]
    return union([grow(words_rect, 5), around(rim, 4)])


def _square(canvas: Canvas, corner: Point, first: Point, second: Point, *, side: float) -> Rect:
    a, b = _toward(corner, first, side), _toward(corner, second, side)
    far = (a[0] + b[0] - corner[0], a[1] + b[1] - corner[1])
    canvas.polyline([a, far, b], 2.0, _MARK)
    return around([corner, a, b, far], 5)


def _equal_mark(canvas: Canvas, start: Point, end: Point) -> Rect:
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    angle = _direction(start, end) + 90
    one, two = polar(middle, 9, angle), polar(middle, -9, angle)
    canvas.line(one, two, 3.0, _MARK)
    return around([one, two], 6)


def _outline(canvas: Canvas, points: Sequence[Point], width: float = 2.6) -> None:
    canvas.polyline([*points, points[0]], width, INK)


def _name_corners(
    canvas: Canvas,
    points: Sequence[Point],
    names: Sequence[str],
    *,
    below: tuple[Point, Point, Point] | None = None,
) -> None:
    """Name the corners outside the figure.

    Args:
        names: one letter each.
        below: for a base that runs on (first, second point), the opposite corner third: the
            second corner's name then goes straight away from the base.
    """
    x = sum(p[0] for p in points) / len(points)
    y = sum(p[1] for p in points) / len(points)
    for point, name in zip(points, names, strict=True):
        out = _toward((x, y), point, math.dist((x, y), point) + 20)
        if below is not None and point is below[1]:
            angle = _direction(below[0], below[1]) + 90
            one, two = polar(point, 20, angle), polar(point, -20, angle)
            out = one if math.dist(one, below[2]) > math.dist(two, below[2]) else two
        canvas.disc(point, 3.6, INK)
        canvas.text(out, name, 18, INK, align="m", vertical="m", bold=True)


def _triangle(first: int, second: int) -> list[Point]:
    """Return a triangle with these angles at its first two corners, base from 0 to 1."""
    third = 180 - first - second
    length = math.sin(math.radians(second)) / math.sin(math.radians(third))
    return [(0.0, 0.0), (1.0, 0.0), polar((0.0, 0.0), length, first)]


def _angle(rng: Generator, seed: int, index: int) -> Drawn:
    kind: Kind = pick(rng, ("right", "isosceles", "exterior", "exterior"))
    names = pick(rng, _LETTERS)
    if kind == "right":
        given, marked = whole(rng, 25, 65), 90
        given += 1 if given == 45 else 0
    elif kind == "isosceles":
        given = whole(rng, 34, 74)
        given += 1 if given == 60 else 0
        marked = given
    else:
        marked = 90 if chance(rng, 0.5) else 0
        given = whole(rng, 26, 64) if marked else whole(rng, 34, 70)
        marked = marked or given
    scaled = chance(rng, 0.75)
    shown = given if scaled else max(28, min(68, given + pick(rng, (-9, -7, 7, 9))))
    shown_marked = 90 if marked == 90 else shown
    turn = pick(rng, (0.0, 0.0, 8.0, -8.0, 16.0, -16.0))
    corners = _triangle(shown, shown_marked)
    if kind == "exterior":
        corners.append((1.0 + 0.42, 0.0))
        corners[0], corners[1], corners[2] = _exterior(shown, shown_marked)
        corners[3] = (1.5, 0.0)
    if chance(rng, 0.5):
        corners = [(-x, y) for x, y in corners]
    placed = _fit(_turn(corners, turn), (90, 84, 550, 410))
    p0, p1, p2 = placed[:3]
    canvas = _sheet()
    canvas.polygon([p0, p1, p2], _WASH)
    if kind == "exterior":
        canvas.polyline([p0, p1, placed[3]], 2.6, INK)
    # p0 has the printed angle; p1 or p2 has the marked one, the rest is asked for.
    corner_of_mark, asked = (p2, p1) if kind == "exterior" else (p1, p2)
    name_of_mark, name_asked = (names[2], names[1]) if kind == "exterior" else (names[1], names[2])
    arms = {p0: (p1, p2), p1: (p0, p2), p2: (p0, p1)}
    _wedge(canvas, p0, *arms[p0], fill="#cfe1f8", radius=40)
    ask_arms = (placed[3], p2) if kind == "exterior" else arms[asked]
    _wedge(canvas, asked, *ask_arms, fill="#fde3d5", radius=40)
    _outline(canvas, (p0, p1, p2))
    given_rect = _wedge_label(canvas, p0, *arms[p0], words=f"{given}°", radius=40, fill=_ACCENT)
    asked_rect = _wedge_label(canvas, asked, *ask_arms, words="?", radius=40, fill=_MARK)
    if marked == 90:
        mark_rects = [_square(canvas, corner_of_mark, *arms[corner_of_mark], side=20)]
    else:
        # Equal sides face equal angles: the sides that meet at the third corner.
        apex = next(p for p in (p0, p1, p2) if p is not p0 and p is not corner_of_mark)
        mark_rects = [_equal_mark(canvas, apex, p0), _equal_mark(canvas, apex, corner_of_mark)]
    _name_corners(canvas, (p0, p1, p2), names, below=(p0, p1, p2) if kind == "exterior" else None)
    if not scaled:
        canvas.text((24, 456), "Not to scale", 13, MUTED)
    fact = _FACTS[2] if kind == "exterior" else _FACTS[0]
    answer = given + marked if kind == "exterior" else 180 - given - marked
    steps = _angle_steps(
        kind=kind,
        names=(names[0], name_of_mark, name_asked),
        given=given,
        marked=marked,
        answer=answer,
        fact=fact,
        boxes=(
            [_box(given_rect)],
            [_box(r) for r in mark_rects],
            [_box(asked_rect)],
        ),
    )
    asked_words = (
        f"exterior angle at {name_asked}" if kind == "exterior" else f"angle at {name_asked}"
    )
    program = Program(
        family="geometry",
        template="angle",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, {"right": 0.1, "isosceles": 0.6, "exterior": 0.8}[kind]),
            (1.5, 0.0 if scaled else 1.0),
            (1.0, abs(turn) / 16),
        ),
        knobs={"kind": kind, "to_scale": scaled, "rotation_deg": turn},
        question=(
            f"How large is the {asked_words} (marked with a question mark), in degrees? Give the "
            f"angles at {names[0]} and {name_of_mark} first, and the theorem that you use."
        ),
        choices=choice_list(
            rng, str(answer), spread(answer, (10, -10, 180 - 2 * answer, 90 - answer, 20))
        ),
        answer=str(answer),
        answer_step="missing",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(canvas.finish(),), quantise=True)


def _exterior(given: int, marked: int) -> tuple[Point, Point, Point]:
    """Return a triangle with these angles at its first and third corners, base from 0 to 1."""
    base = _triangle(given, 180 - given - marked)
    return base[0], base[1], base[2]


def _angle_steps(
    *,
    kind: Kind,
    names: tuple[str, str, str],
    given: int,
    marked: int,
    answer: int,
    fact: str,
    boxes: tuple[list[Box], list[Box], list[Box]],
) -> tuple[Step, ...]:
    first, second, asked = names
    given_boxes, mark_boxes, asked_boxes = boxes
    sign = "right-angle mark" if marked == 90 else "equal-side marks"
    exterior = kind == "exterior"
    return (
        number(
            "given",
            f"Which angle is printed at {first}?",
            given,
            weight=2,
            leaf=leaves.DIGITS,
            regions=given_boxes,
            near=6,
            unit="degrees",
            anchors_any=(f"angle {first}", f"angle at {first}", "printed angle"),
            phrases=(
                f"Angle {first} is {{value}} degrees.",
                f"The angle at {first} is {{value}} degrees.",
                f"The label inside the corner gives the angle at {first} as {{value}} degrees.",
            ),
        ),
        number(
            "marked",
            f"Which angle do the {sign} imply at {second}?",
            marked,
            weight=2,
            leaf=leaves.FIGURE_MARKS,
            regions=mark_boxes,
            near=6,
            unit="degrees",
            anchors_any=(f"angle {second}", f"angle at {second}"),
            phrases=(
                f"Angle {second} is {{value}} degrees.",
                f"By the {sign}, the angle at {second} is {{value}} degrees.",
                f"From the {sign} it follows that the angle at {second} is {{value}} degrees.",
            ),
        ),
        option(
            "theorem",
            "Which theorem gives the unknown angle from these?",
            fact,
            kind="text",
            options=_FACTS,
            near=_FACT_NEAR[kind],
            synonyms=_FACT_WORDS,
            weight=2,
            leaf=leaves.GEOMETRY,
            regions=asked_boxes,
            anchors_any=("theorem used", "rule used", "follows from"),
            phrases=(
                "Rule used: {value}.",
                "The rest follows from the {value}.",
                "The theorem used to link these is the {value}.",
            ),
        ),
        number(
            "missing",
            f"How large is the {'exterior ' if exterior else ''}angle at {asked}?",
            answer,
            weight=4,
            leaf=leaves.DIFFERENCE,
            regions=asked_boxes,
            near=12,
            unit="degrees",
            anchors_any=("unknown angle", "question mark"),
            depends_on=("given", "marked"),
            derive="sum" if exterior else None,
            phrases=(
                "The unknown angle is {value} degrees.",
                "The question mark stands for {value} degrees.",
                "Putting this together, the unknown angle comes to {value} degrees.",
            ),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Area:
    shape: Shape
    base: int
    height: int
    slant: int
    unit: str

    @property
    def area(self) -> int:
        product = self.base * self.height
        return product // 2 if self.shape == "triangle" else product


def _make_area(rng: Generator) -> _Area:
    shape: Shape = pick(rng, ("rectangle", "parallelogram", "triangle", "triangle"))
    base = whole(rng, 7, 18)
    height = whole(rng, 4, 11)
    if height >= base - 1:
        height = base - 2
    if shape == "triangle" and base * height % 2:
        base += 1
    slant = height + whole(rng, 1, 3)
    while math.sqrt(slant**2 - height**2) > 0.75 * base:
        slant -= 1
    return _Area(shape=shape, base=base, height=height, slant=slant, unit=pick(rng, _LENGTH_UNITS))


def _area(rng: Generator, seed: int, index: int) -> Drawn:
    made = _make_area(rng)
    turn = pick(rng, (0.0, 0.0, 6.0, -6.0, 12.0, -12.0))
    flip = chance(rng, 0.5)
    image, rects = _paint_area(made, turn=turn, flip=flip)
    unit = made.unit
    formula = _FORMULAS[1] if made.shape == "triangle" else _FORMULAS[0]
    formula_near = _FORMULAS[0] if made.shape == "triangle" else _FORMULAS[1]
    squares = tuple(f"square {u}" for u in _LENGTH_UNITS)
    options = (*squares, *_LENGTH_UNITS)
    square_words = {f"square {u}": (f"{u}2", f"{u}^2", f"sq {u}") for u in _LENGTH_UNITS}
    height_word = "height" if made.shape != "rectangle" else "shorter side"
    base_word = "base" if made.shape != "rectangle" else "longer side"
    steps = (
        number(
            "base",
            f"How long is the {base_word}?",
            made.base,
            weight=2,
            leaf=leaves.DIGITS,
            regions=[_box(rects["base"])],
            near=2,
            unit=unit,
            anchors_any=(base_word, "bottom edge"),
            phrases=(
                f"The {base_word} is {{value}}.",
                f"{base_word.capitalize()}: {{value}}.",
                f"The label along the {base_word} says {{value}}.",
            ),
        ),
        number(
            "height",
            f"How long is the {height_word}?",
            made.height,
            weight=2,
            leaf=leaves.FIGURE_MARKS,
            regions=[_box(rects["height"])],
            near=2,
            unit=unit,
            anchors_any=(height_word, "upright"),
            phrases=(
                f"The {height_word} is {{value}}.",
                f"{height_word.capitalize()}: {{value}}.",
                f"At the right-angle mark, the {height_word} is labelled {{value}}.",
            ),
        ),
        option(
            "formula",
            f"Which formula gives the area of the {made.shape}?",
            formula,
            kind="text",
            options=_FORMULAS,
            near=(formula_near,),
            synonyms=_FORMULA_WORDS,
            weight=2,
            leaf=leaves.GEOMETRY,
            regions=[_box(r) for r in rects_of_outline(rects)],
            anchors_any=("formula",),
            phrases=(
                "Formula: {value}.",
                f"For a {made.shape} the formula is {{value}}.",
                "The formula that fits this figure is {value}.",
            ),
        ),
        number(
            "area",
            "How large is the area?",
            made.area,
            weight=2,
            leaf=leaves.PRODUCT,
            regions=[_box(rects["base"]), _box(rects["height"])],
            near=max(6, made.area // 6),
            unit=f"square {unit}",
            anchors_any=("area",),
            depends_on=("base", "height"),
            derive="product",
            phrases=(
                "The area is {value}.",
                "Area: {value}.",
                "Working it out, the area comes to {value}.",
            ),
        ),
        option(
            "unit",
            "In which unit is the area measured?",
            f"square {unit}",
            options=options,
            near=squares,
            synonyms=square_words,
            weight=2,
            leaf=leaves.UNITS,
            regions=[_box(rects["base"]), _box(rects["height"])],
            anchors_any=("unit",),
            phrases=(
                "Unit: {value}.",
                "The unit of the result is {value}.",
                "Since lengths are multiplied, the unit has to be {value}.",
            ),
        ),
    )
    program = Program(
        family="geometry",
        template="area",
        seed=seed,
        index=index,
        difficulty=blend(
            (2.0, {"rectangle": 0.0, "parallelogram": 0.7, "triangle": 0.9}[made.shape]),
            (1.0, abs(turn) / 12),
            (1.0, (made.area - 20) / 150),
        ),
        knobs={"shape": made.shape, "rotation_deg": turn, "distractor": made.shape != "rectangle"},
        question=(
            f"What is the area of this {made.shape}, and in which unit? Give the {base_word}, the "
            f"{height_word} and the formula that you use."
        ),
        choices=choice_list(
            rng,
            str(made.area),
            [
                str(v)
                for v in (
                    made.base * made.height,
                    made.base * made.slant,
                    made.base + made.height,
                    made.area // 2,
                    made.area * 2,
                )
            ],
        ),
        answer=str(made.area),
        answer_step="area",
        steps=steps,
        size=_SIZE,
    )
    return Drawn(program=program, images=(image,), quantise=True)


def rects_of_outline(rects: dict[str, Rect]) -> list[Rect]:
    """Return the boxes of a figure's edges: a box each, as their union would cover the picture."""
    return [rect for key, rect in rects.items() if key.startswith("corner")]


def _paint_area(made: _Area, *, turn: float, flip: bool) -> tuple[Image.Image, dict[str, Rect]]:
    base, height = float(made.base), -float(made.height)
    lean = math.sqrt(made.slant**2 - made.height**2)
    if made.shape == "rectangle":
        corners = [(0.0, 0.0), (base, 0.0), (base, height), (0.0, height)]
        foot = None
    elif made.shape == "parallelogram":
        corners = [(0.0, 0.0), (base, 0.0), (base + lean, height), (lean, height)]
        foot = ((lean, height), (lean, 0.0))
    else:
        corners = [(0.0, 0.0), (base, 0.0), (lean, height)]
        foot = ((lean, height), (lean, 0.0))
    points: list[Point] = [*corners, *(foot or ())]
    if flip:
        points = [(-x, y) for x, y in points]
    placed = _fit(_turn(points, turn), (120, 96, 520, 380))
    outline = placed[: len(corners)]
    canvas = _sheet()
    canvas.polygon(outline, _WASH)
    rects: dict[str, Rect] = {}
    middle = (sum(p[0] for p in outline) / len(outline), sum(p[1] for p in outline) / len(outline))
    if foot is not None:
        top, ground = placed[-2], placed[-1]
        _dashed(canvas, top, ground)
        along = (
            outline[1]
            if math.dist(ground, outline[1]) > math.dist(ground, outline[0])
            else outline[0]
        )
        mark = _square(canvas, ground, top, along, side=16)
        at = ((top[0] + ground[0]) / 2, (top[1] + ground[1]) / 2)
        shift = _toward((0.0, 0.0), (along[0] - ground[0], along[1] - ground[1]), 32)
        label = canvas.text(
            (at[0] + shift[0], at[1] + shift[1]),
            f"{made.height} {made.unit}",
            17,
            _ACCENT,
            align="m",
            vertical="m",
            bold=True,
        )
        rects["height"] = grow(union([label, around([top, ground], 3), mark]), 4)
    _outline(canvas, outline)
    if foot is None:
        for i in range(4):
            _square(canvas, outline[i], outline[(i + 1) % 4], outline[i - 1], side=16)
        rects["height"] = _side_label(
            canvas, outline[1], outline[2], middle, f"{made.height} {made.unit}"
        )
    else:
        slanted = (outline[-1], outline[0])
        _side_label(canvas, *slanted, middle, f"{made.slant} {made.unit}")
    rects["base"] = _side_label(canvas, outline[0], outline[1], middle, f"{made.base} {made.unit}")
    for i, point in enumerate(outline):
        canvas.disc(point, 3.6, INK)
        rects[f"corner{i}"] = around([point], 22)
    return canvas.finish(), rects


def _dashed(canvas: Canvas, start: Point, end: Point) -> None:
    length = math.dist(start, end)
    at = 0.0
    while at < length:
        canvas.line(_toward(start, end, at), _toward(start, end, min(at + 8, length)), 2.0, _ACCENT)
        at += 14


def _side_label(canvas: Canvas, start: Point, end: Point, inside: Point, words: str) -> Rect:
    """Write a length outside an edge; return the box of the label."""
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    angle = _direction(start, end) + 90
    one = polar(middle, 10, angle)
    side = 1 if math.dist(one, inside) > math.dist(middle, inside) else -1
    slope = abs(math.cos(math.radians(angle)))
    at = polar(middle, side * (22 + slope * text_width(words, 17) / 2), angle)
    return grow(_label(canvas, at, words, 17, INK, bold=True), 6)
