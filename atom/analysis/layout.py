"""Rows and the nodes they belong to, prepared once per revision so that a filter costs no sort.

A row is a checkpoint (measure *process*, nodes of the tree) or an answer (any value of an answer,
labels of a facet). A *unit* is one model's share of one cluster: what is independent of the rest.
A *cell* is what a unit has in a node.

Reference: METHODS 0 (rows and clusters), G (cells).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.cube import index_nodes
from atom.analysis.intervals import Cells, Floats, Ints
from atom.analysis.score_table import ScoreTable
from atom.analysis.sums import group_sums

Indices = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """n rows of K models in M nodes; groups are the finest nodes (leaves, or labels).

    Attributes:
        n_models: K.
        n_nodes: M.
        n_groups: leaves or labels.
        n_clusters: clusters of the study.
        n_items: things that models share: criteria, or samples.
        level: tree level of each node, shape (M,).
        parent: node above each node, shape (M,); -1 at the top.
        group_node: node of each group, shape (n_groups,).
        value: float32, shape (n,), in [0, 1]; NaN = nothing scored.
        item: shape (n,).
        model: shape (n,).
        unit: `model * n_clusters + cluster`, shape (n,).
        pair_row: row of each (row, group) pair, shape (P,); a row may be in several groups.
        pair_base: (unit, group) of each pair, shape (P,).
        base_group: `model * n_groups + group`, shape (B,).
        lift_base: from, shape (Q,): which (unit, group) ...
        lift_cell: to, shape (Q,): ... adds to which cell.
        cell_unit: shape (C,).
        cell_node: `model * n_nodes + node`, shape (C,).
    """

    n_models: int
    n_nodes: int
    n_groups: int
    n_clusters: int
    n_items: int
    level: Ints
    parent: Ints
    group_node: Ints
    value: NDArray[np.float32]
    item: Indices
    model: Indices
    unit: Indices
    pair_row: Indices
    pair_base: Indices
    base_group: Indices
    lift_base: Indices
    lift_cell: Indices
    cell_unit: Indices
    cell_node: Indices

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return len(self.value)

    @property
    def node_model(self) -> Ints:
        """Model of each (model, node), shape (K * M,)."""
        return np.repeat(np.arange(self.n_models), self.n_nodes)

    def usable(self, rows: Mask | None = None) -> Mask:
        """Say which rows have a value and a group and pass the mask, shape (n,)."""
        good = np.isfinite(self.value)
        if rows is not None:
            good &= rows
        grouped = np.zeros(self.n_rows, dtype=bool)
        grouped[self.pair_row] = True
        return np.asarray(good & grouped)

    def base_sums(self, value: Floats, keep: Mask) -> tuple[Floats, Floats]:
        """Sum values by (unit, group).

        Args:
            value: shape (n,); only kept rows are read.
            keep: shape (n,).

        Returns:
            Totals and counts, shape (B,) each.
        """
        inside = keep[self.pair_row]
        base, row = self.pair_base[inside], self.pair_row[inside]
        size = len(self.base_group)
        total = group_sums(base, value[row], size)
        return total, np.bincount(base, minlength=size).astype(np.float64)

    def cells(self, total: Floats, count: Floats) -> Cells:
        """Bring (unit, group) sums up to the nodes.

        Args:
            total: shape (B,).
            count: shape (B,).

        Returns:
            Cells with something in them; `cluster` is the unit and `node` the (model, node).
        """
        size = len(self.cell_unit)
        n = group_sums(self.lift_cell, count[self.lift_base], size)
        s = group_sums(self.lift_cell, total[self.lift_base], size)
        filled = np.flatnonzero(n > 0)
        return Cells(
            cluster=self.cell_unit[filled].astype(np.int64),
            node=self.cell_node[filled].astype(np.int64),
            total=s[filled],
            count=n[filled],
        )


def tree_layout(table: ScoreTable) -> Layout:
    """Lay out checkpoints by the nodes of the tree (`index_nodes(table.leaves)`).

    Args:
        table: the score table.

    Returns:
        The layout; its rows are the table's checkpoint rows, unmapped ones in no node.
    """
    nodes = index_nodes(table.leaves)
    score = table.score.astype(np.float32)
    mapped = np.flatnonzero(table.leaf >= 0)
    return _lay_out(
        table=table,
        answer=table.response,
        value=np.where(score > 0, (score - 1) / 4, np.float32(np.nan)).astype(np.float32),
        item=table.criterion,
        n_items=len(table.criterion_ids),
        pair_row=mapped,
        pair_group=table.leaf[mapped],
        tree=(nodes.ancestor, nodes.level, nodes.parent, nodes.leaf_node),
    )


def facet_layout(table: ScoreTable, facet: str, value: Floats | None = None) -> Layout:
    """Lay out answers by the labels of a facet; an answer may carry several.

    Args:
        table: the score table.
        facet: name of the facet.
        value: value of each answer in [0, 1], shape (R,), NaN = none; the outcome when None.

    Returns:
        The layout; its rows are the table's answer rows, its nodes the facet's values.
    """
    group = table.facets[facet]
    labels = np.arange(len(group.values), dtype=np.int64)
    flat = (labels[None, :], np.zeros_like(labels), np.full_like(labels, -1), labels)
    return _lay_out(
        table=table,
        answer=np.arange(len(table.sample), dtype=np.int32),
        value=(table.outcome if value is None else value).astype(np.float32),
        item=table.sample,
        n_items=len(table.sample_ids),
        pair_row=group.response,
        pair_group=group.value,
        tree=flat,
    )


def _lay_out(
    *,
    table: ScoreTable,
    answer: Indices,
    value: NDArray[np.float32],
    item: Indices,
    n_items: int,
    pair_row: NDArray[np.integer],
    pair_group: NDArray[np.integer],
    tree: tuple[Ints, Ints, Ints, Ints],
) -> Layout:
    ancestor, level, parent, group_node = tree
    n_groups, n_nodes = len(group_node), len(level)
    n_clusters = int(table.cluster.max(initial=-1)) + 1
    model = table.model.astype(np.int32)[answer]
    unit_of_answer = table.model.astype(np.int64) * n_clusters + table.cluster[table.sample]
    unit = unit_of_answer[answer]
    key = unit[pair_row] * n_groups + pair_group
    base_key, pair_base = np.unique(key, return_inverse=True)
    base_unit, group = base_key // max(n_groups, 1), base_key % max(n_groups, 1)
    lifts = [np.flatnonzero(row[group] >= 0) for row in ancestor]
    lift_base = np.concatenate([*lifts, np.zeros(0, dtype=np.int64)])
    above = np.concatenate(
        [row[group[base]] for row, base in zip(ancestor, lifts, strict=True)]
        + [np.zeros(0, dtype=np.int64)]
    )
    cell_key, lift_cell = np.unique(base_unit[lift_base] * n_nodes + above, return_inverse=True)
    cell_unit, node = cell_key // max(n_nodes, 1), cell_key % max(n_nodes, 1)
    return Layout(
        n_models=table.n_models,
        n_nodes=n_nodes,
        n_groups=n_groups,
        n_clusters=n_clusters,
        n_items=n_items,
        level=level,
        parent=parent,
        group_node=group_node,
        value=value,
        item=item.astype(np.int32),
        model=model,
        unit=unit.astype(np.int32),
        pair_row=pair_row.astype(np.int32),
        pair_base=pair_base.astype(np.int32),
        base_group=(base_unit // max(n_clusters, 1) * n_groups + group).astype(np.int32),
        lift_base=lift_base.astype(np.int32),
        lift_cell=lift_cell.astype(np.int32),
        cell_unit=cell_unit.astype(np.int32),
        cell_node=(cell_unit // max(n_clusters, 1) * n_nodes + node).astype(np.int32),
    )
