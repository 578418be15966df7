"""The tree as an icicle: a plotly figure.

A click on a node that has others below it draws these larger, in the browser; the figure of the
next run says the same, so that nothing moves twice, and so that links and the card can do it, too.
"""

from __future__ import annotations

import html
import math
import zlib
from typing import TYPE_CHECKING

import numpy as np

from atom.analysis.intervals import Floats
from atom.display import numbers
from atom.display.loading import whole_pandas
from atom.display.numbers import middle
from atom.views.overview.weakness_words import evidence_words, frame_words, more_words
from atom.views.tree.colours import (
    GROUND,
    INK,
    PANEL,
    QUIET,
    Scheme,
    difference_colour,
    evidence_colour,
    ink_on,
    score_colour,
)
from atom.views.tree.node_table import NodeTable
from atom.views.tree.page import Colouring, DrawnNodes
from taxonomy import format_path

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_NAME = 34
_LEAST = 0.95
_THIN = 5
_TWO_LINES = 34
_WHOLE_NAME = 18
_FRAME = 2.5
_FONT = '"Source Sans", sans-serif'
"""The app's own; a figure knows no styles of its page."""
_CLAIMED = ("confirmed", "suspected", "strength")
_TALLER, _TALLEST = 1.7, 6.0
READABLE, STAGE_READABLE = 9, 11
"""Smallest size of a name, in pixels: in a window, and on a stage."""
WHOLE = "whole"
"""Id of the whole tree's node; other nodes' ids are their numbers."""


def node_colours(view: DrawnNodes, scheme: Scheme) -> list[str]:
    """Colour every node of the table by what the view shows."""
    if view.colouring == "evidence":
        labels = [None if said is None else said.label for said in view.evidence]
        return [evidence_colour(label, scheme) for label in labels]
    if view.colouring == "difference":
        return [difference_colour(float(value), scheme) for value in view.value]
    values = view.value
    if view.colouring == "support":
        # Support spans orders of magnitude; a logarithm keeps small nodes apart.
        most = max(float(np.nanmax(values, initial=1.0)), 2.0)
        values = 100 * np.log1p(values) / math.log1p(most)
    elif len(values):
        lo, hi = view.span
        values = 100 * (values - lo) / (hi - lo)
    return [score_colour(float(value), scheme) for value in values]


def number(value: float, colouring: Colouring) -> str:
    """Write what a node's colour stands for."""
    if math.isnan(value):
        return numbers.NONE
    if colouring == "support":
        return f"{value:,.0f}"
    signed = colouring in ("difference", "evidence")
    return numbers.signed(value) if signed else numbers.score(value)


def node_id(index: int) -> str:
    """Return a node's id in the figure."""
    return WHOLE if index == 0 else str(index)


def clicked(node: str, nodes: NodeTable) -> int | None:
    """Read the id that a click brought back; None when it is no node."""
    if node == WHOLE:
        return 0
    known = node.isdecimal() and len(node) < 9 and 0 < int(node) < len(nodes.paths)
    return int(node) if known else None


def next_level(nodes: NodeTable, level: int, chosen: int) -> int:
    """Return the node to draw first once a node is chosen.

    An inner node is drawn itself; a leaf leaves the view as it is, where it can be seen in it.
    """
    if not nodes.is_leaf[chosen]:
        return chosen
    return level if level <= chosen < int(nodes.end[level]) else 0


def chosen_by_click(nodes: NodeTable, level: int, click: int) -> int:
    """Return the node that a click chooses: one on the node drawn first goes up by one."""
    return int(nodes.parent[click]) if click == level and click > 0 else click


def name_of(nodes: NodeTable, view: DrawnNodes, index: int, size: int = _NAME) -> str:
    """Write a node's name, cut; its label's glyph stands before it where colours are evidence."""
    path, said = nodes.paths[index], view.said(index)
    # The whole tree's name stands on its card; its narrow column has no room for a long one.
    whole = nodes.tree.name if len(nodes.tree.name) <= _WHOLE_NAME else "Whole tree"
    name = middle(path[-1] if path else whole, size)
    return name if said is None else f"{said.glyph} {name}"


def value_of(view: DrawnNodes, index: int) -> str:
    """Write a node's number; nothing where none is claimed."""
    if view.evidence and view.said(index) is None:
        return ""
    return number(float(view.value[index]), view.colouring)


def evidence_lines(view: DrawnNodes, index: int) -> list[str]:
    """Say in lines what the diagnosis says of a node: label, effect, frame, n."""
    said = view.said(index)
    if said is None:
        return ["nothing is claimed of the whole tree, only of its parts"]
    n = f"n {said.samples:,} sample{'s' * (said.samples != 1)}, "
    n += f"{said.n:,} checkpoint{'s' * (said.n != 1)}"
    lines = [
        f"{said.glyph} {said.words}",
        # Tooltips don't wrap.
        *evidence_words(said).replace(" than ", "\nthan ", 1).split("\n"),
        f"{frame_words(said)}; {n}",
        more_words(said),
    ]
    return [line for line in lines if line]


def icicle(
    nodes: NodeTable,
    view: DrawnNodes,
    scheme: Scheme,
    *,
    whose: str,
    height: int,
    level: int = 0,
    chosen: int = 0,
    clicks: int = 0,
    readable: int = READABLE,
) -> Figure:
    """Draw the tree as an icicle.

    A leaf's height grows with the cube root of its criteria, and none is much lower than the mean
    leaf, so that small leaves can still be read and clicked; an inner node is as high as its
    leaves. By evidence, leaves of which something is claimed are higher, so that they are named.

    Args:
        view: which nodes, and their colour.
        scheme: light or dark.
        whose: whose scores, for the tooltip.
        height: how high it is drawn, in pixels, as far as known; it decides what can be read.
        level: the node that is drawn first, with what lies below it; 0 = the whole tree.
        chosen: the node whose card is open; it is framed where others lie beside it.
        clicks: how many clicks came before. The browser drew each by itself, and would keep what
            it drew over a figure that says what the figure before the click said.
        readable: the smallest size of a name, in pixels; one that doesn't fit is left out.
    """
    whole_pandas()
    from plotly.graph_objects import Figure, Icicle

    colours = node_colours(view, scheme)
    drawn = [int(index) for index in view.nodes]
    # Between very thin rows, gaps would be all that is seen.
    gap = 1 if int(nodes.is_leaf[view.nodes].sum()) * _THIN < height else 0
    level = level if level in set(drawn) else 0
    size = _sizes(nodes, drawn, view, level, _named(readable) / height)
    framed = {chosen} - {0, level}
    sums = np.r_[0.0, np.cumsum(size)]
    heights = sums[nodes.end] - sums[:-1]
    high = heights * height / max(float(heights[level]), 1e-9)
    trace = Icicle(
        ids=[node_id(index) for index in drawn],
        parents=["" if index == 0 else node_id(int(nodes.parent[index])) for index in drawn],
        labels=[html.escape(name_of(nodes, view, index)) for index in drawn],
        level=node_id(level),
        values=[float(size[index]) for index in drawn],
        text=[value_of(view, index) for index in drawn],
        hovertext=[_tip(nodes, view, index, whose) for index in drawn],
        # Fitting text into rows too thin for it costs the browser most of its time.
        texttemplate=[_template(float(high[index]), readable) for index in drawn],
        hovertemplate="%{hovertext}<extra></extra>",
        branchvalues="remainder",
        sort=False,
        tiling={"orientation": "h", "pad": gap},
        pathbar={"visible": True, "side": "bottom", "thickness": 22, "textfont": {"size": 12}},
        marker={
            "colors": [colours[index] for index in drawn],
            # Without one, plotly keeps a colour on its copy, finds it changed, and draws again.
            "pattern": {"shape": [""] * len(drawn)},
            # One width for all: the bar of the way back is laid out by it, and breaks by a list.
            "line": {
                "color": [
                    INK[scheme] if index in framed else GROUND[scheme] if gap else colours[index]
                    for index in drawn
                ],
                "width": _FRAME if framed else gap,
            },
        },
        textfont={
            "color": [ink_on(colours[index]) for index in drawn],
            "size": [readable + (1.5 if nodes.is_leaf[index] else 3.5) for index in drawn],
            "family": _FONT,
        },
        textposition="middle left",
        leaf={"opacity": 1},
        root={"color": PANEL[scheme]},
        uid="tree",
    )
    figure = Figure(trace)
    figure.layout.template = None
    figure.update_layout(
        # Streamlit hands a figure to plotly twice: the second time as high as its window, with the
        # modes that a click needs, and with equal arrays that are other objects. What is said here
        # already, and of arrays by a mark of what they hold, isn't drawn a second time.
        height=height,
        clickmode="event+select",
        hovermode="closest",
        dragmode="pan",
        datarevision=zlib.crc32(trace.to_json().encode()),
        # Its window decides how high it is drawn; names that don't fit at a readable size are left
        # out, and the tooltip has them.
        autosize=True,
        uniformtext={"minsize": readable, "mode": "hide"},
        margin={"l": 0, "r": 0, "t": 0, "b": 24},
        paper_bgcolor="rgba(0,0,0,0)",
        font={"color": QUIET[scheme], "family": _FONT},
        uirevision=f"tree {clicks}",
        hoverlabel={"align": "left"},
    )
    return figure


def _template(high: float, readable: int) -> str:
    """Return how a node is named in so many pixels: its number under the name, beside it, or not.

    Columns are narrow where the window is; two short lines fit where one long line doesn't.
    """
    if high < readable:
        return ""
    return "%{label}<br>%{text}" if high >= _TWO_LINES else "%{label}  %{text}"


def _sizes(nodes: NodeTable, drawn: list[int], view: DrawnNodes, level: int, part: float) -> Floats:
    """Give every node without drawn children its size; the others grow with theirs.

    By evidence, leaves of which something is claimed get `part` of the height, if there is room.
    """
    size = np.cbrt(np.maximum(nodes.criteria, 1))
    least = _LEAST * float(size[nodes.is_leaf].mean()) if nodes.is_leaf.any() else 1.0
    size = np.maximum(size, least)
    claimed = np.zeros(len(size), dtype=np.bool_)
    for index in drawn:
        said = view.said(index)
        claimed[index] = said is not None and said.label in _CLAIMED
    inside = np.zeros(len(size), dtype=np.bool_)
    inside[level : int(nodes.end[level])] = True
    inside &= nodes.is_leaf
    size[claimed] *= _taller(size[inside & claimed], float(size[inside & ~claimed].sum()), part)
    leaf = np.where(nodes.is_leaf, size, 0.0)
    sums = np.r_[0.0, np.cumsum(leaf)]
    size = np.zeros(len(nodes.paths))
    inner = {int(nodes.parent[index]) for index in drawn}
    for index in drawn:
        if index not in inner:
            under = float(sums[int(nodes.end[index])] - sums[index])
            size[index] = max(under, 1.0)
    return size


def _named(readable: int) -> float:
    """Return how high a row must be, in pixels, for a name at this size: a line, and room."""
    return 1.42 * readable + 6


def _taller(claimed: Floats, others: float, part: float) -> float:
    """Return how much higher than others a leaf is drawn of which something is claimed.

    With sizes s of these leaves and U of all others, a leaf gets f s / (f Σs + U) of the height:
    f is so large that the lowest gets `part` of it, between 1.7 and 6.
    """
    if not len(claimed):
        return _TALLER
    left = float(claimed.min()) - part * float(claimed.sum())
    return min(max(part * others / left, _TALLER), _TALLEST) if left > 0 else _TALLEST


def _tip(nodes: NodeTable, view: DrawnNodes, index: int, whose: str) -> str:
    path = nodes.paths[index]
    criteria, samples = int(nodes.criteria[index]), int(nodes.samples[index])
    lines = [
        format_path(path) if path else nodes.tree.name,
        f"{numbers.count(criteria, 'criterion', 'criteria')} from "
        f"{numbers.count(samples, 'sample')}",
    ]
    if view.colouring == "difference":
        lines.append(f"{whose}: {number(float(view.value[index]), 'difference')} points "
                     "against the mean of the others")  # fmt: skip
    elif view.colouring == "score":
        lines.append(f"{whose}: {number(float(view.value[index]), 'score')} of 100")
    elif view.colouring == "evidence":
        first, *others = evidence_lines(view, index)
        lines += [f"{whose}: {first}", *others]
    return "<br>".join(html.escape(line) for line in lines)
