"""The heatmap of the Fingerprints page: menus, the picture and its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from atom.display import numbers
from atom.ui import links
from atom.ui.fingerprints import place
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES
from atom.ui.plain import plain
from atom.ui.shell.frame import Here
from atom.views.fingerprints.chart import both, draw_heat, rows_drawn
from atom.views.fingerprints.claims import Claims
from atom.views.fingerprints.heat import (
    COLOURINGS,
    COLUMN_ORDERS,
    ROW_ORDERS,
    Colouring,
    ColumnOrder,
    Heatmap,
    RowOrder,
    heat_csv,
    heatmap,
)
from atom.views.fingerprints.shape import Shape
from atom.views.lab.judge_marks import GLYPH
from atom.views.overview.evidence import GLYPHS
from atom.views.tree.colours import evidence_colour, stops

CHART = "fingerprint_heat"
_ROWS: dict[RowOrder, str] = {
    "score": "by score, best first",
    "study": "as the study names them",
    "clustered": "alike ones together",
}
_COLUMNS: dict[ColumnOrder, str] = {
    "tree": "by tree",
    "score": "by score, hardest first",
    "clustered": "alike ones together",
}
_COLOURS: dict[Colouring, str] = {
    "score": "score",
    "difference": "difference to the others",
    "evidence": "evidence",
}


def draw(here: Here, form: Shape, said: Claims | None) -> None:
    """Draw the heatmap with its menus; a click on a cell opens the answers behind it."""
    rows: RowOrder = next((one for one in ROW_ORDERS if one == here.query.get("rows")), "score")
    columns: ColumnOrder = next(
        (one for one in COLUMN_ORDERS if one == here.query.get("cols")), "tree"
    )
    colouring = _colouring(here, form, said)
    heat = heatmap(form, said, rows=rows, columns=columns)
    title = (
        "Every model on every capability" if form.facet is None else ("Every model on every label")
    )
    place.show(el("h2", title, style="margin:12px 0 -10px"), key="fingerprint_heat_head")
    with st.container(key="fingerprint_menus"):
        menus = st.columns(3)
        with menus[0]:
            _menu(here, "rows", "Rows", _ROWS, rows, "score")
        with menus[1]:
            named = {**_COLUMNS, "tree": "by tree" if form.facet is None else "as they come"}
            _menu(here, "cols", "Columns", named, columns, "tree")
        with menus[2]:
            there = {one: _COLOURS[one] for one in _possible(form, said)}
            _menu(here, "colour", "Colour", there, colouring, "score")

    drawn = draw_heat(
        heat, form, colouring, lambda cell: links.address(FAILURES.url_path, cell.mark.filters)
    )
    place.show(drawn, legend(form, heat, colouring, said), key=CHART)
    st.download_button(
        "Heatmap as CSV",
        data=lambda: heat_csv(heatmap(form, said, rows=rows, columns=columns, every=True)),
        file_name="fingerprints.csv",
        mime="text/csv",
        key="fingerprint_csv",
    )


def _possible(form: Shape, said: Claims | None) -> list[Colouring]:
    without: set[Colouring] = set()
    if said is None:
        without.add("evidence")
    if len(form.models) < 2:
        without.add("difference")
    return [one for one in COLOURINGS if one not in without]


def _colouring(here: Here, form: Shape, said: Claims | None) -> Colouring:
    return next((one for one in _possible(form, said) if one == here.query.get("colour")), "score")


def _menu(
    here: Here, name: str, label: str, options: Mapping[Any, str], chosen: str, usual: str
) -> None:
    """Draw a menu whose value lives in the address."""
    key = f"fingerprint_{name}"
    st.session_state[key] = chosen

    def changed() -> None:
        value = st.session_state[key]
        place.move(here, **{name: None if value == usual else value})

    st.selectbox(plain(label), list(options), format_func=lambda one: options.get(one, one),
                 key=key, on_change=changed)  # fmt: skip


# --- legend ------------------------------------------------------------------------------------


def legend(form: Shape, heat: Heatmap, colouring: Colouring, said: Claims | None) -> Html:
    """Explain colours, glyphs and what isn't drawn."""
    pieces: list[Html | str] = []
    if colouring == "evidence" and said is not None:
        pieces = [
            el("span", el("i", style=f"background:{both(evidence_colour, label)}",
                          aria_hidden="true"), f"{glyph} {words}")
            for label, (glyph, words) in GLYPHS.items()
        ]  # fmt: skip
    else:
        difference = colouring == "difference"
        ends_of = [stops(one, difference=difference) for one in ("light", "dark")]
        ramp = ", ".join(f"light-dark({a},{b})" for a, b in zip(*ends_of, strict=True))
        lo, hi = heat.span
        ends = ("−25 points", "+25 to the mean of the others") if difference else (
            f"{lo:g}", f"{hi:g}"
        )  # fmt: skip
        fill = f"width:120px;height:10px;background:linear-gradient(to right, {ramp})"
        bar = el("i", class_="ramp", aria_hidden="true", style=fill)
        pieces = [el("span", ends[0], bar, ends[1])]
        if said is not None:
            marks = [f"{g} {w}" for label, (g, w) in GLYPHS.items() if label != "nothing found"]
            pieces.append(el("span", "; ".join(marks)))
    pieces.append(el("span", "– no value (a framed, empty cell), which is not zero"))
    notes = ["A click on a cell opens the answers behind it."]
    flaws = dict.fromkeys(mark.word for mark in form.judge_flaws)
    if flaws:
        notes.append(f"{GLYPH} before a name: {', '.join(flaws)}.")
    if heat.coarse:
        notes.append(
            "There are too many leaves for one picture: columns are the layer above; the file "
            "holds every leaf."
        )
    rest = len(heat.models) - rows_drawn(heat)
    if rest > 0:
        notes.append(f"{numbers.count(rest, 'more model')} {numbers.are(rest)} only in the file.")
    if heat.left_out:
        notes.append(
            f"{numbers.count(heat.left_out, 'label')} with less data "
            f"{numbers.are(heat.left_out)} only in the file."
        )
    if form.selected:
        notes.append(f"Only {form.selected} are looked at, so nothing is claimed.")
    if form.anchor is not None:
        notes.append(
            f"{form.anchor.name} is the anchor that all others were voted against: it has no "
            "shape of its own."
        )
    return el(
        "div",
        el("div", pieces, class_="swatches note"),
        el("p", " ".join(notes), class_="note", style="margin-top:4px"),
    )
