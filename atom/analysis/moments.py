"""Sums of products over units, for every node of the tree, without going up the tree row by row.

For sums a and b by (unit, group), `sum_c a_cn b_cn` with `a_cn = sum_{l in n} a_cl` is
`sum_{l in n} sum_c a_cl b_cl` plus, for two groups that a unit has under one node, their cross
products. The first part is a sum a group that rolls up; so are the cross products, filed under the
lowest node that two groups share. Cost: O(B + pairs), independent of the depth of the tree.

Reference: METHODS G (the closed forms are quadratic in these sums).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Indices, Layout, Mask
from atom.analysis.sums import group_sums

MOST_PAIRS = 4
"""More pairs than this many a (unit, group) aren't listed: units that touch most of a wide tree."""


@dataclass(frozen=True, kw_only=True)
class GroupPairs:
    """Two groups that one unit has under one node.

    Attributes:
        first: (unit, group), shape (P,).
        second: a later (unit, group) of the same unit, shape (P,).
        node: `model * n_nodes + lowest shared node`, shape (P,).
        above: 1 where a node is, or hangs under, a node: shape (M, M).
        lowest: the lowest node that two groups share, shape (n_groups, n_groups); -1 = none.
    """

    first: Indices
    second: Indices
    node: Ints
    above: Floats
    lowest: Ints


def list_pairs(layout: Layout) -> GroupPairs | None:
    """List the pairs of a layout; None where there are too many to be worth it."""
    lowest = np.full((layout.n_groups, layout.n_groups), -1, dtype=np.int64)
    for row in layout.ancestor:
        shared = (row[:, None] == row[None, :]) & (row[:, None] >= 0)
        lowest[shared] = np.broadcast_to(row[:, None], shared.shape)[shared]
    unit = layout.base_unit
    group = (layout.base_group % max(layout.n_groups, 1)).astype(np.int32)
    size, found = len(unit), 0
    first, second = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    for step in range(1, size):
        same = np.flatnonzero(unit[step:] == unit[:-step])
        if not len(same):
            break
        same = same[lowest[group[same], group[same + step]] >= 0]
        found += len(same)
        if found > MOST_PAIRS * size:
            return None
        first.append(same.astype(np.int32))
        second.append((same + step).astype(np.int32))
    one, other = np.concatenate(first), np.concatenate(second)
    model = layout.base_group[one] // max(layout.n_groups, 1)
    above = np.eye(layout.n_nodes)
    for node in np.argsort(layout.level, kind="stable")[::-1]:
        if layout.parent[node] >= 0:
            above[layout.parent[node]] += above[node]
    return GroupPairs(
        first=one,
        second=other,
        node=model * layout.n_nodes + lowest[group[one], group[other]],
        above=above,
        lowest=lowest,
    )


def narrow(layout: Layout, rows: Ints) -> Layout:
    """Return a layout of some rows alone (`Layout.narrow`), its pairs taken from the whole's.

    Args:
        rows: rows that stay, ascending.
    """
    (few, used), pairs = layout.narrow(rows), pairs_of(layout)
    if layout.single:
        few.kept.get("single", lambda: True)
    few.kept.get("pairs", lambda: None if pairs is None else _pairs_left(layout, pairs, used))
    return few


def _pairs_left(layout: Layout, pairs: GroupPairs, used: Ints) -> GroupPairs:
    number = np.full(len(layout.base_unit), -1, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    first = number[pairs.first]
    left = np.flatnonzero(first >= 0)
    first, second = first[left], number[pairs.second[left]]
    both = second >= 0
    return replace(pairs, first=first[both], second=second[both], node=pairs.node[left[both]])


def linear(layout: Layout, a: Floats) -> Floats:
    """Return `sum_c a_cn` for every (model, node), shape (K * M,)."""
    k, groups = layout.n_models, layout.n_groups
    sums = group_sums(layout.base_group, a, k * groups).reshape(k, groups)
    return np.asarray(sums @ layout.under.T).reshape(-1)


def quadratic(layout: Layout, pairs: GroupPairs, a: Floats, b: Floats) -> Floats:
    """Return `sum_c a_cn b_cn` for every (model, node), shape (K * M,)."""
    k, m = layout.n_models, layout.n_nodes
    i, j = pairs.first, pairs.second
    cross = 2 * (a[i] * a[j]) if a is b else a[i] * b[j] + a[j] * b[i]
    crossed = group_sums(pairs.node, cross, k * m).reshape(k, m) @ pairs.above.T
    return np.asarray(linear(layout, a * b) + crossed.reshape(-1))


@dataclass(frozen=True, kw_only=True)
class RowCounts:
    """What only depends on which rows count, for all values summed over them.

    Attributes:
        count: kept rows by (unit, group), shape (B,).
        n: kept rows by (model, node), shape (K * M,).
        groups: units that have any, shape (K * M,).
        squares: `sum_c N_cn^2`, shape (K * M,).
    """

    count: Floats
    n: Floats
    groups: Floats
    squares: Floats


def count_rows(layout: Layout, pairs: GroupPairs, keep: Mask) -> RowCounts:
    """Count rows by unit, group and node.

    Args:
        keep: rows that count, shape (n,).
    """
    count = layout.base_counts(keep)
    return RowCounts(
        count=count,
        n=linear(layout, count),
        groups=units_in(layout, pairs, count),
        squares=quadratic(layout, pairs, count, count),
    )


def units_in(layout: Layout, pairs: GroupPairs, count: Floats) -> Floats:
    """Count the units that have anything in each (model, node), shape (K * M,).

    Groups come in the tree's order, so that of a unit's groups under one node all but the first
    follow another one of them.
    """
    filled = count > 0
    if filled.all():
        return layout.kept.get("units", lambda: _units_in(layout, pairs, slice(None)))
    return _units_in(layout, pairs, np.flatnonzero(filled))


def _units_in(layout: Layout, pairs: GroupPairs, filled: Ints | slice) -> Floats:
    k, m, groups = layout.n_models, layout.n_nodes, layout.n_groups
    base_group, unit = layout.base_group[filled], layout.base_unit[filled]
    sums = np.bincount(base_group, minlength=k * groups).reshape(k, groups)
    follows = np.flatnonzero(unit[1:] == unit[:-1])
    before, after = base_group[follows], base_group[follows + 1]
    # Both are of one model, so their distance in (model, group) is that of their groups.
    model = before // max(groups, 1)
    lowest = pairs.lowest[before - model * groups, after - model * groups]
    shared = lowest >= 0
    again = np.bincount(model[shared] * m + lowest[shared], minlength=k * m).reshape(k, m)
    return np.asarray(sums @ layout.under.T - again @ pairs.above.T, dtype=np.float64).reshape(-1)


def pairs_of(layout: Layout) -> GroupPairs | None:
    """Return a layout's pairs, listed once; None where there are too many."""
    return layout.kept.get("pairs", lambda: list_pairs(layout))
