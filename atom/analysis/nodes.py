"""The nodes above a tree's leaves, numbered, and which leaves hang under each.

Reference: METHODS A4 (node values).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.intervals import Floats, Ints
from taxonomy import Path


@dataclass(frozen=True, kw_only=True)
class NodeIndex:
    """The nodes above L leaves, parents before children: M nodes in all.

    Attributes:
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
