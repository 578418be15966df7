"""How well a method’s criteria and their places in the tree agree with people’s."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.agreement.coefficients import nominal_kappa
from atom.analysis.agreement.fidelity import FidelityShare, share_of
from atom.analysis.compare.paired import paired_gap
from atom.analysis.intervals import Floats, Ints
from taxonomy import Path, fold
from taxonomy.path import shared_depth


def dominant_root(roots: Sequence[str], weights: Sequence[int]) -> str:
    """Choose the root that a sample stands under: the one with most of its criteria's weight.

    The paper groups samples by capability without saying how. Equal weights go to the root whose
    criterion comes first.

    Args:
        roots: of the sample's criteria, in order; empty where a criterion has no leaf.
        weights: of the same.

    Returns:
        The root; empty where no criterion has a leaf.
    """
    total: dict[str, int] = {}
    for root, weight in zip(roots, weights, strict=True):
        if root:
            total[root] = total.get(root, 0) + weight
    return max(total, key=lambda root: total[root], default="")


@dataclass(frozen=True, kw_only=True)
class LabelMean:
    """A mean of people's labels 1..3.

    Attributes:
        n: criteria.
        clusters: samples.
        mean: NaN without labels.
        lo: lower end of the 95 % interval (cluster t); NaN under two clusters.
        ones: share of criteria whose rounded-down label is 1: people's mean is under 2.
    """

    n: int
    clusters: int
    mean: float
    lo: float
    hi: float
    ones: float


def label_mean(value: Floats, cluster: Ints) -> LabelMean:
    """Average labels.

    Args:
        value: people's mean label of each criterion, 1..3, shape (n,).
        cluster: its sample, shape (n,).

    Reference:
        METHODS A8; ATOM appendix C.
    """
    found = paired_gap(value, cluster)
    return LabelMean(
        n=found.n,
        clusters=found.clusters,
        mean=found.gap,
        lo=max(found.lo, 1.0) if math.isfinite(found.lo) else math.nan,
        hi=min(found.hi, 3.0) if math.isfinite(found.hi) else math.nan,
        ones=float((value < 2).mean()) if len(value) else math.nan,
    )


@dataclass(frozen=True, kw_only=True)
class CriteriaQuality:
    """People's labels of criteria: right, needed, and both fully."""

    accuracy: LabelMean
    necessity: LabelMean
    both: FidelityShare


def criteria_quality(accuracy: Floats, necessity: Floats, cluster: Ints) -> CriteriaQuality:
    """Sum up people's labels of criteria.

    Args:
        accuracy: people's mean label of each criterion, 1..3; NaN = none; shape (n,).
        necessity: the same for necessity.
        cluster: the criterion's sample, shape (n,).

    Returns:
        Means, and the share of criteria, of those with both labels, that everybody gave a 3 for
        both.
    """
    right, needed = np.isfinite(accuracy), np.isfinite(necessity)
    both = right & needed
    full = (accuracy[both] == 3) & (necessity[both] == 3)
    return CriteriaQuality(
        accuracy=label_mean(accuracy[right], cluster[right]),
        necessity=label_mean(necessity[needed], cluster[needed]),
        both=share_of(full, cluster[both]),
    )


@dataclass(frozen=True, kw_only=True)
class HitRates:
    """How often a judge's tag is people's.

    Attributes:
        leaf: share of criteria with the same leaf (micro).
        root: share with the same root.
        by_root: share with the same leaf, by people's root, in the order given.
        macro: unweighted mean of `by_root`; NaN without any.
        kappa: Cohen's kappa of leaves; NaN where chance agreement is complete.
        root_kappa: the same of roots.
        credit: mean shared depth over full depth; 1 = the same leaf.
    """

    leaf: FidelityShare
    root: FidelityShare
    by_root: tuple[tuple[str, FidelityShare], ...]
    macro: float
    kappa: float
    root_kappa: float
    credit: float


def hit_rates(judged: Sequence[Path], people: Sequence[Path], cluster: Ints) -> HitRates:
    """Compare a judge's leaves with people's.

    Args:
        judged: the judge's leaf of each criterion, root first; empty = it gave none: a miss.
        people: people's leaf of the same.
        cluster: the criterion's sample, shape (n,).

    Reference:
        METHODS A7; ATOM Figure 7.
    """
    pairs = [(fold(a), fold(b)) for a, b in zip(judged, people, strict=True)]
    same = np.array([a == b for a, b in pairs], dtype=np.bool_)
    root = np.array([a[:1] == b[:1] for a, b in pairs], dtype=np.bool_)
    names = {b[:1]: path[0] for (_, b), path in zip(pairs, people, strict=True)}
    owner = [b[:1] for _, b in pairs]
    by_root = []
    for key, name in names.items():
        here = np.array([each == key for each in owner], dtype=np.bool_)
        by_root.append((name, share_of(same[here], cluster[here])))
    credit = [shared_depth(a, b) / max(len(a), len(b), 1) for a, b in pairs]
    return HitRates(
        leaf=share_of(same, cluster),
        root=share_of(root, cluster),
        by_root=tuple(by_root),
        macro=float(np.mean([share.value for _, share in by_root])) if by_root else math.nan,
        kappa=_kappa([a for a, _ in pairs], [b for _, b in pairs]),
        root_kappa=_kappa([a[:1] for a, _ in pairs], [b[:1] for _, b in pairs]),
        credit=float(np.mean(credit)) if credit else math.nan,
    )


def _kappa(first: Sequence[Path], second: Sequence[Path]) -> float:
    code = {path: at for at, path in enumerate(dict.fromkeys([*first, *second]))}
    counts = np.zeros((len(code), len(code)), dtype=np.int64)
    for a, b in zip(first, second, strict=True):
        counts[code[a], code[b]] += 1
    return nominal_kappa(counts) if code else math.nan
