"""Failures: the list of samples behind a number, worst first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats, Ints
from atom.analysis.score_table import FAILED, UNSCORED, ScoreTable
from atom.records import Sample
from atom.store import Store
from atom.views.failures.find import State
from atom.views.failures.grid import FailureCells, cells_of, order_by
from atom.views.failures.search import SearchResult, TextHit, hits, search
from atom.views.filters import (
    Filters,
    Measure,
    Show,
    answer_values,
    answers_kept,
    measure_of,
    rows_in_node,
)
from atom.views.overview.sums import distinct
from atom.views.reading import claims_of, frame_of
from atom.views.study_data import StudyData

PAGE_SIZE = 50
EXCERPT = 140


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A candidate's result on a sample.

    Attributes:
        model_id: candidate id.
        colour: its place in the study.
        score: mean of its scored checkpoints that the view counts, 1..5; None without any.
        right: whether its final answer is right; None when not known.
        chosen: whether it is the chosen model.
        won: share of its votes won, 0..1; None unless the list is about votes, and where there are
            none.
    """

    model_id: str
    colour: int
    score: float | None
    right: bool | None
    chosen: bool
    won: float | None = None


@dataclass(frozen=True, kw_only=True)
class FailureRow:
    """One sample in the list.

    Attributes:
        question: its question, cut for the list.
        picture_id: its first picture's id; None while missing.
        picture_name: what the source calls its first picture; empty without a picture.
        chips: one a candidate that answered, in the study's order.
        severity: sum of weight x (5 - score) over the failed checkpoints of the view.
        failed: how many failed checkpoints that are.
        criterion_id: the worst of them; None without any.
        quarantined: judge and reference disagree.
        filters: where the row's door leads.
        told: what the list is sorted by, in words; empty where the list says it already.
        hit: where the words that were looked for stand; None where none were.
        apart: checkpoints listed on which judges differ.
    """

    sample_id: str
    question: str
    picture_id: str | None
    picture_name: str
    chips: tuple[Chip, ...]
    severity: float
    failed: int
    criterion_id: str | None
    quarantined: bool
    filters: Filters
    told: str = ""
    hit: TextHit | None = None
    apart: int = 0


@dataclass(frozen=True, kw_only=True)
class FailureList:
    """A page of the list.

    Attributes:
        measure: what counts as failed: checkpoints, final answers, or votes.
        rows: at most `PAGE_SIZE`, in the order chosen: worst first, if none was.
        page: 0-based.
        pages: number of pages, at least 1.
        total: samples in the list.
        looked_at: samples that the filters let through, failing or not.
        checkpoints: checkpoints that the list's rows are made of.
        order: ids of all samples in the list, for previous and next.
    """

    measure: Measure
    rows: tuple[FailureRow, ...]
    page: int
    pages: int
    total: int
    looked_at: int
    checkpoints: int
    order: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Selection:
    """Which samples are listed, and why."""

    samples: Ints
    """Sample indices, in the order chosen."""
    rows: Ints
    """Checkpoints that make them listed; by outcome or votes the answers, as `-1 - index`."""
    severity: Floats
    failed: Ints
    worst: Ints
    """Checkpoint row of the worst failure of each sample (of all S); -1 without."""
    looked_at: int
    checkpoints: int
    cells: FailureCells | None = None
    apart: Ints | None = None
    """Checkpoints of each sample on which judges differ; None where there is one judge."""


def failures(store: Store, data: StudyData, filters: Filters, page: int = 0) -> FailureList:
    """Compute a page of the list of failures.

    Args:
        store: where questions are read from (only those on the page).
        filters: model, node, tags, outcome and `show` choose what is listed.
        page: 0-based; one that doesn't exist gives the last.

    Returns:
        The view-model. A sample is listed when a checkpoint (or, by outcome or votes, an answer) of
        the chosen model (of any model when none is chosen) qualifies.
    """
    measure, keep = measure_of(data, filters), _kept(data, filters)
    found = search(store, data, filters.find)
    chosen = _select(data, filters, measure, keep, found)
    order = _ids(data, chosen.samples)
    pages = max(1, math.ceil(len(order) / PAGE_SIZE))
    page = min(max(page, 0), pages - 1)
    here = chosen.samples[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    heads = {
        sample.id: sample
        for sample in store.get_many(Sample, [data.table.sample_ids[index] for index in here])
    }
    chips = _chips(data, filters, measure, keep, here)
    told = chosen.cells.told(filters.find.sort, here) if chosen.cells is not None else {}
    stands = (
        hits(store, data, filters.find, found, chosen.rows, here.tolist())
        if found is not None
        else {}
    )
    rows = tuple(
        replace(
            _row(data, filters, chosen, int(index), heads.get(data.table.sample_ids[index]), chips),
            told=told.get(int(index), ""),
            hit=stands.get(int(index)),
        )
        for index in here
    )
    return FailureList(
        measure=measure,
        rows=rows,
        page=page,
        pages=pages,
        total=len(order),
        looked_at=chosen.looked_at,
        checkpoints=chosen.checkpoints,
        order=order,
    )


def _ids(data: StudyData, samples: Ints) -> tuple[str, ...]:
    """Return samples' ids: a look-up in one go, since the list may be the whole study."""
    ids = data.table.kept.get("ids of samples", lambda: np.array(data.table.sample_ids, dtype="O"))
    return tuple(ids[samples].tolist())


def count_listed(data: StudyData, filters: Filters, store: Store | None = None) -> int:
    """Return how many samples `failures` lists, without reading any of them.

    Args:
        store: where texts are; needed only where words are looked for.
    """
    return len(samples_listed(data, filters, store))


def samples_listed(data: StudyData, filters: Filters, store: Store | None = None) -> Ints:
    """Return the indices of the samples that `failures` lists, in its order.

    Raises:
        ValueError: words are looked for, and no store is given.
    """
    if store is None and filters.find.terms:
        raise ValueError("words are looked for in a store, and none was given")
    found = None if store is None else search(store, data, filters.find)
    kept = _kept(data, filters)
    return _select(data, filters, measure_of(data, filters), kept, found).samples


def failed_checkpoints(store: Store, data: StudyData, filters: Filters) -> Ints:
    """Return the rows of the failed checkpoints for which `failures` lists samples."""
    wanted = filters.but(show="failed", rests=None)
    found = search(store, data, wanted.find)
    return _select(data, wanted, "process", _kept(data, wanted), found).rows


def listed_cells(data: StudyData, filters: Filters) -> FailureCells:
    """Return samples by models, over the checkpoints (or answers) that the list looks at.

    Words that are looked for choose samples; what a cell counts they don't narrow.
    """
    measure = measure_of(data, filters)
    rows = rows_here(data, filters) if measure == "process" else None
    return cells_of(data, filters, _kept(data, filters), measure, rows)


def _kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    keep = answers_kept(data, filters)
    return keep | _quarantined_too(data, filters) if filters.show == "all" else keep


def _select(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    keep: NDArray[np.bool_],
    found: SearchResult | None,
) -> _Selection:
    mine = keep & _of_model(data, filters)
    find = filters.find
    cells = None
    if find.fails or find.passes or find.sort in ("score", "models", "spread"):
        cells = listed_cells(data, filters)
        if find.fails or find.passes:
            wanted = cells.failing(find.fails) & cells.passing(find.passes)
            mine = mine & wanted[data.table.sample]
    if measure == "process":
        chosen = _by_process(data, filters, mine, found)
    else:
        if found is not None:
            mine = mine & found.answers
        chosen = _by_answer(data, filters, mine, answer_values(data, filters, measure))
    severity, failed = chosen.severity, chosen.failed
    samples = order_by(find.sort, chosen.samples, severity, failed, cells, filters.model)
    return replace(chosen, samples=samples, cells=cells)


def _of_model(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    number = data.model_index(filters.model)
    if number is None:
        return np.ones(len(data.table.model), dtype=bool)
    return np.asarray(data.table.model == number)


def _quarantined_too(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    """Let quarantined samples into the full list (marked as such) when nothing else narows it."""
    if any(filters.labels) or filters.outcome is not None:
        return np.zeros(len(data.table.sample), dtype=bool)
    return data.table.counts & data.table.quarantined[data.table.sample]


def rows_here(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    """Say which checkpoints hang under the node and the root chosen, shape (N,).

    Only those that an answer speaks of in the reading of what was said, and only those that a claim
    rests on behind the door of one.
    """
    inside = rows_in_node(data, filters.node)
    if filters.root:
        inside = inside & rows_in_node(data, (filters.root,))
    for paths, wanted in ((filters.find.within, True), (filters.find.outside, False)):
        if paths:
            under = np.logical_or.reduce([rows_in_node(data, path) for path in paths])
            inside = inside & (under if wanted else ~under)
    if filters.reading == "said":
        inside = inside & data.table.addressed
    rests = None
    if filters.rests:
        rests = claims_of(data, frame_of(data, filters))
    return inside if rests is None else inside & rests


def _scores_here(data: StudyData, filters: Filters, answers: NDArray[np.bool_]) -> dict[int, float]:
    """Return the mean, 1..5, of answers' checkpoints under the node and the root chosen.

    By the answer's index; answers without a scored one there are left out.
    """
    table = data.table
    rows = np.flatnonzero(table.of_answers(answers) & rows_here(data, filters))
    rows = rows[table.score[rows] > 0]
    at, of = np.unique(table.response[rows], return_inverse=True)
    weight = table.weight[rows].astype(np.float64)
    total = np.bincount(of, weights=weight * table.score[rows], minlength=len(at))
    mean = total / np.bincount(of, weights=weight, minlength=len(at))
    return dict(zip(at.tolist(), mean.tolist(), strict=True))


def in_states(table: ScoreTable, states: Sequence[State]) -> NDArray[np.bool_]:
    """Say which checkpoints are in any of some states, shape (N,)."""
    of: dict[State, NDArray[np.bool_]] = {
        "scored": table.score > 0,
        "unscored": table.score == UNSCORED,
        "failed": table.score == FAILED,
        "silent": ~table.addressed,
        "carried": table.carried,
        "apart": table.differ,
    }
    return np.asarray(np.logical_or.reduce([of[state] for state in states]), dtype=bool)


def _by_process(
    data: StudyData, filters: Filters, mine: NDArray[np.bool_], found: SearchResult | None
) -> _Selection:
    table = data.table
    n = len(table.sample_ids)
    keep = table.of_answers(mine) & rows_here(data, filters)
    if found is not None:
        keep = keep & found.rows
    if filters.find.states:
        keep = keep & in_states(table, filters.find.states)
    if filters.find.stateless:
        keep = keep & ~in_states(table, filters.find.stateless)
    seen = np.flatnonzero(keep)
    rows = seen[checkpoints_shown(table, filters.show, seen)]
    sample = table.sample[table.response[rows]].astype(np.int64)
    gap = np.where(table.score[rows] > 0, 5 - table.score[rows].astype(np.float64), 0)
    cost = table.weight[rows].astype(np.float64) * gap
    severity = np.bincount(sample, weights=cost, minlength=n).astype(np.float64)
    failed = np.bincount(sample, minlength=n)
    worst = np.full(n, -1, dtype=np.int64)
    by_cost = np.lexsort((-table.position[rows].astype(np.int64), cost))
    worst[sample[by_cost]] = rows[by_cost]
    listed = np.flatnonzero(failed > 0)
    ranked = listed[np.lexsort((listed, -severity[listed]))]
    return _Selection(
        samples=ranked,
        rows=rows,
        severity=severity,
        failed=failed.astype(np.int64),
        worst=worst,
        looked_at=distinct(table.sample[table.response[seen]], n),
        checkpoints=len(rows),
        apart=None if table.apart is None else np.bincount(sample[table.differ[rows]], minlength=n),
    )


def checkpoints_shown(
    table: ScoreTable, show: Show, rows: Ints | slice = slice(None)
) -> NDArray[np.bool_]:
    """Say which checkpoints a list shows, by their scores.

    Args:
        rows: which checkpoints are asked about; all where left out.
    """
    if show == "failed":
        return np.asarray(table.fails[rows])
    score = table.score[rows]
    if show == "unscored":
        return np.asarray(score <= 0)
    if show == "imperfect":
        return np.asarray((score > 0) & (score < 5))
    return np.ones(len(score), dtype=bool)


def answers_shown(value: Floats, filters: Filters) -> NDArray[np.bool_]:
    """Say which answers a list shows, by their values in [0, 1]; NaN = not known."""
    known = np.isfinite(value)
    if filters.show == "all":
        return np.ones(len(value), dtype=bool)
    if filters.show == "unscored":
        return ~known
    if filters.show == "imperfect":
        return known & (value < 1)
    return known if filters.outcome is not None else known & (value < 0.5)


def _by_answer(
    data: StudyData, filters: Filters, mine: NDArray[np.bool_], value: Floats
) -> _Selection:
    """Select by a value of the answer itself, such as its outcome or its votes."""
    table = data.table
    n = len(table.sample_ids)
    seen = np.flatnonzero(mine)
    known = np.isfinite(value[seen])
    hit = answers_shown(value[seen], filters)
    rows = seen[hit]
    sample = table.sample[rows].astype(np.int64)
    loss = np.nan_to_num(1 - value[rows])
    severity = np.bincount(sample, weights=loss, minlength=n).astype(np.float64)
    failed = np.bincount(sample, minlength=n)
    listed = np.flatnonzero(failed > 0)
    ranked = listed[np.lexsort((listed, -severity[listed]))]
    return _Selection(
        samples=ranked,
        rows=-1 - rows,
        severity=severity,
        failed=failed.astype(np.int64),
        worst=np.full(n, -1, dtype=np.int64),
        looked_at=distinct(table.sample[seen[known | hit]], n),
        checkpoints=len(rows),
    )


def _chips(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    keep: NDArray[np.bool_],
    samples: Ints,
) -> dict[int, list[Chip]]:
    """Make the chips of the listed samples: every kept answer of theirs, by sample."""
    table = data.table
    won = table.preferred if measure == "preference" else None
    wanted = np.zeros(len(table.sample_ids), dtype=bool)
    wanted[samples] = True
    found: dict[int, list[Chip]] = {}
    visible = table.counts & wanted[table.sample] & (table.repeat == 0)
    listed = visible | (keep & wanted[table.sample])
    scores = _scores_here(data, filters, listed)
    for row in np.flatnonzero(listed):
        outcome = float(table.outcome[row])
        number = int(table.model[row])
        found.setdefault(int(table.sample[row]), []).append(
            Chip(
                model_id=table.model_ids[number],
                colour=number,
                score=scores.get(int(row)),
                right=None if math.isnan(outcome) else outcome >= 0.5,
                chosen=table.model_ids[number] == filters.model,
                won=None if won is None or np.isnan(won[row]) else float(won[row]),
            )
        )
    for chips in found.values():
        chips.sort(key=lambda chip: chip.colour)
    return found


def _row(
    data: StudyData,
    filters: Filters,
    chosen: _Selection,
    index: int,
    sample: Sample | None,
    chips: dict[int, list[Chip]],
) -> FailureRow:
    table = data.table
    worst = int(chosen.worst[index])
    criterion = None if worst < 0 else table.criterion_ids[int(table.criterion[worst])]
    model = filters.model
    if model is None and worst >= 0:
        model = table.model_ids[int(table.model[table.response[worst]])]
    slot = sample.pictures[0] if sample is not None and sample.pictures else None
    text = " ".join(sample.question.split()) if sample is not None else ""
    sample_id = table.sample_ids[index]
    return FailureRow(
        sample_id=sample_id,
        question=text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…",
        picture_id=slot.picture_id if slot else None,
        picture_name=slot.name if slot else "",
        chips=tuple(chips.get(index, ())),
        severity=float(chosen.severity[index]),
        failed=int(chosen.failed[index]),
        criterion_id=criterion,
        quarantined=bool(table.quarantined[index]),
        apart=0 if chosen.apart is None else int(chosen.apart[index]),
        filters=filters.but(sample=sample_id, criterion=criterion, model=model),
    )
