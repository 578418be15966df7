"""Rows and the nodes they belong to, prepared once per revision so that a filter costs no sort.

A row is a checkpoint (measure *process*, nodes of the tree) or an answer (any value of an answer,
labels of a facet). A *unit* is one model's share of one cluster: what is independent of the rest.
A *cell* is what a unit has in a node.

Reference: METHODS 0 (rows and clusters), G (cells).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Cells, Floats, Ints
from atom.analysis.nodes import index_nodes
from atom.analysis.result_cache import ResultCache
from atom.analysis.score_table import ScoreTable
from atom.analysis.sums import group_sums

Indices = NDArray[np.int32]
Mask = NDArray[np.bool_]
SomeRows: TypeAlias = Mask | Ints
"""Rows that are looked at: a mask, shape (n,), or, where they are few, numbers, ascending."""


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
        pair_row: row of each (row, group) pair, shape (P,), in order of (unit, group); a row may be
            in several groups.
        pair_base: (unit, group) of each pair, shape (P,), ascending.
        base_unit: ascending, shape (B,); groups of a unit come in the tree's order.
        base_group: `model * n_groups + group`, shape (B,).
        ancestor: node at each depth above (or at) each group, shape (D, n_groups); -1 = none.
        stratum: shape (n,): rows of different strata (benchmarks) are never held against each
            other; None = all belong together.
        n_strata: how many there are.
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
    pair_base: Ints
    base_unit: Indices
    base_group: Ints
    ancestor: Ints
    stratum: Indices | None = None
    n_strata: int = 1

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return len(self.value)

    @property
    def node_model(self) -> Ints:
        """Model of each (model, node), shape (K * M,)."""
        return np.repeat(np.arange(self.n_models), self.n_nodes)

    @cached_property
    def rows_of_model(self) -> tuple[slice | Ints, ...]:
        """Where each model's rows are: a run where rows come by model, else their indices."""
        if self.n_rows and (self.model[1:] < self.model[:-1]).any():
            return tuple(np.flatnonzero(self.model == model) for model in range(self.n_models))
        ends = np.searchsorted(self.model, np.arange(self.n_models + 1))
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @cached_property
    def group_of_row(self) -> NDArray[np.int16] | None:
        """The one group of each row, shape (n,), 0 where there is none (such rows never count).

        None where a row may be in several groups.
        """
        if len(self.pair_row) != np.count_nonzero(self._grouped) or self.n_groups >= 1 << 15:
            return None
        group = np.zeros(self.n_rows, dtype=np.int16)
        group[self.pair_row] = (self.base_group % max(self.n_groups, 1))[self.pair_base]
        return group

    @cached_property
    def place_of_row(self) -> Ints | None:
        """`model * n_groups + group` of each row, shape (n,), as `group_of_row`."""
        if self.group_of_row is None:
            return None
        place = self.model.astype(np.int64) * self.n_groups
        place += self.group_of_row
        return place

    @cached_property
    def _grouped(self) -> Mask:
        grouped = np.zeros(self.n_rows, dtype=bool)
        grouped[self.pair_row] = True
        return grouped

    @cached_property
    def _usable(self) -> Mask:
        return np.asarray(np.isfinite(self.value) & self._grouped)

    @cached_property
    def kept(self) -> ResultCache:
        """What was computed from the layout as it is."""
        return ResultCache(4)

    @property
    def single(self) -> bool:
        """Whether no model has two rows of one item."""
        return self.kept.get("single", self._is_single)

    def _is_single(self) -> bool:
        seen = np.zeros(self.n_models * self.n_items, dtype=bool)
        seen[self.model.astype(np.int64) * self.n_items + self.item] = True
        return int(np.count_nonzero(seen)) == self.n_rows

    def narrow(self, rows: Ints) -> tuple[Layout, Ints]:
        """Return a layout of some rows alone, with the same models, nodes and groups.

        Items and clusters are numbered anew, so that what is summed over them costs as little as
        what is left.

        Args:
            rows: rows that stay, ascending.

        Returns:
            The layout, and which (unit, group) of this one it still has, ascending.
        """
        row, base = self._pairs_at(rows)
        order, base, start = _ordered(base)
        row, used = row[order], base[start]
        item, n_items = _renumbered(self.item[rows], self.n_items)
        model, cluster = np.divmod(self.unit[rows], np.int32(max(self.n_clusters, 1)))
        cluster, n_clusters = _renumbered(cluster, self.n_clusters)
        unit = model * np.int32(n_clusters) + cluster
        few = replace(
            self,
            n_clusters=n_clusters,
            n_items=n_items,
            value=self.value[rows],
            stratum=None if self.stratum is None else self.stratum[rows],
            item=item,
            model=model,
            unit=unit,
            pair_row=row,
            pair_base=_number(start, len(base)),
            base_unit=unit[row[start]],
            base_group=self.base_group[used],
        )
        return few, used

    def _pairs_at(self, rows: Ints) -> tuple[Indices, Ints]:
        """Return the pairs of some rows: which of these rows, and which (unit, group).

        Few are put in order by what they are of; many, left out of all that are in order.
        """
        if self.group_of_row is not None and 8 * len(rows) < self.n_rows:
            base = self._base_of_row[rows]
            row = np.flatnonzero(base >= 0).astype(np.int32)
            return row, base[row].astype(np.int64)
        keep = np.zeros(self.n_rows, dtype=bool)
        keep[rows] = True
        number = np.empty(self.n_rows, dtype=np.int32)
        number[rows] = np.arange(len(rows), dtype=np.int32)
        inside = np.flatnonzero(keep[self.pair_row])
        return number[self.pair_row[inside]], self.pair_base[inside]

    @cached_property
    def _base_of_row(self) -> Indices:
        """The one (unit, group) of each row, shape (n,); -1 = none (where `group_of_row` is)."""
        base = np.full(self.n_rows, -1, dtype=np.int32)
        base[self.pair_row] = self.pair_base
        return base

    def usable(self, rows: Mask | None = None) -> Mask:
        """Say which rows have a value and a group and pass the mask, shape (n,)."""
        return self._usable.copy() if rows is None else np.asarray(self._usable & rows)

    def base_sums(self, value: Floats, keep: Mask) -> tuple[Floats, Floats]:
        """Sum values by (unit, group).

        Args:
            value: shape (n,); only kept rows are read.
            keep: shape (n,).

        Returns:
            Totals and counts, shape (B,) each.
        """
        return self.base_totals(value, keep), self.base_counts(keep)

    def base_totals(self, value: Floats, keep: Mask) -> Floats:
        """Sum values by (unit, group), shape (B,); only kept rows are read."""
        return self._by_base(np.where(keep, value, 0)[self.pair_row])

    def base_counts(self, keep: Mask) -> Floats:
        """Count kept rows by (unit, group), shape (B,)."""
        return self._by_base(keep[self.pair_row])

    def _by_base(self, values: NDArray[np.generic]) -> Floats:
        return group_sums(self.pair_base, values, len(self.base_group))

    @cached_property
    def under(self) -> Floats:
        """1 where a group hangs under (or is) a node, shape (M, n_groups)."""
        inside = np.zeros((self.n_nodes, self.n_groups))
        for row in self.ancestor:
            inside[row[row >= 0], np.flatnonzero(row >= 0)] = 1
        return inside

    @cached_property
    def _lifts(self) -> _Lifts:
        """What each (unit, group) adds to: made when cells are first asked for."""
        group = self.base_group % max(self.n_groups, 1)
        lifts = [np.flatnonzero(row[group] >= 0) for row in self.ancestor]
        none = np.zeros(0, dtype=np.int64)
        base = np.concatenate([*lifts, none])
        above = [row[group[at]] for row, at in zip(self.ancestor, lifts, strict=True)]
        unit = self.base_unit[base].astype(np.int64)
        order, key, start = _ordered(unit * self.n_nodes + np.concatenate([*above, none]))
        cell_unit, node = np.divmod(key[start], max(self.n_nodes, 1))
        return _Lifts(
            base=base[order].astype(np.int32),
            cell=_number(start, len(key)),
            unit=cell_unit.astype(np.int32),
            node=(cell_unit // max(self.n_clusters, 1) * self.n_nodes + node).astype(np.int32),
        )

    def cells(self, total: Floats, count: Floats) -> Cells:
        """Bring (unit, group) sums up to the nodes.

        Args:
            total: shape (B,).
            count: shape (B,).

        Returns:
            Cells with something in them; `cluster` is the unit and `node` the (model, node).
        """
        lifts = self._lifts
        n = group_sums(lifts.cell, count[lifts.base], len(lifts.unit))
        s = group_sums(lifts.cell, total[lifts.base], len(lifts.unit))
        filled = n > 0
        if filled.all():
            return Cells(cluster=lifts.unit, node=lifts.node, total=s, count=n)
        return Cells(
            cluster=lifts.unit[filled], node=lifts.node[filled], total=s[filled], count=n[filled]
        )


@dataclass(frozen=True, kw_only=True)
class _Lifts:
    """How (unit, group) sums become cells.

    Attributes:
        base: from, shape (Q,): which (unit, group) ...
        cell: to, shape (Q,), ascending: ... adds to which cell.
        unit: of each cell, ascending, shape (C,).
        node: `model * n_nodes + node` of each cell, shape (C,).
    """

    base: Indices
    cell: Ints
    unit: Indices
    node: Indices


def among(rows: SomeRows, mask: Mask) -> SomeRows:
    """Return those of some rows that a mask over all keeps, as they are given."""
    return rows & mask if rows.dtype == bool else numbered(rows)[mask[rows]]


def numbered(rows: SomeRows) -> Ints:
    """Number rows, ascending."""
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64, copy=False)


def _numbers(mask: Mask) -> Indices:
    """Number the places that a mask keeps; what is returned for the others means nothing."""
    return np.cumsum(mask, dtype=np.int32) - np.int32(1)


def _renumbered(codes: Indices, size: int) -> tuple[Indices, int]:
    """Number codes below a size without gaps; also returns how many different ones there are."""
    seen = np.zeros(size, dtype=bool)
    seen[codes] = True
    return _numbers(seen)[codes], int(np.count_nonzero(seen))


def _ordered(key: Ints) -> tuple[Ints | slice, Ints, Ints]:
    """Return an order that sorts keys, the sorted keys, and where each different one begins."""
    order: Ints | slice = slice(None)
    if len(key) and (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.append(True, key[1:] != key[:-1])[: len(key)]
    return order, key, np.flatnonzero(new)


def _number(start: Ints, size: int) -> Ints:
    """Number the runs that begin at these places: the run of each of so many values."""
    new = np.zeros(size, dtype=np.int64)
    new[start] = 1
    return np.cumsum(new) - 1


def tree_layout(table: ScoreTable) -> Layout:
    """Lay out checkpoints by the nodes of the tree (`index_nodes(table.leaves)`).

    Returns:
        The layout; its rows are the table's checkpoint rows, unmapped ones in no node.
    """
    nodes = index_nodes(table.leaves)
    score: NDArray[Any] = table.score.astype(np.float32 if table.ours else np.float64)
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


def facet_layout(
    table: ScoreTable, facet: str, value: Floats | None = None, *, within: str | None = None
) -> Layout:
    """Lay out answers by the labels of a facet; an answer may carry several.

    Args:
        facet: name of the facet.
        value: value of each answer in [0, 1], shape (R,), NaN = none; the outcome when None.
        within: a facet that parts the answers, one label each (the benchmark they come from): what
            a label is held against is of the same part.

    Returns:
        The layout; its rows are the table's answer rows, its nodes the facet's values.
    """
    group = table.facets[facet]
    stratum = None
    if within is not None:
        parts = table.facets[within]
        stratum = np.full(len(table.sample), len(parts.values), dtype=np.int32)
        stratum[parts.response] = parts.value
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
        stratum=stratum,
        n_strata=1 if within is None else len(table.facets[within].values) + 1,
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
    stratum: Indices | None = None,
    n_strata: int = 1,
) -> Layout:
    ancestor, level, parent, group_node = tree
    n_groups, n_nodes = len(group_node), len(level)
    n_clusters = int(table.cluster.max(initial=-1)) + 1
    model = table.model.astype(np.int32)[answer]
    unit_of_answer = table.model.astype(np.int64) * n_clusters + table.cluster[table.sample]
    unit = unit_of_answer[answer]
    # In the tree's order, so that groups of a unit that share a node lie side by side.
    by_tree = np.lexsort(ancestor[::-1]) if n_groups else np.zeros(0, dtype=np.int64)
    rank = np.empty(n_groups, dtype=np.int64)
    rank[by_tree] = np.arange(n_groups)
    pairs, key, base_start = _ordered(unit[pair_row] * n_groups + rank[pair_group])
    pair_row, pair_base = pair_row[pairs], _number(base_start, len(pair_row))
    base_unit, place = np.divmod(key[base_start], max(n_groups, 1))
    group = by_tree[place]
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
        pair_base=pair_base,
        base_unit=base_unit.astype(np.int32),
        base_group=base_unit // max(n_clusters, 1) * n_groups + group,
        ancestor=ancestor,
        stratum=stratum,
        n_strata=n_strata,
    )
