"""The heatmap as a table: a door in every cell, a glyph and a number in it, roots named below.

Each cell brings its colours for the light and the dark scheme along, so that the picture follows
the browser without being drawn anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from atom.display import numbers
from atom.display.markup import Html, el
from atom.display.numbers import middle
from atom.views.fingerprints.claims import claim_words
from atom.views.fingerprints.heat import Colouring, HeatCell, HeatColumn, Heatmap
from atom.views.fingerprints.shape import Shape
from atom.views.lab.judge_marks import GLYPH
from atom.views.overview.weakness_words import frame_words, more_words
from atom.views.tree.colours import (
    GROUND,
    QUIET,
    Scheme,
    difference_colour,
    evidence_colour,
    ink_on,
    score_colour,
)

_LABEL = 24
_FINE_UP_TO = 12
"""Columns up to which a cell has room for a decimal."""
_FLAT = 8
"""Columns up to which short labels lie flat."""
_SLANT = 6.1
"""Pixels of height that a sign of a slanted label takes."""
_NAMES, _LEAST_NAMES, _GAP = 150, 84, 7
"""Pixels: the column of names, in a narrow window, and what stands between roots."""
_NARROW, _WIDE = 12, 96
"""Pixels of a column at least and at most."""
_BOTH: tuple[Scheme, Scheme] = ("light", "dark")
_MOST_CELLS = 4000
_T = TypeVar("_T")


def unique_labels(names: Sequence[str], size: int = _LABEL) -> list[str]:
    """Cut names in the middle and number those that come out alike."""
    found: list[str] = []
    for name in names:
        plain = middle(" ".join(name.split()) or "(no name)", size)
        label, number = plain, 1
        while label in found:
            number += 1
            label = f"{plain} ({number})"
        found.append(label)
    return found


def both(colour: Callable[[_T, Scheme], str], of: _T) -> str:
    """Write a colour as CSS that follows the browser's scheme."""
    light, dark = (colour(of, scheme) for scheme in _BOTH)
    return f"light-dark({light},{dark})"


def rows_drawn(heat: Heatmap) -> int:
    """Count the models that are drawn: all, but where there are thousands of cells."""
    return min(len(heat.models), max(_MOST_CELLS // max(len(heat.columns), 1), 8))


def cell_fill(cell: HeatCell, heat: Heatmap, colouring: Colouring, scheme: Scheme) -> str:
    """Colour a cell; the ground itself where there is no value."""
    estimate = cell.mark.estimate
    if not estimate.known:
        return GROUND[scheme]
    if colouring == "difference":
        return difference_colour(cell.difference, scheme)
    if colouring == "evidence":
        return evidence_colour(None if cell.claim is None else cell.claim.label, scheme)
    lo, hi = heat.span
    return score_colour(100 * (estimate.value - lo) / (hi - lo), scheme)


def cell_words(cell: HeatCell, form: Shape) -> str:
    """Say in a few lines what a cell shows, and what it opens."""
    estimate = cell.mark.estimate
    if not estimate.known:
        return "no value: nothing is scored here"
    n = numbers.count(estimate.n, form.unit)
    lines = [numbers.interval(estimate)]
    if not math.isnan(cell.difference):
        lines.append(f"{numbers.signed(cell.difference)} points to the mean of the others")
    lines.append(f"n {n}, {numbers.count(estimate.samples, 'sample')}")
    if cell.claim is not None:
        claim = cell.claim
        lines.append(
            f"{claim.glyph} {claim.words}: {claim_words(claim, form.facet)} ({frame_words(claim)})"
        )
        lines.append(more_words(claim))
    if cell.mark.listed:
        lines.append(f"opens {numbers.count(cell.mark.listed, form.listed_unit)}")
    return "\n".join(line for line in lines if line)


def draw_heat(
    heat: Heatmap, form: Shape, colouring: Colouring, door: Callable[[HeatCell], str]
) -> Html:
    """Draw the heatmap.

    Args:
        form: the values that it was arranged from.
        colouring: what fills the cells.
        door: where a cell leads.

    Returns:
        A table; only its first cell is a stop of the Tab key, arrow keys go on from there.
    """
    n = len(heat.columns)
    labels, drawn = column_labels(heat), rows_drawn(heat)
    flat = n <= _FLAT and max(map(len, labels), default=0) <= 2 * _FLAT
    head = [
        el("th", el("span", label), scope="col", data_tip=_column_words(column))
        for label, column in zip(labels, heat.columns, strict=True)
    ]
    rows = [
        el(
            "tr",
            el("th", label, scope="row", title=model.name),
            _spaced(
                heat, [_cell(heat, (row, number), form, colouring, door) for number in range(n)]
            ),
        )
        for row, (label, model) in enumerate(
            zip(row_labels(heat)[:drawn], heat.models[:drawn], strict=True)
        )
    ]
    high = "auto" if flat else f"{14 + round(_SLANT * max(map(len, labels), default=0))}px"
    gaps = _GAP * sum(_begins(heat, number) for number in range(n))
    style = (
        f"--high:{high};min-width:{_LEAST_NAMES + _NARROW * n + gaps}px;"
        f"max-width:{_NAMES + _WIDE * n + gaps}px"
    )
    table = el(
        "table",
        el("caption", "Every model (row) on every capability or label (column)", class_="unseen"),
        el("colgroup", el("col", class_="names"),
           _spaced(heat, [el("col")] * n, el("col", style=f"width:{_GAP}px"))),
        el("thead", el("tr", el("td"), _spaced(heat, head))),
        el("tbody", rows),
        el("tfoot", _groups(heat)) if heat.grouped else None,
        class_="heatmap flat" if flat else "heatmap",
        style=style,
        data_roam="1",
    )  # fmt: skip
    return el("div", table, class_="wide heatbox")


def _cell(
    heat: Heatmap,
    place: tuple[int, int],
    form: Shape,
    colouring: Colouring,
    door: Callable[[HeatCell], str],
) -> Html:
    row, number = place
    cell, column, model = heat.cells[row][number], heat.columns[number], heat.models[row]
    fills = [cell_fill(cell, heat, colouring, scheme) for scheme in _BOTH]
    inks = [ink_on(fill) for fill in fills]
    known = cell.mark.estimate.known
    if not known:
        inks = [QUIET[scheme] for scheme in _BOTH]
    glyph = el("b", cell.glyph) if known and cell.glyph else None
    words = f"{model.name}: {column.full}\n{cell_words(cell, form)}"
    if column.judge is not None:
        words += f"\n{column.judge.text}: {column.judge.tip}"
    inside = el(
        "a",
        glyph,
        el("span", cell_number(cell, colouring, fine=len(heat.columns) <= _FINE_UP_TO)),
        href=door(cell) if cell.mark.listed else None,
        data_go="1" if cell.mark.listed else None,
        class_=None if known else "none",
        style=f"background:light-dark({fills[0]},{fills[1]});color:light-dark({inks[0]},{inks[1]})",
        tabindex="0" if row == number == 0 else "-1",
        data_tip=words,
    )
    return el("td", inside)


def _spaced(heat: Heatmap, pieces: Sequence[Html], gap: Html | None = None) -> list[Html]:
    """Put a gap before each root but the first."""
    between = el("td", aria_hidden="true") if gap is None else gap
    return [
        one
        for number, piece in enumerate(pieces)
        for one in ((between, piece) if _begins(heat, number) else (piece,))
    ]


def _begins(heat: Heatmap, number: int) -> bool:
    """Whether a root begins with this column, the first root aside."""
    return (
        heat.grouped and number > 0 and heat.columns[number].group != heat.columns[number - 1].group
    )


def _column_words(column: HeatColumn) -> str:
    return column.full if column.judge is None else f"{column.full}\n{column.judge.text}"


def _groups(heat: Heatmap) -> Html:
    """Name the roots under their columns."""
    spans: list[tuple[str, int]] = []
    for column in heat.columns:
        if spans and spans[-1][0] == column.group:
            spans[-1] = (column.group, spans[-1][1] + 1)
        else:
            spans.append((column.group, 1))
    return el(
        "tr",
        el("td"),
        [
            (el("td", aria_hidden="true") if number else None,
             el("th", group, scope="colgroup", colspan=width, data_tip=group))
            for number, (group, width) in enumerate(spans)
        ],
    )  # fmt: skip


def column_labels(heat: Heatmap) -> list[str]:
    """Return the columns' labels as drawn, none twice."""
    return unique_labels(
        [
            column.name if column.judge is None else f"{GLYPH} {column.name}"
            for column in heat.columns
        ]
    )


def row_labels(heat: Heatmap) -> list[str]:
    """Return the rows' labels as drawn, none twice."""
    return unique_labels([model.name for model in heat.models], 28)


def cell_number(cell: HeatCell, colouring: Colouring, *, fine: bool = True) -> str:
    """Write a cell's number: the value, or the difference where colours stand for it.

    Args:
        fine: whether there is room for a decimal.
    """
    if not cell.mark.estimate.known:
        return numbers.NONE
    if colouring == "difference" and not math.isnan(cell.difference):
        return numbers.signed(cell.difference, 1 if fine else 0)
    return numbers.score(cell.mark.estimate.value, 1 if fine else 0)
