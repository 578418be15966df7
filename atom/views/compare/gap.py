"""How far apart two sides are, how sure that is, and how many more samples would tell.

Reference: METHODS B9 (paired comparison), B10 (how many more).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.compare.paired import PairedSamples, mcnemar, paired_gap
from atom.analysis.exact import simple, snapped
from atom.analysis.intervals import Floats
from atom.analysis.layout import Mask
from atom.analysis.power import needed_pairs, needed_samples
from atom.views.compare.paired_items import PairedItems, second_by_sample
from atom.views.compare.sides import Sides, mean_by_sample
from atom.views.filters import Measure

ALPHA = 0.05
"""Level of the two sides' overall comparison."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """First less second, in points of 0-100.

    Attributes:
        value: NaN where there is no pair.
        lo: lower end of the 95 % interval; NaN under two clusters.
        se: cluster-robust standard error; NaN under two clusters.
        p: two-sided; NaN under five clusters.
        first: the first side's mean over the shared samples.
        second: the second side's.
        samples: shared samples.
        clusters: independent groups among them.
    """

    value: float
    lo: float
    hi: float
    se: float
    p: float
    first: float
    second: float
    samples: int
    clusters: int


@dataclass(frozen=True, kw_only=True)
class Rights:
    """Final answers of both sides on the shared samples where both outcomes are known.

    Attributes:
        both: samples that both get right.
        first_only: samples that only the first gets right.
        second_only: samples that only the second gets right.
        neither: samples that neither gets right.
        mid_p: McNemar's mid-p-value.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    mid_p: float

    @property
    def n(self) -> int:
        """Shared samples with both outcomes known."""
        return self.both + self.first_only + self.second_only + self.neither


def gap_of(pairs: PairedSamples, cluster: NDArray[np.integer]) -> Gap:
    """Measure the departure of the first side from the second over shared pairs."""
    shared = pairs.shared
    found = paired_gap(pairs.gap[shared], cluster[shared].astype(np.int64), bound=1.0)
    means = [
        100 * float(side[shared].mean()) if found.n else math.nan
        for side in (pairs.first, pairs.second)
    ]
    return Gap(
        value=100 * found.gap,
        # Values lie in [0, 1], so a difference can't be larger.
        lo=100 * max(found.lo, -1.0) if found.clusters > 1 else math.nan,
        hi=100 * min(found.hi, 1.0) if found.clusters > 1 else math.nan,
        se=100 * found.se,
        p=found.p,
        first=means[0],
        second=means[1],
        samples=found.n,
        clusters=found.clusters,
    )


def right_of(sides: Sides) -> tuple[Floats, Floats]:
    """Say whether either side is right on each sample: 1, 0, NaN; of several answers most."""
    first = mean_by_sample(
        sides.data.table.sample,
        sides.data.table.outcome.astype(np.float64),
        sides.a,
        len(sides.data.table.sample_ids),
    )
    second = second_by_sample(sides, sides.other.table.outcome.astype(np.float64), sides.b)
    return _halves(first), _halves(second)


def _halves(value: Floats) -> Floats:
    return np.where(np.isfinite(value), (value >= 0.5).astype(np.float64), np.nan)


def rights_of(first: Floats, second: Floats, shared: Mask) -> Rights | None:
    """Count who is right where both are; None where outcomes aren't right or wrong."""
    known = shared & np.isfinite(first) & np.isfinite(second)
    if not known.any():
        return None
    a, b = first[known] > 0, second[known] > 0
    only = int((a & ~b).sum()), int((~a & b).sum())
    return Rights(
        both=int((a & b).sum()),
        first_only=only[0],
        second_only=only[1],
        neither=int((~a & ~b).sum()),
        mid_p=mcnemar(*only).mid_p,
    )


def _binary(pairs: PairedSamples) -> bool:
    values = np.concatenate([pairs.first[pairs.shared], pairs.second[pairs.shared]])
    return bool(np.isin(values, (0.0, 1.0)).all())


def overall_p(measure: Measure, gap: Gap, rights: Rights | None, pairs: PairedSamples) -> float:
    """Return the p-value that decides: McNemar's where samples are independent and right or wrong.

    Samples that share pictures aren't independent, so there the clusters decide.
    """
    alone = gap.clusters == gap.samples
    if measure == "outcome" and rights is not None and alone and _binary(pairs):
        return rights.mid_p
    return gap.p


def are_identical(items: PairedItems, rights: Rights | None) -> bool:
    """Say whether the two sides are the same on every shared item."""
    both = items.both
    same = np.array_equal(snapped(items.first[both]), snapped(items.second[both]))
    return same and (rights is None or rights.first_only + rights.second_only == 0)


def more_samples_of(
    measure: Measure, gap: Gap, rights: Rights | None, pairs: PairedSamples
) -> float:
    """Forecast how many further shared samples would settle a difference of this size."""
    if math.isnan(gap.se):
        return math.nan
    if simple(gap.value / 100) == 0:
        return math.inf
    if measure == "outcome" and rights is not None and _binary(pairs):
        off = (rights.first_only + rights.second_only) / rights.n
        return max(needed_pairs(gap.value / 100, off, alpha=ALPHA) - gap.samples, 1.0)
    # The forecast counts independent groups; each has as many samples as now.
    found = float(
        needed_samples(
            np.array(gap.value / 100),
            np.array(gap.se / 100),
            np.array(float(gap.clusters)),
            alpha=ALPHA / 2,
        )
    )
    return max(float(math.ceil((found - gap.clusters) * gap.samples / gap.clusters)), 1.0)
