"""Whether a judge’s marks follow how long an answer is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from atom.analysis.intervals import (
    Floats,
    Ints,
)


@dataclass(frozen=True, kw_only=True)
class LengthPull:
    """How much better a judge scores a longer answer to the same question.

    Attributes:
        n: answers.
        clusters: samples with several answers.
        slope: points of 1..5 for an answer twice as long, other things equal; NaN where undefined.
        lo: lower end of the 95 % interval over samples.
        controlled: whether the final answer's outcome was held equal.
    """

    n: int
    clusters: int
    slope: float
    lo: float
    hi: float
    controlled: bool


def length_pull(sample: Ints, score: Floats, words: Floats, outcome: Floats) -> LengthPull:
    """Regress an answer's score on the logarithm of its length, within samples.

    `S - mean_sample(S) = b (log2 w - mean) + c (outcome - mean)`; CR1 interval over samples. Only
    answers to one question are compared: across questions, length follows difficulty.

    Args:
        sample: of each answer, shape (n,).
        score: 1..5, NaN = none, shape (n,).
        words: length, shape (n,); answers of no words are left out.
        outcome: 0..1, whether the final answer is right: better answers may be longer. Left out
            where fewer than half are known, else unknown ones are left out.

    Reference:
        METHODS B12 (verbosity: within the item, quality held equal).
    """
    nan = math.nan
    keep = np.isfinite(score) & (words > 0)
    controlled = bool(np.isfinite(outcome[keep]).mean() >= 0.5) if keep.any() else False
    if controlled:
        keep &= np.isfinite(outcome)
    _, code, count = np.unique(sample[keep], return_inverse=True, return_counts=True)
    several = count[code] > 1

    def within(value: Floats) -> Floats:
        mean = np.bincount(code, weights=value) / np.maximum(count, 1)
        return np.asarray((value - mean[code])[several])

    y = within(score[keep]) if keep.any() else np.zeros(0)
    columns = [within(np.log2(words[keep]))] if keep.any() else [np.zeros(0)]
    if controlled:
        columns.append(within(outcome[keep]))
        if not np.abs(columns[1]).max(initial=0) > 0:
            columns.pop()
            controlled = False
    x = np.column_stack(columns)
    groups = int((count > 1).sum())
    empty = LengthPull(n=len(y), clusters=groups, slope=nan, lo=nan, hi=nan, controlled=controlled)
    if groups < x.shape[1] + 3 or np.linalg.matrix_rank(x) < x.shape[1]:
        return empty
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ x.T @ y
    residual = y - x @ beta
    sums = np.stack(
        [np.bincount(code[several], weights=column * residual) for column in x.T], axis=1
    )
    variance = bread @ (sums.T @ sums) @ bread * groups / (groups - 1)
    half = float(scipy.special.stdtrit(groups - 1, 0.975)) * math.sqrt(float(variance[0, 0]))
    slope = float(beta[0])
    return LengthPull(n=len(y), clusters=groups, slope=slope, lo=slope - half, hi=slope + half,
                      controlled=controlled)  # fmt: skip
