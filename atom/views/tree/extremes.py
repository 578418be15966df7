"""Where most and least is lost in a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.views.tree.node_table import NodeTable

LEAST_SAMPLES = 10
"""Leaves of fewer samples are called neither hard nor easy."""


@dataclass(frozen=True, kw_only=True)
class Extremes:
    """The leaves on which most and least is lost: (node, mean score 0-100)."""

    lowest: tuple[int, float]
    highest: tuple[int, float]


def extremes(nodes: NodeTable, model: int | None) -> Extremes | None:
    """Find the leaves with the lowest and the highest mean score of a model, or of all together.

    Args:
        model: the model's index; None = the mean over all models.

    Returns:
        None where fewer than two leaves of `LEAST_SAMPLES` samples are scored.
    """
    means = nodes.mean.mean(axis=0) if model is None else nodes.mean[model]
    known = np.flatnonzero(nodes.is_leaf & (nodes.samples >= LEAST_SAMPLES) & ~np.isnan(means))
    if known.size < 2:
        return None
    low, high = known[means[known].argmin()], known[means[known].argmax()]
    return Extremes(lowest=(int(low), float(means[low])), highest=(int(high), float(means[high])))
