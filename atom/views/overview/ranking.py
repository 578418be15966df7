"""Models in order, each with its interval and what it is surely ahead of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.compare.ranking import paired, rank_sets_of
from atom.analysis.intervals import NodeStats
from atom.display.estimate import Estimate
from atom.views.filters import Filters, measure_of
from atom.views.looks.early import HeldRanks, held_ranks
from atom.views.overview.accuracy import Accuracy, accuracies_of
from atom.views.overview.differing import PanelDifference, differing
from atom.views.overview.sums import OverviewSums
from atom.views.overview.weaknesses import ModelWeaknesses, Weakness, Weaknesses
from atom.views.reading import model_said
from atom.views.study_data import StudyData


@dataclass(frozen=True, kw_only=True)
class RankRow:
    """One model in the ranking.

    Attributes:
        model_id: candidate id.
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
        judges: how far the panel's judges differ; None where the study has one judge.
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
    judges: PanelDifference | None = None


def estimates_of(stats: NodeStats) -> list[Estimate]:
    """Bring statistics to points of 0-100."""
    columns = (100 * stats.mean, 100 * stats.lo, 100 * stats.hi, stats.n, stats.clusters)
    return [
        Estimate(value=value, lo=lo, hi=hi, n=n, samples=samples)
        for value, lo, hi, n, samples in zip(*(one.tolist() for one in columns), strict=True)
    ]


def ranked_rows(
    data: StudyData,
    filters: Filters,
    sums: OverviewSums,
    looked: Weaknesses | None,
    anchor: int | None,
) -> tuple[RankRow, ...]:
    """Return the models in order."""
    models = data.table.n_models
    said = model_said(data, filters)
    ranked = np.flatnonzero(np.arange(models) != (-1 if anchor is None else anchor))
    best, worst = np.zeros(models, dtype=np.int64), np.zeros(models, dtype=np.int64)
    if sums.pairs is not None:
        sets = rank_sets_of(*paired(sums.pairs.of(ranked)))
        best[ranked], worst[ranked] = sets.best, sets.worst
    held = _held(data, filters)
    if held is not None:
        best, worst = held.sets.best, held.sets.worst
    found = looked.models if looked else (ModelWeaknesses(),) * models
    accuracy = accuracies_of(sums.accuracy)
    score, is_right, is_given, is_lucky = (
        estimates_of(one.stats()) for one in (sums.score, sums.right, sums.given, sums.lucky)
    )
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
            unscored=_share(sums.unscored[number], sums.checkpoints[number]),
            n_unscored=int(sums.unscored[number]),
            findings=found[number].found,
            tested=found[number].tested,
            filters=filters.but(model=candidate.id, sample=None, criterion=None, node=()),
            hit_all=_share(sums.hit_all[number], sums.asked_again[number]),
            hit_clusters=int(sums.asked_again[number]),
            n_aside=int(sums.aside[number]),
            judges=_differing(data, filters, sums, number),
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


def _differing(
    data: StudyData, filters: Filters, sums: OverviewSums, model: int
) -> PanelDifference | None:
    if not sums.panelled.any():
        return None
    return differing(
        sums.panelled[model], sums.differ[model], sums.disagreement[model],
        filters.but(model=data.table.model_ids[model], node=()),
    )  # fmt: skip


def _share(part: float, whole: float) -> float:
    """Return a share of 100; NaN of nothing."""
    return 100 * float(part / whole) if whole else math.nan


def _held(data: StudyData, filters: Filters) -> HeldRanks | None:
    """Return the scores and ranks of an early look; None at the end, and of a part of the study."""
    if data.early is None or filters.active or measure_of(data, filters) != "process":
        return None
    return held_ranks(data.early)
