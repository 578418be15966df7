"""Fingerprints: the shape of each model over capabilities, and who is told apart by it.

Three steps, the cheap one first: `shape` counts and averages (every mean, interval and n),
`claims` adds what the diagnosis says, `told_apart` asks whether half of the samples recognises a
model by the other half.

Reference: METHODS A4 (node values), B2 (intervals), B4-B5 (claims), B17 (identification);
ATOM Figures 4 and 16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.merged import Additive
from atom.analysis.nodes import index_nodes
from atom.display.estimate import Estimate
from atom.views.facets import data_facets, dataset_facet
from atom.views.filters import Filters, Measure, answers_kept, label_name, measure_of, rows_kept
from atom.views.lab.judge_marks import JudgeMark, find_mark, find_mark_above
from atom.views.overview.node_means import value_means
from atom.views.overview.sums import selection_words
from atom.views.reading import mean_rows_kept
from atom.views.study_data import StudyData
from taxonomy import Path, format_path

MOST_DRAWN = 4
"""Models in a radar: with more, lines can't be told apart."""


@dataclass(frozen=True, kw_only=True)
class ShapeModel:
    """A model.

    Attributes:
        index: its place in the study, which is its colour.
        model_id: candidate id.
    """

    index: int
    model_id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ShapeMark:
    """One model's value on one capability or label: what a point, a cell or a bar shows.

    Attributes:
        model: index of the model.
        estimate: its mean on 0-100 with interval, n and samples.
        listed: how many checkpoints (or answers) the door's list holds: scored ones, unscored ones,
            and those of samples set aside.
        filters: where the door leads.
    """

    model: int
    estimate: Estimate
    listed: int
    filters: Filters


def full_name(path: Path, label: tuple[str, str] | None) -> str:
    """Write a capability's whole path, or a label with its facet."""
    return f"{label_name(label[0])}: {label[1]}" if label else format_path(path)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Values of K models on M capabilities or labels; arrays of shape (K, M), means on 0-100.

    Attributes:
        filters: what narrows it; where doors start from.
        measure: what the values are.
        facet: whose labels are looked at; None = capabilities of the tree.
        facets: facets that can be chosen.
        names: every model of the study, in its order.
        models: indices of the models that have values, in the study's order.
        paths: path of each capability; empty for labels.
        labels: (facet, value) of each label; empty for capabilities.
        finest: the leaves (or all labels), in the tree's order.
        mean: NaN where there is nothing.
        lo: lower ends of the 95 % intervals.
        n: checkpoints (or answers) with a value.
        samples: distinct samples (clusters).
        listed: what the door behind it lists.
        selected: which answers are looked at, when they are chosen by how they went.
        anchor: the model that all others were voted against, which has no shape of its own.
        judge_marks: branches that the judge misreads, by path.
        lead: models that are drawn while none is chosen; empty = the best three.
    """

    filters: Filters
    measure: Measure
    facet: str | None
    facets: tuple[str, ...]
    names: tuple[ShapeModel, ...]
    models: tuple[int, ...]
    paths: tuple[Path, ...]
    labels: tuple[tuple[str, str], ...]
    finest: Ints
    mean: Floats
    lo: Floats
    hi: Floats
    n: Ints
    samples: Ints
    listed: Ints
    selected: str
    anchor: ShapeModel | None
    judge_marks: Mapping[Path, JudgeMark] = field(default_factory=dict)
    lead: tuple[int, ...] = ()

    def judged(self, marks: Mapping[Path, JudgeMark]) -> Shape:
        """Return the same values with the branches marked that the judge misreads."""
        return replace(self, judge_marks=marks)

    def judge_at(self, node: int) -> JudgeMark | None:
        """Return what is wrong with the judge on a capability; None for a label."""
        return find_mark(self.judge_marks, self.paths[node]) if self.paths else None

    @property
    def judge_flaws(self) -> tuple[JudgeMark, ...]:
        """What is wrong with the judge on capabilities that are shown, the highest branches."""
        found = (self.judge_at(int(node)) for node in self.finest if self.n[:, node].any())
        marks = {mark.path: mark for mark in found if mark is not None}
        tops = {find_mark_above(self.judge_marks, path) or mark for path, mark in marks.items()}
        return tuple(sorted(tops, key=lambda mark: mark.path))

    @property
    def unit(self) -> str:
        """What n counts."""
        return "checkpoint" if self.facet is None else "answer"

    @property
    def listed_unit(self) -> str:
        """What the lists behind doors count."""
        return "checkpoint" if self.measure == "process" else "answer"

    @cached_property
    def overall(self) -> Floats:
        """Each model's mean over its values at the finest, shape (K,); NaN without any."""
        n = self.n[:, self.finest]
        total = np.nansum(np.nan_to_num(self.mean[:, self.finest]) * n, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / n.sum(axis=1))

    def label_at(self, node: int) -> tuple[str, str] | None:
        """Return a label; None for a capability."""
        return self.labels[node] if self.labels else None

    def path_at(self, node: int) -> Path:
        """Return a capability's path; empty for a label."""
        return self.paths[node] if self.paths else ()

    def name_at(self, node: int) -> str:
        """Return a capability's or label's own name."""
        return self.labels[node][1] if self.labels else self.paths[node][-1]

    def mark(self, model: int, node: int) -> ShapeMark:
        """Return one model's value on one capability or label."""
        at = model, node
        narrowed = (
            {"node": self.paths[node]}
            if not self.labels
            else {"tags": tuple(dict.fromkeys((*self.filters.tags, self.labels[node])))}
        )
        return ShapeMark(
            model=model,
            estimate=Estimate(
                value=float(self.mean[at]),
                lo=float(self.lo[at]),
                hi=float(self.hi[at]),
                n=int(self.n[at]),
                samples=int(self.samples[at]),
            ),
            listed=int(self.listed[at]),
            filters=self.filters.but(
                model=self.names[model].model_id,
                sample=None,
                criterion=None,
                show="all",
                **narrowed,
            ),
        )

    def drawn(self) -> tuple[int, ...]:
        """Return the models of the radars: the chosen one and its peers, else those that lead."""
        index = {one.model_id: one.index for one in self.names}
        wanted = [index.get(one or "") for one in (self.filters.model, *self.filters.peers)]
        chosen = [one for one in dict.fromkeys(wanted) if one is not None and one in self.models]
        if not chosen:
            chosen = list(self.lead) or self.best()[:3]
        return tuple(chosen[:MOST_DRAWN])

    def best(self) -> list[int]:
        """Return the models, the highest mean first."""
        return sorted(self.models, key=lambda one: (-self.overall[one], one))

    def of_peers(self) -> Floats:
        """Return the mean of the other models' values, shape (K, M); NaN without any."""
        known = np.isfinite(self.mean)
        total = np.where(known, self.mean, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            others = known.sum(axis=0) - known
            return np.asarray((total.sum(axis=0) - total) / others)


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """Arrays of shape (K, M), means on [0, 1]."""

    mean: Floats
    lo: Floats
    hi: Floats
    n: Ints
    samples: Ints
    listed: Ints


def shape(data: StudyData, filters: Filters, *, facet: str | None = None) -> Shape:
    """Compute every model's values with their intervals; nothing is claimed yet.

    Args:
        filters: what narrows it; the chain (node, sample) doesn't.
        facet: whose labels are looked at; None = capabilities where there are any.
    """
    table = data.table
    measure = measure_of(data, filters)
    known = data_facets(table.facets)
    facets = tuple(name for name, one in known.items() if len(one.values) >= 2)
    by_label = measure != "process" or not table.leaves or facet in known
    chosen = _choose_facet(data, facet, facets) if by_label else None
    anchor = anchor_at(data, measure)
    key = ("shape", measure, chosen, *filters.narrowing)
    nodes = index_nodes(table.leaves)
    n_nodes = len(table.facets[chosen].values) if chosen else 0 if by_label else nodes.n_nodes
    counts = (
        table.recent.get(key, lambda: _count(data, filters, measure, chosen))
        if n_nodes
        else _nothing(table.n_models)
    )
    names = tuple(
        ShapeModel(index=number, model_id=one.id, name=one.name)
        for number, one in enumerate(data.candidates)
    )
    return Shape(
        filters=filters,
        measure=measure,
        facet=chosen,
        facets=facets,
        names=names,
        models=tuple(int(one) for one in np.flatnonzero(counts.n.sum(axis=1) > 0)),
        paths=() if by_label else nodes.paths,
        labels=tuple((chosen, value) for value in table.facets[chosen].values) if chosen else (),
        finest=np.arange(n_nodes) if by_label else nodes.leaf_node,
        mean=100 * counts.mean,
        lo=100 * counts.lo,
        hi=100 * counts.hi,
        n=counts.n,
        samples=counts.samples,
        listed=counts.listed,
        selected=selection_words(filters),
        anchor=None if anchor is None else names[anchor],
    )


def _choose_facet(data: StudyData, facet: str | None, facets: Sequence[str]) -> str | None:
    if facet in data_facets(data.table.facets):
        return facet
    usual = ("skills", "skill", "capability", "category", "task")
    rest = [name for name in facets if name != dataset_facet(facets)]
    return next((name for name in (*usual, *rest, *facets) if name in facets), None)


def anchor_at(data: StudyData, measure: Measure) -> int | None:
    """Return the model that all others were voted against; None without one."""
    return data.anchor if measure == "preference" else None


def counted_answers(data: StudyData, filters: Filters, measure: Measure) -> NDArray[np.bool_]:
    """Say which answers count, shape (R,): an anchor's own are the others', turned round."""
    keep, anchor = answers_kept(data, filters), anchor_at(data, measure)
    return keep if anchor is None else keep & (data.table.model != anchor)


def layout_rows(
    data: StudyData, filters: Filters, measure: Measure, facet: str | None
) -> NDArray[np.bool_]:
    """Say which rows of the layout count: checkpoints for capabilities, answers for labels."""
    return (
        mean_rows_kept(data, filters) if facet is None else counted_answers(data, filters, measure)
    )


def _nothing(models: int) -> _Counts:
    none, zero = np.full((models, 0), np.nan), np.zeros((models, 0), dtype=np.int64)
    return _Counts(mean=none, lo=none, hi=none, n=zero, samples=zero, listed=zero)


def _count(data: StudyData, filters: Filters, measure: Measure, facet: str | None) -> _Counts:
    without = anchor_at(data, measure)
    stats = value_means(data, filters, measure, facet, without)
    form = data.table.n_models, -1
    listed: _Listed = data.adder(_listed, filters, facet, measure, without)
    return _Counts(
        mean=stats.mean.reshape(form),
        lo=stats.lo.reshape(form),
        hi=stats.hi.reshape(form),
        n=stats.n.reshape(form),
        samples=stats.clusters.reshape(form),
        listed=listed.n,
    )


@dataclass(frozen=True, kw_only=True)
class _Listed(Additive):
    """What the list behind each door holds, shape (K, M)."""

    n: Ints


def _listed(
    data: StudyData, filters: Filters, facet: str | None, measure: Measure, without: int | None
) -> _Listed:
    """Count what the list behind each door holds.

    The list shows everything: unscored ones, too, and (while nothing else narrows it) samples that
    are set aside.
    """
    table, k = data.table, data.table.n_models
    if facet is None:
        listed = answers_kept(data, filters)
        if not any(filters.labels) and filters.outcome is None:
            listed = listed | (table.counts & table.quarantined[table.sample])
        rows = table.of_answers(listed)
        if filters.root:
            inside = np.array([leaf[0] == filters.root for leaf in table.leaves] + [False])
            rows = rows & inside[table.leaf]
        rows = rows & (table.leaf >= 0)
        leaves = len(table.leaves)
        place = table.model[table.response[rows]].astype(np.int64) * leaves + table.leaf[rows]
        by_leaf = np.bincount(place, minlength=k * leaves)
        under = index_nodes(table.leaves).membership
        whole = by_leaf.reshape(k, leaves) @ under.T
        return _Listed(n=np.asarray(whole.round().astype(np.int64)))
    group, n_labels = table.facets[facet], len(table.facets[facet].values)
    weight = answers_kept(data, filters).astype(np.float64)
    if measure == "process":
        rows = rows_kept(data, filters)
        weight = np.bincount(table.response[rows], minlength=len(weight)).astype(np.float64)
    if without is not None:
        weight[table.model == without] = 0
    place = table.model[group.response].astype(np.int64) * n_labels + group.value
    found = np.bincount(place, weights=weight[group.response], minlength=k * n_labels)
    return _Listed(n=np.asarray(found.reshape(k, n_labels).round().astype(np.int64)))
