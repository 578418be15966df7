"""Multi-Crit: how far the place in which an answer is shown decides."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from atom.analysis.compare.votes import position_bias
from atom.analysis.intervals import Ints, make_cells, node_stats
from atom.judgebench.base import MetricRow, MetricTable
from atom.judgebench.multi_crit.measures import (
    Bools,
)
from atom.judgebench.multi_crit.ways import MISSING, Way


def order_of_showing(way: Way) -> Iterator[MetricTable]:
    """Say how far the place in which an answer is shown decides."""
    read = (way.votes >= 0) & (way.shown >= 0)
    if not read.any():
        return
    item = np.broadcast_to(way.rows.item[:, None], way.votes.shape)
    rows = [
        _shared(
            "first_shown",
            "Verdicts for the answer shown first",
            (way.votes == way.shown)[read],
            item[read],
            50.0,
        )
    ]
    seats = np.full((len(way.rows.item), 2), MISSING, dtype=np.int64)
    for votes, shown in zip(way.votes.T, way.shown.T, strict=True):
        for order in (0, 1):
            fresh = (shown == order) & (votes != MISSING) & (seats[:, order] == MISSING)
            seats[fresh, order] = votes[fresh]
    asked = (seats != MISSING).all(axis=1)
    if asked.any():
        both = (seats >= 0).all(axis=1)
        same = seats[:, 0] == seats[:, 1]
        right = same & (seats[:, 0] == way.rows.label)
        rows += [
            _shared("swap_consistency", "Same answer in both orders", same[both],
                    way.rows.item[both], 50.0, invalid=int((asked & ~both).sum())),
            _shared("swap_accuracy", "Right in both orders", right[asked],
                    way.rows.item[asked], 25.0, invalid=int((asked & ~both).sum())),
        ]  # fmt: skip
        row, first = np.nonzero(seats >= 0)
        bias = position_bias(
            seats[row, first].astype(np.int8),
            first.astype(np.int8),
            row.astype(np.int64),
            len(seats),
        )
        rows.append(
            MetricRow(
                metric="position_bias",
                label="Pull of the first place (log-odds)",
                value=bias.beta,
                lo=bias.lo,
                hi=bias.hi,
                chance=0.0,
                n=bias.pairs,
                unit="difference",
                note="Above 0: towards the answer shown first; below 0: towards the second.",
            )
        )
    yield MetricTable(
        title="Order of showing",
        rows=tuple(rows),
        note="All criteria of a pair are shown in the same order; half of the pairs are swapped.",
    )


def _shared(
    metric: str, label: str, hits: Bools, item: Ints, chance: float, invalid: int = 0
) -> MetricRow:
    """Lay out a share of rows, pairs of answers being the clusters."""
    value, lo, hi = math.nan, math.nan, math.nan
    if len(hits):
        nodes = np.zeros(len(hits), dtype=np.int64)
        stats = node_stats(make_cells(hits.astype(np.float64), nodes, item, 1), 1)
        value, lo, hi = float(stats.mean[0]), float(stats.lo[0]), float(stats.hi[0])
    return MetricRow(
        metric=metric,
        label=label,
        value=100 * value,
        lo=100 * lo,
        hi=100 * hi,
        chance=chance,
        n=len(hits),
        invalid=invalid,
    )
