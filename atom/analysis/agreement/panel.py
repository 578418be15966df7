"""A panel: several judges on the same marks, combined after each one's calibration.

Values are on [0, 1]; calibrated ones may leave it. Calibrated and raw ones are never mixed, and no
majority of labels is ever formed: labels are made of the panel's mean.

Reference: METHODS T5, B13 (calibration), B12; Spearman 1910, Brown 1910.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.agreement.debias import DebiasedMean, inverse_confusion, ppi_mean
from atom.analysis.intervals import Floats, Ints

ENOUGH = 0.8
"""Reliability that a panel is asked to reach."""
LEAST_SHARED = 30
"""Clusters that two judges share before their correlation is read."""
LENIENT = 0.025
"""Smallest shift worth naming: 2.5 points of 0-100."""
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What J judges say of n marks.

    Attributes:
        value: mean over the judges that gave one, shape (n,); NaN where none did.
        disagreement: standard deviation over judges, shape (n,); NaN under two of them.
        judges: how many gave one, shape (n,).
        correlation: of values, by pairs, shape (J, J); NaN where too little is shared.
        mean_correlation: over the pairs, r.
        reliability: of the mean of J judges, `J r / (1 + (J - 1) r)`.
        needed: how many such judges reach `ENOUGH`; infinite where r <= 0.
        needed_lo: by the upper end of r's 95 % interval, clusters left out one block at a time.
        needed_hi: by the lower end of r.
        shift: each judge's mean less the other judges' on the same marks, shape (J,).
        shift_lo: lower ends of intervals that hold for all judges together.
        without: reliability of the panel without each judge, shape (J,); NaN under three.
    """

    value: Floats
    disagreement: Floats
    judges: Ints
    correlation: Floats
    mean_correlation: float
    reliability: float
    needed: float
    needed_lo: float
    needed_hi: float
    shift: Floats
    shift_lo: Floats
    shift_hi: Floats
    without: Floats

    @property
    def lenient(self) -> tuple[int, ...]:
        """Judges that are surely above the others by more than `LENIENT`."""
        return tuple(np.flatnonzero(self.shift_lo > LENIENT).tolist())

    @property
    def harsh(self) -> tuple[int, ...]:
        """Judges that are surely below the others by more than `LENIENT`."""
        return tuple(np.flatnonzero(self.shift_hi < -LENIENT).tolist())

    @property
    def drop(self) -> int | None:
        """The judge without whom the panel is the most reliable, if it is more so than now."""
        if not np.isfinite(self.without).any():
            return None
        best = int(np.nanargmax(self.without))
        return best if self.without[best] > self.reliability else None


def read_panel(values: Floats, cluster: Ints) -> Panel:
    """Combine judges' values.

    Args:
        values: shape (J, n), NaN = not marked by that judge; all calibrated, or all raw.
        cluster: cluster of each mark, shape (n,).

    Reference:
        METHODS T5.
    """
    known = np.isfinite(values)
    mean, apart, count = _together(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    names, number = np.unique(cluster, return_inverse=True)
    sums = _Sums(values, known, number, len(names))
    correlation = sums.correlation()
    r = _mean_off(correlation)
    spread = sums.spread(r)
    r_lo, r_hi = r - 1.96 * spread, min(r + 1.96 * spread, 1.0)
    shift, half = _shifts(values, known, total, count, number, len(names))
    j = len(values)
    without = np.full(j, np.nan)
    for judge in range(j) if j > 2 else ():
        rest = np.delete(np.delete(correlation, judge, 0), judge, 1)
        without[judge] = reliability_of(_mean_off(rest), j - 1)
    return Panel(
        value=mean,
        disagreement=apart,
        judges=count.astype(np.int64),
        correlation=correlation,
        mean_correlation=r,
        reliability=reliability_of(r, j),
        needed=judges_needed(r),
        needed_lo=judges_needed(r_hi),
        needed_hi=judges_needed(r_lo),
        shift=shift,
        shift_lo=shift - half,
        shift_hi=shift + half,
        without=without,
    )


@dataclass(frozen=True, kw_only=True)
class JudgeSpread:
    """How far judges differ on n marks, float32, shape (n,); NaN where fewer than two gave one.

    Attributes:
        apart: by how much the two differ that are furthest apart.
        disagreement: standard deviation over the judges.
    """

    apart: NDArray[np.float32]
    disagreement: NDArray[np.float32]


def spread_of(values: Floats) -> JudgeSpread:
    """Say how far judges differ, mark by mark.

    Args:
        values: shape (J, n), NaN = not marked.
    """
    _, disagreement, count = _together(values)
    known = np.isfinite(values)
    most = np.where(known, values, -np.inf).max(axis=0)
    least = np.where(known, values, np.inf).min(axis=0)
    apart = np.full(values.shape[1], np.nan, dtype=np.float32)
    apart[count > 1] = (most - least)[count > 1]
    return JudgeSpread(apart=apart, disagreement=disagreement.astype(np.float32))


def _together(values: Floats) -> tuple[Floats, Floats, Ints]:
    """Return the mean over judges, their standard deviation, and how many there are, by mark."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, np.where(known, values, 0.0).sum(axis=0) / count, np.nan)
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        return mean, np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan), count


def reliability_of(r: float, judges: int) -> float:
    """Return the reliability of a mean over so many parallel judges, `J r / (1 + (J - 1) r)`."""
    return judges * r / (1 + (judges - 1) * r) if r > 0 else math.nan if math.isnan(r) else 0.0


def judges_needed(r: float) -> float:
    """Return how many parallel judges reach `ENOUGH`: `4 (1 - r) / r`, rounded up, at least 1."""
    if math.isnan(r):
        return math.nan
    if r <= 0:
        return math.inf
    odds = ENOUGH / (1 - ENOUGH)
    return float(max(math.ceil(odds * (1 - r) / r - 1e-9), 1))


def _mean_off(correlation: Floats) -> float:
    upper = correlation[np.triu_indices(len(correlation), 1)]
    known = upper[np.isfinite(upper)]
    return float(known.mean()) if len(known) else math.nan


class _Sums:
    """Sums of pairs of judges by cluster, of which correlations are made."""

    def __init__(self, values: Floats, known: Floats, number: Ints, clusters: int) -> None:
        self._judges, self._clusters = len(values), clusters
        self._pairs = list(combinations(range(self._judges), 2))
        self._sums = np.zeros((len(self._pairs), 6, clusters))
        for at, (a, b) in enumerate(self._pairs):
            both = known[a] & known[b]
            x, y, of = values[a][both], values[b][both], number[both]
            for row, weight in enumerate((np.ones(len(x)), x, y, x * x, y * y, x * y)):
                self._sums[at, row] = np.bincount(of, weight, minlength=clusters)

    def _of(self, sums: Floats) -> Floats:
        n, x, y, xx, yy, xy = np.moveaxis(sums, 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            cov = xy / n - x * y / n**2
            return np.asarray(cov / np.sqrt((xx / n - (x / n) ** 2) * (yy / n - (y / n) ** 2)))

    def correlation(self) -> Floats:
        found = np.full((self._judges, self._judges), np.nan)
        np.fill_diagonal(found, 1.0)
        shared = (self._sums[:, 0] > 0).sum(axis=1)
        r = self._of(self._sums.sum(axis=2))
        for (a, b), value, clusters in zip(self._pairs, r, shared, strict=True):
            if clusters >= LEAST_SHARED:
                found[a, b] = found[b, a] = value
        return found

    def spread(self, r: float) -> float:
        """Return the standard error of the mean correlation by the jackknife over clusters."""
        enough = (self._sums[:, 0] > 0).sum(axis=1) >= LEAST_SHARED
        if math.isnan(r):
            return math.nan
        kept = self._sums[enough]
        left = kept.sum(axis=2)[:, :, None] - kept
        each = self._of(left).mean(axis=0)
        n = self._clusters
        return float(np.sqrt((n - 1) / n * ((each - each.mean()) ** 2).sum()))


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """What the interval of the panel's mean is made of, and what would narrow it.

    The variance of the mean is that of samples and that of the judges' noise, which is what their
    marks of one sample differ by beyond each judge's own shift:
    `V_j = sum_j sum_c (D_jc - d_j n_c)^2 / (J (J - 1) n^2)`, `D_jc` the sum over the marks of
    cluster c of judge j's value less the mean of all judges', `n_c` its marks, `d_j` the judge's
    mean difference. Standard errors are on the values' scale; NaN where nothing is known.

    Attributes:
        now: standard error of the panel's mean.
        judges: of it, what the judges' noise alone would give.
        twice: with as many samples again.
        another: with one more judge like these.
        repeat: with every judge asked once more; NaN where no judge was asked twice.
        n: marks that all judges gave.
    """

    now: float
    judges: float
    twice: float
    another: float
    repeat: float
    n: int


def narrowing(
    values: Floats, cluster: Ints, within: Floats | None = None, times: int = 1
) -> Narrowing:
    """Say whether more samples, more repeats or another judge would narrow the mean more.

    Args:
        values: shape (J, n), NaN = not marked; marks that not all judges gave are left out.
        cluster: cluster of each mark, shape (n,).
        within: variance of each judge's single marks when it is asked again, shape (J,); None where
            no judge was.
        times: how often each mark was made.

    Reference:
        METHODS T3, T5.
    """
    nan = math.nan
    whole = np.isfinite(values).all(axis=0)
    kept, j = values[:, whole], len(values)
    _, number = np.unique(cluster[whole], return_inverse=True)
    groups, n = int(number.max(initial=-1)) + 1, kept.shape[1]
    if groups < 2 or j < 2:
        return Narrowing(now=nan, judges=nan, twice=nan, another=nan, repeat=nan, n=n)
    mean = kept.mean(axis=0)
    size = np.bincount(number, minlength=groups)
    sums = np.bincount(number, mean, minlength=groups)
    scale = groups / (groups - 1) / n**2
    total = scale * float(((sums - mean.mean() * size) ** 2).sum())
    apart = kept - mean
    noise = 0.0
    for row in apart:
        of = np.bincount(number, row, minlength=groups) - row.mean() * size
        noise += scale * float((of**2).sum()) / (j * (j - 1))
    noise = min(noise, total)
    again = nan
    if within is not None and np.isfinite(within).all():
        # Each judge's noise of asking, independent from mark to mark, over its times.
        asked = float(within.sum()) / (j**2 * n)
        saved = asked * (1 / times - 1 / (times + 1))
        again = math.sqrt(max(total - min(saved, noise), 0.0))
    return Narrowing(
        now=math.sqrt(total),
        judges=math.sqrt(noise),
        twice=math.sqrt(total / 2),
        another=math.sqrt(total - noise / (j + 1)),
        repeat=again,
        n=n,
    )


def _shifts(
    values: Floats, known: Floats, total: Floats, count: Ints, number: Ints, clusters: int
) -> tuple[Floats, Floats]:
    """Return each judge's mean less the others' on the same marks, and half of its interval."""
    shift, half = np.full((2, len(values)), np.nan)
    for judge, row in enumerate(values):
        shared = known[judge] & (count > 1)
        gap = row[shared] - (total[shared] - row[shared]) / (count[shared] - 1)
        if not len(gap):
            continue
        of = number[shared]
        n, s = np.bincount(of, minlength=clusters), np.bincount(of, gap, minlength=clusters)
        shift[judge] = gap.mean()
        groups = int((n > 0).sum())
        if groups > 1:
            squares = ((s - shift[judge] * n) ** 2).sum() / len(gap) ** 2
            quantile = scipy.special.stdtrit(groups - 1, 1 - LEVEL / 2 / len(values))
            half[judge] = quantile * math.sqrt(squares * groups / (groups - 1))
    return shift, half


def calibrated(
    scores: Ints, human: Floats, cluster: Ints, rng: Generator
) -> tuple[Floats | None, str]:
    """Take each judge's own error out of its scores (METHODS B13b), all judges or none.

    Args:
        scores: 1..5, 0 = not marked, shape (J, n).
        human: people's scores 1..5, NaN = not labelled, shape (n,).
        cluster: cluster of each mark, shape (n,).

    Returns:
        Values on [0, 1], which they may leave, NaN = not marked, shape (J, n); None and the reason
        where a judge can't be calibrated.
    """
    found = np.full(scores.shape, np.nan)
    for judge, row in enumerate(scores):
        labelled = np.isfinite(human) & (row > 0)
        inverse = inverse_confusion(
            row[labelled].astype(np.int64), human[labelled].astype(np.int64), cluster[labelled],
            rng=rng, draws=1,
        )  # fmt: skip
        if inverse.refused:
            return None, inverse.refused
        marked = row > 0
        found[judge, marked] = (inverse.score[row[marked] - 1] - 1) / 4
    return found, ""


def panel_mean(value: Floats, human: Floats, cluster: Ints) -> DebiasedMean:
    """Estimate people's mean over all marks by the panel and the labels (METHODS B13a).

    Args:
        value: the panel's values on [0, 1], shape (n,); rows without one are left out.
        human: people's values on [0, 1], NaN = not labelled, shape (n,).
        cluster: cluster of each mark, shape (n,).
    """
    known = np.isfinite(value)
    return ppi_mean(value[known], human[known], cluster[known])
