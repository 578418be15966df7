"""EvalTree's files opened as they are: the tree, a model's results on it, and its weaknesses.

Reference: METHODS B6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atom.analysis.capability.evaltree import EvalNode, evaltree_profile, node_interval
from atom.errors import UsageError
from atom.formats.tools.evaltree import read_results, read_tree


@dataclass(frozen=True, kw_only=True)
class OpenedNode:
    """A group of rows.

    Attributes:
        name: what its rows ask for.
        layer: 0 = the whole tree.
        rows: benchmark rows under it.
        value: mean of their results, 0..1; None without results.
        interval: exact two-sided interval; None without results, or with under five rows.
        weak: whether EvalTree's procedure takes it as a weakness.
    """

    name: str
    layer: int
    rows: int
    value: float | None
    interval: tuple[float, float] | None
    weak: bool


@dataclass(frozen=True, kw_only=True)
class OpenedTree:
    """An EvalTree tree.

    Attributes:
        nodes: groups with more than one row, parents first.
        all_nodes: nodes of the file, single rows included.
        rows: benchmark rows in it.
        deepest: layers below the top.
        weak: the weaknesses, the largest first; empty without results.
        overall: mean over all results, those of rows outside the tree included; None without.
        threshold: what a weakness lies under.
        alpha: 1 - coverage of the intervals.
    """

    nodes: tuple[OpenedNode, ...]
    all_nodes: int
    rows: int
    deepest: int
    weak: tuple[OpenedNode, ...]
    overall: float | None
    threshold: float
    alpha: float


def open_evaltree(
    tree: bytes,
    results: bytes | None = None,
    *,
    name: str = "capability_tree.json",
    threshold: float = 0.4,
    alpha: float = 0.05,
) -> OpenedTree:
    """Open an EvalTree tree, with a model's results where they are given.

    Args:
        tree: a `capability_tree.json`.
        results: a `results.json`: a result a row, 0 to 1, or a judge's verdicts.
        name: what the file is called.
        threshold: the mean that a weakness lies under, 0 to 1.
        alpha: 1 - coverage.

    Raises:
        FormatError: a file isn't what it should be.
        UsageError: the results are of fewer rows than the tree has, or a number is out of range.
    """
    if not (0 < threshold < 1 and 0 < alpha < 1):
        raise UsageError(f"the threshold {threshold!r} and alpha {alpha!r} lie between 0 and 1")
    root = read_tree(tree, name)
    found = None if results is None else read_results(results)
    if found is not None and max(root.rows, default=-1) >= len(found):
        raise UsageError(
            f"the tree speaks of row {max(root.rows)} and there are {len(found):,} "
            "results: give the "
            "results of the benchmark that the tree was made of"
        )
    weak = () if found is None else evaltree_profile(root, found, threshold, alpha)
    names = set(map(id, weak))
    every = list(_walk(root, 0))
    opened = {
        id(node): _opened(node, layer, found, alpha, weak=id(node) in names)
        for node, layer in every
        if len(node.rows) > 1 or node is root
    }
    return OpenedTree(
        nodes=tuple(opened.values()),
        all_nodes=len(every),
        rows=len(root.rows),
        deepest=max(layer for _, layer in every),
        weak=tuple(opened[id(node)] for node in sorted(weak, key=lambda node: -len(node.rows))),
        overall=None if not found else sum(found) / len(found),
        threshold=threshold,
        alpha=alpha,
    )


def _walk(node: EvalNode, layer: int) -> Iterator[tuple[EvalNode, int]]:
    yield node, layer
    for child in node.children:
        yield from _walk(child, layer + 1)


def _opened(
    node: EvalNode, layer: int, results: Sequence[float] | None, alpha: float, *, weak: bool
) -> OpenedNode:
    known = None if results is None else [results[row] for row in node.rows]
    return OpenedNode(
        name=" ".join(node.description.split()) or "Unnamed",
        layer=layer,
        rows=len(node.rows),
        value=sum(known) / len(known) if known else None,
        interval=None if results is None else node_interval(node, results, alpha),
        weak=weak,
    )
