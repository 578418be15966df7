"""A judge against exact truth: its confusion, its bias, and the branches where it can't be trusted.

Truth is known where a program wrote the answer: each step's score is what was planted in it.
Branches are compared at equal truths, so that a branch of hard or easy answers isn't taken for one
that the judge misreads.

Reference: METHODS B12 (agreement), B13b (confusion), D3 (planted confusion), D5 (a judge that is
lenient on one branch only must be found). Decisions: `design/013-judge-noise.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.agreement.coefficients import confusion
from atom.analysis.agreement.homogeneity import RootHomogeneity, homogeneity
from atom.analysis.capability.criteria_health import SCORES, ordinal_alpha
from atom.analysis.compare.contrasts import moderate
from atom.analysis.intervals import (
    MIN_CLUSTERS,
    Floats,
    Ints,
    cell_sums,
    make_cells,
    mean_variance,
    node_stats,
)
from atom.analysis.multiplicity import adjust
from atom.records import BenchItem, Verdict
from taxonomy import Path

Flaw = Literal["lenient", "harsh", "blind"]
"""What is wrong with a judge on a branch: reads it too high, too low, or its scores don't follow
the truth at all."""
NAME = "calibration"
"""Name of the judge benchmark whose items are such answers."""
STEPS = "steps"
"""Where an item keeps its steps: objects with `leaf` and the true `score`."""
MARGIN = 0.3
"""Points on 1..5 that a branch's mean may be off before it is marked (7.5 of 100)."""
DROP = 0.10
"""How much less often than elsewhere it may be right, at equal truths."""
BLIND = 0.5
"""Right less often than this, it may be blind however it does elsewhere."""
Q = 0.10
"""False discovery rate over the branches of one depth."""
FOLLOWS = 0.3
"""Rank correlation with the truth under which scores are said not to follow it."""


@dataclass(frozen=True, kw_only=True)
class Truths:
    """Scores beside their truth, arrays of shape (n,).

    Attributes:
        truth: 1..5.
        said: 1..5; 0 = unscored, -1 = failed.
        leaf: index into `leaves`.
        cluster: the probe; its answers share a picture and a difficulty.
    """

    truth: Ints
    said: Ints
    leaf: Ints
    cluster: Ints
    leaves: tuple[Path, ...]


def truths_of(items: Sequence[BenchItem], found: Sequence[Verdict]) -> Truths:
    """Lay a judge's scores out beside their truth.

    Args:
        items: of one set or several.
        found: one judge's verdicts on them; of several repeats all count, by probe.

    Returns:
        The scores by step; a reply that couldn't be read leaves all its steps unscored.
    """
    by_id = {item.id: item for item in items}
    probes: dict[str, int] = {}
    leaves: dict[Path, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    for verdict in sorted(found, key=lambda one: one.key):
        item = by_id.get(verdict.subject_id)
        if item is None:
            continue
        cluster = probes.setdefault(str(item.data["probe"]), len(probes))
        steps = item.data[STEPS]
        said = verdict.data.get("scores") if verdict.state == "scored" else None
        if not isinstance(said, list) or len(said) != len(steps):
            said = [None] * len(steps)
        for step, score in zip(steps, said, strict=True):
            leaf = leaves.setdefault(tuple(step["leaf"]), len(leaves))
            rows.append(
                (step["score"], score or (-1 if verdict.state == "failed" else 0), leaf, cluster)
            )
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    order = sorted(leaves)
    place = np.array([order.index(path) for path in leaves], dtype=np.int64)
    return Truths(
        truth=columns[0],
        said=columns[1],
        leaf=place[columns[2]] if len(leaves) else columns[2],
        cluster=columns[3],
        leaves=tuple(order),
    )


@dataclass(frozen=True, kw_only=True)
class Branch:
    """How a judge reads one branch, or everything.

    Attributes:
        path: the branch; empty for everything.
        n: scores beside a truth.
        clusters: probes.
        unscored: steps without a score.
        counts: rows truth 1..5, columns said 1..5; shape (5, 5).
        accuracy: share scored exactly; NaN where n = 0.
        accuracy_lo: lower end of its 95 % interval.
        bias: mean of said less truth, in points.
        bias_lo: lower end of its 95 % interval.
        alpha: ordinal alpha between said and truth.
        follows: rank correlation of said with truth: a shift of all scores doesn't touch it.
        follows_lo: lower end of its 95 % interval.
        drop: accuracy less what the judge reaches elsewhere at the same truths; NaN for everything.
        p: adjusted p-value of the flaw named, or the smallest one; NaN = not tested.
        flaw: what is wrong there; None = nothing found, or too little to tell.
    """

    path: Path
    n: int
    clusters: int
    unscored: int
    counts: Ints
    accuracy: float
    accuracy_lo: float
    accuracy_hi: float
    bias: float
    bias_lo: float
    bias_hi: float
    alpha: float
    follows: float = math.nan
    follows_lo: float = math.nan
    drop: float = math.nan
    p: float = math.nan
    flaw: Flaw | None = None

    @property
    def tested(self) -> bool:
        """Whether there was enough to say anything."""
        return math.isfinite(self.p)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A judge against exact truth.

    Attributes:
        whole: over everything.
        roots: by root, in the order of the leaves.
        leaves: by leaf.
        homogeneity: whether roots differ.
    """

    whole: Branch
    roots: tuple[Branch, ...]
    leaves: tuple[Branch, ...]
    homogeneity: RootHomogeneity

    @property
    def flawed(self) -> tuple[Branch, ...]:
        """Branches that are marked: roots first."""
        return tuple(one for one in (*self.roots, *self.leaves) if one.flaw is not None)


def calibrate(truths: Truths, *, margin: float = MARGIN, q: float = Q) -> Calibration:
    """Hold a judge's scores against the truth, overall and by branch.

    A branch is *lenient* (*harsh*) where the mean of said less truth is above `margin` (below its
    negative) by a one-sided test with moderated t. It is *blind* where scores don't follow the
    truth: their rank correlation is surely under `FOLLOWS`, and the share scored exactly is more
    than `DROP` lower than elsewhere at equal truths, or below one half. A judge that is merely
    kind has exact shares as low, but its scores go up and down with the truth. Benjamini-Hochberg
    at `q` over the branches of one depth. Branches of fewer than five probes aren't tested.

    Args:
        margin: points that a mean may be off.
        q: false discovery rate.

    Reference:
        METHODS B13b, D5.
    """
    scored = (truths.said > 0) & (truths.truth > 0)
    roots = tuple(dict.fromkeys(leaf[:1] for leaf in truths.leaves))
    root_of = np.array([roots.index(leaf[:1]) for leaf in truths.leaves], dtype=np.int64)
    root = root_of[truths.leaf] if len(truths.leaf) else truths.leaf
    everything = np.zeros(len(truths.truth), dtype=np.int64)
    return Calibration(
        whole=_branches(truths, scored, everything, ((),), margin, q, tested=False)[0],
        roots=_branches(truths, scored, root, roots, margin, q),
        leaves=_branches(truths, scored, truths.leaf, truths.leaves, margin, q),
        homogeneity=homogeneity(
            truths.truth[scored], truths.said[scored], root[scored], truths.cluster[scored]
        ),
    )


def _branches(
    truths: Truths,
    scored: NDArray[np.bool_],
    group: Ints,
    paths: Sequence[Path],
    margin: float,
    q: float,
    *,
    tested: bool = True,
) -> tuple[Branch, ...]:
    size = len(paths)
    if not size:
        return ()
    open_ = np.bincount(group[~scored], minlength=size)
    truth, said = truths.truth[scored].astype(np.int64), truths.said[scored].astype(np.int64)
    here, cluster = group[scored].astype(np.int64), truths.cluster[scored].astype(np.int64)
    exact, gap = (truth == said).astype(np.float64), (said - truth).astype(np.float64)
    right = node_stats(make_cells(exact, here, cluster, size), size)
    bias, variance, n, clusters = _means(gap, here, cluster, size)
    se, df = moderate(variance, clusters, n, np.zeros(size, dtype=np.int64))
    half = scipy.special.stdtrit(df, 0.975) * se
    drop, drop_se, drop_df = _drops(exact, truth, here, cluster, size)
    enough = tested & (clusters >= MIN_CLUSTERS)
    half_se, half_df = moderate(right.se**2, clusters, n, np.zeros(size, dtype=np.int64))
    follows, follows_se, follows_df = _ranks(truth, said, here, cluster, size)
    wrong = np.fmin(
        _above(-drop - DROP, drop_se, drop_df), _above(BLIND - right.mean, half_se, half_df)
    )
    astray = np.nan_to_num(_above(FOLLOWS - follows, follows_se, follows_df), nan=1.0)
    # Blind first: scores that don't follow the truth are neither kind nor strict.
    kinds: dict[Flaw, Floats] = {
        "blind": np.maximum(np.minimum(1, 2 * wrong), astray),
        "lenient": _above(bias - margin, se, df),
        "harsh": _above(-bias - margin, se, df),
    }
    family = np.zeros(size, dtype=np.int64)
    adjusted = {kind: adjust(np.where(enough, p, np.nan), family) for kind, p in kinds.items()}
    made = []
    for at, path in enumerate(paths):
        rows = here == at
        counts = confusion(truth[rows], said[rows], SCORES)
        found: dict[Flaw, float] = {kind: float(p[at]) for kind, p in adjusted.items()}
        flaw = next((kind for kind, p in found.items() if p <= q), None)
        smallest = min(found.values()) if enough[at] else math.nan
        made.append(
            Branch(
                path=path,
                n=int(n[at]),
                clusters=int(clusters[at]),
                unscored=int(open_[at]),
                counts=counts,
                accuracy=float(right.mean[at]),
                accuracy_lo=float(right.lo[at]),
                accuracy_hi=float(right.hi[at]),
                bias=float(bias[at]),
                bias_lo=float(bias[at] - half[at]),
                bias_hi=float(bias[at] + half[at]),
                alpha=ordinal_alpha((counts + counts.T).astype(np.float64)),
                follows=float(follows[at]),
                follows_lo=float(
                    follows[at] - scipy.special.stdtrit(follows_df[at], 0.975) * follows_se[at]
                ),
                drop=float(drop[at]) if size > 1 else math.nan,
                p=found[flaw] if flaw else smallest,
                flaw=flaw,
            )
        )
    return tuple(made)


def _means(
    value: Floats, group: Ints, cluster: Ints, size: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return means, CR1 variances (NaN under two clusters), rows and clusters of each group."""
    n, total, clusters, squares = cell_sums(make_cells(value, group, cluster, size), size)
    return *mean_variance(n, total, clusters, squares), n, clusters


def _drops(
    exact: Floats, truth: Ints, group: Ints, cluster: Ints, size: int
) -> tuple[Floats, Floats, Floats]:
    """Return, by group, the accuracy less that of the rest at equal truths, its error and df.

    Influence of a row of the group: `(y - a_t - d) / n_g`; of a row elsewhere with truth t:
    `-w_t (y - a_t) / n_t`, where `a_t` is accuracy elsewhere and `w_t` the group's share of t.
    Truths that occur nowhere else are left out.
    """
    drop, variance, clusters = np.full((3, size), np.nan)
    clusters[:] = 0
    n = np.zeros(size)
    for at in range(size):
        mine = group == at
        other = np.bincount(truth[~mine], minlength=SCORES + 1)
        known = mine & (other[truth] > 0)
        if not known.any():
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            there = np.bincount(truth[~mine], weights=exact[~mine], minlength=SCORES + 1) / other
        n[at] = known.sum()
        share = np.bincount(truth[known], minlength=SCORES + 1) / n[at]
        gap = exact - there[truth]
        drop[at] = gap[known].mean()
        influence = np.where(known, (gap - drop[at]) / n[at], 0.0)
        influence[~mine] = -(share[truth] / np.maximum(other[truth], 1) * gap)[~mine]
        clusters[at] = len(np.unique(cluster[known]))
        sums = np.bincount(cluster, weights=influence)
        if clusters[at] > 1:
            variance[at] = clusters[at] / (clusters[at] - 1) * float((sums**2).sum())
    se, df = moderate(variance, clusters, n, np.zeros(size, dtype=np.int64))
    return drop, se, df


def _ranks(
    truth: Ints, said: Ints, group: Ints, cluster: Ints, size: int
) -> tuple[Floats, Floats, Floats]:
    """Return each group's rank correlation of said with truth, its error and df.

    Spearman's, with mean ranks for ties: a shift of all scores doesn't touch it. Influence of a
    row with standard ranks x, y: `(x y - r (x^2 + y^2) / 2) / n`. Scores that are all the same
    follow nothing (0, without error); truths that are all the same tell nothing (NaN).
    """
    found, variance = np.full((2, size), np.nan)
    clusters, n = np.zeros((2, size))
    for at in range(size):
        mine = group == at
        n[at] = mine.sum()
        clusters[at] = len(np.unique(cluster[mine]))
        if clusters[at] < 2:
            continue
        x, y = (scipy.stats.rankdata(values[mine]) - (n[at] + 1) / 2 for values in (truth, said))
        if not x.any():
            continue
        if not y.any():
            found[at] = variance[at] = 0.0
            continue
        x, y = x / x.std(), y / y.std()
        found[at] = (x * y).mean()
        influence = (x * y - found[at] * (x**2 + y**2) / 2) / n[at]
        sums = np.bincount(cluster[mine], weights=influence)
        variance[at] = clusters[at] / (clusters[at] - 1) * float((sums**2).sum())
    se, df = moderate(variance, clusters, n, np.zeros(size, dtype=np.int64))
    return found, se, df


def _above(excess: Floats, se: Floats, df: Floats) -> Floats:
    """Return one-sided p-values of an excess over 0; an exact one has no error and is sure."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(se > 0, excess / se, np.where(excess > 0, np.inf, -np.inf))
    return np.asarray(np.where(np.isfinite(excess), scipy.special.stdtr(df, -t), np.nan))
