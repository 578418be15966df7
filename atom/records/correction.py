"""Self-correction: an experiment, its trials, and the hints that peers write.

Reference: ATOM 3.5 (criterion-guided and peer-assisted feedback); METHODS B14 (arms and controls).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from atom.records.base import Id, Record, State, content_id
from atom.records.call import Sampling

Arm = Literal["rejudge", "fresh", "told", "sham", "guided", "peer", "guided_peer", "oracle"]
"""What is done with an answer.

`rejudge`: the old answer is judged again (judge noise). `fresh`: another answer without feedback
(luck). `told`: the model hears that it is wrong (the paper's Re-eval). `sham`: it is asked the
questions of criteria that it passed. `guided`: the questions of criteria that it failed, ground
truth masked. `peer`: hints by peers that solved those criteria. `guided_peer`: questions and hints.
`oracle`: the ground truth is shown (the ceiling).
"""
Cohort = Literal["failed", "right"]
"""Initially failed answers, or initially right ones (break rate)."""
FailedRule = Literal["outcome", "score", "criterion"]
"""Which answers failed: final answer wrong, sample score under 3, or a heavy criterion failed."""


class Experiment(Record):
    """What a self-correction experiment is asked to do."""

    id: Id
    study_id: Id
    candidate_id: Id
    judge_id: Id
    failed_rule: FailedRule = "outcome"
    threshold: int = Field(default=2, ge=2, le=4)
    """A criterion with this score or less is failed (METHODS A2)."""
    arms: tuple[Arm, ...]
    rounds: int = Field(default=1, ge=1, le=5)
    node: tuple[str, ...] = ()
    """Only answers that failed a criterion under this node; empty = anywhere."""
    sample_ids: tuple[str, ...] = ()
    """Only these samples; empty = all."""
    limit: int | None = None
    """At most this many failed answers, drawn at random."""
    right_answers: int = 0
    """How many initially right answers get guided feedback, too (break rate)."""
    seed: int = 0
    created: str = ""

    @staticmethod
    def make_id(asked: Experiment, peers: Sequence[str] = ()) -> str:
        """Hash what an experiment asks for; the same asked for again is the same experiment.

        Args:
            asked: the experiment; its id and its time don't count.
            peers: endpoint names of the models that may write hints, where they were chosen.
        """
        return content_id(
            "experiment", asked.model_dump(exclude={"id", "created"}, mode="json"), list(peers)
        )


class HintUse(Record):
    """A peer's hint on one criterion, as it went into a feedback."""

    criterion_id: Id
    hint_id: Id
    peer_id: Id
    """The candidate that wrote it."""
    text: str


class Correction(Record):
    """One trial: an answer, an arm, a round, and what came of it."""

    experiment_id: Id
    response_id: Id
    """The initial answer."""
    arm: Arm
    round: int = 1
    """1-based."""
    cohort: Cohort = "failed"
    state: State
    detail: str = ""
    """Why nothing came of it: nothing to ask about, every hint leaked, the call failed."""
    parent_id: str | None = None
    """The answer that was tried again: the initial one, or the round before's."""
    result_id: str | None = None
    """The new answer; for `rejudge` the old one; None where there is none."""
    feedback: str = ""
    """The exact text that was sent as feedback."""
    criterion_ids: tuple[str, ...] = ()
    """The criteria whose questions were asked, in order."""
    hints: tuple[HintUse, ...] = ()
    gates: tuple[str, ...] = ()
    """What the leak gates found and did, a line each."""
    value: float | None = Field(default=None, ge=0, le=1)
    """Whether the final answer is right as judged in this trial; None where it isn't known."""


class Hint(Record):
    """A hint that a peer wrote on one criterion, with what the leak gate says of it."""

    id: Id
    criterion_id: Id
    peer_id: Id
    """The candidate that wrote it."""
    response_id: Id
    """The peer's answer that solved the criterion."""
    prompt: str
    sampling: Sampling = Sampling()
    attempt: int = 0
    state: State
    """`unscored` = it leaked, the reason in `detail`."""
    text: str = ""
    detail: str = ""
    call_id: str | None = None

    @staticmethod
    def make_id(
        criterion_id: str,
        response_id: str,
        peer_id: str,
        prompt: str,
        sampling: Sampling,
        attempt: int = 0,
    ) -> str:
        """Hash what makes a hint this one and no other."""
        return content_id("hint", criterion_id, response_id, peer_id, prompt, sampling.key, attempt)
