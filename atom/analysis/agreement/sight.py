"""Whether a judge looks: how far its marks move when it is shown something else than the picture.

The same answers are marked with the picture (the baseline), with it again (what moves by chance
alone), without it, with another sample's, and with its description. Marks should move where the
picture counts, and nowhere else.

Reference: METHODS T8, B3 (cluster bootstrap).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from atom.analysis.capability.visual import NEGLIGIBLE, REACHED
from atom.analysis.intervals import Floats, Ints, wilson
from atom.analysis.layout import Mask
from atom.analysis.resampling import LEAST_CLUSTERS, percentiles
from atom.records.run import SHOWN, PictureCondition

Group = Literal["visual", "rest", "all"]
"""Criteria that the picture should settle, the others, and both."""
GROUPS: Final[tuple[Group, ...]] = ("visual", "rest", "all")
CHANGED: Final[tuple[PictureCondition, ...]] = ("none", "other")
"""Where a judge that looks must notice: no picture, or a wrong one."""
MOVED: Final[tuple[PictureCondition, ...]] = tuple(name for name in SHOWN if name != "picture")
LEAST: Final = 20
"""Under so many clusters nothing is said of a judge."""
MOST_SILENT: Final = 0.5
"""A judge that gives no mark of so large a share without its picture won't mark blind."""

Finding = Literal["reads", "text", "refuses", "unclear", "few"]
"""What is said of a judge: `reads` = its marks surely move with the picture; `text` = hardly;
`refuses` = without the picture it mostly gives no mark; `few` = under `LEAST` clusters."""


@dataclass(frozen=True, kw_only=True)
class SightMarks:
    """A judge's marks, one row an answer's criterion, arrays of shape (n,).

    Attributes:
        cluster: the question, or what it shares its pictures with.
        visual: whether the picture should settle the criterion.
        value: the mark in [0, 1] by what the judge was shown; NaN = it gave none.
        asked: whether it was asked and its reply could be read, by the same.
    """

    cluster: Ints
    visual: Mask
    value: Mapping[PictureCondition, Floats]
    asked: Mapping[PictureCondition, Mask]


@dataclass(frozen=True, kw_only=True)
class SightMean:
    """A mean with its 95 % interval; NaN where nothing is known."""

    value: float
    lo: float
    hi: float


@dataclass(frozen=True, kw_only=True)
class MarkShift:
    """How far marks of one group move under one condition, against those with the picture.

    Attributes:
        n: marks that were asked for again.
        clusters: questions behind them.
        moved: share that changed sides (reached or not), or fell silent.
        silent: share without a mark now.
        shift: mean change of the mark, -1 to 1, where there are both.
        size: mean of its size.
        excess: `moved` less what moves when the picture is simply shown again.
    """

    n: int
    clusters: int
    moved: SightMean
    silent: float
    shift: SightMean
    size: SightMean
    excess: SightMean


@dataclass(frozen=True, kw_only=True)
class JudgeSight:
    """What is known of a judge.

    Attributes:
        by: figures by what it was shown and group.
        led: the group that the finding rests on: `all` where no criterion is known to be visual.
        pull: excess on that group, mean over no picture and a wrong one.
        elsewhere: the same on the other criteria; NaN where `led` is `all`.
        silent: share of that group without a mark, mean over the same two.
        finding: what that says.
        everywhere: whether marks surely move where the picture shouldn't count, too.
    """

    by: Mapping[tuple[PictureCondition, Group], MarkShift]
    led: Group
    pull: SightMean
    elsewhere: SightMean
    silent: float
    finding: Finding
    everywhere: bool


def moved_marks(base: Floats, value: Floats, asked: Mask) -> Floats:
    """Say which marks moved: 1 = it changed sides or fell silent, 0 = not, NaN = not known.

    Args:
        base: marks with the picture, shape (n,); NaN = there is none.
        value: marks now, shape (n,); NaN = there is none.
        asked: whether it was asked and its reply could be read, shape (n,).
    """
    sides = (value >= REACHED) != (base >= REACHED)
    found = np.where(np.isnan(value), 1.0, sides.astype(np.float64))
    return np.where(asked & np.isfinite(base), found, np.nan)


def read_sight(marks: SightMarks, rng: Generator, *, draws: int = 1000) -> JudgeSight:
    """Say how far a judge's marks move, and what that says of it.

    Whole questions are drawn again, the same ones for all figures, so that differences are paired.

    Args:
        draws: resamples.

    Reference:
        METHODS T8. Toy: four marks of one question with the picture (1, 1, 0, 1), without it
        (.25, 1, 0, none): one changed sides, one fell silent, moved = 2/4; the shift is over the
        three with both, (-.75 + 0 + 0) / 3 = -.25.
    """
    _, code = np.unique(marks.cluster, return_inverse=True)
    n_clusters = int(code.max(initial=-1)) + 1
    table = _Table(code=code, n=n_clusters)
    base = marks.value["picture"]
    masks: Mapping[Group, Mask] = {
        "visual": marks.visual, "rest": ~marks.visual, "all": np.ones(len(code), dtype=np.bool_),
    }  # fmt: skip
    for name in MOVED:
        value = marks.value[name]
        moved = moved_marks(base, value, marks.asked[name])
        change = np.where(np.isfinite(moved), value - base, np.nan)
        silent = np.where(np.isfinite(moved), np.isnan(value).astype(np.float64), np.nan)
        for group, mask in masks.items():
            table.add((name, group, "moved"), np.where(mask, moved, np.nan))
            table.add((name, group, "shift"), np.where(mask, change, np.nan))
            table.add((name, group, "size"), np.where(mask, np.abs(change), np.nan))
            table.add((name, group, "silent"), np.where(mask, silent, np.nan))
    drawn = table.draw(rng, draws)
    return _said(drawn)


@dataclass
class _Table:
    """Sums and counts of figures by cluster, and of the same clusters drawn again."""

    code: Ints
    n: int

    def __post_init__(self) -> None:
        self.at: dict[tuple[PictureCondition, Group, str], int] = {}
        self._sums: list[Floats] = []
        self._counts: list[Floats] = []

    def add(self, key: tuple[PictureCondition, Group, str], value: Floats) -> None:
        """Add a figure: one value a row, NaN = none."""
        known = np.isfinite(value)
        self.at[key] = len(self._sums)
        sums = np.bincount(self.code[known], value[known], minlength=self.n)
        self._sums.append(sums.astype(np.float64))
        self._counts.append(np.bincount(self.code[known], minlength=self.n).astype(np.float64))

    def draw(self, rng: Generator, draws: int) -> _DrawnFigures:
        """Draw clusters with replacement; each figure is a ratio of sums."""
        sums, counts = np.array(self._sums).T, np.array(self._counts).T
        found = np.full((draws, len(self.at)), np.nan)
        if self.n >= LEAST_CLUSTERS:
            even = np.full(self.n, 1 / self.n)
            for at in range(draws):
                weight = rng.multinomial(self.n, even).astype(np.float64)
                found[at] = _ratio(weight @ sums, weight @ counts)
        return _DrawnFigures(
            at=self.at,
            value=_ratio(sums.sum(axis=0), counts.sum(axis=0)),
            draws=found,
            n=counts.sum(axis=0).astype(np.int64),
            clusters=(counts > 0).sum(axis=0),
        )


def _ratio(sums: Floats, counts: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(counts > 0, sums / counts, np.nan))


@dataclass(frozen=True, kw_only=True)
class _DrawnFigures:
    """Figures, shape (F,), and what they were in each draw, shape (draws, F)."""

    at: Mapping[tuple[PictureCondition, Group, str], int]
    value: Floats
    draws: NDArray[np.float64]
    n: Ints
    clusters: Ints

    def column(
        self, name: PictureCondition, group: Group, figure: str
    ) -> tuple[float, Floats, int]:
        """Return a figure, its draws, and the clusters behind it."""
        at = self.at[name, group, figure]
        return float(self.value[at]), self.draws[:, at], int(self.clusters[at])

    def estimate(self, name: PictureCondition, group: Group, figure: str) -> SightMean:
        """Return a figure with its interval."""
        return _estimate(
            *self.column(name, group, figure), least=0.0 if figure != "shift" else -1.0
        )

    def excess(self, names: tuple[PictureCondition, ...], group: Group) -> SightMean:
        """Return what moves beyond what moves when the picture is shown again.

        Where it wasn't shown again, nothing is known to move by chance.
        """
        parts = [self.column(name, group, "moved") for name in names]
        known = [part for part in parts if np.isfinite(part[0])]
        if not known:
            return _NOTHING
        value = float(np.mean([part[0] for part in known]))
        drawn = np.mean([part[1] for part in known], axis=0)
        clusters = min(part[2] for part in known)
        again, again_drawn, _ = self.column("again", group, "moved")
        if np.isfinite(again):
            value, drawn = value - again, drawn - again_drawn
        return _estimate(value, drawn, clusters)

    def moved(self, name: PictureCondition, group: Group) -> MarkShift:
        """Return all figures of one condition and group."""
        at = self.at[name, group, "moved"]
        return MarkShift(
            n=int(self.n[at]),
            clusters=int(self.clusters[at]),
            moved=self.estimate(name, group, "moved"),
            silent=self.column(name, group, "silent")[0],
            shift=self.estimate(name, group, "shift"),
            size=self.estimate(name, group, "size"),
            excess=_NOTHING if name == "again" else self.excess((name,), group),
        )


_NOTHING: Final = SightMean(value=np.nan, lo=np.nan, hi=np.nan)


def _estimate(value: float, drawn: Floats, clusters: int, *, least: float = -1.0) -> SightMean:
    """Bound a figure; one without spread between clusters is bounded by how few they are."""
    if not np.isfinite(value):
        return _NOTHING
    lo, hi = percentiles(list(drawn))
    if hi - lo < 1e-12:
        half = wilson(0, clusters)[1]
        lo, hi = max(value - half, least), min(value + half, 1.0)
    return SightMean(value=value, lo=lo, hi=hi)


def _said(drawn: _DrawnFigures) -> JudgeSight:
    by = {(name, group): drawn.moved(name, group) for name in MOVED for group in GROUPS}
    most = max(by[name, "visual"].clusters for name in CHANGED)
    led: Group = "visual" if most else "all"
    pull = drawn.excess(CHANGED, led)
    elsewhere = drawn.excess(CHANGED, "rest") if led == "visual" else _NOTHING
    quiet = [s for name in CHANGED if np.isfinite(s := by[name, led].silent)]
    silent = float(np.mean(quiet)) if quiet else np.nan
    clusters = max(by[name, led].clusters for name in CHANGED)
    return JudgeSight(
        by=by,
        led=led,
        pull=pull,
        elsewhere=elsewhere,
        silent=silent,
        finding=_finding(clusters, pull, by["none", led].silent),
        everywhere=bool(elsewhere.lo > 0 and elsewhere.value >= NEGLIGIBLE),
    )


def _finding(clusters: int, pull: SightMean, silent: float) -> Finding:
    if clusters < LEAST or np.isnan(pull.lo):
        return "few"
    if silent >= MOST_SILENT:
        return "refuses"
    if pull.hi < NEGLIGIBLE:
        return "text"
    return "reads" if pull.lo > 0 else "unclear"
