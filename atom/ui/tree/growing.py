"""The picture of a tree that grows: nodes where they stand, and names where there is room."""

from __future__ import annotations

from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html, el
from atom.ui.tree import wanted as tree_wanted
from atom.views.tree.growth import GrowthNode, GrowthView
from taxonomy import DEPTH, format_path

_SCALE = 330
_EDGE = 12.0
_WIDEST = 1300.0
"""Width at which names of 18 have 9 px in a window of 1280 or 900: the picture is no wider."""
_LETTER = 9.0
_LONGEST = 26
"""Letters of a name in the picture; a longer one is cut in its middle, and whole in its tip."""
_LABELLED = 46
"""Up to so many leaves, each has its name beside it; above, only what is new."""
_LINE = 21.0
"""Height of a name in the picture, and width of a letter."""


def picture(view: GrowthView) -> Html:
    """Draw the tree as it is now, roots in the middle, the newest nodes with a halo."""
    ys = [node.y * _SCALE for node in view.nodes]
    for squeeze in range(100, 55, -5):
        xs = [node.x * _SCALE * squeeze / 100 for node in view.nodes]
        named = _labels(view, xs, ys)
        ends = [xs[n] + (-1 if xs[n] < -1 else 1) * _room(view.nodes[n]) for n in named]
        left = min([-380, *xs, *ends]) - _EDGE
        wide = max([380, *xs, *ends]) + _EDGE - left
        if wide <= _WIDEST:
            break
    most = max((node.criteria for node in view.nodes[1:]), default=1) or 1
    sizes = [4 + 12 * (node.criteria / most) ** 0.5 if node.path else 6 for node in view.nodes]
    lines = [
        el("line", x1=f"{xs[a]:.1f}", y1=f"{ys[a]:.1f}", x2=f"{xs[b]:.1f}", y2=f"{ys[b]:.1f}")
        for a, b in view.edges
    ]
    top = min([-300, *ys]) - 30
    high = max([300, *ys]) + 40 - top
    marks = [_mark(*one) for one in zip(view.nodes, xs, ys, sizes, strict=True)]
    # Names come last: what is drawn later lies above.
    names = [_name(view.nodes[n], xs[n], ys[n], sizes[n], lift) for n, lift in named.items()]
    said = f"{view.leaves:,} leaves under {sum(len(n.path) == 1 for n in view.nodes)} roots"
    drawing = el(
        "svg",
        tree_wanted.style(),
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


def _room(node: GrowthNode) -> float:
    """Return how far a name reaches from the middle of its node."""
    return _LETTER * len(_short(node)) + 32


def _short(node: GrowthNode) -> str:
    return numbers.middle(node.path[-1], _LONGEST)


def _labels(view: GrowthView, xs: list[float], ys: list[float]) -> dict[int, float]:
    """Say which nodes have their names beside them, and how far each name is lifted to be read."""
    few = view.leaves <= _LABELLED
    wanted = [
        n
        for n, node in enumerate(view.nodes)
        if len(node.path) == 1 or (len(node.path) == DEPTH and (few or node.fresh))
    ]
    taken: list[tuple[float, float, float]] = []
    lifts: dict[int, float] = {}
    for n in sorted(wanted, key=lambda n: (len(view.nodes[n].path), ys[n])):
        wide = _room(view.nodes[n])
        left = xs[n] - wide if xs[n] < -1 else xs[n]
        for lift in (0.0, _LINE, -_LINE, 2 * _LINE, -2 * _LINE):
            at = ys[n] + lift
            if all(
                abs(at - y) >= _LINE or left > end or left + wide < begin for begin, end, y in taken
            ):
                taken.append((left, left + wide, at))
                lifts[n] = lift
                break
    return lifts


def _mark(node: GrowthNode, x: float, y: float, radius: float) -> Html:
    under = numbers.count(node.criteria, "criterion", "criteria")
    ink = kit.colour(node.root) if node.path else "currentColor"
    return el(
        "g",
        el("title", f"{format_path(node.path)}: {under}"),
        el("circle", r=f"{radius + 5:.1f}", class_="halo") if node.fresh else None,
        el("circle", r=f"{radius:.1f}", fill=ink),
        style=f"transform:translate({x:.1f}px,{y:.1f}px)",
    )


def _name(node: GrowthNode, x: float, y: float, radius: float, lift: float) -> Html:
    side, end = (-1, "end") if x < -1 else (1, "start")
    aside = radius + (11 if node.fresh else 5)
    words = el("text", _short(node), x=f"{side * aside:.1f}", y=f"{5 + lift:.1f}",
               text_anchor=end, class_="root" if len(node.path) == 1 else None)  # fmt: skip
    return el("g", words, class_="fresh" if node.fresh else None,
              style=f"transform:translate({x:.1f}px,{y:.1f}px)")  # fmt: skip
