"""Fingerprints: the shape of each model over capabilities, and who is told apart by it.

Three steps, the cheap one first: `shape` counts and averages (every mean, interval and n),
`claims` adds what the diagnosis says, `told_apart` asks whether half of the samples recognises a
model by the other half.

Reference: METHODS A4 (node values), B2 (intervals), B4-B5 (claims), B17 (identification);
ATOM Figures 4 and 16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atom.analysis.capability.diagnosis import LABELS, Diagnosis, Frame, Label
from atom.analysis.capability.fingerprints import Identification, identify
from atom.analysis.intervals import Floats, Ints
from atom.analysis.merged import Additive
from atom.analysis.nodes import index_nodes
from atom.display import numbers
from atom.display.estimate import Estimate
from atom.views.filters import (
    Filters,
    Measure,
    answer_values,
    answers_kept,
    label_name,
    measure_of,
    rows_kept,
)
from atom.views.lab.judge_marks import JudgeMark, find_mark, find_mark_above
from atom.views.overview.page import Statement
from atom.views.overview.sums import selection_words
from atom.views.overview.weaknesses import (
    LeftOut,
    NodeEvidence,
    diagnosis_of,
    evidence_words,
    lay_out,
    left_out_of,
    value_means,
)
from atom.views.reading import mean_rows_kept
from atom.views.study_data import StudyData, data_facets, dataset_facet
from taxonomy import Path, format_path

MOST_DRAWN = 4
"""Models in a radar: with more, lines can't be told apart."""
SEED = 17
SPLITS, FEWER_SPLITS, MANY_ROWS = 50, 10, 200_000
LEAST_SAMPLES, LEAST_GROUPS = 20, 3
"""With fewer samples, or fewer capabilities (or labels), halves say nothing."""


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
class Mark:
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


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A skill bar.

    Attributes:
        name: the capability's (or label's) own name.
        path: its path; empty for a label.
        label: (facet, value) for a label; None for a capability.
        mark: the model's value.
        held: what the model's value is held against there, 0-100: what the frame expects of it
            where there is a departure, else the other models' mean; NaN without either.
        claim: what the diagnosis says; None where nothing may be claimed.
        judge: what is wrong with the judge there; None = nothing known.
    """

    name: str
    path: Path
    label: tuple[str, str] | None
    mark: Mark
    held: float
    claim: NodeEvidence | None
    judge: JudgeMark | None = None

    @property
    def full(self) -> str:
        """The whole path, or the label with its facet."""
        return full_name(self.path, self.label)


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Skill bars of one model, the surest evidence first.

    Attributes:
        rows: confirmed weaknesses, suspected ones, strengths, the rest; each by evidence.
        frame: what the model is held against; None where nothing may be claimed.
        margin: smallest departure worth reporting, in points of 0-100.
        q: false discovery rate aimed at.
        looks: capabilities (or labels) on which the model was looked at.
        selected: which answers are looked at, when they are chosen by how they went.
    """

    model: ShapeModel
    rows: tuple[Bar, ...]
    frame: Frame | None
    margin: float
    q: float
    looks: int
    selected: str


def full_name(path: Path, label: tuple[str, str] | None) -> str:
    """Write a capability's whole path, or a label with its facet."""
    return f"{label_name(label[0])}: {label[1]}" if label else format_path(path)


def claim_words(claim: NodeEvidence, facet: str | None) -> str:
    """Write a claim's effect with its interval and what it is held against."""
    words = evidence_words(claim)
    if facet is None:
        return words
    return words.replace("same criteria", "same questions").replace("own criteria", "own answers")


# --- means -------------------------------------------------------------------------------------


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

    def mark(self, model: int, node: int) -> Mark:
        """Return one model's value on one capability or label."""
        at = model, node
        narrowed = (
            {"node": self.paths[node]}
            if not self.labels
            else {"tags": tuple(dict.fromkeys((*self.filters.tags, self.labels[node])))}
        )
        return Mark(
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
            chosen = list(self.lead) or self._best()[:3]
        return tuple(chosen[:MOST_DRAWN])

    def _best(self) -> list[int]:
        return sorted(self.models, key=lambda one: (-self.overall[one], one))

    def opened(self, said: Claims | None) -> Shape:
        """Draw the models with most to show first, while none is chosen.

        Args:
            said: what is claimed; without it, or without a claim, the best models stay first.
        """
        if said is None:
            return self
        sure = {one: said.sure(one) for one in self.models}
        if not any(sure.values()):
            return self
        best = self._best()
        lead = sorted(self.models, key=lambda one: (-sure[one], best.index(one)))[:3]
        return replace(self, lead=tuple(lead))

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
    anchor = _anchor(data, measure)
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


def _anchor(data: StudyData, measure: Measure) -> int | None:
    return data.anchor if measure == "preference" else None


def _kept(data: StudyData, filters: Filters, measure: Measure) -> NDArray[np.bool_]:
    """Say which answers count, shape (R,): an anchor's own are the others', turned round."""
    keep, anchor = answers_kept(data, filters), _anchor(data, measure)
    return keep if anchor is None else keep & (data.table.model != anchor)


def _rows(
    data: StudyData, filters: Filters, measure: Measure, facet: str | None
) -> NDArray[np.bool_]:
    """Say which rows of the layout count: checkpoints for capabilities, answers for labels."""
    return mean_rows_kept(data, filters) if facet is None else _kept(data, filters, measure)


def _nothing(models: int) -> _Counts:
    none, zero = np.full((models, 0), np.nan), np.zeros((models, 0), dtype=np.int64)
    return _Counts(mean=none, lo=none, hi=none, n=zero, samples=zero, listed=zero)


def _count(data: StudyData, filters: Filters, measure: Measure, facet: str | None) -> _Counts:
    without = _anchor(data, measure)
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


# --- claims ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What the diagnosis says of every model on every capability or label.

    Attributes:
        left: model, node -> the checkpoints that it doesn't rest on; None for labels.
    """

    seen: Diagnosis
    left: Callable[[int, int], LeftOut] | None = None

    @property
    def frame(self) -> Frame:
        """What models are held against."""
        return self.seen.frame

    @property
    def margin(self) -> float:
        """Smallest departure worth reporting, in points of 0-100."""
        return 100 * self.seen.settings.margin

    @property
    def q(self) -> float:
        """The false discovery rate aimed at."""
        return self.seen.settings.q

    def label(self, model: int, node: int) -> Label:
        """Return what may be claimed."""
        return LABELS[int(self.seen.label[model, node])]

    def at(self, model: int, node: int) -> NodeEvidence:
        """Return what is said of one model on one capability or label."""
        left = None if self.left is None else self.left(model, node)
        return NodeEvidence.of(self.seen.finding(model, node), left)

    def looks(self, model: int) -> int:
        """Return on how many capabilities (or labels) a model was looked at."""
        return int((self.seen.label[model] < LABELS.index("insufficient")).sum())

    def sure(self, model: int) -> int:
        """Return how many weaknesses and strengths of a model are confirmed, leaves or not."""
        wanted = [LABELS.index("confirmed"), LABELS.index("strength")]
        return int(np.isin(self.seen.label[model], wanted).sum())

    def doubt(self, model: int, node: int) -> float:
        """Return the smaller p-value of the two directions; 1 where nothing was tested."""
        found = [float(p[model, node]) for p in (self.seen.p_weak, self.seen.p_strong)]
        return min((p for p in found if not math.isnan(p)), default=1.0)


def claims(data: StudyData, form: Shape) -> Claims | None:
    """Say what the diagnosis says; None where nothing may be claimed.

    Answers chosen by how they went are other samples for every model, and one model alone on
    labels of nothing has nothing to be held against.
    """
    if form.selected or not form.models or not len(form.finest):
        return None
    without = _anchor(data, form.measure)
    return Claims(
        seen=diagnosis_of(data, form.filters, form.measure, form.facet, without),
        left=left_out_of(data, form.filters, without) if form.facet is None else None,
    )


# --- skill bars --------------------------------------------------------------------------------


def bars(form: Shape, said: Claims | None, model: int | None = None) -> Bars | None:
    """Make the skill bars of a model, the surest evidence first.

    Args:
        said: what is claimed; without it the tree's order stays.
        model: whose; the first one drawn when None.

    Returns:
        The bars; None without any model.
    """
    drawn = form.drawn()
    if not drawn:
        return None
    one = drawn[0] if model is None else model
    nodes = [int(node) for node in form.finest if form.n[one, node]]
    if said is not None:
        nodes.sort(
            key=lambda node: (
                LABELS.index(said.label(one, node)),
                said.doubt(one, node),
                -int(form.n[one, node]),
            )
        )
    peers = form.of_peers()
    said_at = {node: None if said is None else said.at(one, node) for node in nodes}
    return Bars(
        model=form.names[one],
        rows=tuple(
            Bar(
                name=form.name_at(node),
                path=form.path_at(node),
                label=form.label_at(node),
                mark=form.mark(one, node),
                held=_held(form.mark(one, node), said_at[node], float(peers[one, node])),
                claim=said_at[node],
                judge=form.judge_at(node),
            )
            for node in nodes
        ),
        frame=None if said is None else said.frame,
        margin=0.0 if said is None else said.margin,
        q=0.0 if said is None else said.q,
        looks=0 if said is None else said.looks(one),
        selected=form.selected,
    )


def _held(mark: Mark, claim: NodeEvidence | None, peers: float) -> float:
    """Return what a value is held against: the departure is the value less this."""
    if claim is None:
        return peers
    return mark.estimate.value - claim.effect


# --- who is told apart -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ToldApart:
    """Whether half of the samples recognises a model by the other half.

    Attributes:
        models: who is compared, in the study's order.
        similarity: shape (K, K): correlation of a model's profile in one half with a model's in
            the other; the diagonal is a profile's own repeatability.
        named: shape (K, K): of the tries to find the row's model, how many took it for the
            column's; whole numbers.
        pairwise: shape (K, K): share of splits in which a pair is told apart; NaN on the diagonal.
        tries: tries a model: each half is searched once in the other.
        splits: random halves.
        samples: distinct samples that were halved.
        why: why it can't be said; empty where it can.
    """

    models: tuple[ShapeModel, ...]
    similarity: Floats
    named: Ints
    pairwise: Floats
    tries: int
    splits: int
    samples: int
    why: str = ""

    @property
    def first(self) -> float:
        """Share of tries that name the right model."""
        return float(np.diag(self.named).mean() / self.tries) if self.models else math.nan

    @property
    def chance(self) -> float:
        """The share that guessing would reach."""
        return 1 / len(self.models) if self.models else math.nan

    @property
    def two_way(self) -> float:
        """Share of splits in which two models are told apart, the mean over pairs."""
        known = np.isfinite(self.pairwise)
        return float(self.pairwise[known].mean()) if known.any() else math.nan

    @property
    def shapes(self) -> bool:
        """Whether pairs are told apart well beyond guessing; else likenesses are chance, too."""
        return self.two_way >= _SHAPES


def told_apart(data: StudyData, form: Shape) -> ToldApart:
    """Cut the samples into random halves and look for each model of one half in the other.

    The halves are the same on every call. A study of many rows gets fewer of them.

    Reference:
        METHODS B17; ATOM Figure 4.
    """
    samples = _halved(data, form)
    if form.selected:
        return _not_told(
            f"Only {form.selected} are looked at, which are other samples for every model: "
            "nobody can be told apart by them.",
            samples,
        )
    if len(form.models) < 2:
        return _not_told("There is nobody to tell a model apart from: it takes two.", samples)
    if samples < LEAST_SAMPLES:
        return _not_told(
            f"{samples} sample{'s' * (samples != 1)} can't be cut into halves that say anything: "
            f"it takes {LEAST_SAMPLES}.",
            samples,
        )
    groups = int((form.n[:, form.finest].sum(axis=0) > 0).sum())
    if groups < LEAST_GROUPS:
        what = "labels" if form.facet else "capabilities"
        return _not_told(f"{groups} {what} make no shape: it takes {LEAST_GROUPS}.", samples)
    key = ("told apart", form.measure, form.facet, *form.filters.narrowing)
    return data.table.recent.get(key, lambda: _told(data, form, samples))


def _halved(data: StudyData, form: Shape) -> int:
    """Count the distinct samples that the values come from."""
    key = ("halved", form.measure, *form.filters.narrowing)
    return data.table.recent.get(key, lambda: _count_samples(data, form)) if form.models else 0


def _count_samples(data: StudyData, form: Shape) -> int:
    table = data.table
    keep = _kept(data, form.filters, form.measure)
    value = answer_values(data, form.filters, form.measure)
    return len(np.unique(table.cluster[table.sample[keep & np.isfinite(value)]]))


def _told(data: StudyData, form: Shape, samples: int) -> ToldApart:
    rows = _rows(data, form.filters, form.measure, form.facet)
    root = form.filters.root if form.measure == "process" else None
    layout = lay_out(data, form.measure, form.facet, root, form.filters.reading)
    counted = int(np.count_nonzero(layout.usable(rows)))
    splits = SPLITS if counted <= MANY_ROWS else FEWER_SPLITS
    seen: Identification = identify(layout, np.random.default_rng(SEED), splits=splits, rows=rows)
    # A model without a profile (no item shared with another, or no difference at all) is nobody's
    # look-alike, and isn't looked for.
    shaped = np.flatnonzero(np.isfinite(np.diag(seen.similarity)))
    if len(shaped) < 2:
        return _not_told(
            "There are no shapes to compare: the models don't share enough samples, or they "
            "don't differ on any of them.",
            samples,
        )
    block = np.ix_(shaped, shaped)
    return ToldApart(
        models=tuple(form.names[int(one)] for one in shaped),
        similarity=seen.similarity[block],
        named=(seen.named[block] * 2 * splits).round().astype(np.int64),
        pairwise=seen.pairwise[block],
        tries=2 * splits,
        splits=splits,
        samples=samples,
    )


def _not_told(why: str, samples: int) -> ToldApart:
    none = np.zeros((0, 0))
    return ToldApart(models=(), similarity=none, named=none.astype(np.int64), pairwise=none,
                     tries=0, splits=0, samples=samples, why=why)  # fmt: skip


# --- what stands out ---------------------------------------------------------------------------

_SURE = 0.9
"""Share of tries from which on a model counts as told apart."""
_ALIKE = 0.15
"""Share of tries from which on two models are said to look alike; more where models are few."""
_SHAPES = 0.65
"""Share of splits in which a pair must be told apart before likeness means anything."""
_REPEATS = 0.1
"""Correlation of a model's own halves from which on it has a shape."""


def statements(form: Shape, said: Claims | None, apart: ToldApart) -> tuple[Statement, ...]:
    """Say in a few sentences what stands out, each with its door.

    Args:
        said: what the diagnosis says.
    """
    if not form.models:
        return ()
    here = form.filters.but(node=(), sample=None, criterion=None)
    if form.selected:
        text = (
            f"Only {form.selected} are looked at, which are other samples for every model: the "
            "shapes below describe them, and nothing is claimed."
        )
        return (Statement(text=text, filters=here.but(model=None, show="all"), page="failures"),)
    found = []
    if apart.models:
        found += [
            _who_is_told(here, apart),
            _who_looks_alike(here, apart),
            _who_has_none(here, apart),
        ]
    elif apart.why:
        found.append(Statement(text=apart.why, filters=here, page="fingerprints"))
    found.append(_clearest(form, said))
    return tuple(one for one in found if one is not None)


def _who_is_told(here: Filters, apart: ToldApart) -> Statement:
    own = np.diag(apart.named)
    sure = [place for place in np.argsort(-own, kind="stable") if own[place] >= _SURE * apart.tries]
    best = apart.models[int(np.argmax(own))]
    door = here.but(model=best.model_id, peers=tuple(p for p in here.peers if p != best.model_id))
    if len(sure) == len(apart.models):
        text = (
            f"All {len(sure):,} models have a shape of their own: each is recognised in at least "
            f"{int(own.min()):,} of {apart.tries:,} tries."
        )
    elif sure:
        names = [apart.models[place].name for place in sure]
        hits = int(min(own[place] for place in sure))
        least = "at least " if len(sure) > 1 else ""
        text = (
            f"{_listing(names)} {'is' if len(sure) == 1 else 'are'} told apart from all others by "
            f"shape: recognised in {least}{hits} of {apart.tries:,} tries."
        )
    else:
        text = (
            f"No model is surely told by its shape: {numbers.share(apart.first)} of tries name the "
            f"right one, where guessing would reach {numbers.share(apart.chance)}."
        )
    return Statement(text=text, filters=door, page="fingerprints")


def _who_looks_alike(here: Filters, apart: ToldApart) -> Statement | None:
    """Name the two models that are taken for one another most often; both must have a shape."""
    taken = apart.named + apart.named.T
    np.fill_diagonal(taken, 0)
    if not apart.shapes:
        return None
    flat = ~_repeats(apart)
    taken[flat], taken[:, flat] = 0, 0
    one, other = (int(place) for place in np.unravel_index(int(taken.argmax()), taken.shape))
    if taken[one, other] < max(_ALIKE, 0.6 * apart.chance) * 2 * apart.tries:
        return None
    first, second = apart.models[one], apart.models[other]
    return Statement(
        text=f"{first.name} and {second.name} look alike: in {taken[one, other]} of "
        f"{2 * apart.tries} tries one is taken for the other.",
        filters=here.but(model=first.model_id, peers=(second.model_id,)),
        page="compare",
    )


def _repeats(apart: ToldApart) -> NDArray[np.bool_]:
    """Say whose shape in one half resembles its own in the other at all, shape (K,)."""
    return np.asarray(np.diag(apart.similarity) >= _REPEATS)


def _who_has_none(here: Filters, apart: ToldApart) -> Statement | None:
    """Name the models without a shape of their own: even all over, or too little evidence."""
    flat = [int(place) for place in np.flatnonzero(~_repeats(apart))]
    if not apart.shapes or not flat or len(flat) == len(apart.models):
        return None
    names = [apart.models[place].name for place in flat]
    first = apart.models[flat[0]]
    one = len(flat) == 1
    return Statement(
        text=f"{_listing(names)} {'has' if one else 'have'} no shape that repeats: what one half "
        f"of the samples shows of {'it' if one else 'them'}, the other doesn't.",
        filters=here.but(
            model=first.model_id, peers=tuple(p for p in here.peers if p != first.model_id)
        ),
        page="fingerprints",
    )


def _clearest(form: Shape, said: Claims | None) -> Statement | None:
    """Name the claim with the largest departure among leaves (or labels)."""
    if said is None:
        return None
    pooled = np.nan_to_num(said.seen.pooled[:, form.finest])
    claimed = np.isin(
        said.seen.label[:, form.finest], (LABELS.index("confirmed"), LABELS.index("strength"))
    )
    size = np.where(claimed, np.abs(pooled), 0)
    if not size.any():
        return None
    model, place = np.unravel_index(int(size.argmax()), size.shape)
    node = int(form.finest[place])
    claim = said.at(int(model), node)
    return Statement(
        text=f"The largest departure that is sure: {form.names[int(model)].name} on "
        f"{form.name_at(node)}, {claim_words(claim, form.facet)} ({claim.glyph} {claim.words}).",
        filters=form.mark(int(model), node).filters,
        page="failures",
    )


def _listing(names: Sequence[str]) -> str:
    """Write `a`, `a and b`, `a, b and c`, `a, b and 3 more`."""
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
