"""Figures: marks where the numbers are, hostile names as text, nothing where there is nothing."""

from __future__ import annotations

import re

from atom.reports.figures import FigureLine, colour, lines_svg, section_radar
from atom.reports.records import Axis, Section


def test_marks_stand_where_the_numbers_are():
    line = FigureLine(name="a", value=50, lo=0, hi=100, words="w", colour="#000", peer=25)
    drawn = lines_svg([line], "x")
    # The scale runs from 215 to 650: 50 is at 432.5, 25 at 323.75.
    assert 'cx="432.5"' in drawn
    assert 'x1="323.8" x2="323.8"' in drawn
    assert 'x1="215.0" x2="650.0"' in drawn


def test_values_beyond_the_scale_stay_inside_it():
    line = FigureLine(name="a", value=140, lo=-20, hi=180, words="w", colour="#000")
    drawn = lines_svg([line], "x")
    assert 'cx="650.0"' in drawn
    assert 'x1="215.0"' in drawn


def test_hostile_names_are_text_and_long_ones_are_cut():
    name = "<script>alert(1)</script>" + "x" * 60
    drawn = lines_svg(
        [FigureLine(name=name, value=1, lo=1, hi=1, words="<b>", colour="#000")], "<i>"
    )
    assert not re.search(r"<(script|b|i)>", drawn)
    assert "…" in drawn


def test_colours_follow_the_place_in_the_study():
    assert colour(0) == "#0072B2"
    assert colour(8) == colour(None) == "#9AA3AE"


def test_a_radar_needs_three_axes():
    axis = Axis(name="a", path=("a",), value=50, lo=40, hi=60, mean=45, spread=5, n=9)
    two = Section(id="m", title="m", place=0, radar=(axis, axis), models=3)
    assert section_radar(two) is None
    three = two.model_copy(update={"radar": (axis, axis, axis)})
    assert str(section_radar(three)).startswith("<svg")
    alone = axis.model_copy(update={"mean": None, "spread": 0.0})
    assert section_radar(three.model_copy(update={"radar": (alone,) * 3, "models": 1})) is not None
