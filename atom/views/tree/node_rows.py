"""A tree's nodes as tables: for `tree show` and its JSON, and with scores for the export's CSV."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from atom.display.estimate import Estimate
from atom.display.table import Column, Table, Value
from taxonomy import Path, Tree

_DIGITS = 3
"""Decimals of a score in a file."""


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """A node with its support.

    Attributes:
        path: empty for the whole tree.
        name: its last name; the tree's own for the whole.
        leaf: whether criteria hang on it.
        criteria: criteria under it.
        samples: distinct samples that these come from.
    """

    path: Path
    name: str
    leaf: bool
    criteria: int
    samples: int


class NodeScore(NamedTuple):
    """A model on a node: its score, that over steps it says anything about, and what is carried."""

    node: TreeNode
    model: str
    score: Estimate
    said: Estimate
    carried: int


def supported(
    tree: Tree, leaf_of: Mapping[str, Path], sample_of: Mapping[str, str]
) -> list[TreeNode]:
    """Count what hangs under every node, parents first.

    Args:
        leaf_of: criterion id -> leaf.
        sample_of: criterion id -> sample id.
    """
    criteria: Counter[Path] = Counter()
    samples: defaultdict[Path, set[str]] = defaultdict(set)
    for criterion, leaf in leaf_of.items():
        for depth in range(1, len(leaf) + 1):
            criteria[leaf[:depth]] += 1
            samples[leaf[:depth]].add(sample_of[criterion])
    leaves = set(tree.leaves)
    return [
        TreeNode(
            path=path,
            name=node.name,
            leaf=path in leaves,
            criteria=criteria[path],
            samples=len(samples[path]),
        )
        for path, node in tree.walk()
    ]


def node_list(nodes: Sequence[TreeNode]) -> Table[TreeNode]:
    """Table nodes with their support."""
    columns = (
        Column[TreeNode](title="Capability", of=lambda one: "· " * (len(one.path) - 1) + one.name),
        Column[TreeNode](title="", of=lambda one: one.path, name="path", seen="data"),
        Column[TreeNode](
            title="Criteria", of=lambda one: one.criteria, name="criteria", number=True
        ),
        Column[TreeNode](title="Samples", of=lambda one: one.samples, name="samples", number=True),
    )
    return Table(label="Capabilities", columns=columns, rows=nodes)


def node_scores(rows: Sequence[NodeScore]) -> Table[NodeScore]:
    """Table every model on every node, for a file."""

    def column(name: str, of: Callable[[NodeScore], Value], *ends: str) -> Column[NodeScore]:
        return Column(title="", of=of, name=name, ends=ends, seen="data")

    columns = (
        column("path", lambda one: " > ".join(one.node.path)),
        column("name", lambda one: one.node.name),
        column("depth", lambda one: len(one.node.path)),
        column("leaf", lambda one: int(one.node.leaf)),
        column("criteria", lambda one: one.node.criteria),
        column("samples", lambda one: one.node.samples),
        column("model", lambda one: one.model),
        column("score", lambda one: _rounded(one.score), "low", "high"),
        column("n", lambda one: one.score.n),
        column("scored_samples", lambda one: one.score.samples),
        column("score_of_what_was_said", lambda one: _rounded(one.said)),
        column("n_said", lambda one: one.said.n),
        column("carried", lambda one: one.carried),
    )
    return Table(label="Scores by capability", columns=columns, rows=rows)


def _rounded(one: Estimate) -> Estimate:
    value, lo, hi = (round(end, _DIGITS) for end in (one.value, one.lo, one.hi))
    return replace(one, value=value, lo=lo, hi=hi)
