"""Areas: the sides that count, the formula that applies, and the area that follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from numpy.random import Generator
from PIL import Image

from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    INK,
    Canvas,
    DrawnSample,
    Point,
    Rect,
    around,
    grow,
    polar,
    text_width,
    union,
)
from atom.probes.worlds.sheets import (
    ACCENT,
    SIZE,
    WASH,
    box_of,
    direction,
    draw_label,
    draw_outline,
    draw_sheet,
    draw_square,
    fitted,
    toward,
    turned,
)
from atom.probes.worlds.steps import blend, chance, choice_list, number, option, pick, whole

Shape = Literal["rectangle", "parallelogram", "triangle"]
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
_LENGTH_UNITS: Final = ("cm", "m", "mm")


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


def draw_area(rng: Generator) -> DrawnSample:
    """Ask for the area of a figure, which may have one side too many."""
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
            regions=[box_of(rects["base"])],
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
            regions=[box_of(rects["height"])],
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
            regions=[box_of(r) for r in rects_of_outline(rects)],
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
            regions=[box_of(rects["base"]), box_of(rects["height"])],
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
            regions=[box_of(rects["base"]), box_of(rects["height"])],
            anchors_any=("unit",),
            phrases=(
                "Unit: {value}.",
                "The unit of the result is {value}.",
                "Since lengths are multiplied, the unit has to be {value}.",
            ),
        ),
    )
    return DrawnSample(
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
        size=SIZE,
        images=(image,),
    )


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
    placed = fitted(turned(points, turn), (120, 96, 520, 380))
    outline = placed[: len(corners)]
    canvas = draw_sheet()
    canvas.polygon(outline, WASH)
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
        mark = draw_square(canvas, ground, top, along, side=16)
        at = ((top[0] + ground[0]) / 2, (top[1] + ground[1]) / 2)
        shift = toward((0.0, 0.0), (along[0] - ground[0], along[1] - ground[1]), 32)
        label = canvas.text(
            (at[0] + shift[0], at[1] + shift[1]),
            f"{made.height} {made.unit}",
            17,
            ACCENT,
            align="m",
            vertical="m",
            bold=True,
        )
        rects["height"] = grow(union([label, around([top, ground], 3), mark]), 4)
    draw_outline(canvas, outline)
    if foot is None:
        for i in range(4):
            draw_square(canvas, outline[i], outline[(i + 1) % 4], outline[i - 1], side=16)
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
        canvas.line(toward(start, end, at), toward(start, end, min(at + 8, length)), 2.0, ACCENT)
        at += 14


def _side_label(canvas: Canvas, start: Point, end: Point, inside: Point, words: str) -> Rect:
    """Write a length outside an edge; return the box of the label."""
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    angle = direction(start, end) + 90
    one = polar(middle, 10, angle)
    side = 1 if math.dist(one, inside) > math.dist(middle, inside) else -1
    slope = abs(math.cos(math.radians(angle)))
    at = polar(middle, side * (22 + slope * text_width(words, 17) / 2), angle)
    return grow(draw_label(canvas, at, words, 17, INK, bold=True), 6)
