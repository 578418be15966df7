"""Judges that gave one thing several scores elsewhere: do they say the same each time?

Scores of a study's own checkpoints have their place in `atom.views.lab.reliability`; these are
scores that came with an import, such as Prometheus' three a rubric.

Reference: METHODS B12 (test-retest).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from atom.analysis.agreement.fidelity import FidelityShare, share_of
from atom.analysis.agreement.raters import alpha_interval, krippendorff_alpha
from atom.analysis.intervals import Floats
from atom.records import Judge
from atom.store import Store
from atom.store.verdicts import values_of_group
from atom.views.people.pair_labels import LabelFigure
from atom.views.study_data import StudyData

_SEED = 20_063


@dataclass(frozen=True, kw_only=True)
class RepeatRow:
    """One judge's repeated scores.

    Attributes:
        kind: which of its questions, the first word of the verdicts' part.
        things: things scored twice or more.
        times: most scores of one thing.
        unread: repeated scores that couldn't be read; they are left out.
        equal: share of things whose scores are all the same.
        adjacent: share whose scores lie at most one apart.
        spread: largest distance between a thing's scores.
        alpha: Krippendorff's alpha over the repeats, scores as an order.
        pearson: correlation of the first scores with the second ones; NaN without spread.
        mean: mean of the things' mean scores.
    """

    judge: str
    kind: str
    things: int
    times: int
    unread: int
    equal: FidelityShare
    adjacent: FidelityShare
    spread: float
    alpha: LabelFigure
    pearson: float
    mean: float


def verdict_repeats(store: Store, data: StudyData) -> tuple[RepeatRow, ...]:
    """Compare the repeats of imported scores, the judge with the most first; empty without any."""
    found: dict[tuple[str, str], dict[tuple[str, ...], dict[int, float]]] = {}
    for one in values_of_group(store, data.study.id, repeated=True):
        if one.value is None and one.state != "unscored":
            continue
        things = found.setdefault((one.judge, one.part.partition("/")[0]), {})
        thing = (one.subject_id, one.prompt, one.settings, one.order, one.part)
        things.setdefault(thing, {})[one.repeat] = math.nan if one.value is None else one.value
    names = {one.id: one.name for one in store.get_many(Judge, {judge for judge, _ in found})}
    rows = []
    for (judge, kind), things in found.items():
        row = _row(names.get(judge, judge), kind, things, data)
        if row is not None:
            rows.append(row)
    return tuple(sorted(rows, key=lambda row: (-row.things, row.judge, row.kind)))


def _row(
    judge: str, kind: str, things: dict[tuple[str, ...], dict[int, float]], data: StudyData
) -> RepeatRow | None:
    asked = {key: scores for key, scores in things.items() if len(scores) > 1}
    repeats = sorted({repeat for scores in asked.values() for repeat in scores})
    scores = np.array(
        [[given.get(repeat, math.nan) for given in asked.values()] for repeat in repeats],
        dtype=np.float64,
    ).reshape(len(repeats), len(asked))
    written = sum(len(given) for given in asked.values())
    unread = written - int(np.isfinite(scores).sum())
    usable = np.isfinite(scores).sum(axis=0) > 1
    if not usable.any():
        return None
    scores = scores[:, usable]
    cluster = data.clusters_of([key[0] for key, use in zip(asked, usable, strict=True) if use])
    spread = np.nanmax(scores, axis=0) - np.nanmin(scores, axis=0)
    lo, hi = alpha_interval(scores, cluster, np.random.default_rng(_SEED))
    return RepeatRow(
        judge=judge,
        kind=kind,
        things=scores.shape[1],
        times=int(np.isfinite(scores).sum(axis=0).max()),
        unread=unread,
        equal=share_of(spread == 0, cluster),
        adjacent=share_of(spread <= 1, cluster),
        spread=float(spread.max()),
        alpha=LabelFigure(value=krippendorff_alpha(scores), lo=lo, hi=hi, n=scores.shape[1]),
        pearson=_pearson(scores[0], scores[1]),
        mean=float(np.nanmean(scores, axis=0).mean()),
    )


def _pearson(first: Floats, second: Floats) -> float:
    both = np.isfinite(first) & np.isfinite(second)
    a, b = first[both], second[both]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(np.corrcoef(a, b)[0, 1])
