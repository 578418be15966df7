"""Printed tables: rows, columns and cells, the largest of a column, and a cell that is empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from numpy.random import Generator
from PIL import Image

from atom.probes.program import Box
from atom.probes.worlds import leaves
from atom.probes.worlds.kit import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    Canvas,
    DrawnSample,
    Rect,
    grow,
    text_width,
    thousandths,
)
from atom.probes.worlds.steps import blend, choice_list, number, option, pick, sample, spread, whole

SIZE: Final = (640, 480)
_ZEBRA: Final = "#f4f6f9"


@dataclass(frozen=True, kw_only=True)
class _Sheet:
    title: str
    subtitle: str
    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]


_SHEETS: Final = (
    _Sheet(
        title="Sales by region",
        subtitle="Thousand euros, by season",
        corner="Region",
        rows=("North", "South", "East", "West", "Coast", "Valley", "Island", "Capital"),
        columns=("Spring", "Summer", "Autumn", "Winter"),
    ),
    _Sheet(
        title="Visitors to the museums",
        subtitle="Persons, by weekday",
        corner="Museum",
        rows=("Maritime", "Railway", "Folk", "Modern", "Castle", "Natural", "Textile", "Mining"),
        columns=("Monday", "Tuesday", "Friday", "Sunday"),
    ),
    _Sheet(
        title="Parcels by depot",
        subtitle="Pieces handled, by shift",
        corner="Depot",
        rows=("Alder", "Birch", "Cedar", "Hazel", "Larch", "Maple", "Rowan", "Willow"),
        columns=("Early", "Midday", "Late", "Night"),
    ),
    _Sheet(
        title="Students per course",
        subtitle="Enrolments, by campus",
        corner="Course",
        rows=("Algebra", "Biology", "Drama", "French", "Geology", "Music", "Physics", "Spanish"),
        columns=("Lakeside", "Hilltop", "Riverside", "Online"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class _Cells:
    rows: dict[str, Rect]
    columns: dict[str, Rect]
    cells: dict[tuple[str, str], Rect]
    subtitle: Rect


def paint_table(
    title: str,
    subtitle: str,
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: dict[tuple[str, str], str],
    *,
    size: int,
) -> tuple[Image.Image, _Cells]:
    """Draw a table; return it with where its rows, columns and cells are."""
    canvas = Canvas(*SIZE)
    canvas.text((40, 48), title, 20, INK, bold=True)
    under = canvas.text((40, 70), subtitle, 13, MUTED)
    left, right = 40.0, 600.0
    first = 170.0
    top = 96.0
    pitch = min(52.0, 336.0 / (len(rows) + 1))
    step = (right - left - first) / len(columns)
    canvas.rect(
        (left, top, right, top + pitch), "#2c3a4b", radius=6, corners=(True, True, False, False)
    )
    middle = pitch / 2
    canvas.text((left + 16, top + middle), corner, size, "#c5cfdb", vertical="m")
    heads = {}
    for j, column in enumerate(columns):
        edge = left + first + step * (j + 1) - 18
        heads[column] = grow(
            canvas.text((edge, top + middle), column, size, PAPER, align="r", vertical="m"), 5
        )
    labels, cells = {}, {}
    for i, row in enumerate(rows):
        y = top + pitch * (i + 1)
        if i % 2 == 1:
            canvas.rect((left, y, right, y + pitch), _ZEBRA)
        base = y + middle + size * 0.36
        labels[row] = grow(canvas.text((left + 16, base), row, size, INK), 5)
        for j, column in enumerate(columns):
            edge = left + first + step * (j + 1) - 18
            words = values[row, column]
            if words:
                rect = canvas.digits(edge, base, words, size)
            else:
                blank = text_width("000", size)
                rect = (edge - blank, base - size * 0.75, edge, base)
            cells[row, column] = grow(rect, 5)
    bottom = top + pitch * (len(rows) + 1)
    canvas.hline(left, right, bottom, FAINT)
    frame = _Cells(rows=labels, columns=heads, cells=cells, subtitle=grow(under, 4))
    return canvas.finish(), frame


def box_of(rect: Rect) -> Box:
    """Return a rectangle of a table's picture as a region box."""
    return thousandths(rect, SIZE)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    sheet: _Sheet
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: dict[tuple[str, str], int]
    size: int


def _make_grid(rng: Generator, count: int) -> _Grid:
    sheet = pick(rng, _SHEETS)
    rows = tuple(sample(rng, sheet.rows, count))
    columns = sheet.columns[: whole(rng, 3, 4)]
    values = {}
    for column in columns:
        level = whole(rng, 180, 620)
        picked = sample(rng, range(level - 70, level + 240, 7), count)
        for row, value in zip(rows, picked, strict=True):
            values[row, column] = value + whole(rng, 0, 2)
    return _Grid(
        sheet=sheet, rows=rows, columns=columns, values=values, size=pick(rng, (13, 14, 15, 16))
    )


def draw_lookup(rng: Generator) -> DrawnSample:
    """Ask for a cell, and for the largest of its column."""
    grid = _make_grid(rng, whole(rng, 5, 8))
    row, column = pick(rng, grid.rows), pick(rng, grid.columns)
    ranked = sorted(grid.rows, key=lambda r: -grid.values[r, column])
    largest = ranked[0]
    image, frame = paint_table(
        grid.sheet.title,
        grid.sheet.subtitle,
        grid.sheet.corner,
        grid.rows,
        grid.columns,
        {key: str(value) for key, value in grid.values.items()},
        size=grid.size,
    )
    value = grid.values[row, column]
    steps = (
        number(
            "row",
            f"In which row from the top (below the header) is {row}?",
            grid.rows.index(row) + 1,
            weight=2,
            leaf=leaves.ROW,
            regions=[box_of(frame.rows[row])],
            near=1,
            anchors_any=("row",),
            phrases=(
                f"{row} is in row {{value}}.",
                "Row: {value}.",
                f"Counting down from below the header, {row} stands in row {{value}}.",
            ),
        ),
        number(
            "column",
            f"Which column of figures from the left is {column}?",
            grid.columns.index(column) + 1,
            weight=2,
            leaf=leaves.COLUMN,
            regions=[box_of(frame.columns[column])],
            near=1,
            anchors_any=("column",),
            phrases=(
                f"{column} is column {{value}}.",
                "Column: {value}.",
                f"Counting the figures from the left, {column} heads column {{value}}.",
            ),
        ),
        number(
            "cell",
            f"Which value is printed for {row} under {column}?",
            value,
            weight=3,
            leaf=leaves.DIGITS,
            regions=[box_of(frame.cells[row, column])],
            near=9,
            anchors_any=("cell", "entry for"),
            phrases=(
                "The cell reads {value}.",
                f"The entry for {row} under {column} is {{value}}.",
                "Where both lines cross, the cell shows {value}.",
            ),
        ),
        option(
            "largest",
            f"Which {grid.sheet.corner.lower()} has the largest value under {column}?",
            largest,
            options=grid.rows,
            near=(ranked[1], ranked[2]),
            weight=3,
            leaf=leaves.LARGEST,
            regions=[box_of(frame.cells[largest, column]), box_of(frame.rows[largest])],
            anchors_any=("largest", "highest"),
            phrases=(
                "The largest is {value}.",
                f"Under {column}, the highest figure belongs to {{value}}.",
                "Comparing all figures below that heading, the largest belongs to {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=_table_difficulty(grid),
        knobs={"rows": len(grid.rows), "columns": len(grid.columns), "font_px": grid.size},
        question=(
            f"In which row and column do you find {row} and {column}, and what is printed there? "
            f"Which {grid.sheet.corner.lower()} has the largest value under {column}?"
        ),
        choices=choice_list(rng, largest, [ranked[1], ranked[2], *ranked[3:]]),
        answer=largest,
        answer_step="largest",
        steps=steps,
        size=SIZE,
        images=(image,),
    )


def _table_difficulty(grid: _Grid) -> float:
    return blend(
        (2.0, (len(grid.rows) - 5) / 3),
        (1.0, float(len(grid.columns) - 3)),
        (2.0, (16 - grid.size) / 3),
    )


def draw_gap(rng: Generator) -> DrawnSample:
    """Ask for the difference of two cells, in a column where one is empty."""
    grid = _make_grid(rng, whole(rng, 5, 8))
    column = pick(rng, grid.columns)
    blank, a, b = sample(rng, grid.rows, 3)
    values = {key: str(value) for key, value in grid.values.items()}
    values[blank, column] = ""
    image, frame = paint_table(
        grid.sheet.title,
        grid.sheet.subtitle,
        grid.sheet.corner,
        grid.rows,
        grid.columns,
        values,
        size=grid.size,
    )
    value_a, value_b = grid.values[a, column], grid.values[b, column]
    gap = abs(value_a - value_b)
    at = grid.rows.index(blank)
    steps = (
        option(
            "missing",
            f"For which {grid.sheet.corner.lower()} is no value printed under {column}?",
            blank,
            options=grid.rows,
            near=[grid.rows[i] for i in (at - 1, at + 1) if 0 <= i < len(grid.rows)],
            weight=3,
            leaf=leaves.ABSENT,
            regions=[box_of(frame.cells[blank, column]), box_of(frame.rows[blank])],
            anchors_any=("missing", "blank"),
            phrases=(
                "Missing: {value}.",
                "The blank belongs to {value}.",
                f"Under {column}, the missing figure is that of {{value}}.",
            ),
        ),
        number(
            "first",
            f"Which value is printed for {a} under {column}?",
            value_a,
            weight=2,
            leaf=leaves.ROW,
            regions=[box_of(frame.cells[a, column])],
            near=9,
            anchors_all=(a,),
            phrases=(
                f"{a}: {{value}}.",
                f"{a} has {{value}}.",
                f"Following its line across, {a} shows {{value}} under {column}.",
            ),
        ),
        number(
            "second",
            f"Which value is printed for {b} under {column}?",
            value_b,
            weight=2,
            leaf=leaves.DIGITS,
            regions=[box_of(frame.cells[b, column])],
            near=9,
            anchors_all=(b,),
            phrases=(
                f"{b}: {{value}}.",
                f"{b} has {{value}}.",
                f"In the same way, {b} shows {{value}} under {column}.",
            ),
        ),
        number(
            "difference",
            f"By how much do {a} and {b} differ under {column}?",
            gap,
            weight=3,
            leaf=leaves.DIFFERENCE,
            regions=[box_of(frame.cells[a, column]), box_of(frame.cells[b, column])],
            near=9,
            anchors_any=("difference", "apart"),
            depends_on=("first", "second"),
            derive="difference",
            phrases=(
                "The difference is {value}.",
                "They are {value} apart.",
                "Taking the smaller from the larger, the difference comes to {value}.",
            ),
        ),
    )
    return DrawnSample(
        difficulty=_table_difficulty(grid),
        knobs={
            "rows": len(grid.rows),
            "columns": len(grid.columns),
            "font_px": grid.size,
            "missing_cell": True,
        },
        question=(
            f"Under {column}, by how much do {a} and {b} differ? Give both values, and name the "
            f"{grid.sheet.corner.lower()} whose value is missing there."
        ),
        choices=choice_list(rng, str(gap), spread(gap, (10, -10, 20, 1, 30))),
        answer=str(gap),
        answer_step="difference",
        steps=steps,
        size=SIZE,
        images=(image,),
    )
