"""What means and claims about nodes start from: the rows that count, and their sums by node.

Reference: METHODS B1, B2, G.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from atom.analysis.intervals import Cells, Floats, Ints, NodeStats, stats_of_sums
from atom.analysis.layout import Layout, Mask, SomeRows, among, numbered
from atom.analysis.merged import Additive
from atom.analysis.moments import RowCounts, count_rows, linear, narrow, pairs_of, quadratic
from atom.analysis.result_cache import ResultCache

ROUNDING = 1e-13
"""A variance below this share of what it is the difference of is rounding."""
FEW = 0.7
"""Where less than this share of the rows counts, they are laid out by themselves first."""


@dataclass(frozen=True, kw_only=True)
class CountedRows:
    """The rows of one part that count.

    Attributes:
        layout: the rows and nodes asked about, or the part of the rows that counts.
        keep: rows of it with a value, in a node, that count, shape (n,).
        counted: how many they are by unit, group and node; None where that is left to cells.
    """

    layout: Layout
    keep: Mask
    counted: RowCounts | None

    @cached_property
    def kept(self) -> ResultCache:
        """What one pass leaves for the next."""
        return ResultCache(4)

    @cached_property
    def values(self) -> Floats:
        """The rows' values, 0 where a row doesn't count, shape (n,)."""
        return np.where(self.keep, self.layout.value, 0).astype(np.float64)

    @property
    def sums(self) -> NodeSums:
        """The sums by node, made once."""
        return self.kept.get("sums", lambda: node_sums(self.layout, self.values, self))


def find_grounds(layout: Layout, rows: SomeRows | None = None) -> CountedRows:
    """Say which rows count, and count them.

    Args:
        layout: rows and nodes (`tree_layout`, `facet_layout`).
        rows: the rows that count; all when None.
    """
    keep = layout.usable() if rows is None else among(rows, layout.usable())
    if keep.dtype == bool and np.count_nonzero(keep) >= FEW * layout.n_rows:
        return grounds_of(layout, keep.astype(np.bool_, copy=False))
    layout = narrow(layout, numbered(keep))
    return grounds_of(layout, np.ones(layout.n_rows, dtype=bool))


def grounds_of(layout: Layout, keep: Mask) -> CountedRows:
    """Count rows that have a value and a node, shape (n,), as they are laid out."""
    pairs = pairs_of(layout)
    counted = None if pairs is None else count_rows(layout, pairs, keep)
    return CountedRows(layout=layout, keep=keep, counted=counted)


@dataclass(frozen=True, kw_only=True)
class Moments(Additive):
    """Sums over clusters c of what a group has there, arrays of one shape.

    Attributes:
        n: values, `sum N_c`.
        total: `sum S_c`, the sum of the values.
        groups: clusters that have any.
        ss: `sum S_c^2`.
        sc: `sum S_c N_c`.
        cc: `sum N_c^2`.
    """

    n: Floats
    total: Floats
    groups: Floats
    ss: Floats
    sc: Floats
    cc: Floats

    def stats(self, level: Ints | None = None, confidence: float = 0.95) -> NodeStats:
        """Estimate means with intervals.

        Args:
            level: which pool of dispersions each belongs to (`node_stats`).
            confidence: coverage aimed at.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.total / self.n
        size = self.ss + mean**2 * self.cc
        squares = self.ss - 2 * mean * self.sc + mean**2 * self.cc
        # What is left by rounding alone is no variance.
        squares = np.where(squares <= ROUNDING * size, 0.0, squares)
        return stats_of_sums(self.n, self.total, self.groups, squares, level, confidence)


def unit_moments(total: Floats, count: Floats) -> Moments:
    """Form the moments of models from sums and counts by (model, cluster), shape (K, C) each."""
    return Moments(
        n=count.sum(axis=1),
        total=total.sum(axis=1),
        groups=(count > 0).sum(axis=1).astype(np.float64),
        ss=np.einsum("kc,kc->k", total, total),
        sc=np.einsum("kc,kc->k", total, count),
        cc=np.einsum("kc,kc->k", count, count),
    )


def cell_moments(cells: Cells, n_nodes: int) -> Moments:
    """Form the moments of nodes from sums by (cluster, node); shape (n_nodes,)."""
    node, s, c = cells.node.astype(np.intp), cells.total, cells.count

    def by_node(values: Floats | None) -> Floats:
        return np.bincount(node, weights=values, minlength=n_nodes).astype(np.float64)

    return Moments(n=by_node(c), total=by_node(s), groups=by_node(None), ss=by_node(s * s),
                   sc=by_node(s * c), cc=by_node(c * c))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NodeSums(Additive):
    """Sums of K models on M nodes.

    Attributes:
        nodes: by (model, node), shape (K * M,).
        rows: rows that count, by model, shape (K,).
        values: the sum of their values, by model.
    """

    nodes: Moments
    rows: Floats
    values: Floats

    @property
    def means(self) -> Floats:
        """Mean value of each model's rows, shape (K,); 0 where it has none."""
        return np.asarray(self.values / np.maximum(self.rows, 1))


def node_sums(layout: Layout, value: Floats, grounds: CountedRows) -> NodeSums:
    """Sum values by model and node: by pairs of groups where there are few, else by cells.

    Args:
        value: shape (n,), 0 where a row doesn't count.
        grounds: the rows that count.
    """
    keep, counted, pairs = grounds.keep, grounds.counted, pairs_of(layout)
    base = layout.base_totals(value, keep)
    if pairs is None or counted is None:
        cells = layout.cells(base, layout.base_counts(keep))
        nodes = cell_moments(cells, layout.n_models * layout.n_nodes)
    else:
        nodes = Moments(
            n=counted.n,
            total=linear(layout, base),
            groups=counted.groups,
            ss=quadratic(layout, pairs, base, base),
            sc=quadratic(layout, pairs, base, counted.count),
            cc=counted.squares,
        )
    each = layout.rows_of_model
    return NodeSums(
        nodes=nodes,
        rows=np.array([np.count_nonzero(keep[rows]) for rows in each], dtype=np.float64),
        values=np.array([value[rows].sum() for rows in each], dtype=np.float64),
    )
