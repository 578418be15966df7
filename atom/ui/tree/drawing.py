"""The tree drawn as a map or a network, with its legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.shell.frame import Here
from atom.ui.tree.query import (
    ABOVE,
    HIGH,
    LEAST_HEIGHT,
    STAGE_HEIGHT,
    STATUS,
    USUAL,
    TreeQuery,
    key_of,
    move,
    scheme,
    style,
    whose,
)
from atom.views.overview.evidence import Evidence
from atom.views.overview.weakness_words import frame_words
from atom.views.tree.chart import (
    READABLE,
    STAGE_READABLE,
    chosen_by_click,
    clicked,
    icicle,
    next_level,
    number,
)
from atom.views.tree.colours import evidence_colour, stops
from atom.views.tree.network import HEIGHT, network_html
from atom.views.tree.node_table import NodeTable
from atom.views.tree.page import (
    DrawnNodes,
    resolve,
    shown,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_CLICKS = "tree_clicks"


def _looked_at(here: Here, ask: TreeQuery) -> tuple[object, ...]:
    """Name what map and network are drawn from, the scheme last."""
    kept = (here.filters.narrowing, here.filters.model)
    return (*key_of(here), *kept, ask.colouring, ask.depth, ask.support, scheme())


@st.cache_data(show_spinner=False, max_entries=8)
def _network(key: tuple[object, ...], _nodes: NodeTable, _view: DrawnNodes, whose_: str) -> str:
    return network_html(_nodes, _view, "dark" if key[-1] == "dark" else "light", whose=whose_)


@st.cache_resource(show_spinner=False, max_entries=12)
def _map(key: tuple[object, ...], _draw: Callable[[], Figure]) -> Figure:
    """Draw a map once for all who look at the same: plotly checks each of its values."""
    del key
    return _draw()


def legend(here: Here, ask: TreeQuery, view: DrawnNodes, held: Evidence | None) -> Html:
    """Explain the colours."""
    if held is not None:
        parts = _evidence_legend(here, view, held)
    else:
        parts = _scale(here, view)
        if ask.colouring == "evidence":
            parts.insert(0, el("span", "Evidence is about one model: choose one under “Scores of”. "
                               "Until then, colours are scores.", class_="small"))  # fmt: skip
    if view.hidden:
        parts.append(
            kit.small(
                f"{numbers.count(view.hidden, 'capability', 'capabilities')} hidden by the filter"
            )
        )
    return el("div", style(), parts, class_="row")


def _evidence_legend(here: Here, view: DrawnNodes, held: Evidence) -> list[Html]:
    """Name every label with glyph and word, how many nodes have it, and what they rest on."""
    said = [view.said(int(index)) for index in view.nodes]
    count = Counter(one.label for one in said if one is not None)
    keys = [
        el(
            "span",
            el("i", style=f"background:{evidence_colour(label, scheme())}", aria_hidden="true"),
            kit.status(status),
            el("span", count[label], class_="quiet num"),
            class_="key",
        )
        for label, status in STATUS.items()
    ]
    note = (
        f"{whose(here)}: {frame_words(held)}; effects in points of 100, held against "
        f"{held.margin:g}; false discovery rate {numbers.share(held.q)}; nodes of all layers "
        "counted"
    )
    if here.filters.active:
        note += "; it holds for what the filters keep"
    return [el("span", keys, class_="keys small"), el("span", note, class_="quiet small aside")]


def _scale(here: Here, view: DrawnNodes) -> list[Html]:
    ramp = ", ".join(stops(scheme(), difference=view.colouring == "difference"))
    lo, hi = (number(end, view.colouring) for end in view.span)
    words = {
        "score": f"{whose(here)}, mean score of 0–100",
        "difference": f"{whose(here)} minus the mean of the others, points of 100",
        "support": "criteria",
        "evidence": "",
    }[view.colouring]
    return [
        el("span", lo, el("i", style=f"background:linear-gradient(90deg, {ramp})"), hi,
           class_="scale"),
        kit.small(words),
    ]  # fmt: skip


def view_of(here: Here, ask: TreeQuery, nodes: NodeTable, held: Evidence | None) -> DrawnNodes:
    """Choose what is drawn."""
    return shown(
        nodes,
        model=here.data.model_index(here.filters.model),
        colouring=ask.colouring,
        min_criteria=ask.support,
        max_depth=ask.depth,
        evidence=held,
    )


def map_height(window: str) -> int:
    """Return how high the map is drawn, in pixels.

    Args:
        window: how high the window says that it is, in pixels; without a number, as is usual.
    """
    told = int(window) if window.isdecimal() and len(window) < 5 else USUAL
    return max(LEAST_HEIGHT, told - ABOVE)


def draw_map(here: Here, ask: TreeQuery, nodes: NodeTable, view: DrawnNodes) -> None:
    """Draw the icicle; a click opens the node's card."""
    key = "tree_map"
    before = here.query.get("under", "")
    was = int(before) if before.isdecimal() and int(before[:8]) < len(nodes.paths) else 0
    chosen = nodes.paths.index(resolve(nodes.tree, here.filters.node))
    level = next_level(nodes, was, chosen)
    staged = "tour" in here.query

    clicks = int(st.session_state.get(_CLICKS, 0))

    def clicked_on() -> None:
        st.session_state[_CLICKS] = clicks + 1
        points = st.session_state[key]["selection"]["points"]
        click = clicked(str(points[0].get("id", "")), nodes) if points else None
        if click is not None:
            path = nodes.paths[chosen_by_click(nodes, level, click)]
            # What is drawn first stays in the address, so that Back and links find it again.
            under = str(level) if level else None
            move(here, here.filters.but(node=path, sample=None, criterion=None), under=under)

    height = STAGE_HEIGHT if staged else map_height(st.context.cookies.get(HIGH, ""))
    readable = STAGE_READABLE if staged else READABLE
    figure = _map(
        (*_looked_at(here, ask), height, readable, level, chosen, clicks),
        lambda: icicle(
            nodes,
            view,
            scheme(),
            whose=whose(here),
            height=height,
            readable=readable,
            level=level,
            chosen=chosen,
            clicks=clicks,
        ),
    )
    with st.container(key="tree_map_box"):
        st.plotly_chart(
            figure,
            key=key,
            height="stretch",
            on_select=clicked_on,
            selection_mode="points",
            theme=None,
            config={"displayModeBar": False},
        )


def draw_network(here: Here, ask: TreeQuery, nodes: NodeTable, view: DrawnNodes) -> None:
    """Draw the network in a frame of its own, which asks nothing of any server."""
    page = _network(_looked_at(here, ask), nodes, view, whose(here))
    with st.container(key="tree_network"):
        st.iframe(_alone(page), height=HEIGHT)


def _alone(page: str) -> str:
    """Put a page into a frame that may run its own script and reach nothing else.

    Streamlit's frame shares the app's origin: its script could read and press everything. The
    frame inside has no origin, no windows, no forms.
    """
    style = "<style>html, body { margin: 0; height: 100%; overflow: hidden }</style>"
    inside = el(
        "iframe",
        title="The tree as a network",
        sandbox="allow-scripts",
        srcdoc=page,
        style="border:0;width:100%;height:100%;display:block",
    )
    return f"<!doctype html>{style}{inside}"
