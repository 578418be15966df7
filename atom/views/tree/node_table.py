"""A tree’s nodes with their scores, level by level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Cells, Floats, Ints, NodeStats, node_stats
from atom.analysis.nodes import index_nodes
from atom.display.estimate import Estimate
from atom.store import Store, study_places
from atom.store.standing.criteria import in_order, leaves_of, standing_sets
from atom.views.filters import Filters
from atom.views.overview.node_means import node_means, whole_means
from atom.views.reading import mean_rows_kept
from atom.views.study_data import StudyData
from taxonomy import Path, Tree

_NOWHERE: Path = ("",)


@dataclass(frozen=True, kw_only=True)
class PlacedCriteria:
    """A study's criteria, and the leaf that each hangs on in one tree.

    Attributes:
        criterion: ids, in the study's order.
        sample: the sample's index in the study, shape (C,).
        leaf: path of the leaf; None where the criterion hangs nowhere.
    """

    criterion: tuple[str, ...]
    sample: Ints
    leaf: tuple[Path | None, ...]

    @property
    def leaf_of(self) -> dict[str, Path]:
        """Criterion id -> leaf, for those that hang somewhere."""
        pairs = zip(self.criterion, self.leaf, strict=True)
        return {criterion: leaf for criterion, leaf in pairs if leaf is not None}


@dataclass(frozen=True, kw_only=True)
class NodeTable:
    """Every node of a tree with its support and scores.

    Shapes: M nodes, K models.

    Attributes:
        paths: M paths, parents first; the first is empty and stands for the whole tree.
        parent: index of the parent, shape (M,); -1 for the whole tree.
        end: shape (M,); the nodes under node i are i+1 .. end[i]-1.
        is_leaf: shape (M,).
        criteria: criteria under the node, shape (M,).
        samples: distinct samples under the node, shape (M,).
        mean: mean score 0..100, shape (K, M); NaN where nothing is scored.
        lo: lower end of the 95 % interval, shape (K, M).
        hi: upper end, shape (K, M).
        n: scored checkpoints, shape (K, M).
        clusters: distinct samples scored, shape (K, M).
        unplaced: criteria that hang nowhere in this tree.
        leaf_of: criterion id -> leaf.
        criterion_node: node of each criterion of the score table, -1 = nowhere.
    """

    tree: Tree
    paths: tuple[Path, ...]
    parent: Ints
    end: Ints
    is_leaf: NDArray[np.bool_]
    criteria: Ints
    samples: Ints
    mean: Floats
    lo: Floats
    hi: Floats
    n: Ints
    clusters: Ints
    unplaced: int
    leaf_of: Mapping[str, Path]
    criterion_node: Ints

    @property
    def n_leaves(self) -> int:
        """Leaves of the tree."""
        return int(self.is_leaf.sum())

    def estimate(self, model: int, node: int) -> Estimate:
        """Return a model's mean on a node."""
        return Estimate(
            value=float(self.mean[model, node]),
            lo=float(self.lo[model, node]),
            hi=float(self.hi[model, node]),
            n=int(self.n[model, node]),
            samples=int(self.clusters[model, node]),
        )


def placed(store: Store, data: StudyData, version: str | None = None) -> PlacedCriteria:
    """Read where a study's criteria hang in one version of its tree.

    Args:
        version: a tree version; None = the study's own.
    """
    version = version or data.study.tree_version or ""
    return data.table.kept.get(placed_key(version), lambda: _placed(store, data, version))


def placed_key(version: str | None) -> tuple[str, str]:
    """Return under what a study keeps where its criteria hang in a version of its tree."""
    return ("placed", version or "")


def _placed(store: Store, data: StudyData, version: str) -> PlacedCriteria:
    places = study_places(store, data.study.id)
    sets = standing_sets(store, places)
    leaf_of = leaves_of(store, version)
    pairs = [
        (use.criterion_id, data.sample_position[place.sample_id])
        for place in places
        if place.sample_id in sets
        for use in in_order(sets[place.sample_id])
    ]
    return PlacedCriteria(
        criterion=tuple(criterion for criterion, _ in pairs),
        sample=np.array([sample for _, sample in pairs], dtype=np.int64),
        leaf=tuple(leaf_of.get(criterion) for criterion, _ in pairs),
    )


def node_table(data: StudyData, tree: Tree, where: PlacedCriteria, filters: Filters) -> NodeTable:
    """Compute support and scores of every node of a tree.

    Support counts all criteria of the study; scores count the answers that pass the filters.

    Args:
        tree: the tree; its leaves' names are those in `where`.
        where: the study's criteria in that tree.
        filters: tags, outcome and process narrow the scores; the chain doesn't.

    Reference:
        METHODS A4 (mean over the atoms under the node), B2 (intervals).
    """
    held = data.table.kept.get(("support", id(where)), lambda: _support(data, tree, where))
    if held.where is not where:
        held = _support(data, tree, where)
    stats = _means(data, held, filters)
    shape = (data.table.n_models, len(held.paths))
    return NodeTable(
        tree=tree,
        paths=held.paths,
        parent=held.parent,
        end=_ends(held.depth),
        is_leaf=held.is_leaf,
        criteria=held.criteria,
        samples=held.samples,
        mean=100 * stats.mean.reshape(shape),
        lo=100 * stats.lo.reshape(shape),
        hi=100 * stats.hi.reshape(shape),
        n=stats.n.reshape(shape),
        clusters=stats.clusters.reshape(shape),
        unplaced=held.unplaced,
        leaf_of=held.leaf_of,
        criterion_node=held.criterion_node,
    )


@dataclass(frozen=True, kw_only=True)
class _Support:
    """What of a node table no filter changes; see `NodeTable` for the fields that it shares."""

    where: PlacedCriteria
    paths: tuple[Path, ...]
    parent: Ints
    depth: Ints
    is_leaf: NDArray[np.bool_]
    criteria: Ints
    samples: Ints
    unplaced: int
    leaf_of: Mapping[str, Path]
    criterion_node: Ints
    own: bool
    """The score table's criteria hang where the table itself hangs them."""


def _support(data: StudyData, tree: Tree, where: PlacedCriteria) -> _Support:
    paths = ((), *(path for path, _ in tree.walk()))
    at = {path: number for number, path in enumerate(paths)}
    parent = np.array([at[path[:-1]] if path else -1 for path in paths], dtype=np.int64)
    ends = set(tree.leaves)
    is_leaf = np.array([path in ends for path in paths], dtype=np.bool_)
    depth = np.array([len(path) for path in paths], dtype=np.int64)
    leaf_of = where.leaf_of
    known = np.array([at.get(leaf, -1) if leaf else -1 for leaf in where.leaf], dtype=np.int64)
    inside = known >= 0
    support = _roll_up(known[inside], where.sample[inside], np.ones(len(known))[inside], at, paths)
    node_of = np.array(
        [at.get(leaf_of.get(c, _NOWHERE), -1) for c in data.table.criterion_ids], dtype=np.int64
    )
    return _Support(
        where=where,
        paths=paths,
        parent=parent,
        depth=depth,
        is_leaf=is_leaf,
        criteria=_counted(support, len(paths)),
        samples=np.bincount(support.node, minlength=len(paths)).astype(np.int64),
        unplaced=int((~inside).sum()),
        leaf_of=leaf_of,
        criterion_node=node_of,
        own=_is_own(data, node_of, at),
    )


def _is_own(data: StudyData, node_of: Ints, at: Mapping[Path, int]) -> bool:
    """Say whether the score table's criteria hang here where the table itself hangs them."""
    table_ = data.table
    leaf = np.full(len(table_.criterion_ids), -1, dtype=np.int64)
    leaf[table_.criterion] = table_.leaf
    node = np.array([*(at.get(path, -1) for path in table_.leaves), -1], dtype=np.int64)
    return bool((node[leaf] == node_of).all())


def _means(data: StudyData, held: _Support, filters: Filters) -> NodeStats:
    """Estimate every (model, node): by the study's own layout where the tree is its own."""
    k, m = data.table.n_models, len(held.paths)
    at = {path: number for number, path in enumerate(held.paths)}
    if not held.own or not data.table.leaves:
        cells = _scored_cells(data, filters, held.criterion_node, at, held.paths)
        return node_stats(cells, k * m, np.tile(held.depth, k))
    below, whole = node_means(data, filters), whole_means(data, filters)
    place = np.array([at[path] for path in index_nodes(data.table.leaves).paths], dtype=np.int64)

    def spread(name: str, empty: float) -> Floats:
        found = np.full((k, m), empty)
        found[:, place] = getattr(below, name).reshape(k, -1)
        found[:, 0] = getattr(whole, name)
        return found.reshape(-1)

    return NodeStats(
        n=spread("n", 0).astype(np.int64),
        clusters=spread("clusters", 0).astype(np.int64),
        mean=spread("mean", np.nan),
        se=spread("se", np.nan),
        lo=spread("lo", np.nan),
        hi=spread("hi", np.nan),
    )


def _counted(cells: Cells, n_nodes: int) -> Ints:
    count = np.bincount(cells.node, weights=cells.count, minlength=n_nodes)
    return count.round().astype(np.int64)


def _ends(depth: Ints) -> Ints:
    end = np.full(len(depth), len(depth), dtype=np.int64)
    open_: list[int] = []
    for number, layer in enumerate(depth):
        while open_ and depth[open_[-1]] >= layer:
            end[open_.pop()] = number
        open_.append(number)
    return end


def _scored_cells(
    data: StudyData,
    filters: Filters,
    node_of: Ints,
    at: Mapping[Path, int],
    paths: tuple[Path, ...],
) -> Cells:
    """Sum scores by (cluster, model and node), every node above a leaf included."""
    scores = data.table
    rows = np.flatnonzero(mean_rows_kept(data, filters) & (scores.score > 0))
    node = node_of[scores.criterion[rows]] if len(rows) else node_of[:0]
    rows, node = rows[node >= 0], node[node >= 0]
    answer = scores.response[rows]
    cluster = scores.cluster[scores.sample[answer]].astype(np.int64)
    n_clusters = max(int(scores.cluster.max(initial=-1)) + 1, 1)
    group = scores.model[answer].astype(np.int64) * n_clusters + cluster
    value = (scores.score[rows].astype(np.float64) - 1) / 4
    cells = _roll_up(node, group, value, at, paths)
    return Cells(
        cluster=cells.cluster % n_clusters,
        node=cells.cluster // n_clusters * len(paths) + cells.node,
        total=cells.total,
        count=cells.count,
    )


def _roll_up(
    node: Ints, group: Ints, value: Floats, at: Mapping[Path, int], paths: tuple[Path, ...]
) -> Cells:
    """Sum values by (group, node) for the nodes given and all above them.

    One sort; after it, rows of one group lie in the tree's order, so that what rolls up into one
    parent are neighbours.
    """
    parent = np.array([at[path[:-1]] if path else -1 for path in paths], dtype=np.int64)
    depth = np.array([len(path) for path in paths], dtype=np.int64)
    unique, inverse = np.unique(group * len(paths) + node, return_inverse=True)
    total = np.bincount(inverse, weights=value, minlength=len(unique)).astype(np.float64)
    count = np.bincount(inverse, minlength=len(unique)).astype(np.float64)
    groups, nodes = unique // len(paths), unique % len(paths)
    parts: list[tuple[Ints, Ints, Floats, Floats]] = []
    for layer in range(int(depth.max()), -1, -1):
        here = depth[nodes] == layer
        parts.append((groups[here], nodes[here], total[here], count[here]))
        if layer == 0 or not len(nodes):
            break
        nodes = np.where(here, parent[nodes], nodes)
        new = (groups[1:] != groups[:-1]) | (nodes[1:] != nodes[:-1])
        starts = np.flatnonzero(np.r_[True, new])
        total, count = np.add.reduceat(total, starts), np.add.reduceat(count, starts)
        groups, nodes = groups[starts], nodes[starts]
    return Cells(
        cluster=np.concatenate([part[0] for part in parts]),
        node=np.concatenate([part[1] for part in parts]),
        total=np.concatenate([part[2] for part in parts]),
        count=np.concatenate([part[3] for part in parts]),
    )
