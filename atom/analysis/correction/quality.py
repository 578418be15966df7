"""What trying again does to single criteria: their quality, what was repaired, what it unlocked.

Criteria that failed were chosen by their score, so they rise when they are merely judged again.
Every "before" here is therefore an independent judgement, or the control arm's score.

Reference: METHODS B14 (atom quality), A2 (failed), B9, B5; ATOM 4.3 and G.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atom.analysis.compare.paired import PairedGap
from atom.analysis.correction.effects import Level, has_controls
from atom.analysis.correction.trials import (
    FAILED_COHORT,
    RIGHT,
    AnswerShare,
    Mask,
    Trials,
    bounded_gap,
    code_of,
    shares,
)
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.multiplicity import adjust
from atom.records.correction import Arm

SPAN = 4.0
"""Points between the lowest score and the highest."""
MARGIN = 0.10
"""Smallest additional share of repaired criteria that is called recoverable."""
Q = 0.10
"""Level of the Benjamini-Hochberg control over nodes."""
STUBBORN = 0.5
"""Under this share of repaired criteria, even with the strongest help, a node is stubborn."""
HELP: tuple[Arm, ...] = ("peer", "guided_peer", "oracle")
"""Arms that say more than where to look."""
RepairLabel = Literal["attention drift", "lack of capability", "undecided"]


def arm_rows(trials: Trials, arm: Arm, upto: int) -> Ints:
    """Criterion rows of an arm's last trials of failed answers."""
    mine = (trials.arm == code_of(arm)) & (trials.cohort == FAILED_COHORT)
    return np.flatnonzero((trials.last_rows(upto) & mine)[trials.trial])


def _failed(trials: Trials) -> Mask:
    return (trials.before > 0) & (trials.before <= trials.threshold)


def _node(trials: Trials, level: Level) -> Ints:
    return trials.leaf if level == "leaf" else trials.root


def _points(difference: Floats, cluster: Ints) -> PairedGap:
    """Test a mean difference of scores 1..5; everything but n, clusters and p in points."""
    found = bounded_gap(difference / SPAN, cluster)
    return PairedGap(
        n=found.n, clusters=found.clusters, p=found.p, gap=found.gap * SPAN, se=found.se * SPAN,
        lo=found.lo * SPAN, hi=found.hi * SPAN,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Rise:
    """How criteria score after a trial, in points 1..5.

    Attributes:
        n: criteria with a score after and all the scores before that are used.
        clusters: distinct clusters among them.
        unscored: criteria that the judge left open after the trial.
        before: mean of the scores that answers were selected by.
        baseline: mean of an independent judgement of the same answers; NaN where there is none.
        after: mean after the trial.
        naive: after less before.
        rise: after less baseline, the one to believe; NaN where there is no baseline, and for
            `rejudge`, which is that baseline.
        lo: lower end of its interval.
        p: two-sided p-value of the rise; NaN under five clusters.
        bias: naive less rise: what selecting by a noisy score adds by itself.
    """

    arm: Arm
    n: int
    clusters: int
    unscored: int
    before: float
    baseline: float
    after: float
    naive: float
    rise: float
    lo: float
    hi: float
    p: float
    bias: float


def rises(
    trials: Trials, *, failed_only: bool = False, asked: bool | None = None, upto: int = 1
) -> tuple[Rise, ...]:
    """Compare criteria after each arm with an independent judgement of the answer before.

    Args:
        failed_only: only criteria that the initial answer failed.
        asked: only criteria that were asked about (True), or only the others (False).
        upto: last round that counts.

    Returns:
        One row an arm that ran.

    Reference:
        METHODS B14: selected by a score of at most 2, criteria rise by re-judging alone.
    """
    found = []
    for arm in trials.arms:
        rows = arm_rows(trials, arm, upto)
        if failed_only:
            rows = rows[_failed(trials)[rows]]
        if asked is not None:
            rows = rows[trials.asked[rows] == asked]
        found.append(_rise(trials, arm, rows))
    return tuple(found)


def _rise(trials: Trials, arm: Arm, rows: Ints) -> Rise:
    nan = float("nan")
    unscored = int((trials.after[rows] <= 0).sum())
    rows = rows[(trials.after[rows] > 0) & (trials.before[rows] > 0)]
    independent = rows[trials.baseline[rows] > 0] if arm != "rejudge" else rows[:0]
    used = independent if len(independent) else rows
    before, after = trials.before[used].astype(float), trials.after[used].astype(float)
    baseline = trials.baseline[independent].astype(float)
    cluster = trials.cluster[trials.trial[used]]
    gap = None
    if len(independent):
        gap = _points(after - baseline, cluster)
    naive = float((after - before).mean()) if len(used) else nan
    rise = gap.gap if gap else nan
    return Rise(
        arm=arm,
        n=len(used),
        clusters=len(np.unique(cluster)),
        unscored=unscored,
        before=float(before.mean()) if len(used) else nan,
        baseline=float(baseline.mean()) if len(baseline) else nan,
        after=float(after.mean()) if len(used) else nan,
        naive=naive,
        rise=rise,
        lo=gap.lo if gap else nan,
        hi=gap.hi if gap else nan,
        p=gap.p if gap and gap.clusters >= MIN_CLUSTERS else nan,
        bias=naive - rise,
    )


def _shared(trials: Trials, arm: Arm, control: Arm, upto: int) -> tuple[Ints, Ints]:
    """Rows of criteria of the same answers that both arms have a score for."""
    width = int(trials.criterion.max(initial=0)) + 1
    keys, rows = [], []
    for which in (arm, control):
        mine = arm_rows(trials, which, upto)
        mine = mine[trials.after[mine] > 0]
        rows.append(mine)
        keys.append(
            trials.answer[trials.trial[mine]].astype(np.int64) * width + trials.criterion[mine]
        )
    _, first, second = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return rows[0][first], rows[1][second]


@dataclass(frozen=True, kw_only=True)
class Repair:
    """How many of a node's failed criteria feedback repairs, beyond its control.

    Attributes:
        node: code of the leaf or root.
        arm: the arm that says where to look.
        control: its control; None where none ran.
        n: failed criteria with a score in both; in the arm alone where there is no control.
        clusters: distinct clusters among them.
        arm_share: share repaired in the arm.
        control_share: share repaired in the control: luck, and judging again.
        estimate: the difference; NaN without a control.
        lo: lower end of its interval.
        p: two-sided p-value; NaN under five clusters.
        adjusted: p after Benjamini-Hochberg over the nodes.
        help_arm: the arm of `HELP` that repairs most; None where none ran on five clusters.
        help: share repaired there.
        label: what the failures are.
        reason: why, in words.
    """

    node: int
    arm: Arm
    control: Arm | None
    n: int
    clusters: int
    arm_share: float
    control_share: float
    estimate: float
    lo: float
    hi: float
    p: float
    adjusted: float
    help_arm: Arm | None
    help: AnswerShare | None
    label: RepairLabel
    reason: str


def repairs(
    trials: Trials, level: Level = "leaf", *, arm: Arm = "guided", upto: int = 1
) -> tuple[Repair, ...]:
    """Tell capabilities that recover when told where to look from those that stay broken.

    A failed criterion is repaired when it scores above the threshold after the trial. A node is

    - **attention drift** where the arm repairs at least `MARGIN` more than its control and the
      Benjamini-Hochberg adjusted p-value is at most `Q`;
    - **lack of capability** where the interval of the share repaired lies under `STUBBORN` in
      every arm of `HELP` that ran, so more than half of the criteria stay failed even with a hint
      or with the truth shown;
    - **undecided** otherwise, and always under five clusters, or for the first label without a
      control, or for the second without such an arm.

    Luck and regression to the mean only add to the share repaired with help, so they can't make a
    node stubborn.

    Args:
        level: leaves or roots.
        arm: the arm that says where to look.
        upto: last round that counts.

    Returns:
        One row a node with failed criteria in the arm, in order of the codes.

    Reference:
        ATOM 4.3, G.3; METHODS B14, B5.
    """
    ran = trials.arms
    if arm not in ran:
        return ()
    control = next((which for which in ("sham", "told") if which in ran), None)
    controlled = control is not None and has_controls(trials)
    first, second = _pairs(trials, arm, control, upto)
    keep = _failed(trials)[first] & (_node(trials, level)[first] >= 0)
    first, second = first[keep], second[keep]
    node, cluster = _node(trials, level)[first], trials.cluster[trials.trial[first]]
    done = trials.after[first] > trials.threshold
    other = trials.after[second] > trials.threshold
    codes = np.unique(node)
    gaps = [
        bounded_gap((done.astype(float) - other)[node == at], cluster[node == at]) for at in codes
    ]
    p = np.array([g.p if g.clusters >= MIN_CLUSTERS else np.nan for g in gaps], dtype=np.float64)
    if not controlled:
        p[:] = np.nan
    adjusted = adjust(p, np.zeros(len(p), dtype=np.int64))
    helped = {which: _repaired(trials, which, level, upto) for which in HELP if which in ran}
    nan, found = float("nan"), []
    for number, (at, gap) in enumerate(zip(codes, gaps, strict=True)):
        shown = {
            which: share[int(at)]
            for which, share in helped.items()
            if share[int(at)].clusters >= MIN_CLUSTERS
        }
        label, reason = _label(gap, float(adjusted[number]), controlled, list(shown.values()))
        best = max(shown, key=lambda which: shown[which].value, default=None)
        found.append(
            Repair(
                node=int(at),
                arm=arm,
                control=control,
                n=gap.n,
                clusters=gap.clusters,
                arm_share=float(done[node == at].mean()),
                control_share=float(other[node == at].mean()) if control else nan,
                estimate=gap.gap if control else nan,
                lo=gap.lo if control else nan,
                hi=gap.hi if control else nan,
                p=float(p[number]),
                adjusted=float(adjusted[number]),
                help_arm=best,
                help=shown[best] if best else None,
                label=label,
                reason=reason,
            )
        )
    return tuple(found)


def _pairs(trials: Trials, arm: Arm, control: Arm | None, upto: int) -> tuple[Ints, Ints]:
    if control is not None:
        return _shared(trials, arm, control, upto)
    rows = arm_rows(trials, arm, upto)
    rows = rows[trials.after[rows] > 0]
    return rows, rows


def _repaired(trials: Trials, arm: Arm, level: Level, upto: int) -> tuple[AnswerShare, ...]:
    """Share of failed criteria that an arm repairs, by node."""
    width = len(trials.leaves) if level == "leaf" else len(trials.roots)
    rows = arm_rows(trials, arm, upto)
    node = _node(trials, level)
    rows = rows[_failed(trials)[rows] & (trials.after[rows] > 0) & (node[rows] >= 0)]
    done = (trials.after[rows] > trials.threshold).astype(np.float64)
    return shares(done, node[rows], trials.cluster[trials.trial[rows]], width)


def _label(
    gap: PairedGap, adjusted: float, controlled: bool, helped: list[AnswerShare]
) -> tuple[RepairLabel, str]:
    if gap.clusters < MIN_CLUSTERS:
        return "undecided", f"only {gap.clusters} of the {MIN_CLUSTERS} clusters that it takes"
    if controlled and adjusted <= Q and gap.gap >= MARGIN:
        return "attention drift", "repaired when told where to look, beyond its control"
    if helped and all(share.hi < STUBBORN for share in helped):
        return "lack of capability", "most stay failed even with the strongest help tried"
    if not controlled:
        return "undecided", "no control ran"
    if not helped:
        return "undecided", "no clear repair by feedback, and no stronger help was tried"
    return "undecided", "neither clearly repaired by feedback nor clearly out of reach"


@dataclass(frozen=True, kw_only=True)
class UnlockedCriteria:
    """What repairing a criterion, or a node's criteria, went along with.

    Attributes:
        code: of the criterion, leaf or root.
        asked: failed criteria that were asked about, in answers with a known result.
        flipped: of these, repaired.
        unlocked: of these, in answers that became right.
        share: unlocked of asked, 0..1.
        fixed_when_flipped: share of answers fixed where it flipped; NaN where it never did.
        fixed_otherwise: share of answers fixed where it didn't; NaN where it always did.
    """

    code: int
    asked: int
    flipped: int
    unlocked: int
    share: float
    fixed_when_flipped: float
    fixed_otherwise: float


def unlocked(
    trials: Trials,
    by: Literal["criterion", "leaf", "root"] = "criterion",
    *,
    arm: Arm = "guided",
    upto: int = 1,
) -> tuple[UnlockedCriteria, ...]:
    """Count which asked criteria flipped in answers that became right.

    This is what went together, not what caused what: an answer that improves improves in many
    places.

    Args:
        by: count by criterion, leaf or root.
        upto: last round that counts.

    Returns:
        One row a code that was asked about, the most unlocking first, then in order of the codes.
    """
    rows, flipped, fixed = _asked(trials, arm, upto)
    column = {"criterion": trials.criterion, "leaf": trials.leaf, "root": trials.root}[by][rows]
    known = column >= 0
    codes, at = np.unique(column[known], return_inverse=True)
    flipped, fixed = flipped[known], fixed[known]
    asked = np.bincount(at, minlength=len(codes))
    done = np.bincount(at, weights=flipped, minlength=len(codes)).astype(np.int64)
    hits = np.bincount(at, weights=flipped & fixed, minlength=len(codes)).astype(np.int64)
    rest = np.bincount(at, weights=~flipped & fixed, minlength=len(codes)).astype(np.int64)
    nan = float("nan")
    found = [
        UnlockedCriteria(
            code=int(code),
            asked=int(asked[i]),
            flipped=int(done[i]),
            unlocked=int(hits[i]),
            share=float(hits[i] / asked[i]),
            fixed_when_flipped=float(hits[i] / done[i]) if done[i] else nan,
            fixed_otherwise=float(rest[i] / (asked[i] - done[i])) if asked[i] > done[i] else nan,
        )
        for i, code in enumerate(codes)
    ]
    return tuple(sorted(found, key=lambda row: (-row.unlocked, row.code)))


def _asked(trials: Trials, arm: Arm, upto: int) -> tuple[Ints, Mask, Mask]:
    """Failed criteria that were asked about: their rows, whether repaired, whether right after."""
    rows = arm_rows(trials, arm, upto)
    right = trials.right[trials.trial[rows]]
    keep = _failed(trials)[rows] & trials.asked[rows] & (trials.after[rows] > 0)
    keep &= np.isfinite(right)
    rows = rows[keep]
    return rows, trials.after[rows] > trials.threshold, right[keep] >= RIGHT
