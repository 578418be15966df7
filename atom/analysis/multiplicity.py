"""Many tests at once: what may be claimed of all of them together.

Reference: METHODS B5; Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001; Bogomolov et al.
2021 (TreeBH).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints

Control = Literal["bh", "by"]


def adjust(p: Floats, family: Ints, control: Control = "bh") -> Floats:
    """Adjust p-values for their family; a test is a discovery where the result is at most q.

    Args:
        p: shape (M,), in [0, 1]; NaN = not tested, not counted.
        family: 0-based family of each test, shape (M,).
        control: `bh` = Benjamini-Hochberg; `by` = Benjamini-Yekutieli, under any dependence.

    Returns:
        Adjusted p-values; NaN stays NaN.

    Reference:
        METHODS B5.
    """
    adjusted = np.full_like(p, np.nan)
    tested = np.isfinite(p)
    for number in np.unique(family[tested]):
        mine = np.flatnonzero(tested & (family == number))
        adjusted[mine] = _step_up(p[mine], control)
    return adjusted


def _step_up(p: Floats, control: Control) -> Floats:
    """Adjust the p-values of one family: `min_{k >= j} m p_(k) / k`, for BY times `sum 1/k`."""
    m = len(p)
    rank = np.arange(1, m + 1)
    order = np.argsort(p)
    scaled = p[order] * (m / rank) * (float((1 / rank).sum()) if control == "by" else 1.0)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def simes(p: Floats) -> float:
    """Return Simes' p-value of the hypothesis that all are null: `min_j m p_(j) / j`."""
    tested = np.sort(p[np.isfinite(p)])
    if not len(tested):
        return float("nan")
    return float(min(1.0, (len(tested) * tested / np.arange(1, len(tested) + 1)).min()))


@dataclass(frozen=True, kw_only=True)
class TreeDiscoveries:
    """What TreeBH selects.

    Attributes:
        p: each node's p-value, Simes' above the leaves, shape (M,).
        selected: whether the node is a discovery, shape (M,).
    """

    p: Floats
    selected: NDArray[np.bool_]


def tree_bh(leaf_p: Floats, parent: Ints, level: Ints, q: float) -> TreeDiscoveries:
    """Select nodes top-down, so that errors are controlled on every level of the tree.

    P-values go up by Simes; roots are selected by Benjamini-Hochberg at q; within a selected node,
    its children are selected at `q * prod (selected / size)` over the families on the way down.

    Args:
        leaf_p: p-values of the leaves at their nodes, shape (M,); NaN at inner nodes and where not
            tested.
        parent: node above, shape (M,); -1 for a root.
        level: depth less one, shape (M,).
        q: level of control.

    Reference:
        METHODS B5, G.
    """
    p = leaf_p.copy()
    children = [np.flatnonzero(parent == node) for node in range(len(parent))]
    for node in np.argsort(-level, kind="stable"):
        if len(children[node]):
            p[node] = simes(p[children[node]])
    selected = np.zeros(len(parent), dtype=bool)
    families = [(np.flatnonzero(parent < 0), q)]
    while families:
        members, allowed = families.pop()
        tested = members[np.isfinite(p[members])]
        if not len(tested):
            continue
        chosen = tested[_step_up(p[tested], "bh") <= allowed]
        selected[chosen] = True
        share = len(chosen) / len(tested)
        families.extend((children[node], allowed * share) for node in chosen)
    return TreeDiscoveries(p=p, selected=selected)
