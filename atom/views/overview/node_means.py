"""Means of every model on every node of the tree, every label of a facet, and the whole tree."""

from __future__ import annotations

import numpy as np

from atom.analysis.capability.weaknesses import sums_of
from atom.analysis.grounds import CountedRows, Moments, NodeSums, unit_moments
from atom.analysis.intervals import NodeStats
from atom.views.filters import Filters, Measure
from atom.views.overview.asked_rows import asked_of, layout_of, over
from atom.views.study_data import StudyData


def node_means(data: StudyData, filters: Filters) -> NodeStats:
    """Return the means of every model on every node of the tree, by the process.

    Args:
        filters: tags, root, outcome and process narrow; the chain doesn't. The reading says which
            checkpoints count.

    Returns:
        Statistics on [0, 1] by model, then node, in the order of `index_nodes(table.leaves)`.
    """
    return value_means(data, filters, "process", None)


def value_means(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None,
    without: int | None = None,
) -> NodeStats:
    """Return the means of every model on every node, or every label of a facet.

    Args:
        filters: see `node_means`.
        facet: the facet whose labels are the nodes; None = the tree's.
        without: a model that isn't looked at: an anchor.
    """
    asked = asked_of(data, filters, measure, facet, filters.reading, without)

    def make() -> NodeStats:
        sums: NodeSums = over(data, asked)(sums_of)
        layout = layout_of(data, asked)
        return sums.nodes.stats(np.tile(layout.level, layout.n_models))

    return data.table.recent.get(("means", *asked.key), make)


def whole_means(data: StudyData, filters: Filters) -> NodeStats:
    """Return every model's mean over all its mapped checkpoints: the whole tree as one node.

    Args:
        filters: see `node_means`.

    Returns:
        Statistics on [0, 1] by model.
    """
    asked = asked_of(data, filters, "process", None, filters.reading)

    def make() -> NodeStats:
        found: Moments = over(data, asked)(_whole)
        return found.stats()

    return data.table.recent.get(("whole means", *asked.key), make)


def _whole(grounds: CountedRows) -> Moments:
    layout = grounds.layout
    shape = layout.n_models, layout.n_clusters
    size = shape[0] * shape[1]
    total = np.bincount(layout.unit, weights=grounds.values, minlength=size)
    count = np.bincount(layout.unit, weights=grounds.keep, minlength=size)
    return unit_moments(
        total.astype(np.float64).reshape(shape), count.astype(np.float64).reshape(shape)
    )
