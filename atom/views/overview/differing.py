"""On how many checkpoints the judges of a panel differ, and where most.

Marks are taken as the judges made them; people aren't counted as judges here.

Reference: METHODS T5 (disagreement: standard deviation over judges).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import Ints
from atom.views.filters import Filters, rows_in_node, rows_kept, where_judges_differ
from atom.views.study_data import StudyData
from taxonomy import Path

LEAST = 30
"""Checkpoints that several judges marked, before a capability is named for how they differ."""
MOST = 3
"""Capabilities that are named."""


@dataclass(frozen=True, kw_only=True)
class PanelDifference:
    """How far the judges of a panel differ on some checkpoints, as they mark.

    Attributes:
        share: of the checkpoints that two judges or more marked, those on which they differ by a
            step of the scale of five or more, 0-100; NaN where there is no such checkpoint.
        disagreement: mean standard deviation over judges, in points of 0-100; NaN likewise.
        n: checkpoints that two judges or more marked.
        filters: where its door leads.
        path: the capability that they hang under; empty = anywhere.
    """

    share: float
    disagreement: float
    n: int
    filters: Filters
    path: Path = ()


def differing(
    n: float, differ: float, disagreement: float, filters: Filters, path: Path = ()
) -> PanelDifference:
    """Put sums together.

    Args:
        n: checkpoints that two judges or more marked.
        differ: of these, those on which they differ.
        disagreement: sum of the standard deviations there, 0 to 1 each.
        path: the capability that they hang under.
    """
    return PanelDifference(
        share=100 * float(differ / n) if n else math.nan,
        disagreement=100 * float(disagreement / n) if n else math.nan,
        n=int(n),
        filters=where_judges_differ(filters),
        path=path,
    )


def judges_differ(data: StudyData, filters: Filters) -> PanelDifference | None:
    """Say how far judges differ on the checkpoints of a node and model; None with one judge.

    Args:
        filters: node and model choose the checkpoints, beside what narrows every view.
    """
    rows = _rows(data, filters)
    if rows is None:
        return None
    table = data.table
    assert table.disagreement is not None
    inside = rows[rows_in_node(data, filters.node)[rows]]
    model = data.model_index(filters.model)
    if model is not None:
        inside = inside[table.model[table.response[inside]] == model]
    return differing(
        len(inside),
        table.differ[inside].sum(),
        table.disagreement[inside].sum(dtype=np.float64),
        filters,
        filters.node,
    )


def where_most(
    data: StudyData, filters: Filters, least: int = LEAST
) -> tuple[PanelDifference, ...]:
    """Name the capabilities on which judges differ most, at most `MOST`; empty with one judge.

    Args:
        filters: what narrows every view, and the model.
        least: checkpoints that several judges marked, under which no capability is named.
    """
    rows = _rows(data, filters)
    if rows is None:
        return ()
    table = data.table
    assert table.disagreement is not None
    model = data.model_index(filters.model)
    rows = rows[table.leaf[rows] >= 0]
    if model is not None:
        rows = rows[table.model[table.response[rows]] == model]
    leaf, size = table.leaf[rows].astype(np.int64), len(table.leaves)
    n = np.bincount(leaf, minlength=size)
    differ = np.bincount(leaf[table.differ[rows]], minlength=size)
    total = np.bincount(leaf, weights=table.disagreement[rows], minlength=size)
    enough = np.flatnonzero((n >= least) & (differ > 0))
    first = enough[np.argsort(-differ[enough] / n[enough], kind="stable")][:MOST]
    return tuple(
        differing(n[at], differ[at], total[at], filters.but(node=path), path)
        for at in first.tolist()
        for path in (table.leaves[at],)
    )


def _rows(data: StudyData, filters: Filters) -> Ints | None:
    """Return the checkpoints kept that several judges marked; None where the study has none."""
    if data.table.apart is None:
        return None
    rows = np.flatnonzero(rows_kept(data, filters) & data.table.panelled)
    return rows if len(rows) else None
