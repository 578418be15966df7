"""What an arm adds to its control: luck, being told, diagnosis, peers; and what it costs.

Feedback always comes with another try, and another try fixes many answers by luck. So an arm is
only ever compared with the arm that differs from it in one thing, on the same answers.

Reference: METHODS B14 (arms and effects), B9 (tests), F5 (no gain without controls); ATOM Table 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from atom.analysis.compare.paired import mcnemar_of
from atom.analysis.correction.trials import (
    FAILED_COHORT,
    RIGHT,
    RIGHT_COHORT,
    ArmStanding,
    Mask,
    Trials,
    bounded_gap,
    code_of,
    holm,
    standing,
)
from atom.analysis.intervals import MIN_CLUSTERS, Floats, Ints
from atom.analysis.multiplicity import adjust
from atom.records.correction import Arm

Role = Literal["control", "value", "printed", "ceiling"]
"""`control`: what comes without any diagnosis. `value`: what feedback adds to its control.
`printed`: the paper's gain, whose control doesn't ask anything. `ceiling`: with the truth shown."""
Verdict = Literal[
    "gain",
    "no gain shown",
    "worse",
    "luck, not a gain",
    "ceiling, not a gain",
    "beyond Re-eval, not a gain",
    "too few pairs",
    "refused: no control ran",
]
Level = Literal["leaf", "root"]
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """An arm and the arm it is held against.

    Attributes:
        name: what the difference means, in words.
        role: what may be said of it.
        sham_pairs: only answers with both failed and passed criteria are compared: on the others
            sham feedback has nothing to ask, or guided feedback hasn't.
    """

    name: str
    arm: Arm
    control: Arm
    role: Role = "value"
    sham_pairs: bool = False


CONTRASTS = (
    Contrast(name="luck", arm="fresh", control="rejudge", role="control"),
    Contrast(name="notification", arm="told", control="fresh", role="control"),
    Contrast(name="diagnostic value", arm="guided", control="sham", sham_pairs=True),
    Contrast(name="peer value", arm="peer", control="sham", sham_pairs=True),
    Contrast(name="peer over guided", arm="peer", control="guided"),
    Contrast(name="both over guided", arm="guided_peer", control="guided"),
    Contrast(name="both over peer", arm="guided_peer", control="peer"),
    Contrast(name="ceiling", arm="oracle", control="told", role="ceiling"),
    Contrast(
        name="gain over Re-eval as printed (self)", arm="guided", control="told", role="printed"
    ),
    Contrast(
        name="gain over Re-eval as printed (peer)", arm="peer", control="told", role="printed"
    ),
)
"""The effects of METHODS B14, then the paper's own gains."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """An arm less its control on the same answers.

    Attributes:
        name: what the difference means.
        role: what may be said of it.
        round: both arms after this many tries at most.
        n: answers with a known result in both.
        clusters: distinct clusters among them.
        arm_only: answers that only the arm gets right.
        control_only: answers that only the control gets right.
        both: right in both.
        neither: right in neither.
        arm_share: share right in the arm, on the pairs; NaN where n = 0.
        control_share: share right in the control, on the pairs.
        estimate: difference of the shares; NaN where n = 0.
        lo: lower end of its interval, clusters being independent.
        mid_p: two-sided mid-p-value of McNemar's test; NaN where n = 0.
        p: the p-value that counts: the mid-p where each answer is its own cluster, else the larger
            of it and the paired cluster t's; NaN under five clusters.
        holm: p adjusted over the family by Holm.
        bh: p adjusted over the family by Benjamini-Hochberg.
        strict: the difference with unknown results counted as wrong, on answers tried in both.
        apart: answers left out since they have no failed or no passed criteria.
        unpaired: other answers that were tried in one of the two, without both results.
        verdict: what may be said.
    """

    name: str
    arm: Arm
    control: Arm
    role: Role
    round: int
    n: int
    clusters: int
    arm_only: int
    control_only: int
    both: int
    neither: int
    arm_share: float
    control_share: float
    estimate: float
    lo: float
    hi: float
    mid_p: float
    p: float
    holm: float
    bh: float
    strict: float
    apart: int
    unpaired: int
    verdict: Verdict


def has_controls(trials: Trials) -> bool:
    """Say whether an arm may be called a gain: judge noise and luck were both measured."""
    arms = trials.arms
    return "rejudge" in arms and ("fresh" in arms or "told" in arms)


def effects(
    trials: Trials,
    contrasts: tuple[Contrast, ...] = CONTRASTS,
    *,
    upto: int = 1,
    alpha: float = ALPHA,
    confidence: float = 0.95,
) -> tuple[Effect, ...]:
    """Compare every arm with its control on initially failed answers.

    Args:
        contrasts: what to compare; they form one family of tests.
        upto: tries that count; fewer where one of the two arms made fewer.
        alpha: level that Holm's adjusted p-value must reach.
        confidence: coverage of intervals.

    Returns:
        One effect for every contrast whose arm ran; where its control didn't, it is refused.

    Reference:
        METHODS B14, B9, F5.
    """
    ran = trials.arms
    controlled = has_controls(trials)
    seen: dict[int, ArmStanding] = {}
    found = []
    for contrast in contrasts:
        if contrast.arm not in ran:
            continue
        tries = _common_tries(trials, contrast, upto)
        if tries not in seen:
            seen[tries] = standing(trials, tries)
        found.append(compare(seen[tries], contrast, tries, confidence=confidence))
    return _judge_family(found, controlled, ran, alpha)


def _common_tries(trials: Trials, contrast: Contrast, upto: int) -> int:
    """More tries are more luck, so neither arm may have more of them than the other."""
    reached = (trials.rounds_of(contrast.arm), trials.rounds_of(contrast.control))
    return max(1, min(upto, *reached))


def _judge_family(
    found: list[Effect], controlled: bool, ran: tuple[Arm, ...], alpha: float
) -> tuple[Effect, ...]:
    p = np.array([effect.p for effect in found], dtype=np.float64)
    stepped, rates = holm(p), adjust(p, np.zeros(len(p), dtype=np.int64))
    return tuple(
        replace(
            effect,
            holm=float(stepped[at]),
            bh=float(rates[at]),
            verdict=_verdict(
                effect, float(stepped[at]), controlled and effect.control in ran, alpha
            ),
        )
        for at, effect in enumerate(found)
    )


def _verdict(effect: Effect, adjusted: float, controlled: bool, alpha: float) -> Verdict:
    if not controlled:
        return "refused: no control ran"
    if not np.isfinite(adjusted):
        return "too few pairs"
    if adjusted > alpha or effect.estimate == 0:
        return "no gain shown"
    if effect.estimate < 0:
        return "worse"
    if effect.name == "luck":
        return "luck, not a gain"
    if effect.role == "printed":
        return "beyond Re-eval, not a gain"
    return "ceiling, not a gain" if effect.role == "ceiling" else "gain"


def compare(
    seen: ArmStanding,
    contrast: Contrast,
    tries: int = 1,
    answers: Mask | None = None,
    *,
    confidence: float = 0.95,
) -> Effect:
    """Compare two arms on the answers that both have a result for.

    Args:
        contrast: the arm and its control.
        tries: what `seen` counts, for the record.
        answers: bool, shape (A,): answers that count; all initially failed ones when None.
        confidence: coverage of the interval.

    Returns:
        The effect; its adjusted p-values are those of a family of one.
    """
    mine = seen.cohort == FAILED_COHORT
    if answers is not None:
        mine = mine & answers
    arm, control = code_of(contrast.arm), code_of(contrast.control)
    tried = mine & (seen.ran[:, arm] | seen.ran[:, control])
    fit = seen.had_failed & seen.had_passed if contrast.sham_pairs else np.ones_like(mine)
    first, second = seen.right[:, arm], seen.right[:, control]
    pairs = tried & fit & np.isfinite(first) & np.isfinite(second)
    a, b, cluster = first[pairs], second[pairs], seen.cluster[pairs]
    gap = bounded_gap(a - b, cluster, confidence)
    yes, no = a >= RIGHT, b >= RIGHT
    test = mcnemar_of(yes, no)
    mid_p = test.mid_p if gap.n else float("nan")
    p = float("nan")
    if gap.clusters >= MIN_CLUSTERS:
        plain = gap.clusters == gap.n and bool(
            np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()
        )
        p = mid_p if plain else max(mid_p, gap.p)
    tried_both = mine & fit & seen.ran[:, arm] & seen.ran[:, control]
    strict = np.nan_to_num(first[tried_both]) - np.nan_to_num(second[tried_both])
    return Effect(
        name=contrast.name,
        arm=contrast.arm,
        control=contrast.control,
        role=contrast.role,
        round=tries,
        n=gap.n,
        clusters=gap.clusters,
        arm_only=test.first_only,
        control_only=test.second_only,
        both=int((yes & no).sum()),
        neither=int((~yes & ~no).sum()),
        arm_share=_mean(a),
        control_share=_mean(b),
        estimate=gap.gap,
        lo=gap.lo,
        hi=gap.hi,
        mid_p=mid_p,
        p=p,
        holm=p,
        bh=p,
        strict=_mean(strict),
        apart=int((tried & ~fit).sum()),
        unpaired=int((tried & fit & ~pairs).sum()),
        verdict="no gain shown" if np.isfinite(p) else "too few pairs",
    )


def _mean(value: Floats) -> float:
    return float(value.mean()) if len(value) else float("nan")


@dataclass(frozen=True, kw_only=True)
class NodeEffect:
    """An effect on the answers that failed a criterion under one node.

    Attributes:
        node: code of the leaf or root.
        effect: the effect there, adjusted over the nodes of its level.
    """

    node: int
    effect: Effect


def effects_by(
    trials: Trials,
    contrast: Contrast,
    level: Level = "root",
    *,
    upto: int = 1,
    q: float = 0.10,
) -> tuple[NodeEffect, ...]:
    """Compare an arm with its control node by node.

    An answer counts under every node where it failed a criterion, so nodes overlap.

    Args:
        contrast: the arm and its control.
        level: leaves or roots.
        upto: tries that count.
        q: level that the Benjamini-Hochberg adjusted p-value must reach.

    Returns:
        One effect a node with any tried answer, in order of the codes.
    """
    ran = trials.arms
    if contrast.arm not in ran:
        return ()
    tries = _common_tries(trials, contrast, upto)
    seen = standing(trials, tries)
    under = failed_under(trials, seen.answer, level)
    controlled = has_controls(trials) and contrast.control in ran
    codes = np.flatnonzero(under.any(axis=0))
    found = [compare(seen, contrast, tries, under[:, node]) for node in codes]
    p = np.array([effect.p for effect in found], dtype=np.float64)
    rates, stepped = adjust(p, np.zeros(len(p), dtype=np.int64)), holm(p)
    return tuple(
        NodeEffect(
            node=int(node),
            effect=replace(
                effect,
                bh=float(rates[at]),
                holm=float(stepped[at]),
                verdict=_verdict(effect, float(rates[at]), controlled, q),
            ),
        )
        for at, (node, effect) in enumerate(zip(codes, found, strict=True))
        if effect.n or effect.unpaired or effect.apart
    )


def failed_under(trials: Trials, answers: Ints, level: Level) -> Mask:
    """Say which answers failed a criterion under which node, shape (A, nodes).

    Args:
        answers: sorted codes of answers, shape (A,).
        level: leaves or roots.
    """
    node = trials.leaf if level == "leaf" else trials.root
    width = len(trials.leaves) if level == "leaf" else len(trials.roots)
    answer = trials.answer[trials.trial]
    rows = (trials.before > 0) & (trials.before <= trials.threshold) & (node >= 0)
    rows &= np.isin(answer, answers)
    under = np.zeros((len(answers), width), dtype=bool)
    under[np.searchsorted(answers, answer[rows]), node[rows]] = True
    return under


@dataclass(frozen=True, kw_only=True)
class NetGain:
    """What feedback on every answer would do to the share of right answers.

    Attributes:
        arm: the arm whose feedback everyone gets.
        failed_share: share of all answers that failed at first.
        fixed: share of the failed ones that are right after it.
        broken: share of the right ones that are wrong after it.
        n_failed: failed answers that `fixed` is of.
        n_right: right answers that `broken` is of.
        value: `fixed P(fail) - broken P(right)`; NaN where either isn't known.
        lo: lower end of its interval.
    """

    arm: Arm
    failed_share: float
    fixed: float
    broken: float
    n_failed: int
    n_right: int
    value: float
    lo: float
    hi: float


def net_gain(trials: Trials, failed_share: float, arm: Arm = "guided", *, upto: int = 1) -> NetGain:
    """Weigh what feedback repairs against what it breaks.

    `net = fix P(fail) - break P(right)`, its variance over clusters, which may hold answers of both
    cohorts. It isn't free of luck: fixing by luck and breaking by bad luck are both in it.

    Args:
        trials: one candidate's trials, the cohort of right answers among them.
        failed_share: share of all its answers that failed at first, 0..1, taken as known.
        upto: tries that count.

    Reference:
        METHODS B14.
    """
    seen = standing(trials, upto)
    value = seen.right[:, code_of(arm)]
    known = np.isfinite(value)
    failed, right = known & (seen.cohort == FAILED_COHORT), known & (seen.cohort == RIGHT_COHORT)
    fixed, broken = _mean(value[failed]), _mean(1 - value[right])
    net = failed_share * fixed - (1 - failed_share) * broken
    lo = hi = float("nan")
    _, code = np.unique(seen.cluster[known], return_inverse=True)
    g = int(code.max(initial=-1)) + 1
    if np.isfinite(net) and g > 1:
        weight = np.where(
            failed,
            failed_share * (value - fixed) / failed.sum(),
            -(1 - failed_share) * (1 - value - broken) / right.sum(),
        )
        influence = np.bincount(code, weights=weight[known], minlength=g)
        se = float(np.sqrt((influence**2).sum() * g / (g - 1)))
        half = float(scipy.special.stdtrit(g - 1, 0.975)) * se
        lo, hi = net - half, net + half
    return NetGain(
        arm=arm, failed_share=failed_share, fixed=fixed, broken=broken,
        n_failed=int(failed.sum()), n_right=int(right.sum()), value=net, lo=lo, hi=hi,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a recovered answer costs: an additional right one over the control.

    Attributes:
        n: pairs with known results and known costs.
        arm_cost: USD an answer in the arm; NaN where n = 0.
        control_cost: USD an answer in the control.
        estimate: additional right answers an answer tried.
        per_point: USD an additional right answer, the arm's whole cost counted; infinite where
            the arm recovers nothing, NaN where nothing is known.
        lo: the same at the upper end of the estimate's interval.
        hi: at the lower end; infinite where that is 0 or less.
        extra_per_point: the same with only what the arm costs more than its control; negative
            where it costs less and recovers more.
    """

    arm: Arm
    control: Arm
    n: int
    arm_cost: float
    control_cost: float
    estimate: float
    per_point: float
    lo: float
    hi: float
    extra_per_point: float


def cost_per_point(trials: Trials, contrast: Contrast, *, upto: int = 1) -> Cost:
    """Divide what an arm costs by what it recovers beyond its control.

    The interval carries the uncertainty of what is recovered; costs are taken as known.
    """
    tries = _common_tries(trials, contrast, upto)
    seen = standing(trials, tries)
    codes = [code_of(contrast.arm), code_of(contrast.control)]
    both = np.isfinite(seen.right[:, codes]) & np.isfinite(seen.cost[:, codes])
    known: Mask = np.all(both, axis=1)
    effect = compare(seen, contrast, tries, known)
    known &= seen.cohort == FAILED_COHORT
    if contrast.sham_pairs:
        known &= seen.had_failed & seen.had_passed
    mean = [_mean(seen.cost[known, code]) for code in codes]
    return Cost(
        arm=contrast.arm,
        control=contrast.control,
        n=effect.n,
        arm_cost=mean[0],
        control_cost=mean[1],
        estimate=effect.estimate,
        per_point=_per(mean[0], effect.estimate),
        lo=_per(mean[0], effect.hi),
        hi=_per(mean[0], effect.lo),
        extra_per_point=_per(mean[0] - mean[1], effect.estimate),
    )


def _per(cost: float, gain: float) -> float:
    if not (np.isfinite(cost) and np.isfinite(gain)):
        return float("nan")
    return cost / gain if gain > 0 else float("inf")
