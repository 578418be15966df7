"""Where two sides differ on the Compare page: the capabilities or labels on which one is ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit, links
from atom.ui.compare.marks import VERDICTS, difference, dumbbell, forest, limit_of, marks_key
from atom.ui.compare.sides import names, pinned, to
from atom.ui.html import Html, el, join
from atom.ui.pages import FAILURES
from atom.ui.shell.frame import Here
from atom.views.compare.nodes import NodeGap, Q
from atom.views.compare.page import Comparison
from atom.views.filters import Filters, label_name
from atom.views.overview.quadrants import MIN_SAMPLES
from taxonomy import format_path

_SHOWN = 8
"""Rows of a list before the rest is folded away."""


def where(here: Here, view: Comparison) -> Html | None:
    """List where one side is ahead and where it falls behind, the surest first."""
    if not view.gap.samples:
        return None
    head = el(
        "div",
        el("h2", "Where they differ", style="margin:0"),
        _groups(here, view),
        class_="row",
        style="justify-content:space-between;margin-bottom:8px",
    )
    if not view.nodes:
        words = "No criteria belong to a tree yet, and there is no label to group by."
        return el("section", head, el("p", words, class_="quiet"))
    ahead, behind = view.found("first"), view.found("second")
    first, _ = names(view)
    every = here.query.get("depth") == "all"
    limit = limit_of([abs(end) for node in view.nodes if node.verdict != "thin"
                    for end in (node.lo, node.hi) if not math.isnan(end)])  # fmt: skip
    return el(
        "section",
        head,
        _list(here, view, f"{first} is behind", behind, limit, "second"),
        _list(here, view, f"{first} is ahead", ahead, limit, "first"),
        _all(here, view, limit) if every else None,
        _counted(here, view, every),
    )


def _groups(here: Here, view: Comparison) -> Html | None:
    filters = pinned(here, view.picked)
    found: list[tuple[str, str, bool]] = []
    if view.measure == "process" and here.data.table.leaves:
        found.append(
            ("Capabilities", to(here, view.picked, filters, facet=None), view.facet is None)
        )
    found += [
        (label_name(name), to(here, view.picked, filters, facet=name), view.facet == name)
        for name in view.facets
    ]
    return kit.tabs(found[:8], label="What differences are grouped by") if len(found) > 1 else None


def _list(
    here: Here, view: Comparison, title: str, nodes: Sequence[NodeGap], limit: float, kind: str
) -> Html:
    glyph, _, class_ = VERDICTS[kind]
    head = el(
        "h2",
        el("span", el("span", glyph, class_="glyph", aria_hidden="true"), class_=f"diff {class_}"),
        f"{title} ({len(nodes)})",
        el("span", " none beyond chance", class_="quiet small", style="font-weight:400")
        if not nodes
        else None,
        style="margin-top:12px",
    )
    if not nodes:
        return head
    rest = nodes[_SHOWN:]
    return join(
        head,
        _table(here, view, nodes[:_SHOWN], limit, title),
        kit.fold(f"{len(rest):,} more", _table(here, view, rest, limit, title)) if rest else None,
    )


def _all(here: Here, view: Comparison, limit: float) -> Html:
    unit = "capabilities" if view.facet is None else f"values of {view.facet}"
    nodes = [node for node in view.nodes if node.samples]
    return join(
        el("h2", numbers.every(len(nodes), unit), style="margin-top:16px"),
        _table(here, view, nodes, limit, f"All {unit}", indent=view.facet is None),
    )


def _counted(here: Here, view: Comparison, every: bool) -> Html:
    """Count what is not listed, and say what the lists rest on."""
    unit = ("node", "nodes") if view.facet is None else ("group", "groups")
    filters = pinned(here, view.picked)
    even = sum(node.verdict == "none" for node in view.nodes)
    door = to(here, view.picked, filters, depth=None if every else "all")
    return kit.note(
        kit.door("Hide the full list" if every else "Show all of them", door),
        f" · {numbers.count(view.tested, *unit)} tested, {even:,} not told apart",
        f" · ○ {view.thin:,} with too little evidence (under {MIN_SAMPLES} samples), not tested"
        if view.thin
        else "",
        " · beyond chance: ",
        kit.term("false discovery rate"),
        f" {numbers.share(Q)} (Benjamini-Hochberg",
        ", each level of the tree for itself)" if view.facet is None else ")",
        f" · labels of {view.facet} may overlap" if view.facet else "",
        ". A name shows its pairs below; the last column opens what "
        f"{view.picked.first.name} failed there.",
        style="margin-top:10px",
    )


def _table(
    here: Here,
    view: Comparison,
    nodes: Sequence[NodeGap],
    limit: float,
    label: str,
    *,
    indent: bool = False,
) -> Html:
    first, second = names(view)
    axis = el(
        "span",
        el("span", f"−{limit:g}"),
        el("span", "0"),
        el("span", f"+{limit:g}"),
        class_="axis",
        data_tip=f"left of 0: {second} is ahead; right of it: {first}",
    )

    def pairs(node: NodeGap) -> str:
        return to(here, view.picked, _keep(here, view, node), at=None)

    return kit.grid(
        nodes,
        kit.MarkupColumn(
            "Capability" if view.facet is None else label_name(view.facet),
            lambda node: _name(node, pairs(node), indent=indent),
            width="26%",
        ),
        kit.MarkupColumn(
            el("span", el("span", "0"), marks_key(view), el("span", "100"), class_="axis"),
            lambda node: dumbbell(view, node.first, node.second),
            width="20%",
        ),
        kit.MarkupColumn(
            axis,
            lambda node: forest(node.gap, node.lo, node.hi, limit, VERDICTS[node.verdict][2]),
            width="19%",
        ),
        kit.number(
            join("Difference (95 % ", kit.term("interval", "interval"), ")"),
            lambda node: difference(node.gap, node.lo, node.hi, node.verdict),
        ),
        kit.number(kit.term("adjusted p", "adj.\u00a0p"), _adjusted),
        kit.number("Shared samples", lambda node: _shared(view, node, pairs(node))),
        kit.number("Failed", lambda node: _failed(view, node)),
        label=label,
        on=lambda node: bool(node.path) and node.path == here.filters.node,
    )


def _name(node: NodeGap, pairs: str, *, indent: bool) -> Html:
    above = " › ".join(node.path[:-1])
    return el(
        "a",
        el("span", numbers.middle(node.name, 40)),
        el("span", numbers.middle(above, 44), class_="where") if above and not indent else None,
        href=pairs,
        data_go=True,
        class_="cell",
        style=f"padding-left:{10 + 16 * (node.depth - 1)}px" if indent else None,
        data_tip=format_path(node.path) if node.path else node.name,
    )


def _adjusted(node: NodeGap) -> Html:
    tip = f"p {numbers.p_value(node.p)} before allowing for the other nodes of its level"
    return kit.quiet(numbers.p_value(node.adjusted), data_tip=tip)


def _shared(view: Comparison, node: NodeGap, pairs: str) -> Html:
    unit = "criterion" if view.facet is None else "sample"
    shared = numbers.count(node.n, unit, "criteria" if unit == "criterion" else "samples")
    return kit.cell(node.samples, pairs, tip=f"{shared} that both have a value for")


def _failed(view: Comparison, node: NodeGap) -> Html:
    """Count what the first side failed here, with the door to it."""
    words = f"{node.failed:,} of {node.answered:,}"
    if not node.failed:
        return kit.quiet(words)
    tip = f"what {view.picked.first.name} failed, of all samples that it answered here"
    return kit.cell(words, links.address(FAILURES.url_path, node.filters), tip=tip)


def _keep(here: Here, view: Comparison, node: NodeGap) -> Filters:
    base = pinned(here, view.picked)
    return node.inside.but(model=base.model, peers=base.peers)
