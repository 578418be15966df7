"""The tree as a network: one HTML page that needs nothing from anywhere.

Positions are computed here, so that no layout runs in the browser (500 nodes froze it otherwise).
Small trees fan out to both sides with every label beside its node, and to the right alone in a
narrow window; large ones lie on rings, with labels of the upper layers at first and those of the
leaves when one comes closer.
"""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass

from atom.display import numbers
from atom.views.tree.chart import evidence_lines, name_of, node_colours, number
from atom.views.tree.colours import GROUND, INK, LINE, QUIET, Scheme
from atom.views.tree.node_table import NodeTable
from atom.views.tree.page import DrawnNodes
from taxonomy import format_path

FEW_LEAVES = 90
"""Up to so many leaves, every label is written beside its node."""
HEIGHT = 640
"""Height of the page in pixels."""
_WIDTH = 1000
_ROW = 32.0
_FAN = 470.0
_LANE = 24.0
_LABEL = 150.0
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_LINKS = re.compile(r"<(?:link|script)\b[^<>]*>(?:</script>)?")
_FRAMEWORK = "bootstrap"


@dataclass(frozen=True, kw_only=True)
class NodeSpot:
    """Where a node lies.

    Attributes:
        index: the node's number.
        x: to the right, in the page's own units.
        y: downwards.
        side: -1 = its label stands to the left, 1 = to the right, 0 = under it.
    """

    index: int
    x: float
    y: float
    side: int = 0


def layout(nodes: NodeTable, view: DrawnNodes, *, narrow: bool = False) -> tuple[NodeSpot, ...]:
    """Place the drawn nodes.

    Args:
        view: which nodes are drawn.
        narrow: whether a small tree goes to the right alone.

    Returns:
        A spot for every drawn node, in their order; no two leaves share one.
    """
    drawn = [int(index) for index in view.nodes]
    inner = {int(nodes.parent[index]) for index in drawn}
    ends = [index for index in drawn if index not in inner or index == 0]
    if len(drawn) > 1:
        ends = [index for index in ends if index != 0]
    if len(ends) > FEW_LEAVES:
        return _rings(nodes, drawn, ends)
    return _fan(nodes, drawn, ends, (1,) if narrow else (1, -1))


def _fan(
    nodes: NodeTable, drawn: list[int], ends: list[int], where: tuple[int, ...]
) -> tuple[NodeSpot, ...]:
    """Hang whole roots to the right and to the left of the tree's name, rows of equal height."""
    depth = {index: len(nodes.paths[index]) for index in drawn}
    deepest = max(depth.values(), default=1)
    step = max(_FAN / max(deepest, 1), 104.0)
    order: dict[int, list[int]] = {}
    for index in ends:
        order.setdefault(_root_of(nodes, index), []).append(index)
    sides: dict[int, list[list[int]]] = {side: [] for side in where}
    for group in sorted(order.values(), key=len, reverse=True):
        side = min(where, key=lambda s: sum(len(g) for g in sides[s]))
        sides[side].append(group)
    y: dict[int, float] = {}
    side_of: dict[int, int] = {}
    for side, groups in sides.items():
        row = 0.0
        rows: list[tuple[int, float]] = []
        for group in sorted(groups):
            for index in group:
                rows.append((index, row))
                row += _ROW
            row += _ROW * 0.8
        middle = (row - _ROW * 1.8) / 2
        for index, at in rows:
            y[index], side_of[index] = at - middle, side
    _lift(nodes, drawn, y, side_of)
    spots = []
    for index in drawn:
        side = side_of.get(index, 0) if index else 0
        down = y.get(index, 0.0) if index else 0.0
        spots.append(NodeSpot(index=index, x=side * step * depth[index], y=down, side=side))
    return tuple(spots)


def _root_of(nodes: NodeTable, index: int) -> int:
    while index and nodes.parent[index] > 0:
        index = int(nodes.parent[index])
    return index


def _lift(nodes: NodeTable, drawn: list[int], y: dict[int, float], side: dict[int, int]) -> None:
    """Put every inner node at the middle of its children's rows."""
    children: dict[int, list[int]] = {}
    for index in drawn:
        if index:
            children.setdefault(int(nodes.parent[index]), []).append(index)
    for index in reversed(drawn):
        below = children.get(index)
        if below and index:
            y[index] = (y[below[0]] + y[below[-1]]) / 2
            side[index] = side[below[0]]


def _rings(nodes: NodeTable, drawn: list[int], ends: list[int]) -> tuple[NodeSpot, ...]:
    """Put layers on rings, broader than high; crowded labels are spread over lanes."""
    deepest = max(len(nodes.paths[index]) for index in drawn)
    spacing = 20.0
    outer = max(len(ends) * spacing / (2 * math.pi), 600.0)
    broad = 1.45
    angle = {index: 2 * math.pi * at / len(ends) - math.pi / 2 for at, index in enumerate(ends)}
    children: dict[int, list[int]] = {}
    for index in drawn:
        if index:
            children.setdefault(int(nodes.parent[index]), []).append(index)
    for index in reversed(drawn):
        if index in children and index:
            below = children[index]
            angle[index] = (angle[below[0]] + angle[below[-1]]) / 2
    spots = []
    leaf_number = {index: at for at, index in enumerate(ends)}
    for index in drawn:
        if not index:
            spots.append(NodeSpot(index=0, x=0.0, y=0.0))
            continue
        turn, layer = angle[index], len(nodes.paths[index])
        radius = outer * (layer / deepest) ** 0.75
        if index in leaf_number:
            # At the top and the bottom neighbours' labels would run into each other.
            lanes = min(max(math.ceil(_LABEL * abs(math.sin(turn)) / (spacing * broad)), 1), 6)
            radius = outer + (leaf_number[index] % lanes) * _LANE * 1.6
        spots.append(
            NodeSpot(index=index, x=broad * radius * math.cos(turn), y=radius * math.sin(turn))
        )
    return tuple(spots)


def network_html(nodes: NodeTable, view: DrawnNodes, scheme: Scheme, *, whose: str) -> str:
    """Write the network as one page.

    Args:
        view: which nodes, and their colour.
        scheme: light or dark.
        whose: whose scores, for the tooltips.

    Returns:
        HTML that asks nothing of any server; a policy inside it forbids that, too. Names are data
        in it, never markup.
    """
    from pyvis.network import Network

    spots = layout(nodes, view)
    slim = {spot.index: spot for spot in layout(nodes, view, narrow=True)}
    few = any(spot.side for spot in spots)
    colours = node_colours(view, scheme)
    most = float(max(nodes.criteria[1:].max(initial=1), 1))
    reach = max((max(abs(spot.x) / _WIDTH, abs(spot.y) / HEIGHT) for spot in spots), default=0.5)
    zoom = min(0.46 / max(reach, 1e-9), 1.0)
    net = Network(
        height=f"{HEIGHT}px",
        width="100%",
        bgcolor=GROUND[scheme],
        cdn_resources="in_line",
    )
    seconds = 0
    for spot in spots:
        path = nodes.paths[spot.index]
        layer = len(path)
        radius = (4 + 9 * math.sqrt(float(nodes.criteria[spot.index]) / most)) / (
            1.0 if few else zoom * (1.0 if layer < 3 else 1.6)
        )
        shown_size = {0: 15, 1: 15, 2: 11}.get(layer, 11)
        upper = not few and layer <= 2
        font_size = shown_size / zoom if upper else 15
        # On the rings' upper and lower ends neighbours' names would touch: every other one goes up.
        steep = abs(spot.y) > 0.6 * math.hypot(spot.x, spot.y)
        seconds += layer == 2
        lift = -(2 * radius + 1.4 * font_size) if upper and steep and seconds % 2 else 0.0
        net.add_node(
            spot.index,
            label=" " if few and spot.index else name_of(nodes, view, spot.index, 30),
            title=_tip(nodes, view, spot.index, whose),
            x=round(spot.x, 1),
            y=round(spot.y, 1),
            slim=(round(slim[spot.index].x, 1), round(slim[spot.index].y, 1)),
            fixed=True,
            physics=False,
            shape="dot",
            size=round(radius, 2),
            color={
                "background": colours[spot.index],
                "border": QUIET[scheme],
                "highlight": {"background": colours[spot.index], "border": INK[scheme]},
            },
            borderWidth=1,
            font={
                "size": round(font_size, 1),
                "color": INK[scheme],
                "strokeWidth": round(4 / zoom if upper else 3, 1),
                "strokeColor": GROUND[scheme],
                "vadjust": round(lift if layer == 2 else 0.0, 1),
            },
            scaling={"label": {"drawThreshold": 7 if few else 9 if upper else 8, "maxVisible": 17}},
        )
        if few and spot.index:
            _label(net, nodes, view, (spot, slim[spot.index]), radius, scheme)
    for spot in spots:
        above = int(nodes.parent[spot.index])
        if above >= 0:
            net.add_edge(above, spot.index, color=LINE[scheme] if few else QUIET[scheme],
                         width=1.2 if few else 0.8)  # fmt: skip
    net.set_options(_OPTIONS)
    page = net.generate_html(notebook=False)
    return _seal(page, nodes.tree.name, scheme, _FAN_OUT if few else "")


_OPTIONS = """{
  "physics": {"enabled": false},
  "layout": {"improvedLayout": false},
  "edges": {"smooth": false},
  "interaction": {"hover": true, "dragNodes": false, "tooltipDelay": 80,
                  "hideEdgesOnDrag": true, "keyboard": {"enabled": true, "bindToWindow": false}}
}"""


def _label(
    net: object,
    nodes: NodeTable,
    view: DrawnNodes,
    spots: tuple[NodeSpot, NodeSpot],
    radius: float,
    scheme: Scheme,
) -> None:
    """Write a node's name beside it, as a node of its own that shows nothing but text.

    Args:
        spots: where the node lies in a broad window and in a narrow one.
    """
    spot = spots[0]
    path = nodes.paths[spot.index]
    leaf = bool(nodes.is_leaf[spot.index])
    text = name_of(nodes, view, spot.index, 30 if leaf else 22)
    if leaf:
        text = f"{text}  {number(float(view.value[spot.index]), view.colouring)}"
    size = 15.0 if leaf else 13.5
    width = (0.57 if leaf else 0.5) * size * len(text)
    # Names of inner nodes stand above the line that runs on to their children.
    aside, above = (radius + 7 + width / 2, 0.0) if leaf else (0.0, radius + 8)
    at, slim = [(round(one.x + one.side * aside, 1), round(one.y - above, 1)) for one in spots]
    net.add_node(  # type: ignore[attr-defined]
        f"label-{spot.index}",
        label=text,
        x=at[0],
        y=at[1],
        slim=slim,
        fixed=True,
        physics=False,
        shape="text",
        font={
            "size": size,
            "color": INK[scheme] if leaf or len(path) == 1 else QUIET[scheme],
            "strokeWidth": 3,
            "strokeColor": GROUND[scheme],
        },
        scaling={"label": {"drawThreshold": 5, "maxVisible": 30}},
    )


def _tip(nodes: NodeTable, view: DrawnNodes, index: int, whose: str) -> str:
    """Write a tooltip as plain text: vis-network shows it as such."""
    path = nodes.paths[index]
    lines = [
        format_path(path) if path else nodes.tree.name,
        f"{numbers.count(int(nodes.criteria[index]), 'criterion', 'criteria')} from "
        f"{numbers.count(int(nodes.samples[index]), 'sample')}",
    ]
    if view.colouring == "evidence":
        first, *others = evidence_lines(view, index)
        lines += [f"{whose}: {first}", *others]
    elif view.colouring != "support":
        lines.append(f"{whose}: {number(float(view.value[index]), view.colouring)}")
    return "\n".join(lines)


_DRAW = "drawGraph();"
_FIT = (
    "const fit = () => requestAnimationFrame(() => network.fit({animation: false}));"
    "network.once('afterDrawing', fit); network.on('resize', fit);"
)
"""Before the first drawing nobody knows how wide names are in the reader's own font."""
_FAN_OUT = """
const broad = nodes.get();
const half = (node) => (node.shape === "text" ? node.label.length * node.font.size * 0.29 : 8);
const span = (at, room) => {
  const low = Math.min(...broad.map((node) => at(node) - room(node)));
  return Math.max(...broad.map((node) => at(node) + room(node))) - low + 40;
};
const least = 9 / 13.5, row = () => 16;
const wide = span((node) => node.x, half) * least, high = span((node) => node.y, row) * least;
const across = span((node) => node.slim[0], half), down = span((node) => node.slim[1], row);
let was = "";
const lay = () => {
  const now = innerWidth < wide, tall = now ? down * Math.min(innerWidth / across, 1) : high;
  const scrolls = now || tall > innerHeight;
  document.documentElement.style.setProperty("--tall", scrolls ? `${Math.ceil(tall)}px` : "100%");
  if (was === `${now} ${scrolls}`) return;
  was = `${now} ${scrolls}`;
  document.documentElement.classList.toggle("scrolls", scrolls);
  nodes.update(broad.map(({id, x, y, slim}) => ({id, x: now ? slim[0] : x, y: now ? slim[1] : y})));
  network.setOptions({interaction: {zoomView: !scrolls, dragView: !scrolls}});
  fit();
};
addEventListener("resize", lay);
lay();
"""
"""Keeps names of a small tree at 9 px and more: where the frame is too low it scrolls down, and
where it is too narrow the tree goes to the right alone."""


def _seal(page: str, name: str, scheme: Scheme, script: str) -> str:
    """Take out what pyvis would fetch, and forbid the rest."""
    page = _without(_without(page, "<!--", "-->"), "<center>", "</center>")
    page = _LINKS.sub(lambda tag: "" if _FRAMEWORK in tag[0] else tag[0], page)
    page = page.replace(_DRAW, _DRAW + _FIT + script, 1)
    head = (
        f'<head><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{html.escape(name)}</title>"
        f"<style>html,body{{margin:0;background:{GROUND[scheme]};overflow:hidden}}"
        "html.scrolls{overflow:hidden auto}"
        "body,.card,#mynetwork{height:var(--tall,100%)!important}html{height:100%}#mynetwork,.card{border:0!important}"
        f"div.vis-tooltip{{background:{INK[scheme]};color:{GROUND[scheme]};border:0;"
        "border-radius:6px;padding:7px 10px;font:12.5px/1.4 sans-serif;white-space:pre-line;"
        "max-width:340px;box-shadow:none}</style>"
    )
    return page.replace("<head>", head, 1)


def _without(page: str, start: str, end: str) -> str:
    """Take out what stands between two marks, and the marks."""
    kept, at = [], 0
    while (begin := page.find(start, at)) >= 0 and (stop := page.find(end, begin)) >= 0:
        kept.append(page[at:begin])
        at = stop + len(end)
    return "".join([*kept, page[at:]])
