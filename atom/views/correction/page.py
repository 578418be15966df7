"""What came of a self-correction experiment: the effects, what they rest on, and the answers.

Every number here that counts answers can be asked for its answers with `find_cases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from atom.analysis.correction.effects import (
    CONTRASTS,
    Contrast,
    Cost,
    Effect,
    NetGain,
    cost_per_point,
    effects,
    effects_by,
    has_controls,
    net_gain,
)
from atom.analysis.correction.quality import (
    Repair,
    Rise,
    UnlockedCriteria,
    repairs,
    rises,
    unlocked,
)
from atom.analysis.correction.trials import (
    FAILED_COHORT,
    RIGHT_COHORT,
    AnswerShare,
    ArmStanding,
    RoundShare,
    Trials,
    break_rate,
    rounds,
    standing,
)
from atom.analysis.intervals import MIN_CLUSTERS
from atom.display import numbers
from atom.records import Experiment, ExperimentTask, Response
from atom.store import Store
from atom.store.holds import runs_of
from atom.views.correction.arm_lines import ArmLine, arm_lines
from atom.views.correction.data import TrialData, find_experiment, list_experiments, load_trials
from atom.views.correction.form import ARM_WORDS
from atom.views.correction.gates import GateCounts, KeyStep, gate_counts, key_steps
from taxonomy import Path

HEADLINES = (
    "diagnostic value", "peer value", "peer over guided", "both over guided", "both over peer",
    "notification",
)  # fmt: skip
"""Effects in the order in which one is chosen for the first sentence."""
REFUSED = "refused: no control ran"


# --- what came of it ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NodeLine:
    """An effect under one root."""

    path: Path
    effect: Effect


@dataclass(frozen=True, kw_only=True)
class RepairLine:
    """What feedback repairs of one capability's failed steps."""

    path: Path
    repair: Repair
    repaired: int
    """Steps that the arm repaired, of `repair.n`."""


@dataclass(frozen=True, kw_only=True)
class UnlockedLine:
    """What repairing a capability's steps went along with."""

    path: Path
    unlocked: UnlockedCriteria


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The answer to the page's question.

    Attributes:
        sentence: what the feedback did beyond its control.
        luck: what luck does; empty where it wasn't measured.
        effect: the effect that it's about; None where there is none.
    """

    sentence: str
    luck: str
    effect: Effect | None


@dataclass(frozen=True, kw_only=True)
class Results:
    """What came of one experiment after some tries.

    Attributes:
        experiment: what was asked for.
        model: whose answers.
        judge: who scored.
        tries: rounds that count.
        loaded: the trials, with names.
        samples: sample by initial answer.
        seen: where every answer stands.
        arms: failed answers, arm by arm.
        on_right: guided feedback on answers that were right; None where none were tried.
        effects: arms less their controls.
        printed: the paper's gains.
        controlled: whether anything may be called a gain; controls that are yet to run count.
        unfinished: its run isn't done.
        quality: failed steps' scores before and after.
        broken: share of right answers that feedback broke.
        net: what's won less what's lost, if everybody got the feedback; None where unknown.
        rounds: what each round fixed.
        by_root: the main effect, root by root.
        main: the effect that `by_root` is of; None where no arm with a control ran.
        by_leaf: recoverable or stubborn, capability by capability.
        costs: what a recovered answer costs.
        unlocking: capabilities whose repaired steps went along with a right answer.
        keys: the single steps behind them.
        gates: what the leak gates did.
    """

    experiment: Experiment
    model: str
    judge: str
    tries: int
    loaded: TrialData
    samples: Mapping[str, str]
    seen: ArmStanding
    arms: tuple[ArmLine, ...]
    on_right: ArmLine | None
    effects: tuple[Effect, ...]
    printed: tuple[Effect, ...]
    controlled: bool
    unfinished: bool
    quality: tuple[Rise, ...]
    broken: AnswerShare
    net: NetGain | None
    rounds: tuple[RoundShare, ...]
    by_root: tuple[NodeLine, ...]
    main: Effect | None
    by_leaf: tuple[RepairLine, ...]
    costs: tuple[Cost, ...]
    unlocking: tuple[UnlockedLine, ...]
    keys: tuple[KeyStep, ...]
    gates: GateCounts

    @property
    def failed(self) -> int:
        """Failed answers that anything was tried on."""
        return int((self.seen.cohort == FAILED_COHORT).sum())

    @property
    def right(self) -> int:
        """Right answers that anything was tried on."""
        return int((self.seen.cohort == RIGHT_COHORT).sum())

    @property
    def every_arm(self) -> tuple[ArmLine, ...]:
        """What came of each arm on failed answers, then on right ones."""
        return self.arms if self.on_right is None else (*self.arms, self.on_right)

    @property
    def tried(self) -> str:
        """How many failed answers were tried, of how many where that is known and not over."""
        asked = self.experiment
        most = len(asked.sample_ids) or asked.limit
        if asked.sample_ids and asked.limit is not None:
            most = min(len(asked.sample_ids), asked.limit)
        if not self.unfinished or most is None or most < self.failed:
            return f"{self.failed:,}"
        return f"{self.failed:,} of {most:,}"

    @cached_property
    def headline(self) -> Headline:
        """The answer to the page's question."""
        return _headline(self)


def results(store: Store, experiment_id: str, tries: int | None = None) -> Results:
    """Read and work out what came of an experiment.

    Args:
        tries: rounds that count; all when None.

    Raises:
        UsageError: there is no such experiment.
    """
    experiment = find_experiment(store, experiment_id)
    row = next(r for r in list_experiments(store) if r.experiment.id == experiment.id)
    upto = min(max(tries or experiment.rounds, 1), experiment.rounds)
    loaded = load_trials(store, [experiment.id])
    trials = loaded.trials
    seen = standing(trials, upto)
    unfinished = _unfinished(store, experiment)
    planned = unfinished and _plans_controls(experiment)
    found = effects(trials, upto=upto)
    if planned:
        found = tuple(_awaited(effect, experiment) for effect in found)
    broken = break_rate(trials, upto=upto)
    net = net_gain(trials, loaded.failed_share, upto=upto)
    main = _main(found)
    ran = set(trials.arms)
    keys = tuple(row for row in unlocked(trials, upto=upto) if row.unlocked)
    return Results(
        experiment=experiment,
        model=row.model,
        judge=row.judge,
        tries=upto,
        loaded=loaded,
        samples=_samples(store, loaded.answer_ids),
        seen=seen,
        arms=arm_lines(store, experiment.id, trials, upto),
        on_right=next(iter(arm_lines(store, experiment.id, trials, upto, RIGHT_COHORT)), None),
        effects=tuple(effect for effect in found if effect.role != "printed"),
        printed=tuple(effect for effect in found if effect.role == "printed"),
        controlled=planned or has_controls(trials),
        unfinished=unfinished,
        quality=tuple(rise for rise in rises(trials, failed_only=True, upto=upto) if rise.n),
        broken=broken,
        net=net if np.isfinite(net.value) else None,
        rounds=rounds(trials) if experiment.rounds > 1 else (),
        by_root=tuple(
            replace(line, effect=_awaited(line.effect, experiment)) if planned else line
            for line in _by_root(trials, main, upto)
        ),
        main=main,
        by_leaf=_by_leaf(trials, upto),
        costs=tuple(
            cost_per_point(trials, contrast, upto=upto)
            for contrast in CONTRASTS
            if contrast.role == "value" and {contrast.arm, contrast.control} <= ran
        ),
        unlocking=tuple(
            UnlockedLine(path=trials.leaves[row.code], unlocked=row)
            for row in unlocked(trials, "leaf", upto=upto)
        ),
        keys=key_steps(store, loaded, keys, upto),
        gates=gate_counts(store, experiment.id),
    )


def _unfinished(store: Store, experiment: Experiment) -> bool:
    task = ExperimentTask(kind="experiment", experiment_id=experiment.id)
    runs = runs_of(store, experiment.study_id, task)
    return bool(runs) and runs[0].state != "done"


def _plans_controls(asked: Experiment) -> bool:
    """Say whether an experiment has the arms that `has_controls` looks for."""
    return "rejudge" in asked.arms and ("fresh" in asked.arms or "told" in asked.arms)


def _awaited(effect: Effect, asked: Experiment) -> Effect:
    """Refuse no effect whose control is yet to run: it merely has too few pairs so far."""
    if effect.verdict == REFUSED and effect.control in asked.arms:
        return replace(effect, verdict="too few pairs")
    return effect


def _main(found: Sequence[Effect]) -> Effect | None:
    by_name = {effect.name: effect for effect in found}
    chosen = next((by_name[name] for name in HEADLINES if name in by_name), None)
    return chosen or by_name.get("luck")


def _by_root(trials: Trials, main: Effect | None, upto: int) -> tuple[NodeLine, ...]:
    if main is None:
        return ()
    return tuple(
        NodeLine(path=(trials.roots[line.node],), effect=line.effect)
        for line in effects_by(trials, contrast_of(main.name), "root", upto=upto)
    )


def _by_leaf(trials: Trials, upto: int) -> tuple[RepairLine, ...]:
    order = {"attention drift": 0, "lack of capability": 1, "undecided": 2}
    lines = []
    for repair in repairs(trials, upto=upto):
        repaired = round(repair.arm_share * repair.n) if repair.n else 0
        path = trials.leaves[repair.node]
        lines.append(RepairLine(path=path, repair=repair, repaired=repaired))
    return tuple(sorted(lines, key=lambda line: (order[line.repair.label], -line.repair.n)))


def contrast_of(name: str) -> Contrast:
    """Return the contrast of an effect by its name.

    Raises:
        KeyError: there is none.
    """
    for contrast in CONTRASTS:
        if contrast.name == name:
            return contrast
    raise KeyError(name)


def _samples(store: Store, response_ids: Sequence[str]) -> dict[str, str]:
    return {row.id: row.sample_id for row in store.get_many(Response, response_ids)}


# --- the first sentence ---------------------------------------------------------------------------


def _headline(found: Results) -> Headline:
    luck = next((line for line in found.arms if line.share.arm == "fresh"), None)
    words = ""
    if luck is not None and luck.share.right.n:
        right = luck.share.right
        words = f"Luck alone fixed {numbers.percent(100 * right.value, right.n)} of {right.n:,}."
    main = found.main
    if found.unfinished and _too_early(found):
        sentence = (
            f"Too early: {found.tried} {'answer' if found.tried == '1' else 'answers'} tried; "
            "nothing to say yet. Resume it, or wait until more are done."
        )
        return Headline(sentence=sentence, luck="", effect=main)
    if main is None:
        tried = [line for line in found.arms if line.share.right.n]
        if not tried:
            return Headline(sentence="Nothing has come yet.", luck="", effect=None)
        line = tried[0]
        return Headline(sentence=f"{_alone(line)}.", luck=words, effect=None)
    arm, control = ARM_WORDS[main.arm].does, ARM_WORDS[main.control].does
    subject = f"{arm[:1].upper()}{arm[1:]}"
    if main.verdict == REFUSED:
        line = next(line for line in found.arms if line.share.arm == main.arm)
        sentence = f"{_alone(line)}."
        if line.share.right.n:
            sentence += (
                " That is no gain: without controls nobody knows how many would have come right "
                "anyway."
            )
        return Headline(sentence=sentence, luck=words, effect=main)
    if not main.n:
        sentence = f"Nothing can be compared yet: no answer has both {arm} and {control}."
        return Headline(sentence=sentence, luck=words, effect=main)
    points = f"{abs(100 * main.estimate):.1f} points"
    more = "more" if main.estimate >= 0 else "less"
    sentence = f"{subject} fixes {points} {more} than {control} ({_proof(main)}): {_so(main)}."
    if main.name == "luck":
        sentence += " No feedback was tried."
    return Headline(sentence=sentence, luck=words, effect=main)


def _too_early(found: Results) -> bool:
    main = found.main
    if main is None or main.verdict == REFUSED:
        known = max((line.share.right.n for line in found.arms), default=0)
        return known < MIN_CLUSTERS
    return not main.n or main.verdict == "too few pairs"


def _alone(line: ArmLine) -> str:
    name = ARM_WORDS[line.share.arm].does
    share = line.share.right
    if not share.n:
        return f"After {name}, no answer has a result"
    right = numbers.percent(100 * share.value, share.n)
    return f"After {name}, {line.fixed:,} of {share.n:,} answers are right ({right})"


def _proof(effect: Effect) -> str:
    pairs = f"{effect.n:,} pair{'' if effect.n == 1 else 's'}"
    if not np.isfinite(effect.lo):
        return pairs
    ends = numbers.points_ends(effect.lo, effect.hi)
    return f"95 % {ends}, {pairs}, p {numbers.p_value(effect.holm)}"


def _so(effect: Effect) -> str:
    return {
        "gain": "more than luck",
        "worse": "it does harm",
        "no gain shown": "that may be chance",
        "too few pairs": "too few answers to tell",
        "luck, not a gain": "that is luck, not a gain",
        "ceiling, not a gain": "the most that feedback could do",
        "beyond Re-eval, not a gain": "more than being told, which asks about no step",
    }.get(effect.verdict, effect.verdict)
