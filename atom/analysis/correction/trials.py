"""Self-correction trials as columns: where each answer stands in each arm, and how surely.

An arm is something done with an answer: judging it again, trying again without feedback, with a
plain "that was wrong", with questions. What an arm's share of right answers means is only known
next to its control; that comparison is in `correction_effects`.

Reference: METHODS A11, B14, B16; ATOM 3.5 and 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from atom.analysis.compare.paired import PairedGap, mcnemar_of, paired_gap
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints, make_cells, node_stats
from atom.records.correction import Arm
from taxonomy import Path

Mask = NDArray[np.bool_]

ARMS: tuple[Arm, ...] = get_args(Arm)
"""Arms by code."""
FAILED_COHORT, RIGHT_COHORT = 0, 1
SCORED, DROPPED, BROKEN = 0, 1, 2
"""A trial with a result; one that had nothing to ask or whose hints leaked; a call that failed."""
RIGHT = 0.5
"""From this value on a final answer counts as right where it must be yes or no."""
HALF_PAIR = 0.5
"""Pairs added to each of the four cells where all differences are equal."""

_TRIAL_COLUMNS = (
    "answer", "cluster", "arm", "cohort", "round", "state", "right", "was_right", "cost",
    "had_failed", "had_passed",
)  # fmt: skip
_CRITERION_COLUMNS = (
    "trial", "criterion", "leaf", "root", "weight", "before", "baseline", "after", "asked",
)  # fmt: skip


def code_of(arm: Arm) -> int:
    """Return an arm's code."""
    return ARMS.index(arm)


@dataclass(frozen=True, kw_only=True)
class Trials:
    """One candidate's trials in columns.

    Trial rows, one an (initial answer, arm, round), all of shape (T,):

    Attributes:
        answer: code of the initial answer.
        cluster: samples that share pictures have one number.
        arm: index into `ARMS`.
        cohort: `FAILED_COHORT` or `RIGHT_COHORT`.
        round: 1-based.
        state: `SCORED`, `DROPPED` or `BROKEN`.
        right: whether the final answer is right after the trial, 0..1; NaN = not known.
        was_right: whether the initial answer is right, 0..1; NaN = not known.
        cost: USD that the trial cost; NaN = not known.
        had_failed: the initial answer failed at least one criterion.
        had_passed: the initial answer passed at least one criterion.

    Criterion rows, all of shape (C,):

    Attributes:
        trial: index of the trial row.
        criterion: code of the criterion.
        leaf: index into `leaves`; -1 = not mapped.
        root: index into `roots`; -1 = not mapped.
        weight: of the criterion in its sample.
        before: the initial answer's score, the one that failed answers were selected by; 0 = none.
        baseline: the initial answer's score in an independent judgement; 0 = none.
        after: the new answer's score; 0 = unscored.
        asked: this criterion's question, or a hint on it, was in the feedback.

    Names:

    Attributes:
        leaves: leaf paths by code.
        roots: root names by code.
        threshold: a score of this or less is failed (METHODS A2).
    """

    answer: Ints
    cluster: Ints
    arm: Ints
    cohort: Ints
    round: Ints
    state: Ints
    right: Floats
    was_right: Floats
    cost: Floats
    had_failed: Mask
    had_passed: Mask
    trial: Ints
    criterion: Ints
    leaf: Ints
    root: Ints
    weight: Ints
    before: Ints
    baseline: Ints
    after: Ints
    asked: Mask
    leaves: tuple[Path, ...] = ()
    roots: tuple[str, ...] = ()
    threshold: int = 2

    def __post_init__(self) -> None:
        for names in (_TRIAL_COLUMNS, _CRITERION_COLUMNS):
            sizes = {name: np.shape(getattr(self, name)) for name in names}
            if len(set(sizes.values())) > 1:
                raise ValueError(f"columns must be equally long; given {sizes!r}")
        rounds = int(self.round.max(initial=0)) + 1
        key = (self.answer.astype(np.int64) * len(ARMS) + self.arm) * rounds + self.round
        if len(np.unique(key)) < len(key):
            raise ValueError("an (answer, arm, round) must have one row; some have several")
        if len(self.trial) and not 0 <= self.trial.min() <= self.trial.max() < len(self.answer):
            raise ValueError(f"criterion rows must name one of {len(self.answer)} trials")

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Arms that ran on failed answers, in the order of `ARMS`."""
        ran = np.unique(self.arm[self.cohort == FAILED_COHORT])
        return tuple(ARMS[code] for code in ran)

    def rounds_of(self, arm: Arm) -> int:
        """Return the last round that an arm reached on failed answers; 0 = it didn't run."""
        mine = (self.arm == code_of(arm)) & (self.cohort == FAILED_COHORT)
        return int(self.round[mine].max(initial=0))

    def last_rows(self, upto: int = 1) -> Mask:
        """Mark each answer's last scored trial in each arm, up to a round; shape (T,)."""
        chosen = np.zeros(len(self.answer), dtype=bool)
        rows = np.flatnonzero((self.round <= upto) & (self.state == SCORED))
        rows = rows[np.argsort(self.round[rows], kind="stable")]
        key = self.answer[rows].astype(np.int64) * len(ARMS) + self.arm[rows]
        _, last = np.unique(key[::-1], return_index=True)
        chosen[rows[::-1][last]] = True
        return chosen


@dataclass(frozen=True, kw_only=True)
class ArmStanding:
    """Where A initial answers stand in every arm after some rounds.

    Attributes:
        answer: code, shape (A,).
        cluster: shape (A,).
        cohort: shape (A,).
        was_right: shape (A,).
        had_failed: shape (A,).
        had_passed: shape (A,).
        ran: the arm has a trial of the answer, shape (A, arms).
        right: after the last round with a result; NaN = not known, shape (A, arms).
        cost: USD over the rounds so far; NaN = not known, shape (A, arms).
    """

    answer: Ints
    cluster: Ints
    cohort: Ints
    was_right: Floats
    had_failed: Mask
    had_passed: Mask
    ran: Mask
    right: Floats
    cost: Floats


def standing(trials: Trials, upto: int = 1) -> ArmStanding:
    """Say where every answer stands in every arm after a number of rounds.

    An answer that an arm stopped trying, or whose later call failed, keeps the result it had.

    Args:
        upto: last round that counts.

    Returns:
        The standing, answers in order of their codes.
    """
    rows = np.flatnonzero(trials.round <= upto)
    rows = rows[np.argsort(trials.round[rows], kind="stable")]
    answer, first, at = np.unique(trials.answer[rows], return_index=True, return_inverse=True)
    shape, arm = (len(answer), len(ARMS)), trials.arm[rows]
    ran, right = np.zeros(shape, dtype=bool), np.full(shape, np.nan)
    ran[at, arm] = True
    scored = trials.state[rows] == SCORED
    right[at[scored], arm[scored]] = trials.right[rows[scored]]
    cost = np.bincount(at * len(ARMS) + arm, weights=trials.cost[rows], minlength=ran.size)
    one = rows[first]
    return ArmStanding(
        answer=answer,
        cluster=trials.cluster[one],
        cohort=trials.cohort[one],
        was_right=trials.was_right[one],
        had_failed=trials.had_failed[one],
        had_passed=trials.had_passed[one],
        ran=ran,
        right=right,
        cost=np.where(ran, cost.reshape(shape), np.nan),
    )


def bounded_gap(difference: Floats, cluster: Ints, confidence: float = 0.95) -> PairedGap:
    """Test a mean of paired differences that lie in [-1, 1].

    The paired cluster t of METHODS B9. Where all differences are equal it would have no width and
    be sure of everything after five pairs: there, half a pair is added to each of the four cells
    (Agresti and Min 2005), and p is that of the sign test over clusters.

    Args:
        difference: arm less control, shape (n,).
        cluster: shape (n,).
        confidence: coverage of the interval.

    Returns:
        The gap with its interval inside [-1, 1]; NaN where there are under two clusters.

    Reference:
        METHODS B9, B14.
    """
    found = paired_gap(difference, cluster, confidence)
    if found.clusters < 2:
        return found
    lo, hi, p = found.lo, found.hi, found.p
    if found.se < 1e-15:
        g = found.clusters
        size = g + 4 * HALF_PAIR
        centre = found.gap * g / size
        spread = (g * found.gap**2 + 2 * HALF_PAIR) / size - centre**2
        half = float(scipy.special.stdtrit(g - 1, 0.5 + confidence / 2)) * float(
            np.sqrt(spread / size)
        )
        lo, hi = min(found.gap, centre - half), max(found.gap, centre + half)
        p = 1.0 if abs(found.gap) < 1e-12 else min(1.0, 2 * 0.5**g)
    return PairedGap(
        n=found.n, clusters=found.clusters, gap=found.gap, se=found.se,
        lo=max(-1.0, lo), hi=min(1.0, hi), p=p,
    )  # fmt: skip


def holm(p: Floats) -> Floats:
    """Adjust p-values by Holm's step-down: `max_{k <= j} (m - k + 1) p_(k)`; NaN isn't counted."""
    adjusted = np.full(len(p), np.nan)
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    scaled = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


@dataclass(frozen=True, kw_only=True)
class AnswerShare:
    """A share of answers with its interval.

    Attributes:
        n: answers that it is of.
        clusters: distinct clusters among them.
        value: 0..1; NaN where n = 0.
        lo: lower end of the moderated Wilson interval.
    """

    n: int
    clusters: int
    value: float
    lo: float
    hi: float


@dataclass(frozen=True, kw_only=True)
class ArmShare:
    """What came of one arm. Not a gain: that needs a control.

    Attributes:
        right: share of right answers among those with a known result.
        strict: the same with every unknown result counted as wrong; NaN where nothing ran.
        trials: answers that the arm was tried on.
        unknown: of these, answers without a known result (dropped, failed, not judged).
        cost: USD in all; NaN where some cost isn't known.
    """

    arm: Arm
    right: AnswerShare
    strict: float
    trials: int
    unknown: int
    cost: float


def shares(value: Floats, node: Ints, cluster: Ints, n_nodes: int) -> tuple[AnswerShare, ...]:
    """Estimate a mean of values in [0, 1] in each node (METHODS B2)."""
    found = node_stats(make_cells(value, node, cluster, n_nodes), n_nodes)
    return tuple(
        AnswerShare(
            n=int(found.n[at]),
            clusters=int(found.clusters[at]),
            value=float(found.mean[at]),
            lo=float(found.lo[at]),
            hi=float(found.hi[at]),
        )
        for at in range(n_nodes)
    )


def arm_shares(
    trials: Trials, *, upto: int = 1, cohort: int = FAILED_COHORT
) -> tuple[ArmShare, ...]:
    """Return the share of right answers in every arm that ran.

    Args:
        upto: last round that counts.
        cohort: initially failed answers or initially right ones.

    Returns:
        One row an arm, in the order of `ARMS`.
    """
    seen = standing(trials, upto)
    mine = seen.cohort == cohort
    ran = seen.ran & mine[:, None]
    at, arm = np.nonzero(ran & np.isfinite(seen.right))
    found = shares(seen.right[at, arm], arm, seen.cluster[at], len(ARMS))
    rows = []
    for code in np.flatnonzero(ran.any(axis=0)):
        tried, known = int(ran[:, code].sum()), found[code].n
        rows.append(
            ArmShare(
                arm=ARMS[code],
                right=found[code],
                strict=float(np.nansum(seen.right[ran[:, code], code])) / tried,
                trials=tried,
                unknown=tried - known,
                cost=float(seen.cost[ran[:, code], code].sum()),
            )
        )
    return tuple(rows)


def break_rate(trials: Trials, arm: Arm = "guided", *, upto: int = 1) -> AnswerShare:
    """Return the share of initially right answers that are wrong after feedback."""
    seen = standing(trials, upto)
    value = seen.right[:, code_of(arm)]
    known = (seen.cohort == RIGHT_COHORT) & np.isfinite(value)
    none = np.zeros(int(known.sum()), dtype=np.int64)
    return shares(1 - value[known], none, seen.cluster[known], 1)[0]


@dataclass(frozen=True, kw_only=True)
class RoundShare:
    """How many answers an arm has fixed by a round.

    Attributes:
        round: 1-based.
        standing: share that is right after this round.
        ever: share that was right after this round or an earlier one.
        new: answers that are right for the first time in this round.
    """

    arm: Arm
    round: int
    standing: AnswerShare
    ever: AnswerShare
    new: int


def rounds(trials: Trials) -> tuple[RoundShare, ...]:
    """Return the share of failed answers fixed by each round, arm by arm.

    Answers that an arm stopped trying keep their result, so every round of an arm is a share of the
    same answers as long as calls don't fail.
    """
    found: list[RoundShare] = []
    for arm in trials.arms:
        code, last = code_of(arm), trials.rounds_of(arm)
        seen = standing(trials, last)
        mine = (seen.cohort == FAILED_COHORT) & seen.ran[:, code]
        answer, cluster = seen.answer[mine], seen.cluster[mine]
        reached = np.full(len(answer), np.nan)
        for number in range(1, last + 1):
            seen = standing(trials, number)
            there = np.isin(seen.answer, answer)
            now = np.full(len(answer), np.nan)
            now[np.searchsorted(answer, seen.answer[there])] = seen.right[there, code]
            before, reached = reached, np.fmax(reached, now)
            known = np.isfinite(now)
            node = np.zeros(int(known.sum()), dtype=np.int64)
            found.append(
                RoundShare(
                    arm=arm,
                    round=number,
                    standing=shares(now[known], node, cluster[known], 1)[0],
                    ever=shares(reached[known], node, cluster[known], 1)[0],
                    new=int(((reached >= RIGHT) & ~(before >= RIGHT)).sum()),
                )
            )
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class BlindGate:
    """Whether a hint helps a solver that sees no picture.

    Attributes:
        n: samples that were answered both ways.
        with_hint: share of right answers with the hint; NaN where n = 0.
        without: share without.
        only_with: samples that only the hint gets right.
        only_without: samples that only its absence gets right.
        mid_p: two-sided mid-p-value of McNemar's test; NaN where n = 0.
        leaks: the hints tell what only the picture should.
        sentence: the verdict in words.
    """

    n: int
    with_hint: float
    without: float
    only_with: int
    only_without: int
    mid_p: float
    leaks: bool
    sentence: str


def blind_gate(without: Floats, with_hint: Floats, alpha: float = 0.05) -> BlindGate:
    """Test whether hints give the answer away to a solver without the picture.

    Args:
        without: whether it is right without the hint, 0..1, shape (n,); NaN = not known.
        with_hint: the same with the hint.
        alpha: two-sided level.

    Returns:
        The verdict. With under 400 samples, not finding a leak says little: at 200 samples a leak
        in every tenth hint is missed two times in three.

    Reference:
        METHODS B16.
    """
    both = np.isfinite(without) & np.isfinite(with_hint)
    after, before = with_hint[both] >= RIGHT, without[both] >= RIGHT
    n = int(both.sum())
    test = mcnemar_of(after, before)
    leaks = n > 0 and test.mid_p <= alpha and test.first_only > test.second_only
    if not n:
        sentence = "Not tried."
    elif leaks:
        sentence = "The hints give answers away: without the picture they help, too."
    elif n < MIN_CLUSTERS:
        sentence = "Too few samples to tell."
    else:
        sentence = "No leak found: without the picture the hints don't help."
    return BlindGate(
        n=n,
        with_hint=float(after.mean()) if n else float("nan"),
        without=float(before.mean()) if n else float("nan"),
        only_with=test.first_only,
        only_without=test.second_only,
        mid_p=test.mid_p if n else float("nan"),
        leaks=leaks,
        sentence=sentence,
    )
