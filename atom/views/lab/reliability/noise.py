"""A judge's noise inside each model's number, and whose differences may be called the judges'.

Reference: METHODS B12, B20; `design/013-judge-noise.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from atom.analysis.agreement.calibration import BLIND, FOLLOWS
from atom.analysis.agreement.judge_noise import Advice, NoiseSplit, Ratings, split_noise
from atom.analysis.intervals import Floats, Ints
from atom.analysis.layout import Mask
from atom.display.estimate import Estimate
from atom.store import Store
from atom.views.lab.calibrations import calibration_of
from atom.views.lab.reliability.ratings import LEAST, RatingData
from atom.views.study_data import StudyData

WANTED_HALF = 3.0
"""Points of 0-100 on either side of a number that a forecast of samples aims at."""
LEAST_JUDGES = 3
"""Fewer judges than this show no share of noise that could be called theirs."""


@dataclass(frozen=True, kw_only=True)
class NoiseRow:
    """One model's number with all of its uncertainty, on 0-100.

    Attributes:
        model: index of the model.
        branch: the root; empty for all of the model's checkpoints.
        estimate: mean with the interval that holds the judge's noise.
        plain: the same without the judges' shift.
        samples: share of the variance that is the samples', 0..1; NaN where it can't be told.
        repeats: share of asking again; NaN where nobody was asked twice.
        judges: share of who judges; NaN with one judge.
        advice: what would narrow the interval more.
        needed: samples for plus or minus `WANTED_HALF` points; inf possible.
    """

    model: int
    name: str
    branch: str
    estimate: Estimate
    plain: Estimate
    samples: float
    repeats: float
    judges: float
    advice: Advice
    needed: float


def telling_ratings(read: RatingData, aside: Sequence[int]) -> tuple[Ratings, int]:
    """Return the ratings whose differences may be called the judges', and by how many judges.

    Two judges show one difference, which has one degree of freedom: no share of anything can be
    told from it, so fewer than `LEAST_JUDGES` leave the shown judge's own ratings only. So does a
    judge whose scores don't follow the truth, since its noise isn't what another judge would bring.

    Args:
        aside: judges that are left out.

    Returns:
        (the ratings, judges that are left before that rule).
    """
    told = read.telling
    left = [one for one in range(told.judges) if one not in aside]
    kept = left if len(left) >= LEAST_JUDGES else left[:1]
    number = np.full(told.judges, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    rows = number[told.judge] >= 0
    columns = {name: getattr(told, name)[rows] for name in ("item", "repeat", "score")}
    return replace(told, judge=number[told.judge[rows]], judges=len(kept), **columns), len(left)


def misreading_judges(stores: Sequence[Store], read: RatingData) -> tuple[int, ...]:
    """Return the other judges whose scores don't follow the truth where it is known."""
    found = []
    for number, judge_id in enumerate(read.judge_ids[1:], start=1):
        held = calibration_of(stores, judge_id)
        whole = None if held is None else held.view.whole
        if whole is None or whole.n < LEAST:
            continue
        mute = math.isnan(whole.follows) and whole.accuracy_hi < BLIND
        if whole.follows < FOLLOWS or mute:
            found.append(number)
    return tuple(found)


def noise_of(
    data: StudyData, ratings: Ratings, keep: Mask, root: Ints, roots: Sequence[str]
) -> tuple[tuple[NoiseRow, ...], bool]:
    """Return each model's number over all and by root, and whether noise can be told apart."""
    model = data.table.model[data.table.response].astype(np.int64)
    names = [one.name for one in data.candidates]
    whole = split_noise(ratings, np.where(keep, model, -1), len(names), judge=0)
    rows = _noise_rows(whole, names, ("",))
    if roots:
        inside = keep & (root >= 0)
        node = np.where(inside, model * len(roots) + root, -1)
        rows += _noise_rows(
            split_noise(ratings, node, len(names) * len(roots), judge=0), names, roots
        )
    return tuple(row for row in rows if row.estimate.n), whole.separable


def _noise_rows(split: NoiseSplit, names: Sequence[str], branches: Sequence[str]) -> list[NoiseRow]:
    """Write a row for every model on every branch, which is the order of the split's nodes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [
            np.where(split.total > 0, part / split.total, np.nan)
            for part in (split.samples, split.repeats, split.judges)
        ]
    advice, needed = split.advice, split.needed(WANTED_HALF / 100)

    def estimate(at: int, lo: Floats, hi: Floats) -> Estimate:
        return Estimate(
            value=100 * float(split.mean[at]),
            lo=100 * float(lo[at]),
            hi=100 * float(hi[at]),
            n=int(split.n[at]),
            samples=int(split.clusters[at]),
        )

    return [
        NoiseRow(
            model=at // len(branches),
            name=names[at // len(branches)],
            branch=branches[at % len(branches)],
            estimate=estimate(at, split.lo, split.hi),
            plain=estimate(at, split.plain_lo, split.plain_hi),
            samples=float(shares[0][at]) if split.separable else math.nan,
            repeats=float(shares[1][at]),
            judges=float(shares[2][at]),
            advice=advice[at],
            needed=float(needed[at]),
        )
        for at in range(len(names) * len(branches))
    ]
