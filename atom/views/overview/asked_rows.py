"""Which rows of a study are looked at, laid out once and added up part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from atom.analysis.capability.diagnosis import Frame
from atom.analysis.grounds import CountedRows, find_grounds
from atom.analysis.layout import Layout, SomeRows, among, facet_layout, tree_layout
from atom.analysis.merged import Adder, Additive
from atom.analysis.readings import Reading
from atom.views.facets import dataset_facet
from atom.views.filters import Filters, Measure, answer_values, answers_kept, rows_kept
from atom.views.reading import claims_of, few_left, frame_of, means_of, rows_at
from atom.views.study_data import StudyData

S = TypeVar("S", bound=Additive)
Rows: TypeAlias = Literal["claims"] | Reading
"""Which checkpoints count: those that claims rest on, or those of a reading's means."""


def benchmarks_of(data: StudyData, facet: str) -> int:
    """Return how many data sets a facet's labels are looked at within; 1 = all together.

    Benchmarks differ in difficulty: a label is held against the rest of its own one. Whoever picks
    the data sets themselves as labels compares across them.
    """
    ours = dataset_facet(data.table.facets)
    sources = data.table.facets.get(ours)
    return 1 if sources is None or facet == ours else max(1, len(sources.values))


@dataclass(frozen=True, kw_only=True)
class RowSelection:
    """Which rows of a study are looked at, and by which nodes.

    Attributes:
        filters: tags, root, outcome and process narrow; the chain doesn't.
        measure: what is counted.
        facet: the facet whose labels are the nodes; None = the tree's.
        which: which checkpoints count, of those that the filters leave.
        frame: what models are held against.
        without: a model that isn't looked at: an anchor.
    """

    filters: Filters
    measure: Measure
    facet: str | None
    which: Rows
    frame: Frame
    without: int | None = None

    @property
    def root(self) -> str | None:
        """The root that narrows: an answer's own outcome and votes are of no root."""
        return self.filters.root if self.measure == "process" else None

    @property
    def key(self) -> tuple[object, ...]:
        """What the rows depend on."""
        # An answer's own value follows the reading, too.
        by = (self.which, self.frame) if self.facet is None else self.filters.reading
        return (self.measure, self.facet, by, self.root, self.without, *self.filters.answering)


def over(data: StudyData, asked: RowSelection) -> Adder:
    """Add up over the rows asked about, part by part: what is collected takes `CountedRows`."""
    return lambda collect, *given: data.adder(_on_grounds, asked, collect, given)


def _on_grounds(
    data: StudyData, asked: RowSelection, collect: Callable[..., S], given: tuple[Any, ...]
) -> S:
    return collect(_grounds(data, asked), *given)


def _grounds(data: StudyData, asked: RowSelection) -> CountedRows:
    """Say which rows of a part count."""
    mask = None
    if asked.facet is None:
        which = asked.which
        mask = claims_of(data, asked.frame) if which == "claims" else means_of(data, which)

    def make() -> CountedRows:
        table, answers = data.table, answers_kept(data, asked.filters)
        rows: SomeRows = answers
        if asked.facet is None:
            rows = (rows_at if few_left(answers) else rows_kept)(data, asked.filters)
            rows = rows if mask is None else among(rows, mask)
        if asked.without is not None:
            others = table.model != asked.without
            rows = among(rows, others if asked.facet is not None else table.of_answers(others))
        return find_grounds(layout_of(data, asked), rows)

    # Where all checkpoints count either way, they are looked at once.
    same = asked.facet is None and mask is None
    key = replace(asked, which="strict", frame="own").key if same else asked.key
    return data.table.at_work.get(("grounds", *key), make)


def asked_of(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    facet: str | None,
    which: Rows,
    without: int | None = None,
) -> RowSelection:
    """Say which rows are asked about, held against the frame that the filters call for."""
    return RowSelection(filters=filters, measure=measure, facet=facet, which=which, without=without,
                 frame=frame_of(data, filters, without))  # fmt: skip


def layout_of(data: StudyData, asked: RowSelection) -> Layout:
    """Lay a part out once; a filter then costs no sort."""
    return lay_out(data, asked.measure, asked.facet, asked.root, asked.filters.reading)


def lay_out(
    data: StudyData,
    measure: Measure,
    facet: str | None,
    root: str | None,
    reading: Reading = "strict",
) -> Layout:
    """Lay a study out once; a filter then costs no sort."""
    table = data.table
    if facet is None:
        return table.kept.get(("tree layout",), lambda: tree_layout(table))
    value = (
        table.outcome.astype(np.float64)
        if measure == "outcome"
        else answer_values(data, Filters(root=root, reading=reading), measure)
    )
    within = dataset_facet(data.table.facets) if benchmarks_of(data, facet) > 1 else None
    return table.kept.get(
        ("facet layout", measure, facet, root, reading),
        lambda: facet_layout(table, facet, value, within=within),
    )
