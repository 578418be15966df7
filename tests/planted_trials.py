"""A world of self-correction whose effects are known, without pictures, texts or models.

An answer's chance of being right is the logistic of an ease e; being told that it is wrong, and
being asked the right questions, each shift it. Criteria follow the same ease on the graded scale.

Reference: METHODS D3 (correction world, judge), B14 (what it must show).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator

from atom.analysis.correction.trials import (
    ARMS,
    FAILED_COHORT,
    RIGHT_COHORT,
    SCORED,
    Mask,
    Trials,
    code_of,
)
from atom.analysis.intervals import Floats, Ints
from atom.records.correction import Arm
from tests.planted import CUTS, SLOPE, WorldSettings, confusion, judge_scores, plant

LOADING = 0.4
"""Latent score of a criterion per unit of its sample's ease: 0.4 * 1.5 = 0.6, METHODS D2's
spread of sample difficulty."""
CRITERION_SD, ANSWER_SD = 0.7, 0.5
COST = 0.002


@dataclass(frozen=True, kw_only=True)
class CorrectionWorld:
    """What is planted; the defaults are METHODS D3.

    Attributes:
        samples: initial answers, right ones among them.
        ease: mean of e.
        ease_sd: spread of e.
        told: shift of being told that the answer is wrong.
        hint: further shift of the right questions.
        peer: further shift of a peer's hint, alone or beside the questions.
        oracle: further shift of seeing the truth.
        false_negative: how often the judge calls a right answer wrong.
        false_positive: how often it calls a wrong answer right.
        right_answers: initially right answers that get guided feedback at most.
        arms: arms that run.
        rounds: tries in the arms with feedback.
        per_picture: samples that share a picture and with it their ease.
        leaf_hint: shift of a leaf's criteria, on the latent scale, in arms that ask the right
            questions or hint at them; its length is the number of leaves, each its own root's.
        leaf_block: how much harder a leaf's criteria are, whatever is done.
        criteria: criteria a sample; 0 = final answers only.
        judge: how the judge scores criteria: `diagonal`, `far` and `lenient` count.
    """

    samples: int = 300
    ease: float = 0.3
    ease_sd: float = 1.5
    told: float = 0.3
    hint: float = 0.8
    peer: float = 0.8
    oracle: float = 3.0
    false_negative: float = 0.0
    false_positive: float = 0.0
    right_answers: int = 0
    arms: tuple[Arm, ...] = ARMS
    rounds: int = 1
    per_picture: int = 1
    leaf_hint: tuple[float, ...] = (0.32, 0.32, 0.32)
    leaf_block: tuple[float, ...] = (0.0, 0.0, 0.0)
    criteria: int = 0
    judge: WorldSettings = field(default_factory=WorldSettings)

    @property
    def shifts(self) -> Mapping[Arm, float]:
        """How far each arm with a new answer shifts its ease."""
        guided = self.told + self.hint
        peer = self.told + self.peer
        return {
            "fresh": 0.0,
            "told": self.told,
            "sham": self.told,
            "guided": guided,
            "peer": peer,
            "guided_peer": guided + self.peer,
            "oracle": self.told + self.oracle,
        }


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What an endless experiment would find.

    Attributes:
        failed: share of answers that the judge calls wrong.
        judged: share of these that each arm turns into answers called right, by arm.
        right: share of these that each arm turns into right answers, by arm.
    """

    failed: float
    judged: Mapping[Arm, float]
    right: Mapping[Arm, float]

    def effect(self, arm: Arm, control: Arm, *, by_judge: bool = False) -> float:
        """Return the true difference of two arms, or the one that the judge would see."""
        value = self.judged if by_judge else self.right
        return value[arm] - value[control]


def truth(world: CorrectionWorld) -> Truth:
    """Integrate over the ease of answers that the judge calls wrong.

    With `p = sigma(e)`, a judge that calls right answers wrong with rate FN and wrong ones right
    with FP: an answer is called wrong with weight `p FN + (1 - p)(1 - FP)`.
    """
    nodes, mass = hermegauss(151)
    mass = mass / mass.sum()
    e = world.ease + world.ease_sd * nodes
    p = scipy.special.expit(e)
    fn, fp = world.false_negative, world.false_positive
    called_wrong = p * fn + (1 - p) * (1 - fp)
    failed = float((mass * called_wrong).sum())
    weight = mass * called_wrong / failed
    right = {
        arm: float((weight * scipy.special.expit(e + shift)).sum())
        for arm, shift in world.shifts.items()
    }
    right["rejudge"] = float((mass * p * fn).sum()) / failed
    judged = {arm: value * (1 - fn) + (1 - value) * fp for arm, value in right.items()}
    return Truth(failed=failed, judged=judged, right=right)


def plant_trials(world: CorrectionWorld, rng: Generator) -> Trials:
    """Draw an experiment.

    `P(right) = sigma(e)` at first and `sigma(e + shift)` in an arm, `e ~ N(ease, ease_sd)`; a
    criterion's score has `P(s >= c) = sigma(1.7 (eta - kappa_c))` with
    `eta = 0.4 (e + shift - hint) + leaf_hint - leaf_block + d + u`, d ~ N(0, 0.7) a criterion's own
    and u ~ N(0, 0.5) an answer's. The judge's errors are independent given the truth.

    Args:
        world: what to plant.
        rng: source of randomness.

    Returns:
        The trials; the answers' codes are their places among all `samples`.

    Reference:
        METHODS D3, B14.
    """
    n = world.samples
    pictures = -(-n // world.per_picture)
    cluster = np.arange(n) // world.per_picture
    e = rng.normal(world.ease, world.ease_sd, pictures)[cluster]
    first = rng.random(n) < scipy.special.expit(e)
    called = _judge(first, world, rng)
    failed, right = np.flatnonzero(~called), np.flatnonzero(called)[: world.right_answers]
    parts = [
        part
        for arm in world.arms
        for part in _arm(world, arm, failed, first, e, rng, FAILED_COHORT)
    ]
    if len(right) and "guided" in world.arms:
        parts += _arm(world, "guided", right, first, e, rng, RIGHT_COHORT)
    frame = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    count, none = len(frame["answer"]), np.zeros(0, dtype=np.int64)
    trials = Trials(
        answer=frame["answer"],
        cluster=cluster[frame["answer"]],
        arm=frame["arm"],
        cohort=frame["cohort"],
        round=frame["round"],
        state=np.full(count, SCORED),
        right=frame["right"].astype(np.float64),
        was_right=called[frame["answer"]].astype(np.float64),
        cost=np.full(count, COST),
        had_failed=np.ones(count, dtype=bool),
        had_passed=np.ones(count, dtype=bool),
        trial=none,
        criterion=none,
        leaf=none,
        root=none,
        weight=none,
        before=none,
        baseline=none,
        after=none,
        asked=none.astype(bool),
        leaves=tuple((f"Root {at}", "A", "B", f"Leaf {at}") for at in range(len(world.leaf_hint))),
        roots=tuple(f"Root {at}" for at in range(len(world.leaf_hint))),
    )
    return _with_criteria(world, trials, e, rng) if world.criteria else trials


def _judge(right: np.ndarray, world: CorrectionWorld, rng: Generator) -> np.ndarray:
    drawn = rng.random(len(right))
    return np.where(right, drawn >= world.false_negative, drawn < world.false_positive)


def _arm(
    world: CorrectionWorld,
    arm: Arm,
    answers: Ints,
    first: np.ndarray,
    e: Floats,
    rng: Generator,
    cohort: int,
) -> list[dict[str, np.ndarray]]:
    parts, left = [], answers
    tries = world.rounds if arm not in {"rejudge", "fresh"} and cohort == FAILED_COHORT else 1
    for number in range(1, tries + 1):
        if arm == "rejudge":
            now = first[left]
        else:
            now = rng.random(len(left)) < scipy.special.expit(e[left] + world.shifts[arm])
        called = _judge(now, world, rng)
        size = len(left)
        parts.append(
            {
                "answer": left,
                "arm": np.full(size, code_of(arm)),
                "cohort": np.full(size, cohort),
                "round": np.full(size, number),
                "right": called,
            }
        )
        left = left[~called]
    return parts


def _with_criteria(world: CorrectionWorld, trials: Trials, e: Floats, rng: Generator) -> Trials:
    k, leaves = world.criteria, len(world.leaf_hint)
    n, matrix = world.samples, confusion(world.judge)
    leaf = rng.integers(0, leaves, (n, k))
    own = rng.normal(0, CRITERION_SD, (n, k)) - np.array(world.leaf_block)[leaf]
    own += LOADING * e[:, None]
    weight = 1 + rng.multinomial(10 - k, np.full(k, 1 / k), size=n)
    old = _graded(own + rng.normal(0, ANSWER_SD, (n, 1)), rng)
    before, again = judge_scores(old, matrix, rng), judge_scores(old, matrix, rng)
    failed = before <= trials.threshold
    any_failed: Mask = np.any(failed, axis=1)
    any_passed: Mask = np.any(~failed, axis=1)
    at = trials.answer
    shift, hinted = np.zeros(len(ARMS)), np.zeros(len(ARMS))
    for arm, value in world.shifts.items():
        helps = arm in {"guided", "peer", "guided_peer", "oracle"}
        shift[code_of(arm)] = world.told if helps else value
        hinted[code_of(arm)] = helps
    eta = own[at] + LOADING * shift[trials.arm][:, None]
    eta += hinted[trials.arm][:, None] * np.array(world.leaf_hint)[leaf[at]]
    new = judge_scores(_graded(eta + rng.normal(0, ANSWER_SD, (len(at), 1)), rng), matrix, rng)
    new = np.where((trials.arm == code_of("rejudge"))[:, None], again[at], new)
    sham = (trials.arm == code_of("sham"))[:, None]
    plain: tuple[Arm, ...] = ("rejudge", "fresh", "told")
    silent = np.isin(trials.arm[:, None], [code_of(arm) for arm in plain])
    asked = np.where(sham, ~failed[at], failed[at]) & ~silent
    return replace(
        trials,
        had_failed=any_failed[at],
        had_passed=any_passed[at],
        trial=np.repeat(np.arange(len(at)), k),
        criterion=(at[:, None] * k + np.arange(k)).ravel(),
        leaf=leaf[at].ravel(),
        root=leaf[at].ravel(),
        weight=weight[at].ravel(),
        before=before[at].astype(np.int64).ravel(),
        baseline=again[at].astype(np.int64).ravel(),
        after=new.astype(np.int64).ravel(),
        asked=asked.ravel(),
    )


def _graded(eta: Floats, rng: Generator) -> Ints:
    above = scipy.special.expit(SLOPE * (eta[..., None] - CUTS))
    return np.asarray(1 + (rng.random((*eta.shape, 1)) < above).sum(axis=-1))


def plant_unchanged(settings: WorldSettings, rng: Generator) -> Trials:
    """Draw an experiment in which every model repeats its answer word for word.

    Whatever seems to rise is the judge's doing: three independent judgements of the same answers
    are the selecting one, the independent one and the one after.

    Args:
        settings: how many of what, and how the judge scores.
        rng: source of randomness.

    Returns:
        Trials of the arms `rejudge` and `told`, all answers of all models in the failed cohort.

    Reference:
        METHODS B14 (atom quality), D2, D3.
    """
    drawn = plant(settings, rng)
    k, n = drawn.answered.shape
    atoms = len(drawn.leaf)
    judged = [
        judge_scores(drawn.true_score.astype(np.int64), confusion(settings), rng).astype(np.int64)
        for _ in range(3)
    ]
    before, baseline, after = (np.tile(each.ravel(), 2) for each in judged)
    after[: k * atoms] = baseline[: k * atoms]
    answers = np.arange(k * n)
    arm = np.repeat([code_of("rejudge"), code_of("told")], k * n)
    of_answer = (np.arange(k)[:, None] * n + drawn.sample).ravel()
    failed = np.bincount(of_answer, weights=judged[0].ravel() <= 2, minlength=k * n)
    size = np.bincount(of_answer, minlength=k * n)
    count = len(arm)
    return Trials(
        answer=np.tile(answers, 2),
        cluster=np.tile(answers % n // settings.per_picture, 2),
        arm=arm,
        cohort=np.full(count, FAILED_COHORT),
        round=np.ones(count, dtype=np.int64),
        state=np.full(count, SCORED),
        right=np.zeros(count),
        was_right=np.zeros(count),
        cost=np.full(count, COST),
        had_failed=np.tile(failed > 0, 2),
        had_passed=np.tile(failed < size, 2),
        trial=np.concatenate([of_answer, of_answer + k * n]),
        criterion=np.tile(np.arange(atoms), 2 * k),
        leaf=np.tile(drawn.leaf, 2 * k),
        root=np.zeros(2 * k * atoms, dtype=np.int64),
        weight=np.tile(drawn.weight, 2 * k),
        before=before,
        baseline=baseline,
        after=after,
        asked=np.zeros(2 * k * atoms, dtype=bool),
        leaves=drawn.leaves,
        roots=("All",),
    )
