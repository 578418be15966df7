"""Saved slices: filters with a name, and what two of them have apart.

A slice is the samples, answers and checkpoints that its search and filters let through, failing or
not. One that is chosen by what models got (who fails, what the judge says, words of answers or
reasons) is low or high by that choice alone: its differences are shown and never tested.

Reference: METHODS B4, B5; `analysis.compare.mean_gap`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qs

import numpy as np

from atom.analysis.compare.mean_gap import MeanGap, apart
from atom.analysis.layout import Mask
from atom.analysis.multiplicity import adjust
from atom.records import TAG_FACET, Annotation
from atom.store import Store
from atom.store.reading.tags import saved_slices
from atom.views.compare.nodes import Q
from atom.views.failures.page import in_states, listed_cells, rows_here
from atom.views.failures.search import search
from atom.views.filters import Filters, answer_values, answers_kept, known, measure_of
from atom.views.study_data import StudyData
from taxonomy import Path

WHOLE = "*"
"""Name of the whole study among slices."""
ALPHA = 0.05
"""The whole is one test; capabilities are held to `Q` together."""
SMALL = 5
"""A capability with fewer checkpoints on a side isn't listed."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Filters with a name.

    Attributes:
        name: what it is called; `WHOLE` for the whole study.
        filters: what narrows it; without model, sample and criterion.
        who: who saved it.
    """

    name: str
    filters: Filters
    who: str = ""

    @property
    def by_results(self) -> bool:
        """Whether it is chosen by what models got or wrote, or may be: a tag may mark failures."""
        find, filters = self.filters.find, self.filters
        written = bool(find.terms) and not set(find.places or ("answer",)) <= {
            "question",
            "criterion",
        }
        chosen = (filters.outcome, filters.process, filters.terse)
        tagged = any(facet == TAG_FACET for labels in (filters.tags, filters.among, filters.without)
                     for facet, _ in labels)  # fmt: skip
        return find.by_results or written or tagged or any(one is not None for one in chosen)


def bare(filters: Filters) -> Filters:
    """Return what of some filters makes a slice: no model, sample or tab of the list."""
    return filters.but(study="", model=None, sample=None, criterion=None, peers=(), show="failed",
                       rests=None, measure=None, judge=None, tree=None,
                       find=filters.find.but(sort="loss"))  # fmt: skip


def slice_of(record: Annotation, study: str) -> Slice:
    """Read a saved slice; what can't be understood in it is dropped.

    Args:
        study: the study's key, for addresses.
    """
    filters = bare(Filters.from_query(parse_qs(record.label))).but(study=study)
    return Slice(name=record.subject_id, filters=filters, who=record.note)


def slices_of(store: Store, data: StudyData, study: str) -> tuple[Slice, ...]:
    """Return a study's saved slices, by name.

    Args:
        study: its key, for addresses.
    """
    return tuple(slice_of(one, study) for one in saved_slices(store, data.study.id))


@dataclass(frozen=True, kw_only=True)
class SliceRows:
    """What a slice lets through.

    Attributes:
        rows: checkpoints, shape (N,).
        answers: answers, shape (R,).
    """

    rows: Mask
    answers: Mask

    def samples(self, data: StudyData) -> int:
        """Count the samples."""
        return len(np.unique(data.table.sample[self.answers]))


def inside(store: Store, data: StudyData, one: Slice) -> SliceRows:
    """Say what a slice lets through.

    Args:
        store: where texts are, if words are looked for.
    """
    filters, find = known(data, one.filters), one.filters.find
    answers = answers_kept(data, filters)
    found = search(store, data, find)
    if find.fails or find.passes:
        cells = listed_cells(data, filters)
        wanted = cells.failing(find.fails) & cells.passing(find.passes)
        answers = answers & wanted[data.table.sample]
    if found is not None:
        answers = answers & found.answers
    rows = data.table.of_answers(answers) & rows_here(data, filters)
    if found is not None:
        rows = rows & found.rows
    if find.states:
        rows = rows & in_states(data.table, find.states)
    if find.stateless:
        rows = rows & ~in_states(data.table, find.stateless)
    if data.has_process and (filters.node or filters.root or find.within or find.outside):
        # Under a capability only the answers that are marked there count.
        there = np.zeros(len(answers), dtype=bool)
        there[data.table.response[rows]] = True
        answers = answers & there
    return SliceRows(rows=rows, answers=answers)


@dataclass(frozen=True, kw_only=True)
class Side:
    """A slice of a model."""

    part: Slice
    model: int


@dataclass(frozen=True, kw_only=True)
class SliceGap:
    """Two sides on the whole, or on a capability.

    Attributes:
        path: the capability; empty for the whole.
        apart: first less second, on 0 to 1.
        adjusted: the p-value after control for all capabilities; NaN where it wasn't tested.
    """

    path: Path
    apart: MeanGap
    adjusted: float = math.nan

    @property
    def verdict(self) -> str:
        """`better` or `worse` (the first), `same` (not told apart), `thin`, not tested."""
        if math.isnan(self.adjusted):
            return "thin"
        if self.adjusted > (Q if self.path else ALPHA) or self.apart.gap == 0:
            return "same"
        return "better" if self.apart.gap > 0 else "worse"


@dataclass(frozen=True, kw_only=True)
class SliceComparison:
    """Two slices held against each other.

    Attributes:
        second: the other.
        samples: samples of each.
        whole: by sample score (or outcome, or votes).
        nodes: by capability, surest first; empty without criteria.
        by_results: whether either is chosen by results: then nothing is tested.
    """

    first: Side
    second: Side
    samples: tuple[int, int]
    whole: SliceGap
    nodes: tuple[SliceGap, ...]
    by_results: bool


def compare_slices(store: Store, data: StudyData, first: Side, second: Side) -> SliceComparison:
    """Hold two slices against each other."""
    both = [(side, inside(store, data, side.part)) for side in (first, second)]
    masks = [part.answers & (data.table.model == side.model) for side, part in both]
    rows = [part.rows & data.table.of_answers(mask) & (data.table.score > 0)
            for (_, part), mask in zip(both, masks, strict=True)]  # fmt: skip
    by_results = first.part.by_results or second.part.by_results
    whole = SliceGap(path=(), apart=_answers_apart(data, masks))
    nodes = [gap for path in _paths(data) if (gap := _node_apart(data, rows, path)) is not None]
    if not by_results:
        whole = replace(whole, adjusted=whole.apart.p)
        p = np.array([one.apart.p for one in nodes])
        level = np.array([len(one.path) for one in nodes], dtype=np.int64)
        held = adjust(p, level) if len(nodes) else p
        nodes = [replace(one, adjusted=float(q)) for one, q in zip(nodes, held, strict=True)]
    nodes.sort(key=lambda one: (math.isnan(one.adjusted), one.adjusted, -abs(one.apart.gap)))
    samples = [len(np.unique(data.table.sample[mask])) for mask in masks]
    return SliceComparison(first=first, second=second, samples=(samples[0], samples[1]),
                           whole=whole, nodes=tuple(nodes), by_results=by_results)  # fmt: skip


def _answers_apart(data: StudyData, masks: Sequence[Mask]) -> MeanGap:
    """Compare answers' values: sample scores where there are marks."""
    value = answer_values(data, Filters(), measure_of(data, Filters()))
    at = [np.flatnonzero(mask & np.isfinite(value)) for mask in masks]
    cluster = data.table.cluster[data.table.sample].astype(np.int64)
    return apart(value[at[0]], cluster[at[0]], value[at[1]], cluster[at[1]])


def _node_apart(data: StudyData, rows: Sequence[Mask], path: Path) -> SliceGap | None:
    table = data.table
    leaves = np.array([*(leaf[: len(path)] == path for leaf in table.leaves), False], dtype=bool)
    at = [np.flatnonzero(mask & leaves[table.leaf]) for mask in rows]
    if min(map(len, at)) < SMALL:
        return None
    cluster = table.cluster[table.sample[table.response]].astype(np.int64)
    value = table.value
    return SliceGap(
        path=path,
        apart=apart(value[at[0]], cluster[at[0]], value[at[1]], cluster[at[1]]),
    )


def _paths(data: StudyData) -> list[Path]:
    """Return the capabilities that are compared; one with an only child stands for it, too."""
    if not data.has_process:
        return []
    leaves = dict.fromkeys(data.table.leaves)
    under: dict[Path, frozenset[Path]] = {}
    for leaf in leaves:
        for depth in range(1, len(leaf) + 1):
            under[leaf[:depth]] = under.get(leaf[:depth], frozenset()) | {leaf}
    found: dict[frozenset[Path], Path] = {}
    for path in sorted(under, key=len):
        found.setdefault(under[path], path)
    return list(found.values())
