"""Radars of the Fingerprints page: which capabilities are axes, and what stands on them.

Reference: ATOM Figure 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.views.filters import label_name
from atom.views.fingerprints.shape import Shape, ShapeMark, ShapeModel, full_name
from atom.views.lab.judge_marks import JudgeMark
from taxonomy import Path

SEEING = ("Perception", "Understanding")
THINKING = ("Reasoning", "Knowledge", "Trustworthiness", "Generation")
FEW_AXES, MOST_AXES = 5, 16
LEAST_AXES = 3
"""A radar with fewer axes has no shape; it's drawn as bars."""


@dataclass(frozen=True, kw_only=True)
class RadarAxis:
    """One axis of a radar.

    Attributes:
        name: the capability's (or label's) own name.
        path: its path; empty for a label.
        label: (facet, value) for a label; None for a capability.
        middle: mean over all models, 0-100.
        lo: that mean less one standard deviation between the models.
        hi: that mean plus one.
        marks: one a model drawn, in the radar's order.
        judge: what is wrong with the judge there; None = nothing known.
    """

    name: str
    path: Path
    label: tuple[str, str] | None
    middle: float
    lo: float
    hi: float
    marks: tuple[ShapeMark, ...]
    judge: JudgeMark | None = None

    @property
    def full(self) -> str:
        """The whole path, or the label with its facet."""
        return full_name(self.path, self.label)


@dataclass(frozen=True, kw_only=True)
class Radar:
    """A radar; with fewer than three axes it's drawn as bars.

    Attributes:
        title: what its axes are.
        axes: clockwise from the top.
        models: who is drawn, the chosen one first.
        group: models that the grey band is made of.
        left_out: axes that found no room, those with the least data.
    """

    title: str
    axes: tuple[RadarAxis, ...]
    models: tuple[ShapeModel, ...]
    group: int
    left_out: int

    @property
    def band_words(self) -> str:
        """What the grey band is."""
        if self.group < 2:
            return ""
        return f"mean of all {self.group} models ± one standard deviation between them"


def layers(form: Shape) -> tuple[int, ...]:
    """Return the layers of the tree that a radar can be made of, 1 = the roots; none for labels."""
    deepest = max((len(form.paths[leaf]) for leaf in form.finest), default=0) if form.paths else 0
    return tuple(range(1, deepest + 1))


def radars(form: Shape, layer: int | None = None) -> tuple[Radar, ...]:
    """Make the radars: perceiving and understanding, then the rest; one for labels or the roots.

    Args:
        layer: the layer whose capabilities are axes, 1 = the roots; a shallower leaf stands for
            itself. None = one of a readable number.
    """
    if not form.models:
        return ()
    if form.facet is not None:
        nodes = [int(node) for node in form.finest if form.n[:, node].sum()]
        return (_radar(form, label_name(form.facet), nodes),) if nodes else ()
    there = tuple(dict.fromkeys(path[0] for path in form.paths if path))
    if layer == 1:
        nodes = _at_layer(form, there, 1)
        return (_radar(form, "All of it", nodes),) if nodes else ()
    rest = tuple(root for root in there if root not in SEEING)
    groups = (
        ("Perceiving and understanding", SEEING),
        ("Reasoning and generating" if set(rest) & set(THINKING) else "Capabilities", rest),
    )
    found = (
        (title, _axes_under(form, roots) if layer is None else _at_layer(form, roots, layer))
        for title, roots in groups
    )
    return tuple(_radar(form, title, nodes) for title, nodes in found if nodes)


def _at_layer(form: Shape, roots: Sequence[str], layer: int) -> list[int]:
    """Return the nodes of a layer that have values, in the tree's order."""
    number = {path: node for node, path in enumerate(form.paths)}
    leaves = (form.paths[leaf] for leaf in form.finest if form.paths[leaf][0] in roots)
    nodes = (number[path] for path in dict.fromkeys(leaf[:layer] for leaf in leaves))
    return [node for node in nodes if form.n[:, node].sum()]


def _axes_under(form: Shape, roots: Sequence[str]) -> list[int]:
    """Choose the layer of the tree whose nodes are the axes: the second, a deeper one when few."""
    best: list[int] = []
    deepest = max((len(form.paths[leaf]) for leaf in form.finest), default=1)
    for depth in range(2, deepest + 1):
        nodes = _at_layer(form, roots, depth)
        if not best or len(nodes) <= MOST_AXES:
            best = nodes
        if len(best) >= FEW_AXES:
            break
    return best or _at_layer(form, roots, deepest)


def _radar(form: Shape, title: str, nodes: list[int]) -> Radar:
    most = sorted(nodes, key=lambda node: -int(form.n[:, node].sum()))[:MOST_AXES]
    kept = [node for node in nodes if node in set(most)]
    drawn = form.drawn()
    return Radar(
        title=title,
        axes=tuple(_axis(form, node, drawn) for node in kept),
        models=tuple(form.names[one] for one in drawn),
        group=len(form.models),
        left_out=len(nodes) - len(kept),
    )


def _axis(form: Shape, node: int, drawn: Sequence[int]) -> RadarAxis:
    values = form.mean[list(form.models), node]
    values = values[np.isfinite(values)]
    middle = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return RadarAxis(
        name=form.name_at(node),
        path=form.path_at(node),
        label=form.label_at(node),
        middle=middle,
        lo=max(middle - spread, 0.0),
        hi=min(middle + spread, 100.0),
        marks=tuple(form.mark(one, node) for one in drawn),
        judge=form.judge_at(node),
    )
