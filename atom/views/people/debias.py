"""Scores on people's scale: what people's labels say of the judge's numbers.

The judge's score of a checkpoint is held against people's; a mean is then moved to where people's
scores lie, with the judge's scores on all other samples to narrow the interval. Labels of samples
that were picked because the judge is unsure there say nothing about a mean and are left out.

Reference: METHODS B13 (cluster PPI++, inverse confusion), F6 (judge-scale).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from atom.analysis.agreement.coefficients import Agreement, agreement
from atom.analysis.agreement.debias import (
    MIN_LABELLED,
    Debiased,
    Inverse,
    debiased_nodes,
    inverse_confusion,
    labels_needed,
    ppi_mean,
)
from atom.analysis.intervals import Floats, Ints, NodeStats, make_cells, node_stats
from atom.analysis.layout import Mask
from atom.analysis.score_table import AnswerScores
from atom.display import numbers
from atom.display.csv_text import csv_text
from atom.display.estimate import Estimate
from atom.records import PICKED, PICKED_HERE
from atom.store import Store
from atom.store.reading.marks import HUMAN_CHECK, PersonMark, person_marks, subjects_of_marks
from atom.views.filters import Filters, answers_kept, measure_of, root_scores
from atom.views.people.annotations import Standing, load_annotations, standing
from atom.views.reading import mean_rows_kept, score_rows_kept
from atom.views.study_data import StudyData, roots_of_rows, rows_about
from taxonomy import Path, format_path

HALF = 3.0
"""Points of 0-100 on either side that a forecast of labels aims at, unless asked otherwise."""
UNEVEN = 0.01
"""p-value under which the judge's error is said to differ between roots."""
LEAST = 5
"""A root with labels on fewer samples than this has no shift of its own."""
SEED = 13


# --- labels ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Labels:
    """People's scores of a study's checkpoints.

    Attributes:
        row: rows of the score table that people scored, shape (n,), ascending.
        value: people's score of each, 1..5, shape (n,); the mean where people's lie close.
        people: how many people labelled.
        conflicts: checkpoints on which people disagree and nobody has settled it; left out.
        settled: checkpoints that a third person settled.
        picked: checkpoints labelled only because the judge was unsure; left out.
        astray: checkpoints that aren't in the study any more (other criteria, other answers).
        unscored: checkpoints that the judge gave no score, so that there is nothing to compare.
    """

    row: Ints
    value: Floats
    people: int = 0
    conflicts: int = 0
    settled: int = 0
    picked: int = 0
    astray: int = 0
    unscored: int = 0


def no_labels() -> Labels:
    """Return no labels at all."""
    return Labels(row=np.zeros(0, dtype=np.int64), value=np.zeros(0))


def load_labels(store: Store, data: StudyData) -> Labels:
    """Read people's scores and find the checkpoints that they belong to.

    A label is about a criterion and an answer: it holds for whichever judge is looked at. So do
    marks of people who are judges of the study; several are averaged.
    """
    # `<sample>/<criterion>` is a rating of something else (`atom.views.people.ratings`).
    given = [
        label
        for label in load_annotations(store, data.study.id, "score")
        if "/" not in label.subject_id
    ]
    # What was said with the judge's score in sight neither counts here nor unsettles what does.
    blind = [label for label in given if label.note != PICKED_HERE]
    stands = {subject: one for (_, subject), one in standing(blind).items()}
    marks = _person_marks(store, data)
    if not given and not marks:
        return no_labels()
    kept = {key: one for key, one in stands.items() if not _picked(one)}
    values = {key: one.value for key, one in kept.items() if one.value is not None}
    about = subjects_of_marks(store, sorted(values))
    things = [(about.get(key), values[key]) for key in sorted(values)]
    rows, astray = _rows_of(
        data, [*things, *(((one.response_id, one.criterion_id), one.value) for one in marks)]
    )
    row = np.array(sorted(rows), dtype=np.int64)
    value = np.array([float(np.mean(rows[int(at)])) for at in row])
    scored = data.table.score[row] > 0
    return Labels(
        row=row[scored],
        value=value[scored],
        people=len({label.annotator for label in given if label.state == "given"})
        + len({one.judge_id for one in marks}),
        conflicts=sum(one.state == "conflict" for one in kept.values()),
        settled=sum(one.state == "adjudicated" for one in kept.values()),
        picked=len({label.subject_id for label in given if label.state == "given"} - set(kept)),
        astray=astray,
        unscored=int((~scored).sum()),
    )


def _picked(one: Standing) -> bool:
    """Say whether a checkpoint was labelled only because it was picked, not drawn."""
    first = [label for label in one.given if not label.adjudicates] or one.given
    return all(label.note.startswith(PICKED) for label in first)


def _person_marks(store: Store, data: StudyData) -> list[PersonMark]:
    """Read marks that came with people as judges, as scores of 1..5; they need no judge's mark.

    Looked at through people they aren't held against themselves.
    """
    if data.judge is not None and data.judge.kind == "person":
        return []
    table = data.table
    turned = {table.criterion_ids[at] for at in np.flatnonzero(table.penalty)}
    return [
        one._replace(value=1 + 4 * (1 - one.value if one.criterion_id in turned else one.value))
        for one in person_marks(store, data.study, but=HUMAN_CHECK)
    ]


def _rows_of(
    data: StudyData, things: Sequence[tuple[tuple[str, str] | None, float]]
) -> tuple[dict[int, list[float]], int]:
    """Return the scores of each row of the score table, and how many have no row.

    Args:
        things: (answer, criterion), None = not known any more; and its score, 1..5.
    """
    found: dict[int, list[float]] = defaultdict(list)
    rows = rows_about(data, [about for about, _ in things])
    for row, (_, score) in zip(rows.tolist(), things, strict=True):
        if row >= 0:
            found[row].append(score)
    return found, int((rows < 0).sum())


# --- values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ScaleStatus:
    """Whether scores may be read on people's scale.

    Attributes:
        measure: whether the numbers are scores at all; else there is nothing to lift.
        samples: labelled samples, whichever model's answers (those that share a picture are one).
        by_model: labelled samples of each model's answers.
        scored: whether each model has any score at all.
        checkpoints: labelled checkpoints that count.
        labels: what was read, whatever the filters.
    """

    measure: bool
    samples: int
    by_model: tuple[int, ...]
    scored: tuple[bool, ...]
    checkpoints: int
    labels: Labels

    @property
    def models(self) -> int:
        """How many models have labels on enough samples."""
        return sum(n >= MIN_LABELLED for n in self.by_model)

    @property
    def lifted(self) -> bool:
        """Whether every scored model has labels on enough samples (METHODS F6)."""
        return any(self.scored) and all(
            n >= MIN_LABELLED for n, any_ in zip(self.by_model, self.scored, strict=True) if any_
        )

    @property
    def partly(self) -> bool:
        """Whether some scored models have, and some haven't."""
        return self.models > 0 and not self.lifted


@dataclass(frozen=True, kw_only=True)
class ScaleRow:
    """One model's mean on people's scale beside the judge's, on 0-100.

    Attributes:
        model: its place in the study.
        model_id: candidate id.
        root: the branch; empty for all of it.
        people: the mean on people's scale; nothing with fewer than two labelled samples.
        judge: the judge's own mean.
        alone: what the labels alone would give.
        trust: how far the judge was relied on, 0..1.
        labelled: labelled samples.
        unlabelled: other samples.
        shift: judge's mean less people's on labelled samples, points; positive = kinder.
        needed: labelled samples in all for the half-width asked; None where all aren't enough, or
            it can't be told yet; only for a model as a whole.
    """

    model: int
    model_id: str
    name: str
    root: str
    people: Estimate
    judge: Estimate
    alone: Estimate
    trust: float
    labelled: int
    unlabelled: int
    shift: float
    needed: int | None = None

    @property
    def enough(self) -> bool:
        """Whether so many samples are labelled that this may be called people's scale."""
        return self.labelled >= MIN_LABELLED and self.people.known


@dataclass(frozen=True, kw_only=True)
class LeafRow:
    """One model on one capability, on 0-100: by the confusion that labels show."""

    model: int
    model_id: str
    name: str
    path: Path
    people: Estimate
    judge: Estimate


@dataclass(frozen=True, kw_only=True)
class RootShift:
    """How the judge's scores lie against people's under one root, all models together.

    Attributes:
        root: the branch; empty for everything.
        shift: judge's less people's score, points of 1-5, with its 95 % interval; NaN without.
        lo: lower end.
        n: labelled checkpoints.
        samples: labelled samples.
    """

    root: str
    shift: float
    lo: float
    hi: float
    n: int
    samples: int


@dataclass(frozen=True, kw_only=True)
class PeopleScale:
    """Everything on the panel.

    Attributes:
        status: whether "judge-scale" is lifted.
        statements: the answer in plain words.
        half: the half-width asked for, points of 0-100.
        rows: each model as a whole, in the study's order.
        roots: each model by root.
        leaves: each model by capability; empty where that is refused.
        refused: why there is nothing by capability, in words; empty where there is.
        agreement: people and judge on the checkpoints that both scored.
        counts: labelled checkpoints by (people's score, judge's score), shape (5, 5).
        shifts: everything, then each root.
        homogeneous_p: p-value of "the judge errs alike under every root"; NaN where unknown.
        labelled_models: places of models with labels.
    """

    status: ScaleStatus
    statements: tuple[str, ...]
    half: float
    rows: tuple[ScaleRow, ...]
    roots: tuple[ScaleRow, ...]
    leaves: tuple[LeafRow, ...]
    refused: str
    agreement: Agreement
    counts: Ints
    shifts: tuple[RootShift, ...]
    homogeneous_p: float
    labelled_models: tuple[int, ...]

    @property
    def uneven(self) -> bool:
        """Whether the judge surely errs otherwise under some roots than under others."""
        return self.homogeneous_p < UNEVEN


# --- computing ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """The labels that the filters keep, by row of the score table."""

    row: Ints
    value: Floats
    model: Ints
    cluster: Ints


def _kept(data: StudyData, labels: Labels, filters: Filters) -> _Kept:
    table = data.table
    keep = score_rows_kept(data, filters)[labels.row]
    row = labels.row[keep]
    answer = table.response[row]
    return _Kept(
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


def _status(data: StudyData, labels: Labels, filters: Filters, kept: _Kept) -> ScaleStatus:
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
    return replace(made, statements=_statements(made))


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
    data: StudyData, filters: Filters, kept: _Kept, half: float
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
    data: StudyData, filters: Filters, kept: _Kept, root: Ints, roots: Sequence[str]
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


def _by_people(found: Debiased, value: float, lo: float, hi: float, n: int) -> Estimate:
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


def _shifts(kept: _Kept, gap: Floats, root: Ints, roots: Sequence[str]) -> tuple[RootShift, ...]:
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


# --- words ----------------------------------------------------------------------------------------


def _statements(view: PeopleScale) -> tuple[str, ...]:
    """Say in plain words what the labels tell, the most important first."""
    status, names = view.status, {row.model: row.name for row in view.rows}
    if not status.checkpoints:
        return (
            "No person has scored a checkpoint here yet: every score is on the judge’s own scale.",
        )
    found = [_how_many(view)]
    whole = view.shifts[0]
    if math.isfinite(whole.shift):
        found.append(_kindness(whole))
    if len(view.labelled_models) == 1 and len(view.rows) > 1:
        name = names.get(view.labelled_models[0], "one model")
        found.append(
            f"All labels are on answers of {name}: nothing is known of how the judge treats the "
            "others, whose scores stay on the judge’s scale."
        )
    moved = [row for row in view.rows if row.enough]
    if moved:
        most = max(moved, key=lambda row: abs(row.people.value - row.judge.value))
        found.append(
            f"{most.name} moves most: {most.judge.value:.1f} by the judge, "
            f"{most.people.value:.1f} ({numbers.ends(most.people.lo, most.people.hi)}) on people’s "
            "scale."
        )
    if view.uneven:
        found.append(
            "The judge errs otherwise under some roots than under others: trust the numbers by "
            "root more than those by capability, which take its error to be the same everywhere."
        )
    return tuple(found)


def _how_many(view: PeopleScale) -> str:
    status = view.status
    samples = f"{status.samples:,} sample{'s' * (status.samples != 1)}"
    if status.lifted:
        return f"People’s labels on {samples} put every model’s score on people’s scale."
    if status.partly:
        scored = sum(status.scored)
        return (
            f"People’s labels on {samples} put {status.models:,} of {scored:,} models on people’s "
            f"scale; the others need labels on {MIN_LABELLED} samples of their answers."
        )
    most = max(status.by_model, default=0)
    return (
        f"People have labelled {samples}; {MIN_LABELLED} of a model’s are needed before its "
        f"score may be read on people’s scale (the most so far: {most})."
    )


def _kindness(whole: RootShift) -> str:
    lo, hi = sorted((abs(25 * whole.lo), abs(25 * whole.hi)))
    if whole.lo <= 0 <= whole.hi:
        return (
            "Over all labels, the judge is neither surely kinder nor surely stricter than people: "
            f"{numbers.signed(25 * whole.shift)} points of 100 "
            f"({numbers.signed_ends(25 * whole.lo, 25 * whole.hi)})."
        )
    way = "kinder" if whole.shift > 0 else "stricter"
    return (
        f"On the same checkpoints the judge is {abs(25 * whole.shift):.1f} points of 100 {way} "
        f"than people ({lo:.1f} to {hi:.1f})."
    )


# --- files ----------------------------------------------------------------------------------------

COLUMNS = (
    "level", "model", "node", "judge_mean", "judge_lo", "judge_hi", "people_mean", "people_lo",
    "people_hi", "labels_only_mean", "labels_only_lo", "labels_only_hi", "judge_relied_on",
    "judge_minus_people", "labelled_samples", "other_samples", "labelled_samples_needed",
    "people_scale", "method",
)  # fmt: skip
"""Columns of the file: means on 0-100."""


def scale_csv(view: PeopleScale) -> str:
    """Write the panel's numbers as CSV: models, models by root, models by capability."""
    lines: list[tuple[object, ...]] = []
    for row in (*view.rows, *view.roots):
        needed = "" if row.needed is None else row.needed
        lines.append(
            ("root" if row.root else "model", row.name, row.root, *_three(row.judge),
             *_three(row.people), *_three(row.alone), row.trust, row.shift, row.labelled,
             row.unlabelled, needed, "yes" if row.enough else "no", "cluster PPI++")
        )  # fmt: skip
    own = {row.model for row in view.rows if row.enough}
    for leaf in view.leaves:
        blank = ("",) * 8
        says = "yes" if leaf.model in own else "if all models are judged alike"
        lines.append(
            ("capability", leaf.name, format_path(leaf.path), *_three(leaf.judge),
             *_three(leaf.people), *blank, says, "inverse confusion")
        )  # fmt: skip
    return csv_text(COLUMNS, lines)


def _three(one: Estimate) -> tuple[float, float, float]:
    return one.value, one.lo, one.hi
