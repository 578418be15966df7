"""Figures of Compare, the capability tree and Self-correction."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from atom.display import numbers
from atom.errors import UsageError
from atom.exports.figures.base import (
    INTERVAL,
    WIDE,
    Figure,
    FigureSource,
    beside,
    caption,
    chart,
    dots,
    layered,
    names,
    rows_high,
    x_axis,
)
from atom.views.compare.page import Comparison, compare
from atom.views.compare.sides import pick
from atom.views.correction.data import ExperimentRow, list_experiments
from atom.views.correction.form import EFFECT_WORDS
from atom.views.correction.page import results
from atom.views.tree.chart import node_colours
from atom.views.tree.colours import ink_on
from atom.views.tree.node_table import NodeTable, node_table, placed
from atom.views.tree.page import DrawnNodes, shown
from taxonomy import format_path

if TYPE_CHECKING:
    import altair as alt

_MOST_NODES = 40
_AHEAD, _BEHIND, _EVEN = "#2457D6", "#B0500A", "#7A838E"
_TREE_WIDE, _TREE_HIGH = 760, 900
_READABLE = 9.5


def differences(asked: FigureSource) -> Figure:
    """Draw where two models differ, capability by capability."""
    import altair as alt

    picked = pick(asked.data, asked.filters, asked.query)
    if picked is None or picked.alike:
        raise UsageError("at least two models with answers are needed")
    view = compare(asked.data, asked.filters, picked, facet=asked.query.get("facet"))
    tested = [one for one in view.nodes if math.isfinite(one.lo) and not one.repeats]
    if not tested:
        raise UsageError("the two share too few samples to be compared by capability")
    surest = sorted(tested, key=lambda one: (_least(one.adjusted), -abs(one.gap)))
    drawn = sorted(surest[:_MOST_NODES], key=lambda one: -one.gap)
    first, second = picked.first.label, picked.second.label
    labels = _unique([one.name for one in drawn])
    kinds = {"first": f"{first} is ahead", "second": f"{second} is ahead",
             "none": "not told apart", "thin": "insufficient"}  # fmt: skip
    values: list[dict[str, object]] = [
        {"name": label, "value": one.gap, "lo": one.lo, "hi": one.hi, "kind": kinds[one.verdict]}
        for label, one in zip(labels, drawn, strict=True)
    ]
    there = [kinds[key] for key in kinds if any(one.verdict == key for one in drawn)]
    inks = dict(zip(kinds.values(), (_AHEAD, _BEHIND, _EVEN, _EVEN), strict=True))
    ink = alt.Color("kind:N", title=None, legend=alt.Legend(orient="bottom", labelLimit=WIDE),
                    scale=alt.Scale(domain=there, range=[inks[one] for one in there]))  # fmt: skip
    y, x = names(labels, limit=320), x_axis("value", f"{first} less {second}, points of 100")
    rest = len(view.nodes) - len(drawn)
    return Figure(
        name=f"differences-{first}-{second}",
        title=f"{first} against {second}: {_overall(view)}",
        caption=caption(
            asked,
            f"Mean paired difference on what both answered; below zero {second} is better. "
            "Lines are 95 % intervals; samples are independent. Who is ahead is told at a "
            "false discovery rate of 10 % within a level of the tree.",
            f"{rest} of {len(view.nodes):,} with less evidence are in the table." if rest else "",
        ),
        columns=("capability", "first", "second", "difference_points", "lo", "hi", "samples", "n",
                 "p", "p_adjusted", "verdict"),
        rows=[(format_path(one.path) if one.path else one.name, one.first, one.second, one.gap,
               one.lo, one.hi, one.samples, one.n, one.p, one.adjusted, kinds[one.verdict])
              for one in view.nodes],
        chart=layered(values, [_zero(), *dots(y, x, ink)], height=rows_high(len(drawn), 18)),
    )  # fmt: skip


def _zero() -> alt.Chart:
    """Draw where there is no difference."""
    import altair as alt

    rule = chart([{"zero": 0}]).mark_rule(color="#9AA3AE", strokeDash=[4, 3])
    made: alt.Chart = rule.encode(x=alt.X("zero:Q"))
    return made


def _least(p: float) -> float:
    return p if math.isfinite(p) else math.inf


def _overall(view: Comparison) -> str:
    gap = view.gap
    return f"{numbers.signed(gap.value)} points ({numbers.signed_ends(gap.lo, gap.hi)}) overall"


def _unique(labels: list[str]) -> list[str]:
    """Number labels that come twice: Vega would put them on one line."""
    found: list[str] = []
    for label in labels:
        number, name = 1, label
        while name in found:
            number += 1
            name = f"{label} ({number})"
        found.append(name)
    return found


# --- tree ----------------------------------------------------------------------------------------


def tree_map(asked: FigureSource) -> Figure:
    """Draw the capability tree as an icicle, coloured by mean score."""
    tree = asked.data.tree
    if tree is None:
        raise UsageError("this study has no tree: make one on Capability tree › Grow")
    nodes = node_table(asked.data, tree, placed(asked.store, asked.data), asked.filters)
    model = asked.data.model_index(asked.filters.model)
    view = shown(nodes, model=model, colouring="score")
    who = "all models" if model is None else asked.data.candidates[model].name
    lo, hi = view.span
    return Figure(
        name="capability-tree",
        title=f"{tree.name}: mean score of {who}",
        caption=caption(
            asked,
            f"Each column is a layer, each box a capability, as high as the cube root of its "
            f"criteria; darker is better, from {lo:g} to {hi:g} of 100. A grey box has no score.",
        ),
        columns=("capability", "layer", "criteria", "samples", "mean_0_100", "scored_checkpoints"),
        rows=[
            (format_path(nodes.paths[at]) or "(all)", len(nodes.paths[at]),
             int(nodes.criteria[at]), int(nodes.samples[at]), float(view.value[at]),
             int(nodes.n[:, at].sum() if model is None else nodes.n[model, at]))
            for at in range(len(nodes.paths))
        ],
        chart=_icicle(nodes, view),
    )  # fmt: skip


def _icicle(nodes: NodeTable, view: DrawnNodes) -> alt.LayerChart:
    """Lay the boxes out: the leaves below one another, each node beside what lies under it."""
    import altair as alt

    size = np.where(nodes.is_leaf, np.cbrt(np.maximum(nodes.criteria, 1)), 0.0)
    sums = np.r_[0.0, np.cumsum(size)]
    layers = max(len(path) for path in nodes.paths)
    wide = _TREE_WIDE / max(layers, 1)
    leaves = max(int(nodes.is_leaf.sum()), 1)
    high = max(_TREE_HIGH, 13.0 * leaves)
    colours = node_colours(view, "light")
    values: list[dict[str, object]] = []
    for at in map(int, view.nodes):
        if not nodes.paths[at]:
            continue
        top = high * sums[at] / sums[-1]
        bottom = high * sums[nodes.end[at]] / sums[-1]
        left = wide * (len(nodes.paths[at]) - 1)
        number = "" if math.isnan(view.value[at]) else f"  {view.value[at]:.0f}"
        name = _fitting(nodes.paths[at][-1], int((wide - 10) / 5.4) - len(number))
        values.append({
            "x": left, "x2": left + wide, "y": high - top, "y2": high - bottom,
            "fill": colours[at], "ink": ink_on(colours[at]), "left": left + 5,
            "middle": high - (top + bottom) / 2,
            "name": f"{name}{number}" if bottom - top >= _READABLE else "",
        })  # fmt: skip
    across = alt.Scale(domain=[0, _TREE_WIDE], nice=False)
    down = alt.Scale(domain=[0, high], nice=False)
    boxes = chart().mark_rect(stroke="white", strokeWidth=1).encode(
        x=alt.X("x:Q", axis=None, scale=across), x2="x2",
        y=alt.Y("y:Q", axis=None, scale=down), y2="y2",
        color=alt.Color("fill:N", scale=None, legend=None),
    )  # fmt: skip
    words = chart().mark_text(align="left", baseline="middle", fontSize=9.5).encode(
        x=alt.X("left:Q", axis=None, scale=across),
        y=alt.Y("middle:Q", axis=None, scale=down), text="name:N",
        color=alt.Color("ink:N", scale=None, legend=None),
    )  # fmt: skip
    return layered(values, [boxes, words], width=_TREE_WIDE, height=high)


def _fitting(name: str, letters: int) -> str:
    """Cut a name in the middle where it has no room."""
    if len(name) <= max(letters, 4):
        return name
    half = max((letters - 1) // 2, 1)
    return f"{name[:half]}…{name[-half:]}"


# --- self-correction -----------------------------------------------------------------------------


def effects(asked: FigureSource) -> Figure:
    """Draw the effects of an experiment, each beside its control."""
    import altair as alt

    row = _experiment(asked)
    found = results(asked.store, row.experiment.id)
    known = [one for one in found.effects if math.isfinite(one.estimate) and one.n]
    if not known:
        raise UsageError("the experiment has no arm with a control yet: no effect can be drawn")
    labels = [EFFECT_WORDS[one.name].name for one in known]
    values: list[dict[str, object]] = [
        {"name": label, "value": 100 * one.estimate, "lo": 100 * one.lo, "hi": 100 * one.hi,
         "words": numbers.signed_interval(100 * one.estimate, 100 * one.lo, 100 * one.hi)
         + f"  n {one.n}"}
        for label, one in zip(labels, known, strict=True)
    ]  # fmt: skip
    y = names(labels)
    x = x_axis("value", "More right answers than under the control, points of 100")
    meant = [f"{label}: {EFFECT_WORDS[one.name].meaning}"
             for label, one in zip(labels, known, strict=True)]  # fmt: skip
    return Figure(
        name="self-correction-effects",
        title=f"What feedback does to {found.model}'s failed answers beyond its control",
        caption=caption(
            asked,
            f"An arm less its control on the same answers, after {found.tries} "
            f"{'try' if found.tries == 1 else 'tries'}; n: answers with a result in both.",
            INTERVAL.replace("; samples", "; pictures").replace("marks of one sample",
                                                                "answers to one picture"),
            *meant,
            judged=False,
        ),
        columns=("effect", "arm", "control", "difference_points", "lo", "hi", "n", "p_holm"),
        rows=[(label, one.arm, one.control, 100 * one.estimate, 100 * one.lo, 100 * one.hi, one.n,
               one.holm) for label, one in zip(labels, known, strict=True)],
        chart=layered(
            values,
            [_zero(), *dots(y, x, alt.ColorValue(_AHEAD)), beside(y, "words")],
            height=rows_high(len(known), 28),
        ),
    )  # fmt: skip


def _experiment(asked: FigureSource) -> ExperimentRow:
    rows = list_experiments(asked.store, asked.data.study.id)
    wanted = asked.query.get("experiment", "")
    whole = [row for row in rows if len(row.experiment.sample_ids) != 1]
    found = next((row for row in rows if wanted and row.experiment.id.startswith(wanted)), None)
    found = found or next(iter(whole), None)
    if found is None:
        raise UsageError("this study has no self-correction experiment yet")
    return found
