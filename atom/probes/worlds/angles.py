"""Angles of triangles: what is marked, the fact that applies, and the angle that follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from numpy.random import Generator

from atom.probes.program import Box, ProgramStep
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    INK,
    MUTED,
    Canvas,
    DrawnSample,
    Point,
    Rect,
    around,
    grow,
    polar,
    union,
)
from atom.probes.worlds.sheets import (
    ACCENT,
    MARK,
    SIZE,
    WASH,
    box_of,
    direction,
    draw_outline,
    draw_sheet,
    draw_square,
    fitted,
    toward,
    turned,
)
from atom.probes.worlds.steps import blend, chance, choice_list, number, option, pick, spread, whole

Kind = Literal["right", "isosceles", "exterior"]
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
_LETTERS: Final = (("A", "B", "C"), ("P", "Q", "R"), ("K", "L", "M"), ("D", "E", "F"))


def _span(corner: Point, first: Point, second: Point) -> tuple[float, float]:
    """Return start angle and opening of the smaller angle between two rays, in degrees."""
    start, end = direction(corner, first), direction(corner, second)
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


def _equal_mark(canvas: Canvas, start: Point, end: Point) -> Rect:
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    angle = direction(start, end) + 90
    one, two = polar(middle, 9, angle), polar(middle, -9, angle)
    canvas.line(one, two, 3.0, MARK)
    return around([one, two], 6)


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
        out = toward((x, y), point, math.dist((x, y), point) + 20)
        if below is not None and point is below[1]:
            angle = direction(below[0], below[1]) + 90
            one, two = polar(point, 20, angle), polar(point, -20, angle)
            out = one if math.dist(one, below[2]) > math.dist(two, below[2]) else two
        canvas.disc(point, 3.6, INK)
        canvas.text(out, name, 18, INK, align="m", vertical="m", bold=True)


def _triangle(first: int, second: int) -> list[Point]:
    """Return a triangle with these angles at its first two corners, base from 0 to 1."""
    third = 180 - first - second
    length = math.sin(math.radians(second)) / math.sin(math.radians(third))
    return [(0.0, 0.0), (1.0, 0.0), polar((0.0, 0.0), length, first)]


def draw_angle(rng: Generator) -> DrawnSample:
    """Ask for an angle of a triangle, from one that is printed and one that is marked."""
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
    placed = fitted(turned(corners, turn), (90, 84, 550, 410))
    p0, p1, p2 = placed[:3]
    canvas = draw_sheet()
    canvas.polygon([p0, p1, p2], WASH)
    if kind == "exterior":
        canvas.polyline([p0, p1, placed[3]], 2.6, INK)
    # p0 has the printed angle; p1 or p2 has the marked one, the rest is asked for.
    corner_of_mark, asked = (p2, p1) if kind == "exterior" else (p1, p2)
    name_of_mark, name_asked = (names[2], names[1]) if kind == "exterior" else (names[1], names[2])
    arms = {p0: (p1, p2), p1: (p0, p2), p2: (p0, p1)}
    _wedge(canvas, p0, *arms[p0], fill="#cfe1f8", radius=40)
    ask_arms = (placed[3], p2) if kind == "exterior" else arms[asked]
    _wedge(canvas, asked, *ask_arms, fill="#fde3d5", radius=40)
    draw_outline(canvas, (p0, p1, p2))
    given_rect = _wedge_label(canvas, p0, *arms[p0], words=f"{given}°", radius=40, fill=ACCENT)
    asked_rect = _wedge_label(canvas, asked, *ask_arms, words="?", radius=40, fill=MARK)
    if marked == 90:
        mark_rects = [draw_square(canvas, corner_of_mark, *arms[corner_of_mark], side=20)]
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
            [box_of(given_rect)],
            [box_of(r) for r in mark_rects],
            [box_of(asked_rect)],
        ),
    )
    asked_words = (
        f"exterior angle at {name_asked}" if kind == "exterior" else f"angle at {name_asked}"
    )
    return DrawnSample(
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
        size=SIZE,
        images=(canvas.finish(),),
    )


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
) -> tuple[ProgramStep, ...]:
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
