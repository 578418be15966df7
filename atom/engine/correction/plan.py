"""What is still to do in a self-correction experiment: a pure function of what is there.

A *trial* is one answer in one arm. It goes through rounds; a round is hints (where the arm has
them), another answer, its outcome and its scores. Round 2 tries round 1's answer again, and so on,
until the answer is no longer a failed one by the experiment's own rule, until no criterion failed
(in arms that ask about failed ones), until the answer stays as it is, or until the rounds are over.
All arms stop by the same rule, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from atom.engine.correction.cohorts import CohortAnswer, has_failed
from atom.engine.correction.ground import MOST_LOWEST, RIGHT
from atom.engine.correction.trials import BASELINE, Rules, StepKind, Trial, TrialRecords, TrialStep
from atom.records import Arm, Checkpoint, Hint, HintUse, Response, State
from atom.stages import correction
from atom.stages.correcting import choices

MOST_HINTS: Final = 3
"""Attempts at a hint that doesn't leak; then it is left out."""
NOTHING_FAILED = "no scored criterion of this answer failed: there is nothing to ask about"
NOTHING_PASSED = "no scored criterion of this answer passed: there is nothing to ask about"
NOTHING_SCORED = "no criterion of this answer is scored: there is nothing to ask about"
NOTHING_TO_JUDGE = "it has neither criteria nor a reference answer: nothing can be judged"
NO_HINT = "no hint is left for it"


def next_step(trial: Trial, have: TrialRecords, rules: Rules) -> TrialStep | None:
    """Return what a trial needs next, or None when it is over."""
    if trial.arm == "rejudge":
        return _rejudged(trial, have, rules)
    parent, points = trial.subject.first, trial.subject.checkpoints
    for number in range(1, rules.experiment.rounds + 1):
        made = have.corrections.get((*trial.name, number))
        key = f"retry/{trial.arm}/{trial.subject.first.id}/{number}"
        if have.missing(key, made.state if made else None, rules):
            return _retry(trial, number, parent, points, have, rules, key)
        result = have.responses.get(made.result_id or "") if made else None
        if made is None or made.state != "scored" or result is None:
            return None
        step = _judged(trial, number, parent, result, have, rules)
        if step is not None:
            return step
        points = checkpoints_of(trial.subject, result, have, rules)
        if number == rules.experiment.rounds or _over(trial, parent, result, points, have, rules):
            return None
        parent = result
    return None


@dataclass(frozen=True, kw_only=True)
class RemainingCalls:
    """What a trial has left.

    Args:
        now: model calls of the round that it is in, hints aside, by kind.
        hints: criteria that a hint is missing on.
        later: calls of further rounds, if they all take place.
        problem: why it ends without a call; empty otherwise.
    """

    now: Mapping[StepKind, int] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    later: Mapping[StepKind, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def remaining(self) -> int:
        """Calls at most, one for each hint."""
        return sum(self.now.values()) + len(self.hints) + sum(self.later.values())


def outlook(trial: Trial, have: TrialRecords, rules: Rules) -> RemainingCalls:
    """Say what a trial has left; a hint's further attempts aren't foreseen."""
    step = next_step(trial, have, rules)
    if step is None or step.problem:
        return RemainingCalls(problem=step.problem if step else "")
    subject = trial.subject
    scored, judged = int(bool(subject.criteria)), int(subject.by_judge)
    if step.kind == "rejudge":
        return RemainingCalls(now={"rejudge": judged, "scoring": scored})
    if trial.arm == "rejudge" or step.kind == "scoring":
        now: dict[StepKind, int] = {"scoring": 1}
    elif step.kind == "outcome":
        now = {"outcome": 1, "scoring": scored}
    else:
        now = {"retry": 1, "outcome": judged, "scoring": scored}
    hints: tuple[str, ...] = ()
    if step.kind == "hint":
        points = _points(trial, step, have, rules)
        wanted = asked_about(subject, points, trial.arm, rules.experiment.threshold)
        hints = tuple(c for c in wanted if _hint_of(subject, c, have, rules).missing is not None)
    rounds = 0 if trial.arm == "rejudge" else rules.experiment.rounds - step.round
    later: dict[StepKind, int] = {
        "retry": rounds,
        "outcome": rounds * judged,
        "scoring": rounds * scored,
    }
    return RemainingCalls(now=now, hints=hints, later=later)


def _points(
    trial: Trial, step: TrialStep, have: TrialRecords, rules: Rules
) -> tuple[Checkpoint, ...]:
    if step.round == 1:
        return trial.subject.checkpoints
    return checkpoints_of(trial.subject, step.parent, have, rules)


def asked_about(
    subject: CohortAnswer, points: Sequence[Checkpoint], arm: Arm, threshold: int
) -> tuple[str, ...]:
    """Choose the criteria that a feedback is about.

    A right answer without a failed criterion is asked about its lowest-scored ones.
    """
    if subject.criteria_set is None:
        return ()
    chosen = choices.select(subject.criteria_set, points, arm, threshold)
    if chosen or subject.cohort == "failed":
        return tuple(c for c in chosen if c in subject.criteria)
    scores = {p.criterion_id: p.score for p in points if p.score is not None}
    scored = [(scores[c], -weight, c) for c, weight in subject.uses if c in scores]
    lowest = min((score for score, _, _ in scored), default=0)
    heaviest = sorted(
        (weight, n, c) for n, (score, weight, c) in enumerate(scored) if score == lowest
    )
    return tuple(c for _, _, c in heaviest[:MOST_LOWEST])


def checkpoints_of(
    subject: CohortAnswer, response: Response, have: TrialRecords, rules: Rules
) -> tuple[Checkpoint, ...]:
    """Return the scores of a new answer."""
    keys = [rules.checkpoint_key(c, response.id, 0) for c, _ in subject.uses]
    found = (have.checkpoints.get(key) for key in keys)
    return tuple(point for point in found if point is not None and point.state == "scored")


def _known(
    trial: Trial,
    number: int,
    parent: Response,
    points: Sequence[Checkpoint],
    have: TrialRecords,
    rules: Rules,
) -> correction.AnswerFault:
    """Say what is known of the answer that a round tries again."""
    verdict = have.outcomes.get(parent.id)
    value = trial.subject.value if number == 1 else verdict.value if verdict else None
    if value is not None and value < RIGHT:
        return "wrong"
    failed = any(p.score is not None and p.score <= rules.experiment.threshold for p in points)
    return "flawed" if failed and trial.subject.cohort == "failed" else "open"


def _retry(
    trial: Trial,
    number: int,
    parent: Response,
    points: Sequence[Checkpoint],
    have: TrialRecords,
    rules: Rules,
    key: str,
) -> TrialStep:
    """Return the step to another answer: a hint that is missing, or the try itself."""
    subject, arm = trial.subject, trial.arm
    known = _known(trial, number, parent, points, have, rules)
    blank = TrialStep(kind="retry", key=key, trial=trial, round=number, parent=parent, known=known)
    if arm not in correction.ASKING:
        return blank
    wanted = asked_about(subject, points, arm, rules.experiment.threshold)
    criteria = tuple(subject.criteria[c] for c in wanted)
    if not criteria:
        why = NOTHING_PASSED if arm == "sham" else NOTHING_FAILED
        return _unasked(blank, why if points else NOTHING_SCORED)
    if arm not in correction.HINTED:
        return _with(blank, criteria=criteria)
    uses: list[HintUse] = []
    gates: list[str] = []
    for criterion in criteria:
        state = _hint_of(subject, criterion.id, have, rules)
        if state.missing is not None:
            return TrialStep(
                kind="hint",
                key=rules.hint_id(subject, criterion.id, state.missing),
                trial=trial,
                round=number,
                parent=parent,
                criteria=(criterion,),
                attempt=state.missing,
            )
        if state.hint is not None and state.hint.state == "failed":
            return _unasked(blank, f"no hint: {state.hint.detail}", "failed")
        if state.hint is not None:
            peer_id, text = state.hint.peer_id, state.hint.text
            uses.append(
                HintUse(
                    criterion_id=criterion.id, hint_id=state.hint.id, peer_id=peer_id, text=text
                )
            )
        gates += state.lines
    step = _with(blank, criteria=criteria, hints=tuple(uses), gates=tuple(gates))
    return step if uses else _unasked(step, f"{NO_HINT}: {'; '.join(gates)}")


@dataclass(frozen=True, kw_only=True)
class _HintState:
    """How the hint on a criterion is: missing at an attempt, there, failed, or left out."""

    missing: int | None = None
    hint: Hint | None = None
    lines: tuple[str, ...] = ()


def _hint_of(
    subject: CohortAnswer, criterion_id: str, have: TrialRecords, rules: Rules
) -> _HintState:
    about = f"criterion {criterion_id[:8]}"
    if criterion_id not in subject.peers:
        return _HintState(lines=(f"no hint on {about}: no peer passed it",))
    lines: list[str] = []
    for attempt in range(MOST_HINTS):
        key = rules.hint_id(subject, criterion_id, attempt)
        found = have.hints.get(key)
        if have.missing(key, found.state if found else None, rules):
            return _HintState(missing=attempt)
        if found is None or found.state != "unscored":
            return _HintState(hint=found, lines=tuple(lines))
        lines.append(f"hint on {about}, attempt {attempt + 1}: {found.detail}")
    lines.append(f"no hint on {about}: {MOST_HINTS} attempts were not usable")
    return _HintState(lines=tuple(lines))


def _judged(
    trial: Trial, number: int, parent: Response, result: Response, have: TrialRecords, rules: Rules
) -> TrialStep | None:
    """Return what the judgement of a new answer still needs."""
    step = TrialStep(
        kind="outcome",
        key=f"outcome/{result.id}/{rules.judge_id}",
        trial=trial,
        round=number,
        parent=parent,
        response=result,
    )
    verdict = have.outcomes.get(result.id)
    if trial.subject.sample.reference is not None and have.missing(
        step.key, verdict.state if verdict else None, rules
    ):
        return step
    return _scoring(step, have, rules, repeat=0)


def _rejudged(trial: Trial, have: TrialRecords, rules: Rules) -> TrialStep | None:
    """Return what the second judgement of an old answer still needs."""
    first = trial.subject.first
    made = have.corrections.get((*trial.name, 1))
    step = TrialStep(
        kind="rejudge",
        key=f"rejudge/{first.id}/{rules.judge_id}",
        trial=trial,
        round=1,
        parent=first,
        response=first,
        repeat=BASELINE,
    )
    if have.missing(step.key, made.state if made else None, rules):
        if trial.subject.sample.reference is None and not trial.subject.criteria:
            return _unasked(step, NOTHING_TO_JUDGE)
        return step
    if made is None or made.state == "unscored":
        return None
    return _scoring(step, have, rules, repeat=BASELINE)


def _scoring(step: TrialStep, have: TrialRecords, rules: Rules, *, repeat: int) -> TrialStep | None:
    """Return the step that scores what is still without a score, or None."""
    assert step.response is not None
    subject = step.trial.subject
    key = f"scoring/{step.response.id}/{rules.judge_id}/{repeat}"
    wanted = []
    for criterion_id, _ in subject.uses:
        found = have.checkpoints.get(rules.checkpoint_key(criterion_id, step.response.id, repeat))
        if have.missing(key, found.state if found else None, rules):
            wanted.append(subject.criteria[criterion_id])
    if not wanted:
        return None
    return _with(step, kind="scoring", key=key, criteria=tuple(wanted), repeat=repeat)


def _over(
    trial: Trial,
    parent: Response,
    result: Response,
    points: Sequence[Checkpoint],
    have: TrialRecords,
    rules: Rules,
) -> bool:
    """Whether another round would be pointless; see the module's account."""
    experiment, subject = rules.experiment, trial.subject
    verdict = have.outcomes.get(result.id)
    failed = has_failed(
        experiment.failed_rule,
        experiment.threshold,
        value=verdict.value if verdict else None,
        uses=subject.uses,
        scores={p.criterion_id: p.score for p in points if p.score is not None},
    )
    if failed is False or result.text.split() == parent.text.split():
        return True
    if trial.arm not in correction.ASKING or subject.criteria_set is None:
        return False
    return not choices.select(subject.criteria_set, points, trial.arm, experiment.threshold)


def _with(step: TrialStep, **changes: object) -> TrialStep:
    return TrialStep(**{**vars(step), **changes})


def _unasked(step: TrialStep, problem: str, state: State = "unscored") -> TrialStep:
    return _with(step, state=state, problem=problem)
