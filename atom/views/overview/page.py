"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atom.analysis.nodes import index_nodes
from atom.display.estimate import Estimate
from atom.views.facets import data_facets, dataset_facet
from atom.views.filters import Filters, Measure, measure_of
from atom.views.overview.node_means import node_means
from atom.views.overview.quadrants import ModelQuadrant, quadrants_of
from atom.views.overview.ranking import RankRow, estimates_of, ranked_rows
from atom.views.overview.statements import Statement, selected_statement, statements_of
from atom.views.overview.sums import (
    FacetSums,
    OverviewRequest,
    OverviewSums,
    collect,
    facet_sums,
    selection_words,
)
from atom.views.overview.weaknesses import Weaknesses, weaknesses
from atom.views.study_data import StudyData
from taxonomy import Path

MOST_VALUES = 60
"""Values of a label that make a table."""


@dataclass(frozen=True, kw_only=True)
class SkillCell:
    """One model on one capability (or label)."""

    model_id: str
    estimate: Estimate
    filters: Filters
    """Where the cell's door leads."""


@dataclass(frozen=True, kw_only=True)
class SkillRow:
    """One capability (or label) across models."""

    name: str
    path: Path
    """Path in the tree; empty for a label."""
    label: tuple[str, str] | None
    """(facet, value) for a label; None for a capability."""
    depth: int
    """1 for a root ... 4 for a capability; 1 for a label."""
    samples: int
    cells: tuple[SkillCell, ...]


@dataclass(frozen=True, kw_only=True)
class Overview:
    """Everything on the Overview page.

    Attributes:
        measure: what the scores are.
        statements: what stands out, most important first.
        ranking: best first.
        skills: capabilities in the tree's order with their ancestors, or labels of `facet`.
        facet: the label facet that `skills` is made of; None = capabilities.
        facets: facets that can be chosen.
        quadrants: one a model, in the ranking's order; empty without outcome or process.
        selected: which answers are looked at, when they are chosen by how they went; then there
            are no ranks and no weaknesses.
        samples: samples counted.
        weaknesses: how weaknesses were looked for; None where there is nothing to look at.
        quarantined: samples left out because judge and reference disagree.
        answers: answers counted.
        pending: checkpoints still to be scored.
        unanswered: answers that are missing or failed, and aren't graded.
        shared: samples that every model gave an answer to.
        anchor: index of the model that all others were voted against, which isn't ranked; None
            where there is none, or another measure.
    """

    measure: Measure
    statements: tuple[Statement, ...]
    ranking: tuple[RankRow, ...]
    skills: tuple[SkillRow, ...]
    facet: str | None
    facets: tuple[str, ...]
    quadrants: tuple[ModelQuadrant, ...]
    weaknesses: Weaknesses | None
    selected: str
    samples: int
    quarantined: int
    answers: int
    pending: int
    unanswered: int
    shared: int = 0
    anchor: int | None = None


def overview(data: StudyData, filters: Filters, *, facet: str | None = None) -> Overview:
    """Compute the Overview page, from sums over the study's parts.

    Args:
        filters: what narrows it; the chain (model, node) doesn't.
        facet: the label facet to tabulate; None = capabilities where there are any.

    Returns:
        The view-model.
    """
    key = ("overview", filters, facet)
    return data.views.get(key, lambda: _overview(data, filters, facet))


def _overview(data: StudyData, filters: Filters, facet: str | None) -> Overview:
    table = data.table
    measure = measure_of(data, filters)
    anchor = data.anchor if measure == "preference" else None
    facets = _facets(data)
    by_label = measure != "process" or facet is not None
    chosen = _choose_facet(data, facet, facets) if by_label else None
    selected = selection_words(filters)
    sums: OverviewSums = data.adder(
        collect,
        OverviewRequest(
            filters=filters,
            measure=measure,
            facet=chosen,
            nodes=measure == "process" and not by_label and bool(table.leaves),
        ),
    )
    labels = _label_rows(data, filters, sums, chosen) if by_label else ()
    nodes = _node_rows(data, filters, sums) if measure == "process" and not by_label else ()
    skills = labels if by_label else nodes
    looked = (
        None
        if selected
        else weaknesses(data, filters, measure, None if measure == "process" else chosen, anchor)
    )
    ranking = ranked_rows(data, filters, sums, looked, anchor)
    quadrants = quadrants_of(filters, sums, ranking)
    return Overview(
        measure=measure,
        statements=(
            selected_statement(filters, ranking, selected)
            if selected
            else statements_of(data, measure, ranking, quadrants, looked, anchor, sums.quarantined)
        ),
        selected=selected,
        ranking=ranking,
        skills=skills,
        facet=chosen,
        facets=facets,
        quadrants=quadrants,
        weaknesses=looked,
        samples=sums.samples,
        quarantined=sums.quarantined,
        answers=sums.answers,
        pending=data.pending,
        unanswered=sums.unanswered,
        shared=sums.shared,
        anchor=anchor,
    )


def _facets(data: StudyData) -> tuple[str, ...]:
    """Return the facets that can be tabulated."""
    table = data.table
    found: FacetSums = table.kept.get("facet sums", lambda: data.adder(facet_sums))
    return tuple(
        name
        for name, group in data_facets(table.facets).items()
        if 2 <= len(group.values) <= MOST_VALUES and _groups(found, name)
    )


def _groups(sums: FacetSums, name: str) -> bool:
    """Whether a label puts samples together: neither one value a sample nor the model again."""
    seen = sums.models[name]
    values = seen.shape[1]
    if sums.samples[name] < 1.5 * values:
        return False
    return not np.count_nonzero(seen) == values == np.count_nonzero(seen.any(axis=1))


def _choose_facet(data: StudyData, facet: str | None, facets: tuple[str, ...]) -> str | None:
    if facet in data_facets(data.table.facets):
        return facet
    for name in ("skills", "skill", "capability", "category", "task"):
        if name in facets:
            return name
    rest = [name for name in facets if name != dataset_facet(facets)]
    return rest[0] if rest else (facets[0] if facets else None)


def _node_rows(data: StudyData, filters: Filters, sums: OverviewSums) -> tuple[SkillRow, ...]:
    """Make a row for every node of the tree that has checkpoints, parents before children."""
    table = data.table
    if not table.leaves:
        return ()
    index = index_nodes(table.leaves)
    nodes, n_groups = index.paths, index.n_nodes
    estimates = estimates_of(node_means(data, filters))
    samples = sums.below.tolist()
    return tuple(
        SkillRow(
            name=path[-1],
            path=path,
            label=None,
            depth=len(path),
            samples=samples[number],
            cells=tuple(
                SkillCell(
                    model_id=model_id,
                    estimate=estimates[model * n_groups + number],
                    filters=filters.but(model=model_id, node=path, sample=None, criterion=None),
                )
                for model, model_id in enumerate(table.model_ids)
            ),
        )
        for number, path in enumerate(nodes)
        if samples[number]
    )


def _label_rows(
    data: StudyData, filters: Filters, sums: OverviewSums, facet: str | None
) -> tuple[SkillRow, ...]:
    """Make a row for every label of a facet; groups overlap where answers carry several."""
    if facet is None or sums.labels is None:
        return ()
    table = data.table
    group = table.facets[facet]
    n_groups = len(group.values)
    estimates = estimates_of(sums.labels.stats())
    samples = sums.labelled.tolist()
    return tuple(
        SkillRow(
            name=label,
            path=(),
            label=(facet, label),
            depth=1,
            samples=samples[number],
            cells=tuple(
                SkillCell(
                    model_id=model_id,
                    estimate=estimates[model * n_groups + number],
                    filters=filters.but(
                        model=model_id,
                        tags=tuple(dict.fromkeys((*filters.tags, (facet, label)))),
                        sample=None,
                        criterion=None,
                    ),
                )
                for model, model_id in enumerate(table.model_ids)
            ),
        )
        for number, label in enumerate(group.values)
        if samples[number]
    )
