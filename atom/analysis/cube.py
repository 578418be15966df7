"""The cube: counts by model, leaf, weight and score, and what rolls up a tree from them.

One pass over the checkpoints makes it; every heatmap, roll-up and distribution then reads the
counts alone.

Reference: DESIGN "Data" (cube); METHODS A2 (failed criteria), A4 (node values).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.score_table import FAILED, ScoreTable
from atom.analysis.sums import BLOCK, blocks
from taxonomy import Path

MAX_WEIGHT = 10
CODES = 7
"""Score codes -1 (failed), 0 (unscored), 1..5; a code's place on the axis is code + 1."""

NodeMode = Literal["atom", "weighted", "macro"]


@dataclass(frozen=True, kw_only=True)
class NodeIndex:
    """The nodes above L leaves, parents before children: M nodes in all.

    Attributes:
        paths: the nodes' paths.
        level: depth less one, shape (M,): 0 = a root of the tree.
        parent: index of the node above, shape (M,); -1 for a root.
        ancestor: node at each depth above (or at) each leaf, shape (D, L); -1 below a short leaf.
        leaf_node: the node that is the leaf itself, shape (L,).
    """

    paths: tuple[Path, ...]
    level: Ints
    parent: Ints
    ancestor: Ints
    leaf_node: Ints

    @property
    def n_nodes(self) -> int:
        """Number of nodes M."""
        return len(self.paths)

    @property
    def membership(self) -> Floats:
        """1 where a leaf hangs under (or is) a node, shape (M, L)."""
        depth, leaves = self.ancestor.shape
        under = np.zeros((self.n_nodes, leaves))
        for number in range(depth):
            inside = self.ancestor[number] >= 0
            under[self.ancestor[number][inside], np.flatnonzero(inside)] = 1
        return under


def index_nodes(leaves: Sequence[Path]) -> NodeIndex:
    """List the nodes above leaves, in the leaves' order.

    Args:
        leaves: leaf paths, of equal or unequal length.

    Returns:
        The index.
    """
    depth = max((len(leaf) for leaf in leaves), default=0)
    paths = tuple(dict.fromkeys(leaf[:size] for leaf in leaves for size in range(1, len(leaf) + 1)))
    at = {path: number for number, path in enumerate(paths)}
    ancestor = np.full((depth, len(leaves)), -1, dtype=np.int64)
    for number, leaf in enumerate(leaves):
        ancestor[: len(leaf), number] = [at[leaf[:size]] for size in range(1, len(leaf) + 1)]
    return NodeIndex(
        paths=paths,
        level=np.array([len(path) - 1 for path in paths], dtype=np.int64),
        parent=np.array([at.get(path[:-1], -1) for path in paths], dtype=np.int64),
        ancestor=ancestor,
        leaf_node=np.array([at[leaf] for leaf in leaves], dtype=np.int64),
    )


@dataclass(frozen=True, kw_only=True)
class NodeValues:
    """Means of K models on M nodes, arrays of shape (K, M).

    Attributes:
        n: scored checkpoints.
        unscored: unscored or failed checkpoints.
        mean: value in [0, 1]; NaN where n = 0.
        mode: how checkpoints are put together (METHODS A4).
    """

    n: Ints
    unscored: Ints
    mean: Floats
    mode: NodeMode


@dataclass(frozen=True, kw_only=True)
class Cube:
    """Checkpoint counts.

    Attributes:
        counts: int64, shape (K, L + 1, 11, 7): by model, leaf (the last = not mapped), weight
            (0..10, the nearest whole one) and score code + 1 (0 = failed, 1 = unscored, 2..6 =
            scores 1..5). A score that is a mean over repeats, or on a scale that isn't our own
            judges', counts as the nearest whole one.
        rest: what the scores are above those that they count as, summed, shape (K, L + 1, 11);
            None where all are whole.
        below: the same as `counts`, each score counted as the next whole one above it, by which
            it is told how many are at most so much; None where all are whole.
    """

    counts: Ints
    rest: Floats | None = None
    below: Ints | None = None

    @property
    def distribution(self) -> Ints:
        """Counts by model, leaf and score 1..5, shape (K, L + 1, 5)."""
        return np.asarray(self.counts[..., 2:].sum(axis=2))

    def node_distribution(self, nodes: NodeIndex) -> Ints:
        """Counts by model, node and score 1..5, shape (K, M, 5)."""
        return _roll_up(nodes, self.distribution)

    def failed_share(self, nodes: NodeIndex, threshold: int = 2) -> Floats:
        """Share of scored checkpoints with a score of at most the threshold, shape (K, M).

        Reference:
            METHODS A2 (thresholds 2, 3 and 4 are reported side by side).
        """
        if self.below is None:
            counts = self.node_distribution(nodes)
        else:
            counts = _roll_up(nodes, np.asarray(self.below[..., 2:].sum(axis=2)))
        with np.errstate(invalid="ignore"):
            return np.asarray(counts[..., :threshold].sum(axis=2) / counts.sum(axis=2))

    def node_values(self, nodes: NodeIndex, mode: NodeMode = "atom") -> NodeValues:
        """Compute every model's mean on every node.

        Args:
            nodes: the tree over the cube's leaves.
            mode: `atom` = mean over checkpoints (a parent is then the weighted mean of its
                children, exactly); `weighted` = by criterion weight; `macro` = mean of children.

        Returns:
            The means.

        Reference:
            METHODS A4.
        """
        scored = self.counts[..., 2:]
        x = np.arange(5) / 4
        n = _roll_up(nodes, scored.sum(axis=(2, 3)))
        if mode == "weighted":
            weight = np.arange(MAX_WEIGHT + 1)[:, None]
            mass, total = (scored * weight).sum(axis=(2, 3)), (scored * weight * x).sum(axis=(2, 3))
        else:
            weight = np.ones((MAX_WEIGHT + 1, 1), dtype=np.int64)
            mass, total = scored.sum(axis=(2, 3)), (scored * x).sum(axis=(2, 3))
        if self.rest is not None:
            total = total + (self.rest * weight[:, 0]).sum(axis=2) / 4
        under = nodes.membership.T
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (total[:, :-1] @ under) / (mass[:, :-1] @ under)
        return NodeValues(
            n=n,
            unscored=_roll_up(nodes, self.counts[..., :2].sum(axis=(2, 3))),
            mean=_macro(nodes, mean) if mode == "macro" else mean,
            mode=mode,
        )


def make_cube(table: ScoreTable, rows: NDArray[np.bool_] | None = None) -> Cube:
    """Count checkpoints by model, leaf, weight and score.

    Args:
        table: the score table.
        rows: bool, shape (N,): which checkpoints count; all when None.

    Returns:
        The cube; O(N), one `bincount` over places that are worked out once a table.
    """
    shape = _shape(table)
    place = table.kept.get(("cube places",), lambda: _places(table, table.level))
    counts = _count(place, rows, shape)
    if table.whole:
        return Cube(counts=counts)
    above = table.kept.get(("cube places", "above"), lambda: _places(table, _next_whole(table)))
    rest = np.where(table.score > 0, table.score - table.level, 0.0)
    kept = slice(None) if rows is None else rows
    return Cube(
        counts=counts,
        rest=np.bincount(
            place[kept].astype(np.int64) // CODES,
            weights=rest[kept],
            minlength=int(np.prod(shape[:3])),
        ).reshape(shape[:3]),
        below=_count(above, rows, shape),
    )


def _count(
    place: NDArray[np.integer], rows: NDArray[np.bool_] | None, shape: tuple[int, int, int, int]
) -> Ints:
    size = int(np.prod(shape))
    counts = np.zeros(size, dtype=np.int64)
    for part in blocks(len(place), max(BLOCK, 4 * size)):
        kept = place[part] if rows is None else place[part][rows[part]]
        counts += np.bincount(kept, minlength=size)
    return counts.reshape(shape)


def _next_whole(table: ScoreTable) -> NDArray[np.int8]:
    return np.asarray(np.ceil(table.score - 1e-9).astype(np.int8))


def _whole_weight(table: ScoreTable) -> NDArray[np.integer]:
    if table.whole_weights:
        return table.weight  # type: ignore[return-value]
    return np.minimum(np.rint(table.weight), MAX_WEIGHT).astype(np.int64)


def _shape(table: ScoreTable) -> tuple[int, int, int, int]:
    return (table.n_models, len(table.leaves) + 1, MAX_WEIGHT + 1, CODES)


def _places(table: ScoreTable, code: NDArray[np.int8]) -> NDArray[np.integer]:
    """Return each checkpoint's place in a flat cube, in as few bytes as hold it, shape (N,).

    Args:
        table: the score table.
        code: the whole score that each checkpoint counts as, shape (N,).
    """
    shape = _shape(table)
    narrow = np.uint16 if np.prod(shape) < 1 << 16 else np.int64
    key = table.model.astype(np.int64)[table.response]
    key *= shape[1]
    key += np.where(table.leaf < 0, shape[1] - 1, table.leaf)
    key *= shape[2]
    key += _whole_weight(table)
    key *= CODES
    key += code - np.int8(FAILED)
    return key.astype(narrow)


def _roll_up(nodes: NodeIndex, counts: Ints) -> Ints:
    """Sum (K, L + 1, ...) over the leaves of each node, to (K, M, ...)."""
    summed = np.tensordot(nodes.membership, counts[:, :-1].astype(np.float64), axes=(1, 1))
    return np.asarray(np.moveaxis(summed, 0, 1)).round().astype(np.int64)


def _macro(nodes: NodeIndex, mean: Floats) -> Floats:
    """Replace inner nodes' means by the mean of their children's, bottom-up."""
    found = mean.copy()
    for level in range(int(nodes.level.max(initial=0)), 0, -1):
        child = np.flatnonzero(nodes.level == level)
        known = np.isfinite(found[:, child])
        # Adds up children by parent: (K, children) @ (children, M).
        to_parent = np.zeros((len(child), nodes.n_nodes))
        to_parent[np.arange(len(child)), nodes.parent[child]] = 1
        total = np.where(known, found[:, child], 0) @ to_parent
        count = known.astype(np.float64) @ to_parent
        inner = np.unique(nodes.parent[child])
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, inner] = (total / count)[:, inner]
    return found
