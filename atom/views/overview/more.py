"""The Overview below its first answer: distributions, ranks and ties, where answers first break.

Reference: METHODS A10 (ranks and top ties), A2 (failed criterion); ATOM Figure 13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.chain import FirstBreaks, first_breaks
from atom.analysis.compare.rank_patterns import MAX_MODELS, TopPattern, rank_patterns
from atom.analysis.intervals import wilson
from atom.views.filters import (
    Filters,
    Measure,
    answer_values,
    answers_kept,
    measure_of,
    root_scores,
)
from atom.views.overview.quadrants import MIN_SAMPLES
from atom.views.overview.sums import selection_words
from atom.views.reading import score_rows_kept
from atom.views.study_data import StudyData
from taxonomy import Path

BINS = 10
"""Bins of a distribution over 0-100."""
MOST_PATTERNS = 8


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """One model's sample scores.

    Attributes:
        colour: its place in the study.
        counts: answers in each of ten bins over 0-100; the last holds 100.
        n: answers.
        median: in 0-100.
        perfect: answers with the full score.
        filters: where its door leads.
    """

    model_id: str
    name: str
    colour: int
    counts: tuple[int, ...]
    n: int
    median: float
    perfect: int
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class RankRowShares:
    """How often one model takes each rank.

    Attributes:
        colour: its place in the study.
        counts: samples at each competition rank, the first one first.
    """

    model_id: str
    name: str
    colour: int
    counts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """The models that are first together (by process) or right together (by outcome).

    Attributes:
        models: (name, place) of each; empty = none of them.
        samples: samples with this pattern.
        share: of the samples compared, 0-100.
        lo: lower end of its 95 % Wilson interval.
    """

    models: tuple[tuple[str, int], ...]
    samples: int
    share: float
    lo: float
    hi: float


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Ranks sample by sample, over the samples that every model has a value for.

    Attributes:
        rows: one a model, best mean rank first; empty by outcome.
        patterns: the most frequent ones.
        others: samples with any other pattern.
        samples: samples compared.
        left_out: samples that some model has no value for.
        measure: what was compared.
    """

    rows: tuple[RankRowShares, ...]
    patterns: tuple[Pattern, ...]
    others: int
    samples: int
    left_out: int
    measure: Measure


@dataclass(frozen=True, kw_only=True)
class BreakPoint:
    """One model at one place of the chain.

    Attributes:
        at_risk: answers whose steps before it all held.
        breaks: those that first fail here.
        hazard: breaks / at risk, 0-100; NaN where nobody is at risk.
        lo: lower end of its 95 % Wilson interval.
        intact: share of answers that hold after this place, 0-100.
    """

    at_risk: int
    breaks: int
    hazard: float
    lo: float
    hi: float
    intact: float


@dataclass(frozen=True, kw_only=True)
class BreakLeaf:
    """The capability that most surely breaks a model's answers.

    Attributes:
        breaks: first breaks there.
        exposed: criteria of that leaf that answers reached unbroken.
        share: breaks / exposed, 0-100.
        filters: where its door leads.
    """

    path: Path
    breaks: int
    exposed: int
    share: float
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class BreakCurve:
    """One model's first-break curve.

    Attributes:
        colour: its place in the study.
        points: one a place in the chain, the first one first.
        worst: the capability that most surely breaks its answers; None where too few reach one.
        lost: answers no longer followed because of an unscored criterion.
        filters: where its door leads.
    """

    model_id: str
    name: str
    colour: int
    points: tuple[BreakPoint, ...]
    worst: BreakLeaf | None
    lost: int
    filters: Filters


@dataclass(frozen=True, kw_only=True)
class Weakest:
    """The step at which the largest share of all answers that reach it breaks.

    Attributes:
        place: its 0-based place.
        share: that share, 0-100.
        level: 0-based places whose shares can't be told from it: the 95 % intervals overlap.
    """

    place: int
    share: float
    level: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class OverviewMore:
    """What the Overview shows below the ranking.

    Attributes:
        distributions: by process; empty else.
        ranks: None where fewer than two models share a sample.
        breaks: by process; empty else.
        weakest: where the largest share of those that reach it breaks; None without.
    """

    measure: Measure
    distributions: tuple[Distribution, ...]
    ranks: Ranks | None
    breaks: tuple[BreakCurve, ...]
    weakest: Weakest | None


def overview_more(data: StudyData, filters: Filters) -> OverviewMore:
    """Compute what stands below the Overview's ranking.

    Args:
        filters: tags, root, judge, outcome and process narrow; the chain doesn't.
    """
    return data.views.get(("overview more", filters), lambda: _more(data, filters))


def _more(data: StudyData, filters: Filters) -> OverviewMore:
    measure = measure_of(data, filters)
    keep = answers_kept(data, filters)
    value = answer_values(data, filters, measure)
    good = keep & np.isfinite(value)
    process = measure == "process"
    broken = first_breaks(data.table, score_rows_kept(data, filters)) if process else None
    curves = _curves(data, filters, broken) if broken is not None else ()
    return OverviewMore(
        measure=measure,
        distributions=_distributions(data, filters, value, good) if process else (),
        ranks=_ranks(data, filters, measure, keep, value),
        breaks=curves,
        weakest=None if broken is None else _weakest(broken),
    )


def _distributions(
    data: StudyData, filters: Filters, value: NDArray[np.float64], good: NDArray[np.bool_]
) -> tuple[Distribution, ...]:
    found = []
    for number, candidate in enumerate(data.candidates):
        mine = value[good & (data.table.model == number)]
        if not len(mine):
            continue
        bins = np.minimum((mine * BINS + 1e-9).astype(np.int64), BINS - 1)
        found.append(
            Distribution(
                model_id=candidate.id,
                name=candidate.name,
                colour=number,
                counts=tuple(int(n) for n in np.bincount(bins, minlength=BINS)),
                n=len(mine),
                median=100 * float(np.median(mine)),
                perfect=int((mine >= 1).sum()),
                filters=_door(filters, candidate.id),
            )
        )
    return tuple(sorted(found, key=lambda row: (-row.median, row.name)))


def _door(filters: Filters, model_id: str) -> Filters:
    return filters.but(model=model_id, node=(), criterion=None, sample=None, show="all")


def _ranks(
    data: StudyData,
    filters: Filters,
    measure: Measure,
    keep: NDArray[np.bool_],
    value: NDArray[np.float64],
) -> Ranks | None:
    table = data.table
    if not 2 <= table.n_models <= MAX_MODELS or selection_words(filters):
        return None
    if measure != "process":
        return _right_together(data, measure, keep, value)
    found = rank_patterns(table, root_scores(data, filters.root, filters.reading), answers=keep)
    if not found.samples:
        return None
    order = np.argsort((found.counts * np.arange(table.n_models)).sum(axis=1), kind="stable")
    return Ranks(
        rows=tuple(
            RankRowShares(
                model_id=table.model_ids[number],
                name=data.candidates[number].name,
                colour=int(number),
                counts=tuple(int(n) for n in found.counts[number]),
            )
            for number in order
        ),
        patterns=_patterns(data, found.patterns[:MOST_PATTERNS]),
        others=sum(pattern.samples for pattern in found.patterns[MOST_PATTERNS:]),
        samples=found.samples,
        left_out=found.left_out,
        measure=measure,
    )


def _patterns(data: StudyData, found: tuple[TopPattern, ...]) -> tuple[Pattern, ...]:
    return tuple(
        Pattern(
            models=tuple((data.candidates[number].name, number) for number in pattern.models),
            samples=pattern.samples,
            share=100 * pattern.share,
            lo=100 * pattern.lo,
            hi=100 * pattern.hi,
        )
        for pattern in found
    )


def _right_together(
    data: StudyData, measure: Measure, keep: NDArray[np.bool_], value: NDArray[np.float64]
) -> Ranks | None:
    """Say which models are right together, of the samples that all have an outcome for."""
    table = data.table
    k, n = table.n_models, len(table.sample_ids)
    good = keep & np.isfinite(value) & (table.repeat == 0)
    right = np.full((n, k), np.nan)
    right[table.sample[good], table.model[good]] = value[good] >= 0.5
    known = np.isfinite(right).sum(axis=1)
    full = known == k
    samples = int(full.sum())
    if not samples or measure != "outcome":
        return None
    bits = 1 << np.arange(k, dtype=np.int64)
    code, count = np.unique((right[full] > 0) @ bits, return_counts=True)
    patterns = []
    for at in np.lexsort((code, -count)):
        lo, hi = wilson(int(count[at]), samples)
        models = tuple(model for model in range(k) if int(code[at]) >> model & 1)
        patterns.append(
            TopPattern(models=models, samples=int(count[at]), share=int(count[at]) / samples,
                       lo=lo, hi=hi)
        )  # fmt: skip
    return Ranks(
        rows=(),
        patterns=_patterns(data, tuple(patterns[:MOST_PATTERNS])),
        others=sum(pattern.samples for pattern in patterns[MOST_PATTERNS:]),
        samples=samples,
        left_out=int(((known > 0) & (known < k)).sum()),
        measure=measure,
    )


def _curves(data: StudyData, filters: Filters, broken: FirstBreaks) -> tuple[BreakCurve, ...]:
    places = broken.at_risk.shape[1]
    curves = []
    for number, candidate in enumerate(data.candidates):
        if not broken.at_risk[number].any():
            continue
        curves.append(
            BreakCurve(
                model_id=candidate.id,
                name=candidate.name,
                colour=number,
                points=tuple(
                    BreakPoint(
                        at_risk=int(broken.at_risk[number, place]),
                        breaks=int(broken.breaks[number, place]),
                        hazard=100 * float(broken.hazard[number, place]),
                        lo=100 * float(broken.hazard_lo[number, place]),
                        hi=100 * float(broken.hazard_hi[number, place]),
                        intact=100 * float(broken.intact[number, place]),
                    )
                    for place in range(places)
                ),
                worst=_worst_leaf(data, filters, broken, number),
                lost=int(broken.lost[number]),
                filters=_door(filters, candidate.id).but(show="failed"),
            )
        )
    return tuple(sorted(curves, key=lambda curve: (-_last(curve), curve.name)))


def _last(curve: BreakCurve) -> float:
    """Return the share of answers that hold to the last place that anybody reaches."""
    reached = [point.intact for point in curve.points if point.at_risk]
    return reached[-1] if reached else math.nan


def _worst_leaf(
    data: StudyData, filters: Filters, broken: FirstBreaks, model: int
) -> BreakLeaf | None:
    """Find the leaf that most surely breaks answers: the highest lower end of the share."""
    leaves = len(data.table.leaves)
    exposed, breaks = broken.leaf_exposed[model, :leaves], broken.leaf_breaks[model, :leaves]
    enough = np.flatnonzero((exposed >= MIN_SAMPLES) & (breaks > 0))
    if not len(enough):
        return None
    at = max(enough, key=lambda leaf: wilson(int(breaks[leaf]), int(exposed[leaf]))[0])
    path = data.table.leaves[at]
    return BreakLeaf(
        path=path,
        breaks=int(breaks[at]),
        exposed=int(exposed[at]),
        share=100 * float(breaks[at] / exposed[at]),
        filters=filters.but(
            model=data.table.model_ids[model], node=path, criterion=None, sample=None, show="failed"
        ),
    )


def _weakest(broken: FirstBreaks) -> Weakest | None:
    risk, gone = broken.at_risk.sum(axis=0), broken.breaks.sum(axis=0)
    reached = np.flatnonzero(risk >= MIN_SAMPLES)
    if not len(reached) or not gone[reached].any():
        return None
    place = int(reached[np.argmax(gone[reached] / risk[reached])])
    lo, _ = wilson(int(gone[place]), int(risk[place]))
    return Weakest(
        place=place,
        share=100 * float(gone[place] / risk[place]),
        level=tuple(
            int(at)
            for at in reached
            if at != place and wilson(int(gone[at]), int(risk[at]))[1] >= lo
        ),
    )
