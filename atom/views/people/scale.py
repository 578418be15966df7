"""Scores on people's scale: what people's labels say of the judge's numbers.

The judge's score of a checkpoint is held against people's; a mean is then moved to where people's
scores lie, with the judge's scores on all other samples to narrow the interval. Labels of samples
that were picked because the judge is unsure there say nothing about a mean and are left out.

Reference: METHODS B13 (cluster PPI++, inverse confusion), F6 (judge-scale).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.coefficients import agreement
from atom.analysis.agreement.debias import (
    DebiasedMean,
    Inverse,
    debiased_nodes,
    inverse_confusion,
    labels_needed,
    ppi_mean,
)
from atom.analysis.intervals import Floats, Ints, NodeStats, make_cells, node_stats
from atom.analysis.layout import Mask
from atom.analysis.score_table import AnswerScores
from atom.display.estimate import Estimate
from atom.views.filters import Filters, answers_kept, measure_of, root_scores
from atom.views.people.scale_rows import LeafRow, PeopleScale, RootShift, ScaleRow, ScaleStatus
from atom.views.people.scale_words import scale_statements
from atom.views.people.score_labels import Labels
from atom.views.reading import mean_rows_kept, score_rows_kept
from atom.views.study_data import StudyData, roots_of_rows

HALF = 3.0
"""Points of 0-100 on either side that a forecast of labels aims at, unless asked otherwise."""
LEAST = 5
"""A root with labels on fewer samples than this has no shift of its own."""
SEED = 13


@dataclass(frozen=True, kw_only=True)
class _KeptLabels:
    """The labels that the filters keep, by row of the score table."""

    row: Ints
    value: Floats
    model: Ints
    cluster: Ints


def _kept(data: StudyData, labels: Labels, filters: Filters) -> _KeptLabels:
    table = data.table
    keep = score_rows_kept(data, filters)[labels.row]
    row = labels.row[keep]
    answer = table.response[row]
    return _KeptLabels(
        row=row,
        value=labels.value[keep],
        model=table.model[answer].astype(np.int64),
        cluster=table.cluster[table.sample[answer]].astype(np.int64),
    )


def _scores(data: StudyData, filters: Filters) -> AnswerScores:
    return root_scores(data, filters.root, filters.reading)


def scale_status(data: StudyData, labels: Labels, filters: Filters) -> ScaleStatus:
    """Say whether scores may be read on people's scale: cheap, for every screen with a score.

    Args:
        labels: people's scores.
        filters: what narrows the study; only labels of what is kept count.

    Reference:
        METHODS F6.
    """
    return _status(data, labels, filters, _kept(data, labels, filters))


def _status(data: StudyData, labels: Labels, filters: Filters, kept: _KeptLabels) -> ScaleStatus:
    table = data.table
    measure = measure_of(data, filters) == "process"
    counted = answers_kept(data, filters) & (_scores(data, filters).scored > 0)
    there = np.bincount(table.model[counted], minlength=table.n_models) > 0
    return ScaleStatus(
        measure=measure,
        samples=len(np.unique(kept.cluster)),
        by_model=tuple(
            len(np.unique(kept.cluster[kept.model == model])) for model in range(table.n_models)
        ),
        scored=tuple(bool(any_) for any_ in there),
        checkpoints=len(kept.row),
        labels=labels,
    )


def people_shift(data: StudyData, labels: Labels, filters: Filters) -> RootShift:
    """Measure how much kinder the judge is than people, over all labels that the filters keep."""
    kept = _kept(data, labels, filters)
    return _shift("", data.table.score[kept.row] - kept.value, kept.cluster)


def people_scale(
    data: StudyData, labels: Labels, filters: Filters, *, half: float = HALF
) -> PeopleScale:
    """Put every score beside what it is on people's scale.

    A model as a whole: the mean of its sample scores, as the Overview shows it. By root: the mean
    of checkpoints, as the tree shows it. Both by cluster PPI++, from labels of that model alone.
    By capability: by the confusion of judge and people, from labels of all models together.

    Args:
        filters: what narrows it; the chain (model, node, ...) doesn't.
        half: wanted half-width of an interval, points of 0-100.

    Reference:
        METHODS B13.
    """
    kept = _kept(data, labels, filters)
    status = _status(data, labels, filters, kept)
    root, roots = roots_of_rows(data)
    # Judge and people can be held against each other score by score only on one scale.
    same = kept.row if data.table.ours else kept.row[:0]
    n = len(same)
    judge, people = data.table.level[same].astype(np.int64), whole_scores(kept.value[:n])
    cluster = kept.cluster[:n]
    inverse = inverse_confusion(judge, people, cluster, root[same], rng=np.random.default_rng(SEED))
    leaves = () if inverse.refused or not data.table.leaves else _leaves(data, filters, inverse)
    made = PeopleScale(
        status=status,
        statements=(),
        half=half,
        rows=_whole_rows(data, filters, kept, half),
        roots=_root_rows(data, filters, kept, root, roots),
        leaves=leaves,
        refused=_refused(data, inverse, leaves),
        agreement=agreement(people, judge, cluster, rng=np.random.default_rng(SEED)),
        counts=inverse.counts,
        shifts=_shifts(
            kept,
            (judge if n else data.table.score[kept.row].astype(np.float64)) - kept.value,
            root,
            roots,
        ),
        homogeneous_p=inverse.homogeneous_p,
        labelled_models=tuple(at for at, n in enumerate(status.by_model) if n),
    )
    return replace(made, statements=scale_statements(made))


def _refused(data: StudyData, inverse: Inverse, leaves: Sequence[LeafRow]) -> str:
    """Say why there is nothing by capability; empty where there is."""
    if not data.table.ours:
        return "not for this scale: the judge’s marks aren’t 1 to 5, as people’s are"
    return inverse.refused or ("" if leaves else "no criterion hangs in a tree yet")


def whole_scores(value: Floats) -> Ints:
    """Turn means of people's scores into whole scores; halves go down and up in turn.

    Rounding all halves one way would shift the confusion.

    Args:
        value: 1..5, shape (n,).
    """
    half = np.isclose(value % 1, 0.5)
    up = np.cumsum(half) % 2 == 0
    return np.where(half, np.floor(value) + up, np.rint(value)).astype(np.int64)


def _estimate(stats: NodeStats, at: int) -> Estimate:
    return Estimate(
        value=100 * float(stats.mean[at]),
        lo=100 * float(stats.lo[at]),
        hi=100 * float(stats.hi[at]),
        n=int(stats.n[at]),
        samples=int(stats.clusters[at]),
    )


def _cut(value: float) -> float:
    """Keep a number on the scale; NaN stays."""
    return value if math.isnan(value) else min(max(value, 0.0), 100.0)


def _whole_rows(
    data: StudyData, filters: Filters, kept: _KeptLabels, half: float
) -> tuple[ScaleRow, ...]:
    """Estimate every model's mean sample score.

    An answer of which only some checkpoints are labelled counts by those, for people and judge.
    """
    table = data.table
    scores = _scores(data, filters)
    counted = np.flatnonzero(answers_kept(data, filters) & (scores.scored > 0))
    value = scores.value.copy()
    human = np.full(len(value), np.nan)
    if len(kept.row):
        answer, weight = table.response[kept.row], table.weight[kept.row].astype(np.float64)
        total = np.bincount(answer, weights=weight, minlength=len(value))
        there = total > 0
        for into, score in ((human, kept.value), (value, table.score[kept.row])):
            sums = np.bincount(answer, weights=weight * score, minlength=len(value))
            into[there] = (sums[there] / total[there] - 1) / 4
    model = table.model[counted].astype(np.int64)
    cluster = table.cluster[table.sample[counted]].astype(np.int64)
    cells = make_cells(scores.value[counted], model, cluster, table.n_models)
    stats = node_stats(cells, table.n_models)
    rows = []
    for at in range(table.n_models):
        mine = counted[model == at]
        if len(mine):
            rows.append(_row(data, at, "", _estimate(stats, at), 100 * value[mine],
                             100 * human[mine], cluster[model == at], half))  # fmt: skip
    return tuple(rows)


def _root_rows(
    data: StudyData, filters: Filters, kept: _KeptLabels, root: Ints, roots: Sequence[str]
) -> tuple[ScaleRow, ...]:
    """Estimate every model's mean checkpoint score under every root."""
    table = data.table
    rows = np.flatnonzero(mean_rows_kept(data, filters) & (table.score > 0) & (root >= 0))
    if not len(rows):
        return ()
    human = np.full(len(table.score), np.nan)
    human[kept.row] = kept.value
    answer = table.response[rows]
    node = table.model[answer].astype(np.int64) * len(roots) + root[rows]
    cluster = table.cluster[table.sample[answer]].astype(np.int64)
    size = table.n_models * len(roots)
    value = (table.score[rows] - 1) / 4
    stats = node_stats(make_cells(value, node, cluster, size), size)
    order = np.argsort(node, kind="stable")
    ends = np.searchsorted(node[order], np.arange(size + 1))
    found = []
    for at in range(size):
        mine = order[ends[at] : ends[at + 1]]
        if len(mine):
            model, place = divmod(at, len(roots))
            found.append(_row(data, model, roots[place], _estimate(stats, at), 100 * value[mine],
                              25 * (human[rows[mine]] - 1), cluster[mine]))  # fmt: skip
    return tuple(found)


def _row(
    data: StudyData,
    model: int,
    root: str,
    judged: Estimate,
    judge: Floats,
    human: Floats,
    cluster: Ints,
    half: float = 0.0,
) -> ScaleRow:
    """Estimate one mean; the forecast only where a half-width is given."""
    found = ppi_mean(judge, human, cluster)
    n = int(np.isfinite(human).sum())
    one = data.candidates[model]
    return ScaleRow(
        model=model,
        model_id=one.id,
        name=one.name,
        root=root,
        people=_by_people(found, found.value, found.lo, found.hi, judged.n),
        judge=judged,
        alone=_by_people(found, found.human, found.human_lo, found.human_hi, n),
        trust=found.tuning,
        labelled=found.labelled,
        unlabelled=found.unlabelled,
        shift=found.shift,
        needed=labels_needed(judge, human, cluster, half) if half else None,
    )


def _by_people(found: DebiasedMean, value: float, lo: float, hi: float, n: int) -> Estimate:
    return Estimate(value=_cut(value), lo=_cut(lo), hi=_cut(hi), n=n, samples=found.labelled)


def _leaves(data: StudyData, filters: Filters, inverse: Inverse) -> tuple[LeafRow, ...]:
    """Estimate every model on every capability by what the judge's scores stand for."""
    table = data.table
    rows = np.flatnonzero(mean_rows_kept(data, filters) & (table.score > 0) & (table.leaf >= 0))
    answer, leaves = table.response[rows], len(table.leaves)
    node = table.model[answer].astype(np.int64) * leaves + table.leaf[rows]
    cluster = table.cluster[table.sample[answer]].astype(np.int64)
    size = table.n_models * leaves
    score = table.level[rows].astype(np.int64)
    stats = node_stats(make_cells((score - 1) / 4, node, cluster, size), size)
    found = debiased_nodes(score, node, cluster, size, inverse)
    columns = [25 * (column - 1) for column in (found.mean, found.lo, found.hi)]
    made = []
    for at in np.flatnonzero(stats.n > 0).tolist():
        model, leaf = divmod(at, leaves)
        value, lo, hi = (_cut(float(column[at])) for column in columns)
        made.append(
            LeafRow(
                model=model,
                model_id=data.candidates[model].id,
                name=data.candidates[model].name,
                path=table.leaves[leaf],
                people=Estimate(
                    value=value, lo=lo, hi=hi, n=int(stats.n[at]), samples=int(stats.clusters[at])
                ),
                judge=_estimate(stats, at),
            )
        )
    return tuple(made)


def _shifts(
    kept: _KeptLabels, gap: Floats, root: Ints, roots: Sequence[str]
) -> tuple[RootShift, ...]:
    """Measure how much kinder the judge is than people: over all, then by root."""
    of = root[kept.row]
    masks: list[tuple[str, Mask]] = [("", np.ones(len(of), dtype=np.bool_))]
    masks += [(name, of == at) for at, name in enumerate(roots)]
    return tuple(_shift(name, gap[mask], kept.cluster[mask]) for name, mask in masks)


def _shift(name: str, gap: Floats, cluster: NDArray[np.int64]) -> RootShift:
    nothing = RootShift(root=name, shift=math.nan, lo=math.nan, hi=math.nan, n=len(gap),
                        samples=len(np.unique(cluster)))  # fmt: skip
    if nothing.samples < LEAST:
        return nothing
    found = ppi_mean(np.zeros(len(gap)), gap, cluster)
    return replace(nothing, shift=found.human, lo=found.human_lo, hi=found.human_hi)
