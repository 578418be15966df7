"""CriticBench: feedback, comparison, correction, and feedback on feedback.

Two counting rules are named wherever the released code and the paper's words differ: `strict`
counts an unreadable or inconsistent reply as wrong; `released` does what the code does.

Reference: CriticBench 3 and appendix; METHODS A18, A19.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import spearmanr

from atom.analysis.intervals import Z95, Floats, Ints
from atom.judgebench.rates import INVALID, Rate, rate

Rule = Literal["strict", "released"]
TIE = 2
"""A comparison's verdict that prefers neither; 0 and 1 are the answers as given."""
RELEASED_INVALID_SCORE = -1.0
"""What the released code leaves in the rank correlation for a score that it couldn't read."""


@dataclass(frozen=True, kw_only=True)
class Spearman:
    """A rank correlation, times 100.

    Attributes:
        n: pairs that enter.
        invalid: scores that couldn't be read.
        value: rho x 100; NaN under three pairs or where a side is constant.
        lo: lower end of the 95 % interval (Fisher z with Bonett-Wright's error); NaN under four
            pairs, and where all ranks agree: there the method gives a point.
        rule: how unreadable scores were counted.
    """

    n: int
    invalid: int
    value: float
    lo: float
    hi: float
    rule: Rule


def feedback_correlation(predicted: Floats, human: Floats, rule: Rule = "strict") -> Spearman:
    """Correlate a critic's scores with people's, pooled over tasks.

    The chance level is 0. `strict` leaves unreadable scores out and counts them; `released` keeps
    them at -1, so that they pull the correlation about.

    Args:
        predicted: the critic's scores; NaN = unreadable; shape (n,).
        human: people's scores, shape (n,).
        rule: what to do with unreadable scores.

    Reference:
        METHODS A18, flags (invalid scores stay in the Spearman input).
    """
    readable = np.isfinite(predicted)
    x = predicted[readable] if rule == "strict" else np.where(
        readable, predicted, RELEASED_INVALID_SCORE
    )  # fmt: skip
    y = human[readable] if rule == "strict" else human
    n, invalid = len(x), int((~readable).sum())
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        nan = math.nan
        return Spearman(n=n, invalid=invalid, value=nan, lo=nan, hi=nan, rule=rule)
    rho = float(spearmanr(x, y).statistic)
    lo = hi = math.nan
    if n > 3 and abs(rho) < 1 - 1e-9:
        z = math.atanh(rho)
        half = Z95 * math.sqrt((1 + rho**2 / 2) / (n - 3))
        lo, hi = 100 * math.tanh(z - half), 100 * math.tanh(z + half)
    return Spearman(n=n, invalid=invalid, value=100 * rho, lo=lo, hi=hi, rule=rule)


def comparison(forward: Ints, backward: Ints, truth: Ints, rule: Rule = "strict") -> Rate:
    """Score preferences that must hold in both orders of showing.

    `strict`: right in both orders. `released`: right in the first order, and the second one only
    mustn't say the same again, so that a tie in the second order counts as right. A verdict that
    can't be read is wrong under both rules.

    Args:
        forward: verdict with answer 0 shown first: 0 or 1 = position, 2 tie, -1 unreadable.
        backward: verdict with answer 1 shown first, by position, too.
        truth: the better answer, 0 or 1.

    Returns:
        The rate; unreadable = either order can't be read. Chance is 1/4 for a coin that never ties;
        a judge locked to one position gets 0.

    Reference:
        METHODS A18, A19: forward A, backward B, truth A = 1; A, A = 0; A, tie = 0 strict and 1
        released.
    """
    first = forward == truth
    if rule == "strict":
        known = (backward == 0) | (backward == 1)
        both = first & known & (1 - backward == truth)
        unreadable = (forward == INVALID) | (backward == INVALID)
        codes = np.where(unreadable, INVALID, both.astype(np.int64))
        return rate(codes, 0.25)
    unreadable = (forward == INVALID) | (backward == INVALID)
    codes = np.where(unreadable, INVALID, (first & (backward != forward)).astype(np.int64))
    return rate(codes, 0.25)


def correction(passed: Ints) -> Rate:
    """Score corrected answers: 1 passes, 0 doesn't, -1 unreadable. Chance is taken as 0.

    Reference:
        METHODS A18 (pass rate).
    """
    return rate(passed, 0.0)


def objective_overall(feedback: float, compared: float, corrected: float, meta: float) -> float:
    """Average the four objective parts, each on 0-100.

    `((rho_f + 100)/2 + comparison + correction + (rho_m + 100)/2) / 4`. The parts have different
    chance levels (50, 25, 0, 50), so show them first.

    Args:
        feedback: Spearman x 100 of feedback scores, -100..100.
        compared: comparison accuracy in percent.
        corrected: pass rate in percent.
        meta: Spearman x 100 of feedback on feedback.

    Reference:
        METHODS A18: 63.54, 69.67, 57.33, 62.90 gives 72.555.
    """
    return ((feedback + 100) / 2 + compared + corrected + (meta + 100) / 2) / 4


OBJECTIVE_CHANCE = (50 + 25 + 0 + 50) / 4
"""Overall of a critic that flips coins: 31.25."""


def subjective_overall(feedback: float, compared: float, corrected: float) -> float:
    """Average the three subjective parts, each on 1-10.

    Reference:
        METHODS A18.
    """
    return (feedback + compared + corrected) / 3
