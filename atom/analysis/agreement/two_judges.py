"""Two judges on the same marks: do they say the same, and do they order things alike?

Everything is computed from how often each pair of values stands together, so that one table of
counts a cluster gives every figure and every interval. Values are marks from 0 to 1, whatever scale
they were given on; kappa and alpha take the values that occur as their levels.

Reference: METHODS A7 (kappa), B3 (cluster bootstrap), B12 (alpha, weighted kappa), T11 (scales
whose levels have no distances).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.exact import snapped
from atom.analysis.intervals import Floats, Ints
from atom.analysis.resampling import LEAST_CLUSTERS

FigureName = Literal[
    "exact", "kappa", "weighted_kappa", "alpha", "spearman", "kendall", "pearson", "shift", "rmse"
]
DRAWS = 400
_CELLS = 2_000_000
"""Cells of drawn tables that are worked on at once."""


@dataclass(frozen=True, kw_only=True)
class BoundedFigure:
    """A figure with its 95 % interval; NaN where it isn't defined.

    Attributes:
        value: the figure.
        lo: lower end, by drawing clusters; NaN under `LEAST_CLUSTERS` of them.
    """

    value: float
    lo: float = math.nan
    hi: float = math.nan


@dataclass(frozen=True, kw_only=True)
class TwoJudges:
    """How two judges agree on what both marked.

    Attributes:
        n: marks that both gave.
        clusters: clusters that these are of.
        levels: values that either gave.
        exact: share marked the same.
        kappa: Cohen's kappa, every difference counting alike.
        weighted_kappa: Cohen's kappa, differences counting by their square.
        alpha: Krippendorff's alpha for ordered values.
        spearman: correlation of the ranks.
        kendall: tau-b.
        pearson: correlation of the values.
        shift: mean of the second judge's values less the first's.
        rmse: root of the mean squared difference of values.
    """

    n: int
    clusters: int
    levels: int
    exact: BoundedFigure
    kappa: BoundedFigure
    weighted_kappa: BoundedFigure
    alpha: BoundedFigure
    spearman: BoundedFigure
    kendall: BoundedFigure
    pearson: BoundedFigure
    shift: BoundedFigure
    rmse: BoundedFigure


class JointMarks:
    """How often each pair of two judges' values stands together, by cluster.

    Args:
        first: the first judge's values, NaN = none; shape (n,).
        second: the second's, shape (n,).
        cluster: what each mark shares its pictures with, shape (n,).
        ordinal: distances between levels aren't known: weights go by their order (METHODS T11).
    """

    def __init__(
        self, first: Floats, second: Floats, cluster: Ints, *, ordinal: bool = False
    ) -> None:
        both = np.isfinite(first) & np.isfinite(second)
        self.at = np.flatnonzero(both)
        """Which marks both gave."""
        given = snapped(np.concatenate([first[both], second[both]]))
        self.values, code = np.unique(given, return_inverse=True)
        size = max(len(self.values), 1)
        self._key = code[: len(self.at)] * size + code[len(self.at) :]
        _, self._cluster = np.unique(cluster[both], return_inverse=True)
        self._places = np.arange(size, dtype=np.float64) if ordinal else self.values

    @cached_property
    def _held(self) -> tuple[Ints, Floats]:
        """Return the pairs of values that occur, and how often by cluster, shape (C, pairs)."""
        cells, column = np.unique(self._key, return_inverse=True)
        key = self._cluster * len(cells) + column
        form = int(self._cluster.max(initial=-1)) + 1, len(cells)
        counts = np.bincount(key, minlength=form[0] * form[1]).reshape(form)
        return cells, counts.astype(np.float64)

    def agreement(
        self,
        rows: NDArray[np.bool_] | None = None,
        rng: Generator | None = None,
        *,
        figures: Collection[FigureName] | None = None,
    ) -> TwoJudges:
        """Compare the judges.

        Args:
            rows: which marks count, of all that were given, shape (n,); None = all.
            rng: randomness for the intervals; None = no intervals.
            figures: which figures are wanted, the others are NaN; None = all.
        """
        part = self if rows is None else self._only(rows[self.at])
        cells, held = part._held
        size = len(part.values)
        whole = part._spread(cells, held.sum(axis=0)[None, :])
        wanted = {name: one for name, one in _FIGURES.items() if figures is None or name in figures}
        drawn: dict[str, list[Floats]] = {name: [] for name in wanted}
        clusters = len(held)
        if rng is not None and clusters >= LEAST_CLUSTERS:
            at_once = max(1, _CELLS // max(size * size, clusters))
            for start in range(0, DRAWS, at_once):
                some = min(at_once, DRAWS - start)
                weight = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=some)
                tables = part._spread(cells, weight @ held)
                for name, figure in wanted.items():
                    drawn[name].append(figure(tables, part._places))
        found: dict[str, BoundedFigure] = {
            name: _bounded(float(figure(whole, part._places)[0]), drawn[name])
            for name, figure in wanted.items()
        }
        for name in _FIGURES.keys() - wanted.keys():
            found[name] = BoundedFigure(value=math.nan)
        return TwoJudges(n=len(part.at), clusters=clusters, levels=size, **found)

    def _only(self, rows: NDArray[np.bool_]) -> JointMarks:
        """Return a part of the marks; levels are those that occur in it."""
        part = object.__new__(JointMarks)
        size = max(len(self.values), 1)
        first, second = np.divmod(self._key[rows], size)
        used = np.unique(np.concatenate([first, second]))
        part.at = self.at[rows]
        part.values, part._places = self.values[used], self._places[used]
        if self._places is not self.values:
            part._places = np.arange(len(used), dtype=np.float64)
        part._key = np.searchsorted(used, first) * max(len(used), 1) + np.searchsorted(used, second)
        _, part._cluster = np.unique(self._cluster[rows], return_inverse=True)
        return part

    def _spread(self, cells: Ints, counts: Floats) -> Floats:
        """Lay counts of the pairs that occur out as square tables, shape (draws, V, V)."""
        size = len(self.values)
        tables = np.zeros((len(counts), size * size))
        tables[:, cells] = counts
        return tables.reshape(len(counts), size, size)


def _bounded(value: float, drawn: Sequence[Floats]) -> BoundedFigure:
    found = np.concatenate(drawn) if drawn else np.zeros(0)
    known = found[np.isfinite(found)]
    if not math.isfinite(value) or len(known) < max(1, len(found) / 2):
        return BoundedFigure(value=value)
    lo, hi = np.quantile(known, [0.025, 0.975])
    return BoundedFigure(value=value, lo=float(lo), hi=float(hi))


# --- figures of tables of counts, shape (draws, V, V), values at `places`, shape (V,) -------------


def _over(top: Floats, bottom: Floats) -> Floats:
    """Divide, NaN where there is nothing to divide by."""
    sound = bottom > 1e-12
    return np.where(sound, top / np.where(sound, bottom, 1.0), np.nan)


def _exact(tables: Floats, places: Floats) -> Floats:
    del places
    return _over(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2)))


def _kappa(tables: Floats, places: Floats) -> Floats:
    return _chance_corrected(tables, (np.subtract.outer(places, places) != 0).astype(np.float64))


def _weighted_kappa(tables: Floats, places: Floats) -> Floats:
    return _chance_corrected(tables, np.subtract.outer(places, places) ** 2)


def _chance_corrected(tables: Floats, gap: Floats) -> Floats:
    """Return `1 - sum(gap counts) / sum(gap expected)`, Cohen's kappa with these weights."""
    n = tables.sum(axis=(1, 2))
    first, second = tables.sum(axis=2), tables.sum(axis=1)
    chance = np.einsum("di,ij,dj->d", first, gap, second)
    return 1 - _over((tables * gap).sum(axis=(1, 2)) * n, chance)


def _alpha(tables: Floats, places: Floats) -> Floats:
    """Return Krippendorff's alpha for ordered values, two raters and no gaps (METHODS G)."""
    del places
    both = tables + tables.transpose(0, 2, 1)
    margin = both.sum(axis=1)
    middle = np.cumsum(margin, axis=1) - margin / 2
    distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    expected = np.einsum("di,dij,dj->d", margin, distance, margin)
    observed = (both * distance).sum(axis=(1, 2))
    return 1 - _over((margin.sum(axis=1) - 1) * observed, expected)


def _spearman(tables: Floats, places: Floats) -> Floats:
    del places
    first, second = tables.sum(axis=2), tables.sum(axis=1)
    ranks = (np.cumsum(one, axis=1) - one / 2 for one in (first, second))
    return _correlation(tables, *ranks)


def _pearson(tables: Floats, places: Floats) -> Floats:
    each = np.broadcast_to(places, (len(tables), len(places)))
    return _correlation(tables, each, each)


def _correlation(tables: Floats, first: Floats, second: Floats) -> Floats:
    n = tables.sum(axis=(1, 2))
    of_first, of_second = tables.sum(axis=2), tables.sum(axis=1)
    a = first - _over((of_first * first).sum(axis=1), n)[:, None]
    b = second - _over((of_second * second).sum(axis=1), n)[:, None]
    spread = (of_first * a**2).sum(axis=1) * (of_second * b**2).sum(axis=1)
    return _over(np.einsum("di,dij,dj->d", a, tables, b), np.sqrt(spread))


def _kendall(tables: Floats, places: Floats) -> Floats:
    """Return tau-b: (concordant - discordant) over the root of the untied pairs of either."""
    del places
    n = tables.sum(axis=(1, 2))
    below = np.zeros_like(tables)
    below[:, 1:, 1:] = np.cumsum(np.cumsum(tables, axis=1), axis=2)[:, :-1, :-1]
    turned = tables[:, :, ::-1]
    beside = np.zeros_like(tables)
    beside[:, 1:, 1:] = np.cumsum(np.cumsum(turned, axis=1), axis=2)[:, :-1, :-1]
    order = (tables * below).sum(axis=(1, 2)) - (turned * beside).sum(axis=(1, 2))
    untied = [(n**2 - (tables.sum(axis=axis) ** 2).sum(axis=1)) / 2 for axis in (1, 2)]
    return _over(order, np.sqrt(untied[0] * untied[1]))


def _shift(tables: Floats, places: Floats) -> Floats:
    gap = np.subtract.outer(places, places).T
    return _over((tables * gap).sum(axis=(1, 2)), tables.sum(axis=(1, 2)))


def _rmse(tables: Floats, places: Floats) -> Floats:
    gap = np.subtract.outer(places, places) ** 2
    return np.sqrt(_over((tables * gap).sum(axis=(1, 2)), tables.sum(axis=(1, 2))))


_FIGURES: Mapping[FigureName, Callable[[Floats, Floats], Floats]] = {
    "exact": _exact,
    "kappa": _kappa,
    "weighted_kappa": _weighted_kappa,
    "alpha": _alpha,
    "spearman": _spearman,
    "kendall": _kendall,
    "pearson": _pearson,
    "shift": _shift,
    "rmse": _rmse,
}


def fleiss_kappa(ratings: Floats) -> float:
    """Return Fleiss' kappa of things that all have the same number of ratings.

    Args:
        ratings: one rater a row, or one seat a row where raters differ from thing to thing; shape
            (raters, n), NaN where nobody sits.

    Returns:
        `(P - P_e) / (1 - P_e)`, P the mean share of a thing's pairs of ratings that are equal, P_e
        the sum of the squared shares of the values; NaN with one value only, or uneven things.

    Reference:
        Fleiss 1971, "Measuring nominal scale agreement among many raters".
    """
    known = np.isfinite(ratings)
    each = known.sum(axis=0)
    size = int(each.max(initial=0))
    if size < 2 or (each != size).any():
        return math.nan
    values = np.unique(ratings[known])
    counts = np.stack([(ratings == value).sum(axis=0) for value in values], axis=1).astype(float)
    equal = float(((counts * (counts - 1)).sum(axis=1) / (size * (size - 1))).mean())
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (equal - chance) / (1 - chance) if chance < 1 else math.nan
