"""People's ratings by number, on several criteria: how far raters agree, and judges with them.

Reference: METHODS B12; Krippendorff 2011.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from atom.analysis.agreement.raters import alpha_interval, krippendorff_alpha, rank_correlation
from atom.analysis.intervals import Floats, Ints
from atom.analysis.resampling import resample_interval
from atom.records import Judge
from atom.store import Store
from atom.store.labels import given_scores
from atom.store.verdicts import values_of_group
from atom.views.people.pair_labels import LabelFigure
from atom.views.study_data import StudyData

OF_OTHERS = ("online",)
"""Kinds of a judge's scores that are about other pictures than those that people rated."""
LEAST = 3
"""Fewer things than this in common say nothing about a correlation."""
_SEED = 20_062


@dataclass(frozen=True, kw_only=True)
class RatingJudge:
    """A judge that rated the same things.

    Attributes:
        shared: things that people and it rated.
        unread: its scores of such things that couldn't be read; they are left out.
    """

    name: str
    shared: int
    unread: int


@dataclass(frozen=True, kw_only=True)
class RatingRow:
    """One criterion, or all of them.

    Attributes:
        criterion: its name; empty for all.
        things: things that people rated on it.
        alpha: Krippendorff's alpha of the raters, ratings as an order.
        correlations: Spearman's correlation of people's mean with each judge, in their order.
    """

    criterion: str
    things: int
    alpha: LabelFigure
    correlations: tuple[LabelFigure, ...]


@dataclass(frozen=True, kw_only=True)
class PeopleRatings:
    """What people's ratings say.

    Attributes:
        raters: how many people rated.
        samples: samples rated.
        fewest: raters of the thing with the fewest.
        most: raters of the thing with the most.
        lowest: lowest rating given.
        highest: highest rating given.
        one_rater: mean correlation of one rater with the mean of the others, over raters; NaN
            where no thing has two.
        judges: judges that rated the same.
        whole: all criteria that a judge rated (all criteria where none did) taken together.
        rows: by criterion, those that raters agree on most first.
        unjudged: criteria that no judge rated, while some were.
    """

    raters: int
    ratings: int
    samples: int
    fewest: int
    most: int
    lowest: float
    highest: float
    one_rater: float
    judges: tuple[RatingJudge, ...]
    whole: RatingRow
    rows: tuple[RatingRow, ...]
    unjudged: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RatedThings:
    """What people rated; things of shape (n,), ratings of shape (raters, n)."""

    at: Mapping[tuple[str, str], int]
    ratings: Floats
    mean: Floats
    criterion: tuple[str, ...]
    cluster: Ints


def people_ratings(store: Store, data: StudyData) -> PeopleRatings | None:
    """Hold judges' ratings against people's of the same things.

    A thing is a sample looked at under one criterion (subject `<sample>/<criterion>`); a judge's
    verdict on that sample whose part ends in that criterion is about the same.

    Returns:
        The view-model; None where nobody rated anything so.
    """
    things = things_of(store, data)
    if things is None:
        return None
    scores, judges = scores_of(store, data, things)
    names = tuple(dict.fromkeys(things.criterion))
    criterion = np.array([names.index(name) for name in things.criterion], dtype=np.int64)
    judged = np.zeros(len(names), dtype=np.bool_)
    for score in scores:
        judged[criterion[np.isfinite(score)]] = True
    shared = judged if judged.any() else np.ones(len(names), dtype=np.bool_)
    rng = np.random.default_rng(_SEED)
    here = np.flatnonzero(shared[criterion])
    given = np.isfinite(things.ratings)
    each = given[:, here].sum(axis=0)
    rows = [
        _row(name, things, scores, np.flatnonzero(criterion == at), rng)
        for at, name in enumerate(names)
    ]
    return PeopleRatings(
        raters=len(things.ratings),
        ratings=int(given.sum()),
        samples=len({sample for sample, _ in things.at}),
        fewest=int(each.min()),
        most=int(each.max()),
        lowest=float(np.nanmin(things.ratings)),
        highest=float(np.nanmax(things.ratings)),
        one_rater=_one_rater(things.ratings[:, here]),
        judges=judges,
        whole=_row("", things, scores, here, rng),
        rows=tuple(
            sorted(rows, key=lambda row: (-np.nan_to_num(row.alpha.value, nan=-9), row.criterion))
        ),
        unjudged=tuple(name for name, one in zip(names, shared, strict=True) if not one),
    )


def things_of(store: Store, data: StudyData) -> RatedThings | None:
    """Read what people rated; None where nobody rated anything so."""
    at: dict[tuple[str, str], int] = {}
    raters: dict[str, int] = {}
    found: list[tuple[int, int, float]] = []
    settled: dict[int, float] = {}
    for one in given_scores(store, data.study.id):
        sample, _, name = one.subject_id.partition("/")
        if sample not in data.sample_position:
            continue
        thing = at.setdefault((sample, name), len(at))
        if one.adjudicates:
            settled[thing] = one.value
        else:
            rater = raters.setdefault(one.annotator, len(raters))
            found.append((rater, thing, one.value))
    if not found:
        return None
    ratings = np.full((len(raters), len(at)), np.nan)
    for rater, thing, value in found:
        ratings[rater, thing] = value
    count = np.isfinite(ratings).sum(axis=0)
    mean = np.where(count > 0, np.nansum(ratings, axis=0) / np.maximum(count, 1), np.nan)
    for thing, value in settled.items():
        mean[thing] = value
    return RatedThings(
        at=at,
        ratings=ratings,
        mean=mean,
        criterion=tuple(name for _, name in at),
        cluster=data.clusters_of([sample for sample, _ in at]),
    )


def scores_of(
    store: Store, data: StudyData, things: RatedThings
) -> tuple[tuple[Floats, ...], tuple[RatingJudge, ...]]:
    """Return each judge's scores of the things, and who they are; repeats are averaged."""
    values: dict[tuple[str, str], dict[int, list[float]]] = {}
    unread: Counter[tuple[str, str]] = Counter()
    for row in values_of_group(store, data.study.id):
        kind, slash, name = row.part.rpartition("/")
        thing = things.at.get((row.subject_id, name))
        if thing is None or kind in OF_OTHERS or not slash:
            continue
        if row.state == "scored" and row.value is not None:
            values.setdefault((row.judge, kind), {}).setdefault(thing, []).append(row.value)
        elif row.state == "unscored":
            unread[row.judge, kind] += 1
    known = {one.id: one.name for one in store.get_many(Judge, {judge for judge, _ in values})}
    kinds = Counter(judge for judge, _ in values)
    scores, judges = [], []
    for (judge, kind), given in values.items():
        if len(given) < LEAST:
            continue
        score = np.full(len(things.mean), np.nan)
        for thing, each in given.items():
            score[thing] = float(np.mean(each))
        name = known.get(judge, judge)
        scores.append(score)
        judges.append(
            RatingJudge(
                name=f"{name}, {kind}" if kinds[judge] > 1 else name,
                shared=int((np.isfinite(score) & np.isfinite(things.mean)).sum()),
                unread=unread[judge, kind],
            )
        )
    order = sorted(range(len(judges)), key=lambda at: (-judges[at].shared, judges[at].name))
    return tuple(scores[at] for at in order), tuple(judges[at] for at in order)


def _row(
    name: str, things: RatedThings, scores: Sequence[Floats], here: Ints, rng: Generator
) -> RatingRow:
    return RatingRow(
        criterion=name,
        things=len(here),
        alpha=_alpha(things.ratings[:, here], things.cluster[here], rng),
        correlations=tuple(
            _correlation(things.mean[here], score[here], things.cluster[here], rng)
            for score in scores
        ),
    )


def _alpha(ratings: Floats, cluster: Ints, rng: Generator) -> LabelFigure:
    twice = np.flatnonzero(np.isfinite(ratings).sum(axis=0) > 1)
    ratings = ratings[:, twice]
    lo, hi = alpha_interval(ratings, cluster[twice], rng)
    value = krippendorff_alpha(ratings)
    return LabelFigure(value=value, lo=lo, hi=hi, n=len(twice))


def _correlation(people: Floats, judge: Floats, cluster: Ints, rng: Generator) -> LabelFigure:
    both = np.isfinite(people) & np.isfinite(judge)
    a, b = people[both], judge[both]
    value = rank_correlation(a, b)
    lo, hi = math.nan, math.nan
    if math.isfinite(value):
        first, second = (np.unique(each, return_inverse=True)[1] for each in (a, b))
        lo, hi = resample_interval(lambda at: _spearman(first[at], second[at]), cluster[both], rng)
    return LabelFigure(value=value, lo=lo, hi=hi, n=len(a))


def _spearman(a: Ints, b: Ints) -> float:
    """Correlate the ranks of codes that are in the values' order: fast enough for a loop."""
    first, second = _middle_ranks(a), _middle_ranks(b)
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > 0 else math.nan


def _middle_ranks(code: Ints) -> Floats:
    count = np.bincount(code)
    return (np.cumsum(count) - count / 2)[code]


def _one_rater(ratings: Floats) -> float:
    """Correlate each rater with the mean of the others, and average over raters."""
    found = list(_leaving_one(ratings))
    known = [value for value in found if math.isfinite(value)]
    return float(np.mean(known)) if known else math.nan


def _leaving_one(ratings: Floats) -> Iterable[float]:
    given = np.isfinite(ratings)
    total, count = np.nansum(ratings, axis=0), given.sum(axis=0)
    for mine, there in zip(ratings, given, strict=True):
        both = there & (count > 1)
        others = (total[both] - mine[both]) / (count[both] - 1)
        yield rank_correlation(mine[both], others)
