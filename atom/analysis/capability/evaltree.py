"""EvalTree's node intervals and weakness extraction, exactly, as a baseline to compare with.

Reference: METHODS B6. Intervals are two-sided Clopper-Pearson at nodes of at least five rows, with
no control for the number of nodes looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import scipy

MIN_SIZE = 5
MIN_CHILD = 20


@dataclass(frozen=True)
class EvalNode:
    """A node of an EvalTree tree: a group of rows, or one row.

    Args:
        description: what the rows ask for.
        rows: indices of the benchmark rows under it.
        children: empty for a single row.
    """

    description: str
    rows: tuple[int, ...]
    children: tuple[EvalNode, ...] = ()


def clopper_pearson(hits: float, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the exact two-sided binomial interval.

    Args:
        hits: successes, 0..n.
        n: trials, at least 1.
        alpha: 1 - coverage.

    Returns:
        The interval's ends.
    """
    lo = 0.0 if hits <= 0 else float(scipy.special.betaincinv(hits, n - hits + 1, alpha / 2))
    hi = 1.0 if hits >= n else float(scipy.special.betaincinv(hits + 1, n - hits, 1 - alpha / 2))
    return lo, hi


def node_interval(
    node: EvalNode, results: Sequence[float], alpha: float = 0.05
) -> tuple[float, float] | None:
    """Return a node's interval, or None where it has fewer than five rows.

    Args:
        results: a row's result, 0 or 1.
        alpha: 1 - coverage.
    """
    if len(node.rows) < MIN_SIZE:
        return None
    return clopper_pearson(sum(results[row] for row in node.rows), len(node.rows), alpha)


def evaltree_profile(
    root: EvalNode, results: Sequence[float], threshold: float, alpha: float = 0.05
) -> tuple[EvalNode, ...]:
    """Extract weaknesses as EvalTree does.

    Going down, a node is taken when its interval lies under the threshold and that of every child
    of at least 20 rows does, too; nothing below a taken node is looked at.

    Args:
        results: a row's result, 0 or 1.
        threshold: the accuracy that a node must lie under.
        alpha: 1 - coverage.

    Returns:
        The nodes, in the order of going down.
    """

    def passes(node: EvalNode) -> bool:
        interval = node_interval(node, results, alpha)
        return interval is not None and interval[1] < threshold

    found: list[EvalNode] = []
    stack = [root]
    while stack:
        node = stack.pop()
        big = [child for child in node.children if len(child.rows) >= MIN_CHILD]
        if passes(node) and all(passes(child) for child in big):
            found.append(node)
        else:
            stack.extend(reversed(node.children))
    return tuple(found)
