"""Drawings on screens and in exports: what they show can be read."""

from __future__ import annotations

import math
import re

import pytest

from atom.display.estimate import Estimate
from atom.views.figures import SCREEN, draw_radar
from atom.views.filters import Filters
from atom.views.fingerprints.radar import MOST_AXES, Radar, RadarAxis
from atom.views.fingerprints.shape import ShapeMark, ShapeModel


def radar(axes: int, value: float) -> Radar:
    """Make a radar of one model that has the same value everywhere."""
    mark = ShapeMark(model=0, estimate=Estimate(value=value), listed=1, filters=Filters())
    each = tuple(
        RadarAxis(name=str(n), path=(str(n),), label=None, middle=value, lo=value, hi=value,
                  marks=(mark,))
        for n in range(axes)
    )  # fmt: skip
    model = ShapeModel(index=0, model_id="a", name="a")
    return Radar(title="t", axes=each, models=(model,), group=1, left_out=0)


@pytest.mark.parametrize("axes", range(3, MOST_AXES + 1))
@pytest.mark.parametrize("value", [25, 50, 75, 100])
def test_no_marker_lies_on_a_rings_number(axes, value):
    drawn = str(draw_radar(radar(axes, value), SCREEN))
    markers = [tuple(map(float, at)) for at in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    numbers = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(?:25|50|75|100)<', drawn)
    assert len(markers) == axes
    assert len(numbers) >= 3
    # A number is 13 wide and 8 high above its line; a marker reaches 4.2 to each side.
    assert not [
        (x, y)
        for x, y in markers
        for left, foot in ((float(a), float(b)) for a, b in numbers)
        if abs(x - left) < 6.5 + 4.2 and abs(y - (foot - 4)) < 4 + 4.2
    ]


def crossings(values, drawn):
    """Return the numbers whose letters a model's line crosses; halos keep 2.5 clear around them."""
    numbers = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(25|50|75|100)<', drawn)
    corners = [
        (280 + 1.38 * v * math.cos(a), 180 + 1.38 * v * math.sin(a))
        for v, a in ((v, 2 * math.pi * n / len(values) - math.pi / 2) for n, v in enumerate(values))
    ]
    found = []
    for x, foot, value in ((float(a), float(b), c) for a, b, c in numbers):
        wide = 7.0 * len(value) / 2
        for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
            points = ((ax + t / 50 * (bx - ax), ay + t / 50 * (by - ay)) for t in range(51))
            if any(
                abs(px - float(x)) < wide and abs(py - float(foot) + 4) < 4 for px, py in points
            ):
                found.append(value)
    return found


@pytest.mark.parametrize(
    "values", [(50,) * 2 + (62,) * 6, (75, 75, 75, 62, 62, 62, 88, 88), (40, 70, 70, 40, 88, 88)]
)
def test_rings_are_numbered_where_no_line_crosses_the_numbers(values):
    marks = [
        ShapeMark(model=0, estimate=Estimate(value=v), listed=1, filters=Filters()) for v in values
    ]
    each = tuple(
        RadarAxis(name=str(n), path=(str(n),), label=None, middle=0, lo=0, hi=0, marks=(mark,))
        for n, mark in enumerate(marks)
    )
    model = ShapeModel(index=0, model_id="a", name="a")
    one = Radar(title="t", axes=each, models=(model,), group=1, left_out=0)
    assert crossings(values, str(draw_radar(one, SCREEN))) == []
