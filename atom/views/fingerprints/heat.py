"""The heatmap of models by capabilities: which rows and columns, in which order, as chart or file.

Orders are computed from the values alone, so that the same study gives the same picture.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from atom.analysis.intervals import Floats
from atom.display.csv_text import safe_text
from atom.views.fingerprints.claims import Claims
from atom.views.fingerprints.shape import Shape, ShapeMark, ShapeModel, full_name
from atom.views.lab.judge_marks import JudgeMark
from atom.views.overview.evidence import NodeEvidence
from taxonomy import Path

RowOrder = Literal["score", "study", "clustered"]
ColumnOrder = Literal["tree", "score", "clustered"]
Colouring = Literal["score", "difference", "evidence"]
ROW_ORDERS: tuple[RowOrder, ...] = get_args(RowOrder)
COLUMN_ORDERS: tuple[ColumnOrder, ...] = get_args(ColumnOrder)
COLOURINGS: tuple[Colouring, ...] = get_args(Colouring)
MOST_COLUMNS = 60
"""With more columns names can't be read; the tree's next layer up is drawn instead."""


@dataclass(frozen=True, kw_only=True)
class HeatColumn:
    """A capability or label.

    Attributes:
        node: its index.
        path: its path; empty for a label.
        label: (facet, value) for a label; None for a capability.
        group: the root that it hangs under; empty for a label.
        judge: what is wrong with the judge there; None = nothing known.
    """

    node: int
    name: str
    path: Path
    label: tuple[str, str] | None
    group: str
    judge: JudgeMark | None = None

    @property
    def full(self) -> str:
        """The whole path, or the label with its facet."""
        return full_name(self.path, self.label)


@dataclass(frozen=True, kw_only=True)
class HeatCell:
    """One model on one capability or label.

    Attributes:
        mark: value, interval, n, and the door.
        difference: the value less the mean of the other models, in points; NaN without any.
        claim: what the diagnosis says; None where nothing may be claimed or nothing is there.
    """

    mark: ShapeMark
    difference: float
    claim: NodeEvidence | None

    @property
    def glyph(self) -> str:
        """The claim's glyph; `–` where there is no value, nothing where nothing is claimed."""
        if not self.mark.estimate.known:
            return "–"
        return "" if self.claim is None or self.claim.label == "nothing found" else self.claim.glyph


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """Rows, columns and cells in the order drawn.

    Attributes:
        models: top to bottom.
        columns: left to right.
        cells: a row a model.
        grouped: whether columns stand by root.
        coarse: whether columns are inner nodes, since there are too many leaves.
        left_out: labels that found no room, those with the least data.
    """

    models: tuple[ShapeModel, ...]
    columns: tuple[HeatColumn, ...]
    cells: tuple[tuple[HeatCell, ...], ...]
    grouped: bool
    coarse: bool
    left_out: int

    @cached_property
    def span(self) -> tuple[float, float]:
        """Ends of the colour scale of scores: tens that hold all values, 20 apart or more."""
        known = [
            cell.mark.estimate.value
            for row in self.cells
            for cell in row
            if cell.mark.estimate.known
        ]
        if not known:
            return 0.0, 100.0
        lo = max(10.0 * math.floor(min(known) / 10), 0.0)
        hi = min(max(10.0 * math.ceil(max(known) / 10), lo + 20), 100.0)
        return min(lo, hi - 20), hi


def heatmap(
    form: Shape,
    said: Claims | None,
    *,
    rows: RowOrder = "score",
    columns: ColumnOrder = "tree",
    every: bool = False,
) -> Heatmap:
    """Arrange the heatmap.

    Args:
        rows: `score` best first, `study` as the study names them, `clustered` alike ones together.
        columns: `tree` in the tree's order and by root, `score` hardest first, `clustered`.
        every: whether all leaves or labels stay, however many there are.
    """
    nodes, coarse, left_out = _columns(form, every=every)
    models = _row_order(form, nodes, rows)
    nodes = _column_order(form, nodes, columns)
    peers = form.of_peers()
    return Heatmap(
        models=tuple(form.names[one] for one in models),
        columns=tuple(
            HeatColumn(
                node=node,
                name=form.name_at(node),
                path=form.path_at(node),
                label=form.label_at(node),
                group=form.path_at(node)[0] if form.path_at(node) else "",
                judge=form.judge_at(node),
            )
            for node in nodes
        ),
        cells=tuple(
            tuple(
                HeatCell(
                    mark=form.mark(one, node),
                    difference=float(form.mean[one, node] - peers[one, node]),
                    claim=said.at(one, node) if said is not None and form.n[one, node] else None,
                )
                for node in nodes
            )
            for one in models
        ),
        grouped=columns == "tree" and form.facet is None,
        coarse=coarse,
        left_out=left_out,
    )


def _columns(form: Shape, *, every: bool) -> tuple[list[int], bool, int]:
    """Choose what is drawn: nodes, whether they are inner ones, and how many found no room."""
    finest = [int(node) for node in form.finest if form.n[:, node].sum()]
    if every or len(finest) <= MOST_COLUMNS:
        return finest, False, 0
    if form.facet is None:
        number = {path: node for node, path in enumerate(form.paths)}
        paths = [form.paths[node] for node in finest]
        for depth in range(max(map(len, paths)) - 1, 0, -1):
            above = [number[path] for path in dict.fromkeys(path[:depth] for path in paths)]
            if len(above) <= MOST_COLUMNS:
                return above, True, 0
    most = sorted(finest, key=lambda node: -int(form.n[:, node].sum()))[:MOST_COLUMNS]
    return [node for node in finest if node in set(most)], False, len(finest) - len(most)


def _row_order(form: Shape, nodes: Sequence[int], order: RowOrder) -> list[int]:
    models = list(form.models)
    if order == "score":
        return sorted(models, key=lambda one: (-form.overall[one], one))
    if order == "clustered":
        return [models[place] for place in _clustered(_profile(form, models, nodes))]
    return models


def _column_order(form: Shape, nodes: list[int], order: ColumnOrder) -> list[int]:
    models = list(form.models)
    if order == "score" and models:
        known = form.mean[np.ix_(models, nodes)]
        mean = [float(column[np.isfinite(column)].mean()) for column in known.T]
        return [nodes[place] for place in np.argsort(mean, kind="stable")]
    if order == "clustered":
        return [nodes[place] for place in _clustered(_profile(form, models, nodes).T)]
    return nodes


def _profile(form: Shape, models: Sequence[int], nodes: Sequence[int]) -> Floats:
    """Return what is a model's own: values less the column's and the row's mean, 0 where none."""
    value = form.mean[np.ix_(list(models), list(nodes))]
    known = np.isfinite(value)
    value = np.where(known, value, 0)
    value = np.where(known, value - value.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0)
    level = value.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(known, value - level, 0))


def _clustered(values: Floats) -> list[int]:
    """Order rows so that alike ones stand together: average linkage, best leaf order."""
    if len(values) < 3:
        return list(range(len(values)))
    # Loaded here: it takes a tenth of a second, and most visits don't ask for it.
    from scipy.cluster.hierarchy import leaves_list, linkage

    return [int(one) for one in leaves_list(linkage(values, "average", optimal_ordering=True))]


# --- file --------------------------------------------------------------------------------------


def heat_csv(heat: Heatmap) -> str:
    """Write every cell as CSV, a line a model and capability (or label).

    Args:
        heat: with `every`, so that nothing is missing.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("model", "group", "name", "path", "score", "low", "high", "n", "samples", "listed",
         "difference_to_peers", "status", "effect", "effect_low", "effect_high", "frame", "judge")
    )  # fmt: skip
    for model, row in zip(heat.models, heat.cells, strict=True):
        for column, cell in zip(heat.columns, row, strict=True):
            estimate, claim = cell.mark.estimate, cell.claim
            writer.writerow(
                (
                    *map(safe_text, (model.name, column.group, column.name, column.full)),
                    *map(_number, (estimate.value, estimate.lo, estimate.hi)),
                    estimate.n,
                    estimate.samples,
                    cell.mark.listed,
                    _number(cell.difference),
                    "" if claim is None else claim.words,
                    *(
                        ("", "", "")
                        if claim is None
                        else map(_number, (claim.effect, claim.lo, claim.hi))
                    ),
                    "" if claim is None else claim.frame,
                    "" if column.judge is None else column.judge.word,
                )
            )
    return out.getvalue()


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
