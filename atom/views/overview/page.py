"""Overview: who is ahead, and what breaks each of them?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from atom.analysis.capability.quadrant import Quadrant, quadrant_of
from atom.analysis.compare.ranking import rank_sets
from atom.analysis.intervals import Floats, Ints, NodeStats, make_cells, node_stats, stats_of_sums
from atom.analysis.nodes import NodeIndex, index_nodes
from atom.analysis.score_table import Facet, ScoreTable
from atom.views.filters import (
    Filters,
    Measure,
    answer_values,
    answers_kept,
    measure_of,
    processes_of,
    root_scores,
)
from atom.views.lab.preferences import anchor_of
from atom.views.looks.early import HeldRanks, held_ranks
from atom.views.overview.accuracy import Accuracy, accuracies, answered_by_all
from atom.views.overview.weaknesses import (
    ModelWeaknesses,
    Weakness,
    Weaknesses,
    effect_words,
    frame_words,
    leading,
    node_means,
    weaknesses,
)
from atom.views.reading import mean_rows_kept, model_said
from atom.views.study_data import StudyData, data_facets, dataset_facet
from taxonomy import Path

MOST_VALUES = 60
"""Values of a label that make a table."""
MIN_SAMPLES = 5
"""A node with fewer samples is `insufficient` (METHODS A9)."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean on the 0-100 scale with its 95 % interval.

    Attributes:
        value: NaN where there is nothing.
        lo: lower end.
        hi: upper end.
        n: values (checkpoints, or answers).
        samples: distinct samples (clusters).
    """

    value: float
    lo: float
    hi: float
    n: int
    samples: int

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)


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
class RankRow:
    """One model in the ranking.

    Attributes:
        model_id: candidate id.
        name: what people call it.
        colour: its place in the study, which is its colour on every screen.
        rank_best: best rank that the data allow; 0 = not ranked.
        rank_worst: worst rank that the data allow.
        score: mean sample score (process), share of right answers (outcome), or share of votes won
            (preference).
        right: share of right final answers of all that it was asked, 0-100.
        given: the same of the answers that it gave.
        accuracy: both with their counts, and what wasn't given by cause.
        lucky: share of right answers (terse ones left out) whose process fails, 0-100.
        said: share of its scored checkpoints that its answers speak of, 0-100; NaN without any.
        terse: answers that address less than half of their weight; accused of nothing.
        carried: checkpoints wrong only because an earlier step was; in no capability's mean.
        unscored: share of its checkpoints that are unscored or failed, 0-100; NaN without any.
        n_unscored: how many those are.
        n_aside: marks that say that their criterion doesn't apply: they are in no figure here.
        findings: its labelled weaknesses and strengths: confirmed, then suspected, then strengths.
        tested: capabilities (or labels) with enough evidence to look for a weakness.
        filters: where the row's door leads.
        hit_all: share of questions that it got right every time, 0-100, where clusters ask one
            question several times; NaN elsewhere.
        hit_clusters: how many such questions there are.
    """

    model_id: str
    name: str
    colour: int
    rank_best: int
    rank_worst: int
    score: Estimate
    right: Estimate
    given: Estimate
    accuracy: Accuracy
    lucky: Estimate
    said: float
    terse: int
    carried: int
    unscored: float
    n_unscored: int
    findings: tuple[Weakness, ...]
    tested: int
    filters: Filters
    hit_all: float = math.nan
    hit_clusters: int = 0
    n_aside: int = 0


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that stands out, and the door behind it."""

    text: str
    filters: Filters
    page: str
    """`failures` or `overview`."""


@dataclass(frozen=True, kw_only=True)
class ModelQuadrant:
    """A model's quadrant: right or wrong answers against the process behind them."""

    model_id: str
    name: str
    colour: int
    counts: Quadrant
    filters: Filters


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


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """The answers that count, with the values that the measure gives them."""

    answers: Ints
    """Indices of answer rows."""
    value: Floats
    """In [0, 1], a value an answer."""


def overview(data: StudyData, filters: Filters, *, facet: str | None = None) -> Overview:
    """Compute the Overview page.

    Args:
        data: the study.
        filters: what narrows it; the chain (model, node) doesn't.
        facet: the label facet to tabulate; None = capabilities where there are any.

    Returns:
        The view-model.
    """
    table = data.table
    measure = measure_of(data, filters)
    keep = answers_kept(data, filters)
    value = answer_values(data, filters, measure)
    anchor = _anchor(data, measure)
    measured = keep if anchor is None else keep & (table.model != anchor)
    counted = np.flatnonzero(keep & np.isfinite(value))
    kept = _Kept(answers=counted, value=value[counted])
    facets = tuple(
        name
        for name, group in data_facets(table.facets).items()
        if 2 <= len(group.values) <= MOST_VALUES and _groups(table, name, group)
    )
    by_label = measure != "process" or facet is not None
    chosen = _choose_facet(data, facet, facets) if by_label else None
    labels = _label_rows(data, filters, kept, chosen) if by_label else ()
    nodes = _node_rows(data, filters) if measure == "process" and not by_label else ()
    skills = labels if by_label else nodes
    selected = selection_words(filters)
    looked = (
        None
        if selected
        else weaknesses(data, filters, measure, measured, None if measure == "process" else chosen)
    )
    ranking = _ranking(data, filters, kept, keep, looked, anchor)
    quadrants = _quadrants(data, filters, keep, ranking)
    return Overview(
        measure=measure,
        statements=(
            _selected_statement(filters, ranking, selected)
            if selected
            else _statements(data, measure, ranking, quadrants, looked, anchor)
        ),
        selected=selected,
        ranking=ranking,
        skills=skills,
        facet=chosen,
        facets=facets,
        quadrants=quadrants,
        weaknesses=looked,
        samples=_distinct(table.sample[counted], len(table.sample_ids)),
        quarantined=int(table.quarantined.sum()),
        answers=len(counted),
        pending=data.pending,
        unanswered=int((~table.counts).sum()),
        shared=int(answered_by_all(table).sum()),
        anchor=anchor,
    )


def _groups(table: ScoreTable, name: str, facet: Facet) -> bool:
    """Whether a label puts samples together: neither one value a sample nor the model again."""

    def look() -> bool:
        values = len(facet.values)
        sample = table.sample[facet.response].astype(np.int64) * values + facet.value
        if len(np.unique(sample)) < 1.5 * values:
            return False
        model = table.model[facet.response].astype(np.int64)
        pairs = len(np.unique(model * values + facet.value))
        return not pairs == values == len(np.unique(model))

    return table.kept.get(("groups", name), look)


def _distinct(codes: NDArray[np.integer], size: int) -> int:
    """Count different codes below a size."""
    seen = np.zeros(size, dtype=bool)
    seen[codes] = True
    return int(np.count_nonzero(seen))


def _anchor(data: StudyData, measure: Measure) -> int | None:
    """Return the model that all others were voted against.

    Its votes are the others' votes turned round, so it is held against nobody itself.
    """
    if measure != "preference" or data.votes is None:
        return None
    return anchor_of(data.votes, data.table.model)


def _choose_facet(data: StudyData, facet: str | None, facets: tuple[str, ...]) -> str | None:
    if facet in data_facets(data.table.facets):
        return facet
    for name in ("skills", "skill", "capability", "category", "task"):
        if name in facets:
            return name
    rest = [name for name in facets if name != dataset_facet(facets)]
    return rest[0] if rest else (facets[0] if facets else None)


def _stats(
    data: StudyData,
    value: Floats,
    answers: Ints,
    group: Ints | None = None,
    n_groups: int = 1,
) -> NodeStats:
    """Estimate every (model, group): node index = model * n_groups + group."""
    table = data.table
    if group is None:
        return _model_stats(data, value, answers)
    node = table.model[answers].astype(np.int64) * n_groups + group
    cluster = table.cluster[table.sample[answers]].astype(np.int64)
    n_nodes = table.n_models * n_groups
    return node_stats(make_cells(value, node, cluster, n_nodes), n_nodes)


def _model_stats(data: StudyData, value: Floats, answers: Ints) -> NodeStats:
    """Estimate every model, with the sums by (model, cluster) laid out in full."""
    return _stats_by_unit(*_by_unit(data, value, answers))


def _hit_all(data: StudyData, answers: Ints) -> tuple[Floats, Ints]:
    """Return each model's share of clusters in which every answer is right, and how many there are.

    Only where clusters ask one question several times, and only clusters with two answers or more.
    """
    table = data.table
    share = np.full(table.n_models, np.nan)
    n = np.zeros(table.n_models, dtype=np.int64)
    if not data.asks_again:
        return share, n
    known = answers[np.isfinite(table.outcome[answers])]
    for model in range(table.n_models):
        mine = known[table.model[known] == model]
        units, of, count = np.unique(
            table.cluster[table.sample[mine]], return_inverse=True, return_counts=True
        )
        least = np.ones(len(units))
        np.minimum.at(least, of, table.outcome[mine])
        several = count > 1
        n[model] = int(several.sum())
        if n[model]:
            share[model] = 100 * float((least[several] == 1).mean())
    return share, n


def _stats_by_unit(total: Floats, count: Floats) -> NodeStats:
    n, sums = count.sum(axis=1), total.sum(axis=1)
    mean = sums / np.where(n > 0, n, 1)
    squares = ((total - mean[:, None] * count) ** 2).sum(axis=1)
    return stats_of_sums(n, sums, (count > 0).sum(axis=1).astype(np.float64), squares)


def _by_unit(data: StudyData, value: Floats, answers: Ints) -> tuple[Floats, Floats]:
    """Sum values and count answers by (model, cluster), shape (K, clusters) each.

    Where a model answered a sample several times, its mean there counts as one answer.

    Reference:
        METHODS T3.
    """
    table = data.table
    clusters = int(table.cluster.max(initial=-1)) + 1
    unit = table.kept.get(
        "unit of answer",
        lambda: table.model.astype(np.int64) * clusters + table.cluster[table.sample],
    )[answers]
    shape = (table.n_models, clusters)
    size = shape[0] * shape[1]
    if table.repeat[answers].any():
        samples = len(table.sample_ids)
        once = table.model[answers].astype(np.int64) * samples + table.sample[answers]
        share = 1 / np.bincount(once)[once]
        total = np.bincount(unit, weights=value * share, minlength=size).astype(np.float64)
        count = np.bincount(unit, weights=share, minlength=size).astype(np.float64).round(9)
    else:
        total = np.bincount(unit, weights=value, minlength=size).astype(np.float64)
        count = np.bincount(unit, minlength=size).astype(np.float64)
    return total.reshape(shape), count.reshape(shape)


def _estimates(stats: NodeStats) -> list[Estimate]:
    columns = (100 * stats.mean, 100 * stats.lo, 100 * stats.hi, stats.n, stats.clusters)
    return [
        Estimate(value=value, lo=lo, hi=hi, n=n, samples=samples)
        for value, lo, hi, n, samples in zip(*(one.tolist() for one in columns), strict=True)
    ]


def _node_rows(data: StudyData, filters: Filters) -> tuple[SkillRow, ...]:
    """Make a row for every node of the tree that has checkpoints, parents before children."""
    table = data.table
    if not table.leaves:
        return ()
    index = index_nodes(table.leaves)
    nodes, n_groups = index.paths, index.n_nodes
    estimates = _estimates(node_means(data, filters))
    samples = _samples_below(data, filters, index)
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
    data: StudyData, filters: Filters, kept: _Kept, facet: str | None
) -> tuple[SkillRow, ...]:
    """Make a row for every label of a facet; groups overlap where answers carry several."""
    if facet is None:
        return ()
    table = data.table
    group = table.facets[facet]
    value_of = np.full(len(table.sample), np.nan)
    value_of[kept.answers] = kept.value
    inside = np.isfinite(value_of[group.response])
    answers = group.response[inside].astype(np.int64)
    codes = group.value[inside].astype(np.int64)
    n_groups = len(group.values)
    estimates = _estimates(_stats(data, value_of[answers], answers, codes, n_groups))
    samples = _samples_in(data, answers, codes, n_groups)
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


def _samples_in(data: StudyData, answers: Ints, group: Ints, n_groups: int) -> list[int]:
    """Count the distinct samples of each group, over all models."""
    seen = np.zeros(len(data.table.sample_ids) * n_groups, dtype=bool)
    seen[data.table.sample[answers].astype(np.int64) * n_groups + group] = True
    return [int(n) for n in seen.reshape(-1, n_groups).sum(axis=0)]


def _samples_below(data: StudyData, filters: Filters, nodes: NodeIndex) -> list[int]:
    """Count the distinct samples with a score under each node, over all models."""
    table = data.table
    places = table.kept.get("places of criteria", lambda: _places_of_criteria(data, nodes))
    scored = np.zeros(len(table.criterion_ids), dtype=bool)
    scored[table.criterion[mean_rows_kept(data, filters) & (table.score > 0)]] = True
    found = np.flatnonzero(scored)
    seen = np.zeros((nodes.n_nodes + 1) * len(table.sample_ids), dtype=bool)
    for place in places:
        seen[place[found]] = True
    by_node = np.count_nonzero(seen.reshape(nodes.n_nodes + 1, -1), axis=1)
    return [int(n) for n in by_node[:-1]]


def _places_of_criteria(data: StudyData, nodes: NodeIndex) -> Ints:
    """Return `node * samples + sample` of each criterion at each depth, shape (D, criteria).

    The node after the last stands for none.
    """
    table = data.table
    sample = np.zeros(len(table.criterion_ids), dtype=np.int64)
    leaf = np.full(len(table.criterion_ids), -1, dtype=np.int64)
    sample[table.criterion] = table.sample[table.response]
    leaf[table.criterion] = table.leaf
    none = np.full((len(nodes.ancestor), 1), -1)
    above = np.concatenate([nodes.ancestor, none], axis=1)[:, leaf]
    return np.where(above < 0, nodes.n_nodes, above) * len(table.sample_ids) + sample


def _ranking(
    data: StudyData,
    filters: Filters,
    kept: _Kept,
    keep: NDArray[np.bool_],
    looked: Weaknesses | None,
    anchor: int | None,
) -> tuple[RankRow, ...]:
    table = data.table
    models = table.n_models
    total, count = _by_unit(data, kept.value, kept.answers)
    main = _stats_by_unit(total, count)
    known = np.flatnonzero(keep & np.isfinite(table.outcome))
    right = _stats(data, table.outcome[known].astype(np.float64), known)
    gave = known[table.cause[known] == 0]
    given = _stats(data, table.outcome[gave].astype(np.float64), gave)
    process = processes_of(data)
    both = np.flatnonzero(keep & (table.outcome >= 0.5) & process.told)
    lucky = _stats(data, process.flawed[both].astype(np.float64), both)
    said = model_said(data, filters)
    ranked = np.flatnonzero(np.arange(models) != (-1 if anchor is None else anchor))
    best, worst = np.zeros(models, dtype=np.int64), np.zeros(models, dtype=np.int64)
    if not selection_words(filters):
        there = count.any(axis=0)
        sets = rank_sets(total[ranked][:, there].T, count[ranked][:, there].T)
        best[ranked], worst[ranked] = sets.best, sets.worst
    held = _held(data, filters)
    if held is not None:
        best, worst = held.sets.best, held.sets.worst
    n_rows, n_bad = _checkpoints(data, filters)
    aside = marks_aside(data, filters)
    found = looked.models if looked else (ModelWeaknesses(),) * models
    share_all, n_all = _hit_all(data, np.flatnonzero(keep))
    accuracy = accuracies(table, keep)
    score, is_right, is_given, is_lucky = map(_estimates, (main, right, given, lucky))
    if held is not None:
        score = [replace(one, value=float(held.mean[at]), lo=float(held.lo[at]),
                         hi=float(held.hi[at])) for at, one in enumerate(score)]  # fmt: skip
    rows = [
        RankRow(
            model_id=candidate.id,
            name=candidate.name,
            colour=number,
            rank_best=int(best[number]),
            rank_worst=int(worst[number]),
            score=score[number],
            right=is_right[number],
            given=is_given[number],
            accuracy=accuracy[number],
            lucky=is_lucky[number],
            said=float(said.share[number]),
            terse=int(said.terse[number]),
            carried=int(said.carried[number]),
            unscored=100 * float(n_bad[number] / n_rows[number]) if n_rows[number] else math.nan,
            n_unscored=int(n_bad[number]),
            findings=found[number].found,
            tested=found[number].tested,
            filters=filters.but(model=candidate.id, sample=None, criterion=None, node=()),
            hit_all=float(share_all[number]),
            hit_clusters=int(n_all[number]),
            n_aside=int(aside[number]),
        )
        for number, candidate in enumerate(data.candidates)
    ]
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.colour == anchor,
                -row.score.value if row.score.known else 1,
                row.name,
            ),
        )
    )


def _held(data: StudyData, filters: Filters) -> HeldRanks | None:
    """Return the scores and ranks of an early look; None at the end, and of a part of the study."""
    if data.early is None or filters.active or measure_of(data, filters) != "process":
        return None
    return held_ranks(data.early)


def _checkpoints(data: StudyData, filters: Filters) -> tuple[Ints, Ints]:
    """Count each model's checkpoints, and those of them that have no score, shape (K,) each."""
    scores = root_scores(data, filters.root)
    keep = np.flatnonzero(answers_kept(data, filters))
    model, k = data.table.model[keep], data.table.n_models

    def by_model(counts: NDArray[np.int32]) -> Ints:
        return np.bincount(model, weights=counts[keep], minlength=k).astype(np.int64)

    bad = by_model(scores.unscored)
    return bad + by_model(scores.scored), bad


def marks_aside(data: StudyData, filters: Filters) -> Ints:
    """Count each model's marks that say that a criterion doesn't apply, shape (K,)."""
    table = data.table
    answer, _, leaf = table.aside
    kept = answers_kept(data, filters)[answer]
    if filters.root:
        of_root = np.array([path[0] == filters.root for path in table.leaves], dtype=np.bool_)
        kept &= (leaf >= 0) & np.append(of_root, False)[leaf]
    return np.bincount(table.model[answer[kept]], minlength=table.n_models).astype(np.int64)


def _quadrants(
    data: StudyData,
    filters: Filters,
    keep: NDArray[np.bool_],
    ranking: tuple[RankRow, ...],
) -> tuple[ModelQuadrant, ...]:
    table = data.table
    process = processes_of(data)
    known = keep & np.isfinite(table.outcome)
    usable = np.flatnonzero(known & process.told)
    terse = np.bincount(table.model[keep & process.terse], minlength=table.n_models)
    if not known.any() or not (len(usable) or terse.any()):
        return ()
    kind = 4 * table.model[usable].astype(np.int64) + 2 * process.sound[usable]
    kind += table.outcome[usable] >= 0.5
    sizes = np.bincount(kind, minlength=4 * table.n_models).reshape(-1, 4).tolist()
    found = []
    for row in ranking:
        broken, lucky, slip, sound = sizes[row.colour]
        counts = quadrant_of(
            sound=sound, lucky=lucky, slip=slip, broken=broken, terse=int(terse[row.colour])
        )
        if counts.n or counts.terse:
            found.append(
                ModelQuadrant(
                    model_id=row.model_id,
                    name=row.name,
                    colour=row.colour,
                    counts=counts,
                    filters=filters.but(
                        model=row.model_id,
                        outcome="right",
                        process="flawed",
                        show="all",
                        sample=None,
                        criterion=None,
                        node=(),
                    ),
                )
            )
    return tuple(found)


def selection_words(filters: Filters) -> str:
    """Say which answers are chosen by how they went; empty where none are.

    Such answers are another selection of samples for every model, so they rank nobody.
    """
    words = [f"{filters.outcome} answers" if filters.outcome else "answers"]
    words += [f"with {filters.process} steps"] if filters.process else []
    return " ".join(words) if filters.outcome or filters.process else ""


def _selected_statement(
    filters: Filters, ranking: tuple[RankRow, ...], selected: str
) -> tuple[Statement, ...]:
    if not any(row.score.known for row in ranking):
        return ()
    text = (
        f"Only {selected} are looked at, which are other samples for every model: "
        "the scores below describe them, and rank nobody."
    )
    door = filters.but(model=None, node=(), sample=None, criterion=None, show="all")
    return (Statement(text=text, filters=door, page="failures"),)


def _statements(
    data: StudyData,
    measure: Measure,
    ranking: tuple[RankRow, ...],
    quadrants: tuple[ModelQuadrant, ...],
    looked: Weaknesses | None,
    anchor: int | None,
) -> tuple[Statement, ...]:
    """Say in words what stands out; every sentence names its numbers."""
    known = [row for row in ranking if row.score.known and row.colour != anchor]
    found: list[Statement] = []
    if not known:
        return ()
    first = known[0]
    rivals = [row for row in known[1:] if row.rank_best == 1]
    verb = "leads with" if len(known) > 1 else "has"
    lead = f"{first.name} {verb} {_lead_words(data, measure, first, anchor)}"
    if len(known) == 1:
        lead += "; with one model there is nobody to rank it against"
    elif rivals:
        names = rivals[0].name if len(rivals) == 1 else f"{len(rivals)} others"
        lead += f", but not surely: {names} can't be told apart from it"
    else:
        others = known[1].name if len(known) == 2 else f"all {len(known) - 1} others"
        lead += f", ahead of {others} beyond chance"
    found.append(Statement(text=lead + ".", filters=first.filters, page="failures"))
    if looked is not None:
        if looked.benchmarks > 1:
            found.append(_benchmarks_statement(known[0], looked))
        found += _weakness_statements(known, looked)
    if quadrants:
        luckiest = max(quadrants, key=lambda q: q.counts.lucky_share if q.counts.lucky else -1.0)
        counts = luckiest.counts
        n_right = counts.sound + counts.lucky
        if counts.lucky:
            found.append(
                Statement(
                    text=(
                        f"{luckiest.name} reaches {counts.lucky} of its {n_right} "
                        "right answers although its steps don't hold: right answer, wrong reason."
                    ),
                    filters=luckiest.filters,
                    page="failures",
                )
            )
    n_out = int(data.table.quarantined.sum())
    if n_out:
        found.append(
            Statement(
                text=(
                    f"{n_out} {'sample is' if n_out == 1 else 'samples are'} set aside: there the "
                    "judge's own solution disagrees with "
                    "the reference answer."
                ),
                filters=Filters(study=first.filters.study, show="all"),
                page="failures",
            )
        )
    return tuple(found[:5])


def _benchmarks_statement(first: RankRow, looked: Weaknesses) -> Statement:
    """Say that labels are compared within their benchmark, and how to compare across."""
    return Statement(
        text=(
            f"The study holds {looked.benchmarks} benchmarks: each label of {looked.facet} is "
            "compared within its own. Choose the labels “source” to compare the benchmarks."
        ),
        filters=Filters(study=first.filters.study, show="all"),
        page="failures",
    )


def _lead_words(data: StudyData, measure: Measure, first: RankRow, anchor: int | None) -> str:
    """Write what a model's score is."""
    value = f"{first.score.value:.1f}"
    if measure == "process":
        return f"a mean score of {value} of 100"
    if measure == "outcome":
        return f"right answers in {value} %"
    against = "" if anchor is None else f" against {data.candidates[anchor].name}"
    return f"{value} % of its votes{against} won (a tie counts half)"


def _weakness_statements(known: list[RankRow], looked: Weaknesses) -> list[Statement]:
    """Name the leader's own largest confirmed weakness, and the largest of any other model."""
    first, *others = known
    own = _confirmed(first)
    rest = [(row, item) for row in others for item in _confirmed(row)]
    found = []
    if own:
        found.append(_weakness_statement(f"{first.name}'s largest confirmed weakness is", own[0]))
    if rest:
        row, item = max(rest, key=lambda pair: abs(pair[1].pooled))
        if own and abs(own[0].pooled) > abs(item.pooled):
            start = f"Among the others, the largest is {row.name}'s"
        else:
            start = f"The largest confirmed weakness of any model is {row.name}'s"
        found.append(_weakness_statement(start, item))
    return found or [_nothing_confirmed(known, looked)]


def _confirmed(row: RankRow) -> list[Weakness]:
    return [item for item in leading(row.findings) if item.status == "confirmed"]


def _weakness_statement(start: str, item: Weakness) -> Statement:
    n = "1 sample" if item.samples == 1 else f"{item.samples:,} samples"
    # What peers predict is said in the effect's own words; a doubt about it isn't left out.
    notes = f"{frame_words(item)}; n {n}" if item.confounded else n
    return Statement(
        text=f"{start} {item.name}: {effect_words(item)} ({notes}).",
        filters=item.filters,
        page="failures",
    )


def _nothing_confirmed(known: list[RankRow], looked: Weaknesses) -> Statement:
    """Say plainly that there is no confirmed weakness; the door leads to the surest suspicion."""
    what = "capability" if looked.facet is None else "label"
    if not any(row.tested for row in known):
        return Statement(
            text=(
                "No weakness can be confirmed: the evidence is insufficient, no "
                f"{what} can be compared on {MIN_SAMPLES} samples or more."
            ),
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    by = "" if looked.facet is None else f", by {looked.facet}"
    text = f"No weakness is confirmed in any model{by} ({frame_words(looked)})"
    suspected = [item for row in known for item in leading(row.findings)]
    if not suspected:
        return Statement(
            text=f"{text}, and none is suspected.",
            filters=known[0].filters.but(model=None),
            page="failures",
        )
    number = len(suspected)
    surest = max(suspected, key=lambda item: abs(item.pooled))
    return Statement(
        text=f"{text}; {number} {'is' if number == 1 else 'are'} suspected.",
        filters=surest.filters,
        page="failures",
    )
