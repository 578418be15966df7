"""The heatmap as an Altair chart: cells to click, a glyph in each, roots named above them.

Colours are given cell by cell, so that the picture is the same in every order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from atom.analysis.score_table import Kept
from atom.display import numbers
from atom.views.figures import cut
from atom.views.fingerprints.heat import Colouring, HeatCell, Heatmap
from atom.views.fingerprints.page import Shape, claim_words
from atom.views.lab.judge_marks import GLYPH
from atom.views.overview.weaknesses import frame_words, more_words
from atom.views.tree.colours import (
    GROUND,
    INK,
    QUIET,
    Scheme,
    difference_colour,
    evidence_colour,
    ink_on,
    score_colour,
)

if TYPE_CHECKING:
    import altair as alt

Spec = dict[str, Any]
"""A Vega-Lite specification: JSON whose keys Vega-Lite documents."""
CLICK = "cell"
"""Name of the selection that a click makes."""
CELLS = "cells"
"""Name of the data that a specification brings along."""
_ROW, _LEAST_ROW, _HIGHEST = 30, 15, 540
_LABEL = 24
_VALUES_UP_TO = 12
"""Columns up to which a cell has room for its number."""
_TITLE = 15
_FLAT = 8
"""Columns up to which short labels lie flat."""
_FRAMES = Kept(32)
"""Charts without their data, by what is drawn in them."""
_FONT = "'Source Sans', 'Source Sans Pro', sans-serif"


def unique_labels(names: Sequence[str], size: int = _LABEL) -> list[str]:
    """Cut names in the middle and number those that come out alike."""
    found: list[str] = []
    for name in names:
        plain = cut(" ".join(name.split()) or "(no name)", size)
        label, number = plain, 1
        while label in found:
            number += 1
            label = f"{plain} ({number})"
        found.append(label)
    return found


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


def cell_words(cell: HeatCell, facet: str | None, unit: str) -> dict[str, str]:
    """Say in a few named lines what a cell shows."""
    estimate = cell.mark.estimate
    if not estimate.known:
        return {"Score": "none: nothing is scored here", "To the others": "", "n": "0", "Claim": ""}
    n = f"{estimate.n:,} {unit}{'s' * (estimate.n != 1)}, {estimate.samples:,} "
    n += f"sample{'s' * (estimate.samples != 1)}"
    others = "" if math.isnan(cell.difference) else f"{numbers.signed(cell.difference)} points"
    claim = ""
    if cell.claim is not None:
        claim = f"{cell.claim.glyph} {cell.claim.words}: {claim_words(cell.claim, facet)} "
        claim += f"({frame_words(cell.claim)})"
        more = more_words(cell.claim)
        claim += f"; {more}" if more else ""
    return {
        "Score": f"{estimate.value:.1f} ({estimate.lo:.1f}–{estimate.hi:.1f})",
        "To the others": others.replace("-", "−"),
        "n": n,
        "Claim": claim,
    }


def heat_chart(heat: Heatmap, form: Shape, colouring: Colouring, scheme: Scheme) -> Spec:
    """Draw the heatmap, as the specification that is sent, with its data in it.

    Args:
        heat: arranged.
        form: the values that it was arranged from.
        colouring: what fills the cells.
        scheme: the browser's.
    """
    frame = (
        tuple((column.name, column.judge is None, column.group) for column in heat.columns),
        tuple(model.name for model in heat.models),
        heat.grouped,
        scheme,
    )
    # Whoever draws a chart may change it: each time it is a new value.
    spec: Spec = json.loads(_FRAMES.get(frame, lambda: _frame(heat, scheme)))
    columns, rows = column_labels(heat), row_labels(heat)
    cells = [
        _record(heat, (row, number), (rows[row], columns[number]), form, colouring, scheme)
        for row in range(len(rows))
        for number in range(len(columns))
    ]
    return {**spec, "datasets": {CELLS: cells}}


def _frame(heat: Heatmap, scheme: Scheme) -> str:
    """Write the chart without its data: what takes most time of drawing it."""
    from altair.utils.schemapi import debug_mode

    # Altair would check each part against a schema, which takes longer than drawing it.
    with debug_mode(False):
        return json.dumps(layered(heat, scheme).to_dict(validate=False))


def layered(heat: Heatmap, scheme: Scheme) -> alt.LayerChart:
    """Draw the heatmap over cells that are named, not in it: Altair goes through what is in it."""
    import altair as alt

    columns, rows = column_labels(heat), row_labels(heat)
    domain, titles = _domain(heat, columns)
    flat = len(columns) <= _FLAT and max(map(len, columns), default=0) <= 2 * _FLAT
    angle = 0 if flat else -60
    high = max(min(_ROW, _HIGHEST // max(len(rows), 1)), _LEAST_ROW) * len(rows)
    base = alt.Chart(alt.NamedData(name=CELLS)).encode(
        x=alt.X(
            "column:N",
            sort=domain,
            scale=alt.Scale(domain=domain, paddingInner=0.04, paddingOuter=0),
            axis=alt.Axis(orient="top", title=None, labelAngle=angle, labelLimit=190, ticks=False,
                          domain=False, labelColor=INK[scheme], labelFontSize=11.5,
                          labelOverlap=False, labelPadding=4),
        ),
        y=alt.Y(
            "row:N",
            sort=rows,
            scale=alt.Scale(domain=rows, paddingInner=0.06, paddingOuter=0),
            axis=alt.Axis(title=None, labelLimit=190, ticks=False, domain=False, labelPadding=8,
                          labelColor=INK[scheme], labelFontSize=12.5),
        ),
    )  # fmt: skip
    click = alt.selection_point(name=CLICK, fields=["row", "column"], on="click")
    # Vega shows these as text, so names can't become markup.
    tips = ["Model", "Capability", "Score", "To the others", "n", "Claim", "Click"]
    if any(column.judge is not None for column in heat.columns):
        tips.insert(-1, "Judge")
    cells = (
        base.mark_rect(cursor="pointer", strokeWidth=1)
        .encode(
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("edge:N", scale=None),
            tooltip=[alt.Tooltip(f"{tip}:N") for tip in tips],
        )
        .add_params(click)
    )
    glyphs = base.mark_text(fontSize=12, fontWeight="bold").encode(
        text="text:N", color=alt.Color("ink:N", scale=None)
    )
    layers = [cells, glyphs]
    for side, low in dict.fromkeys((title.side, title.low) for title in titles):
        values = [
            {"column": title.column, "title": title.text}
            for title in titles
            if (title.side, title.low) == (side, low)
        ]
        layers.append(
            alt.Chart(alt.Data(values=values))  # type: ignore[no-untyped-call]
            .mark_text(align=side, fontSize=12, fontWeight="bold", baseline="top",
                       color=QUIET[scheme])
            .encode(
                x=alt.X("column:N", sort=domain, bandPosition=0 if side == "left" else 1),
                y=alt.YValue(alt.ExprRef(f"height + {6 + low}")),  # type: ignore[no-untyped-call]
                text="title:N",
            )
        )  # fmt: skip
    below = 8 + _TITLE * min(len(titles), 2)
    room = 20 if flat else _label_room(columns)
    chart: alt.LayerChart = (
        alt.layer(*layers)
        .properties(height=high + below + room, background="transparent",
                    padding={"left": 0, "top": 0, "right": 4, "bottom": below})
        .configure(font=_FONT)
        .configure_view(stroke=None)
    )  # fmt: skip
    return chart


def _label_room(labels: Sequence[str]) -> int:
    """Return the height that slanted labels need: the chart's own height holds them, too."""
    return 14 + round(5.4 * max((len(label) for label in labels), default=0))


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


def clicked(heat: Heatmap, row: object, column: object) -> HeatCell | None:
    """Return the cell that a click names by its labels; None when it is none."""
    rows, columns = row_labels(heat), column_labels(heat)
    if row not in rows or column not in columns:
        return None
    return heat.cells[rows.index(str(row))][columns.index(str(column))]


@dataclass(frozen=True, kw_only=True)
class _Title:
    """A root's title under its columns: where it begins (or ends), and how far down."""

    text: str
    column: str
    side: Literal["left", "right"]
    low: int


def _domain(heat: Heatmap, labels: Sequence[str]) -> tuple[list[str], list[_Title]]:
    """Return the columns' domain with a gap between roots, and the roots' titles under them."""
    if not heat.grouped:
        return list(labels), []
    domain: list[str] = []
    titles: list[_Title] = []
    groups = [column.group for column in heat.columns]
    for number, (label, group) in enumerate(zip(labels, groups, strict=True)):
        if number == 0 or group != groups[number - 1]:
            if number and len(labels) > _VALUES_UP_TO:
                domain.append(" " * (len(titles) + 1))
            # The last root's title grows to the left where its columns are few.
            last = bool(titles) and group == groups[-1]
            titles.append(
                _Title(
                    text=cut(group, _LABEL),
                    column=labels[-1] if last else label,
                    side="right" if last else "left",
                    low=_TITLE * (len(titles) % 2),
                )
            )
        domain.append(label)
    return domain, titles


def _record(
    heat: Heatmap,
    place: tuple[int, int],
    labels: tuple[str, str],
    form: Shape,
    colouring: Colouring,
    scheme: Scheme,
) -> dict[str, str]:
    row, number = place
    cell, model, column = heat.cells[row][number], heat.models[row], heat.columns[number]
    fill = cell_fill(cell, heat, colouring, scheme)
    known = cell.mark.estimate.known
    text = cell.glyph
    if known and len(heat.columns) <= _VALUES_UP_TO:
        text = f"{text} {cell_number(cell, colouring)}".strip()
    listed = f"{cell.mark.listed:,} {form.listed_unit}{'s' * (cell.mark.listed != 1)}"
    return {
        "row": labels[0],
        "column": labels[1],
        "fill": fill,
        "edge": fill if known else QUIET[scheme],
        "text": text,
        "ink": ink_on(fill) if known else QUIET[scheme],
        "Model": model.name,
        "Capability": column.full,
        **cell_words(cell, form.facet, form.unit),
        "Judge": "" if column.judge is None else f"{column.judge.text}: {column.judge.tip}",
        "Click": f"opens {listed}" if cell.mark.listed else "",
    }


def cell_number(cell: HeatCell, colouring: Colouring) -> str:
    """Write a cell's number: the value, or the difference where colours stand for it."""
    if not cell.mark.estimate.known:
        return "–"
    if colouring == "difference" and not math.isnan(cell.difference):
        return numbers.signed(cell.difference)
    return numbers.score(cell.mark.estimate.value)
