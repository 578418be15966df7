"""The picture of a tree that grows: nodes where they stand, and names where there is room."""

from __future__ import annotations

from dataclasses import dataclass

from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.tree import query as tree_query
from atom.views.tree.growth import GrowthNode, GrowthView
from taxonomy import DEPTH, format_path

_SCALE = 330
_EDGE = 12.0
_WIDEST = 1300.0
"""Width at which names of 18 have 9 px in a window of 1280 or 900: the picture is no wider."""
_LETTER = 9.4
_LONGEST = 26
"""Letters of a name in the picture; a longer one is cut in its middle, and whole in its tip."""
_LABELLED = 46
"""Up to so many leaves, each has its name beside it; above, only what is new."""
_LINE = 21.0
"""Height of a name in the picture."""
_LOW = 4.0
"""How much of a name's height is empty, above and below its letters."""
_HALO, _GAP = 5.0, 6.0
"""How far the ring around a new node lies from its dot, and a name from either."""


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a name can stand.

    Attributes:
        side: 1 = to the right of its dot, -1 = to the left.
        aside: from the middle of the dot to where the name begins.
        wide: how long the name is.
        x: middle of the dot.
        y: middle of the name's line.
    """

    side: int
    aside: float
    wide: float
    x: float
    y: float

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.x + self.aside if self.side > 0 else self.x - self.aside - self.wide

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.left + self.wide

    def crosses(self, other: _Place) -> bool:
        """Whether two names would lie on each other."""
        return abs(self.y - other.y) < _LINE and self.left < other.right and other.left < self.right


def picture(view: GrowthView) -> Html:
    """Draw the tree as it is now, roots in the middle, the newest nodes with a halo."""
    ys = [node.y * _SCALE for node in view.nodes]
    most = max((node.criteria for node in view.nodes[1:]), default=1) or 1
    sizes = [4 + 12 * (node.criteria / most) ** 0.5 if node.path else 6 for node in view.nodes]
    for squeeze in range(100, 55, -5):
        xs = [node.x * _SCALE * squeeze / 100 for node in view.nodes]
        named = _labels(view, xs, ys, sizes)
        ends = [end for one in named.values() for end in (one.left, one.right)]
        left = min([-380, *xs, *ends]) - _EDGE
        wide = max([380, *xs, *ends]) + _EDGE - left
        if wide <= _WIDEST:
            break
    lines = [
        el("line", x1=f"{xs[a]:.1f}", y1=f"{ys[a]:.1f}", x2=f"{xs[b]:.1f}", y2=f"{ys[b]:.1f}")
        for a, b in view.edges
    ]
    top = min([-300, *ys]) - 30
    high = max([300, *ys]) + 40 - top
    marks = [_mark(*one) for one in zip(view.nodes, xs, ys, sizes, strict=True)]
    # Names come last: what is drawn later lies above.
    names = [_name(view.nodes[n], xs[n], ys[n], one) for n, one in named.items()]
    roots = numbers.count(sum(len(n.path) == 1 for n in view.nodes), "root")
    said = f"{numbers.count(view.leaves, 'leaf', 'leaves')} under {roots}"
    drawing = el(
        "svg",
        tree_query.style(),
        el("g", lines, class_="edges"),
        marks,
        names,
        viewBox=f"{left:.0f} {top:.0f} {wide:.0f} {high:.0f}",
        class_="growing",
        role="img",
        aria_label=f"The tree as it is now: {said}",
        style=f"--wide:{wide:.0f};--high:{high:.0f}",
    )
    return el("div", drawing, class_="wide")


def _short(node: GrowthNode) -> str:
    return numbers.middle(node.path[-1], _LONGEST)


def _labels(
    view: GrowthView, xs: list[float], ys: list[float], sizes: list[float]
) -> dict[int, _Place]:
    """Say which nodes have their names beside them, and where there is room for each.

    A name lies on no other; of the places that are left it takes the one that covers the least of
    other nodes' dots, and of these the nearest to its own.
    """
    few = view.leaves <= _LABELLED
    wanted = [
        n
        for n, node in enumerate(view.nodes)
        if len(node.path) == 1 or (len(node.path) == DEPTH and (few or node.fresh))
    ]
    found: dict[int, _Place] = {}
    for n in sorted(wanted, key=lambda n: (len(view.nodes[n].path), ys[n])):
        free = [
            one
            for one in _places(view.nodes[n], xs[n], ys[n], sizes[n])
            if not any(one.crosses(other) for other in found.values())
        ]
        if free:
            found[n] = min(free, key=lambda one: _covered(one, n, view, xs, ys, sizes))
    return found


def _covered(
    place: _Place, n: int, view: GrowthView, xs: list[float], ys: list[float], sizes: list[float]
) -> int:
    """Return how many other nodes' dots a name would lie on."""
    return sum(
        place.left - far < xs[m] < place.right + far
        and abs(ys[m] - place.y) < far + _LINE / 2 - _LOW
        for m, far in enumerate(_reach(node, sizes[m]) for m, node in enumerate(view.nodes))
        if m != n
    )


def _places(node: GrowthNode, x: float, y: float, radius: float) -> list[_Place]:
    """Return where a name can stand: beside its dot, outwards first, then above and below."""
    wide = _LETTER * len(_short(node))
    aside = _reach(node, radius) + _GAP
    outwards = -1 if x < -1 else 1
    return [
        _Place(side=side, aside=aside, wide=wide, x=x, y=y + lift * _LINE)
        for lift in (0, 1, -1, 2, -2)
        for side in (outwards, -outwards)
    ]


def _reach(node: GrowthNode, radius: float) -> float:
    """Return how far a dot reaches from its middle, with what is drawn around a new one."""
    return radius + (_HALO if node.fresh else 0)


def _mark(node: GrowthNode, x: float, y: float, radius: float) -> Html:
    under = numbers.count(node.criteria, "criterion", "criteria")
    ink = kit.colour(node.root) if node.path else "currentColor"
    return el(
        "g",
        el("title", f"{format_path(node.path)}: {under}"),
        el("circle", r=f"{radius + _HALO:.1f}", class_="halo") if node.fresh else None,
        el("circle", r=f"{radius:.1f}", fill=ink),
        style=f"transform:translate({x:.1f}px,{y:.1f}px)",
    )


def _name(node: GrowthNode, x: float, y: float, place: _Place) -> Html:
    lift = place.y - y
    edge = place.side * place.aside
    # A name above or below its dot is led to it.
    led = el("line", x1=0, y1=0, x2=f"{edge:.1f}", y2=f"{lift:.1f}", class_="led") if lift else None
    words = el("text", _short(node), x=f"{edge:.1f}", y=f"{5 + lift:.1f}",
               text_anchor="start" if place.side > 0 else "end",
               class_="root" if len(node.path) == 1 else None)  # fmt: skip
    return el("g", led, words, class_="fresh" if node.fresh else None,
              style=f"transform:translate({x:.1f}px,{y:.1f}px)")  # fmt: skip
