"""Figures of yes-or-no benchmarks: groups that must be right together, and rates of the yes.

Reference: HallusionBench (Guan et al., 2024), MME (Fu et al., 2023), POPE (Li et al., 2023); the
score tables of VLMEvalKit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom.analysis.intervals import Floats


def all_right(right: Floats, groups: Sequence[Hashable]) -> float:
    """Return the share of groups in which everything is right; NaN without groups.

    Args:
        right: 1 or 0, shape (n,).
        groups: the group of each, n of them.
    """
    least: dict[Hashable, float] = {}
    for value, group in zip(right.tolist(), groups, strict=True):
        least[group] = min(value, least.get(group, 1.0))
    return float(np.mean([value == 1 for value in least.values()])) if least else math.nan


def paired_score(right: Floats, pictures: Sequence[Hashable]) -> float:
    """Return MME's score of a category, 0 to 200: share of questions right, plus share of pictures.

    Args:
        right: 1 or 0, shape (n,).
        pictures: the picture of each question; both of its questions must be right.

    Returns:
        `100 (accuracy + all_right)`. Toy: right (1, 1, 1, 0) on pictures (x, x, y, y):
        75 + 50 = 125.
    """
    return 100 * (float(right.mean()) + all_right(right, pictures)) if len(right) else math.nan


@dataclass(frozen=True, kw_only=True)
class YesRates:
    """How well a yes is a yes.

    Attributes:
        n: questions.
        accuracy: share right.
        precision: share of the model's yes that are right; 0 without a yes.
        recall: share of the true yes that were found; 0 without one.
        f1: harmonic mean of the two; 0 where both are.
        yes: share answered with yes.
    """

    n: int
    accuracy: float
    precision: float
    recall: float
    f1: float
    yes: float


def yes_rates(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> YesRates:
    """Score yes-or-no answers.

    Args:
        truth: whether yes is right, shape (n,).
        said: whether the model said yes; what is neither yes nor no counts as no; shape (n,).
    """
    n = len(truth)
    hits, given, there = (float(x.sum()) for x in (truth & said, said, truth))
    return YesRates(
        n=n,
        accuracy=float((truth == said).mean()) if n else math.nan,
        precision=hits / given if given else 0.0,
        recall=hits / there if there else 0.0,
        f1=2 * hits / (given + there) if given + there else 0.0,
        yes=given / n if n else math.nan,
    )
