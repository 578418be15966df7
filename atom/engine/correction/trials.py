"""A trial, the rules of its experiment, the steps it takes, and what is there of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from atom.engine.correction.cohorts import CohortAnswer
from atom.engine.correction.ground import ExperimentParts
from atom.engine.members import asks
from atom.records import (
    APART,
    Arm,
    Checkpoint,
    Correction,
    Criterion,
    Endpoint,
    Experiment,
    Hint,
    HintUse,
    MarkState,
    Outcome,
    Record,
    Response,
    Sampling,
    State,
)
from atom.stages import correction, hint, scoring

StepKind = Literal["hint", "retry", "rejudge", "outcome", "scoring"]
KINDS: Final[tuple[StepKind, ...]] = ("retry", "hint", "scoring", "outcome", "rejudge")
BASELINE: Final = APART
"""The repeat of the independent judgement of old answers."""

# A trial is looked at many times while it's open, so names are kept for a while.
_checkpoint_key = lru_cache(maxsize=100_000)(Checkpoint.make_key)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One answer in one arm."""

    subject: CohortAnswer
    arm: Arm

    @property
    def name(self) -> tuple[str, Arm]:
        """The initial answer's id, and the arm."""
        return (self.subject.first.id, self.arm)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What an experiment's steps are made of.

    Args:
        judge_sampling: what its requests ask for.
        answer_sampling: what requests for new answers ask for.
        hint_samplings: what a peer's requests ask for, by its id, where that is something else.
        retry_failed: whether failed steps are wanted again.
    """

    experiment: Experiment
    judge_id: str
    judge_sampling: Sampling
    answer_sampling: Sampling
    hint_samplings: Mapping[str, Sampling] = field(default_factory=dict)
    retry_failed: bool = False

    @classmethod
    def of(cls, ground: ExperimentParts, *, retry_failed: bool = False) -> Rules:
        """Take what the ground says."""
        settings = ground.study.answer_sampling
        return cls(
            experiment=ground.experiment,
            judge_id=ground.judge.id,
            judge_sampling=asks(ground.judge_endpoint, ground.study.judge_sampling),
            answer_sampling=asks(ground.endpoint, settings),
            hint_samplings={name: asks(e, settings) for name, e in ground.peers.items()},
            retry_failed=retry_failed,
        )

    def hint_sampling(self, peer_id: str) -> Sampling:
        """Return what a peer's requests ask for."""
        return self.hint_samplings.get(peer_id, self.answer_sampling)

    def checkpoint_key(self, criterion_id: str, response_id: str, repeat: int) -> str:
        """Name a checkpoint; an equal key is already paid for."""
        return _checkpoint_key(
            criterion_id, response_id, self.judge_id, scoring.PROMPT, self.judge_sampling, repeat
        )

    def hint_id(self, subject: CohortAnswer, criterion_id: str, attempt: int) -> str:
        """Name a hint."""
        peer = subject.peers[criterion_id]
        return Hint.make_id(
            criterion_id,
            peer.response_id,
            peer.peer_id,
            hint.PROMPT,
            self.hint_sampling(peer.peer_id),
            attempt,
        )


@dataclass(frozen=True, kw_only=True)
class TrialStep:
    """One thing to do, as a rule one model call.

    Args:
        kind: `hint` (a peer writes one), `retry` (another answer), `rejudge` (the old final answer
            is checked again), `outcome` (the new one is checked), `scoring`.
        round: 1-based.
        parent: the answer that is tried again.
        criteria: those that are asked about, hinted at or scored, in order.
        hints: those that go into the feedback.
        gates: what became of hints that don't.
        attempt: of a hint.
        repeat: of a scoring.
        known: of a retry: what is known of the answer that is tried again.
        state: `unscored` or `failed` when nothing can be asked.
        problem: why not.
    """

    kind: StepKind
    key: str
    trial: Trial
    round: int
    parent: Response
    response: Response | None = None
    criteria: tuple[Criterion, ...] = ()
    hints: tuple[HintUse, ...] = ()
    gates: tuple[str, ...] = ()
    attempt: int = 0
    repeat: int = 0
    known: correction.AnswerFault = "open"
    state: State = "scored"
    problem: str = ""

    def asked(self, ground: ExperimentParts) -> Endpoint:
        """Return who is asked."""
        if self.kind == "retry":
            return ground.endpoint
        if self.kind == "hint":
            return ground.peers[self.trial.subject.peers[self.criteria[0].id].peer_id]
        return ground.judge_endpoint


@dataclass(kw_only=True)
class TrialRecords:
    """What is there of an experiment; steps are folded in as they end.

    Args:
        corrections: by initial answer, arm and round.
        responses: new answers by id.
        checkpoints: by key.
        outcomes: of new answers, by answer.
        hints: by id.
        tried: keys of steps that were tried in this part of the run.
    """

    corrections: dict[tuple[str, Arm, int], Correction] = field(default_factory=dict)
    responses: dict[str, Response] = field(default_factory=dict)
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    hints: dict[str, Hint] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)

    def fold(self, records: Iterable[Record]) -> None:
        """Take in what a step brought."""
        for record in records:
            match record:
                case Correction():
                    key = (record.response_id, record.arm, record.round)
                    self.corrections[key] = record
                case Response():
                    self.responses[record.id] = record
                case Checkpoint():
                    self.checkpoints[record.key] = record
                case Outcome():
                    known = self.outcomes.get(record.response_id)
                    if known is None or known.state != "scored" or known.how == "judge":
                        self.outcomes[record.response_id] = record
                case Hint():
                    self.hints[record.id] = record
                case _:
                    pass

    def missing(self, key: str, state: MarkState | None, rules: Rules) -> bool:
        """Whether a step is still to be done, given the state of what it brings."""
        if key in self.tried:
            return False
        return state is None or (state == "failed" and rules.retry_failed)


def trials_of(subjects: Sequence[CohortAnswer], arms: Sequence[Arm]) -> list[Trial]:
    """List the trials: every arm for failed answers, guided feedback for right ones."""
    return [
        Trial(subject=subject, arm=arm)
        for subject in subjects
        for arm in arms
        if subject.cohort == "failed" or arm == "guided"
    ]
