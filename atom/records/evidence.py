"""The chain from a question to a checkpoint score.

Reference: ATOM 3.1 (cognitive replay, atomic criteria) and 3.3 (checkpoint scoring).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Mapping_
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from atom.records.base import Id, Record, State, content_id, hash_of, quoted
from atom.records.call import Sampling
from atom.records.mark_scale import JUDGE_SCALE, MarkState
from atom.records.sample import Region

HAND_MADE = ("imported", "typed")
"""Prompts of responses that no endpoint of ours gave, whatever the study's sampling is."""


APART = 1000
"""Marks of this repeat and later ones were made for an experiment, of answers that it chose by
their marks: they enter no mean of a study."""


AnswerCause = Literal["", "refused", "filtered", "cut", "empty"]
ANSWERABLE = "answerable from text"
"""The label that says whether models answered a question without its picture (METHODS T8)."""
ANSWERABLE_YES, ANSWERABLE_NO = "yes", "no"
CAUSES = ("", "refused", "filtered", "cut", "empty", "failed")
"""Why an answer wasn't given, as columns code it; `failed` is no fault of the model's."""
"""The model refused, a content filter stopped it, the token limit cut it, nothing came."""


_PLAIN = Sampling()
_IMPORTED = f'"imported","{_PLAIN.key}"'


class Response(Record):
    """A candidate's answer to a sample."""

    id: Id
    sample_id: Id
    candidate_id: Id
    prompt: str
    """Template id and version, or `imported`."""
    sampling: Sampling = Sampling()
    repeat: int = 0
    parent_id: str | None = None
    """For a correction: the answer that was tried again."""
    arm: str | None = None
    """For a correction: the arm of the experiment."""
    state: State = "scored"
    """`scored` = there is an answer; else why there is none, in `detail`."""
    text: str = ""
    detail: str = ""
    call_id: str | None = None
    thoughts: str = ""
    """What the model thought before it answered, where that is known apart; never judged."""
    cause: AnswerCause = ""
    """Why an answer is no ordinary one."""

    @staticmethod
    def make_id(
        sample_id: str,
        candidate_id: str,
        prompt: str,
        sampling: Sampling,
        repeat: int = 0,
        parent_id: str | None = None,
        arm: str | None = None,
        feedback: str | None = None,
    ) -> str:
        """Hash what makes a response this one and no other.

        A correction is named by the feedback that it answers, too.
        """
        told = () if feedback is None else (feedback,)
        return content_id(
            "response", sample_id, candidate_id, prompt, sampling.key, repeat, parent_id, arm, *told
        )

    @staticmethod
    def imported_id(sample_id: str, candidate_id: str, repeat: int = 0) -> str:
        """Return the id that `make_id` gives an imported response, in half of the time."""
        return hash_of(
            f'["response",{quoted(sample_id)},{quoted(candidate_id)},{_IMPORTED},{repeat},null,null]'
        )

    @staticmethod
    def imported_by(candidate_id: str) -> Callable[[str], str]:
        """Return what names a candidate's first answer to a sample, as `imported_id` does."""
        end = f"{quoted(candidate_id)},{_IMPORTED},0,null,null]"
        return lambda sample_id: hash_of(f'["response",{quoted(sample_id)},{end}')


class ReplayStep(Record):
    """One step of the judge's reference chain of thought."""

    text: str
    regions: tuple[Region, ...] = ()


class Replay(Record):
    """The judge's own solution of a sample (cognitive replay, ATOM 3.1)."""

    id: Id
    sample_id: Id
    judge_id: Id
    prompt: str
    sampling: Sampling = Sampling()
    repeat: int = 0
    state: State
    detail: str = ""
    """Reason (unscored) or error (failed)."""
    steps: tuple[ReplayStep, ...] = ()
    final_answer: str = ""
    agrees: bool | None = None
    """Whether it agrees with the reference answer; None without one. False = quarantined."""
    call_id: str | None = None

    @staticmethod
    def make_id(
        sample_id: str, judge_id: str, prompt: str, sampling: Sampling, repeat: int = 0
    ) -> str:
        """Hash what makes a replay this one and no other."""
        return content_id("replay", sample_id, judge_id, prompt, sampling.key, repeat)


CriteriaSource = Literal["judge", "hand", "imported"]
CriterionKind = Literal["question", "requirement"]
Polarity = Literal["credit", "penalty"]
Gate = Literal["cap", "zero"]


class Criterion(Record):
    """An atomic criterion: sub-question q and local ground truth g (ATOM 3.1), or a requirement."""

    id: Id
    sample_id: Id
    question: str = Field(min_length=1)
    """An open question about one step; or what an answer must do, for a requirement."""
    ground_truth: str = ""
    """What the question's answer should say; empty where nobody stated it."""
    kind: CriterionKind = "question"

    @staticmethod
    def make_id(sample_id: str, question: str, ground_truth: str, ordinal: int = 0) -> str:
        """Hash sample, question, ground truth and an ordinal among equals.

        A truth that nobody stated is the empty text. Weight, region and leaf are attributes:
        changing them pays for nothing.
        """
        return content_id("criterion", sample_id, question, ground_truth, ordinal)


class CriterionUse(Record):
    """A criterion as it stands in a criteria set: its place, weight and regions."""

    criterion_id: Id
    position: int
    """0-based, in the order of the replay's steps."""
    weight: int | float = Field(gt=0, allow_inf_nan=False)
    """Any positive number: only its share of the sample's counts. Our judges' are whole and total
    10."""
    stated_weight: float | None = None
    """What the judge said, where it had to be brought to a total of 10."""
    step: int | None = None
    """1-based step of the replay that it checks."""
    regions: tuple[Region, ...] = ()
    polarity: Polarity = "credit"
    """`penalty`: its value times its weight is taken off (points below zero, as in HealthBench)."""
    parents: tuple[Id, ...] = ()
    """Criteria that it rests on: where one of them fails, this one has nothing to say."""
    gate: Gate | None = None
    """What a miss does to the whole answer: hold its score to `gate_cap`, or bring it to 0."""
    gate_cap: float | None = Field(default=None, ge=0, le=1)
    """The most, from 0 to 1, that an answer which misses this criterion can score."""

    @model_validator(mode="after")
    def _has_its_cap(self) -> CriterionUse:
        if (self.gate == "cap") != (self.gate_cap is not None):
            raise ValueError("gate_cap goes with gate 'cap', and only with it")
        return self


class CriteriaSet(Record):
    """The criteria of one sample, as a judge cut them or a person edited them."""

    id: Id
    sample_id: Id
    judge_id: Id
    replay_id: str | None = None
    prompt: str
    sampling: Sampling = Sampling()
    repeat: int = 0
    source: CriteriaSource = "judge"
    state: State
    detail: str = ""
    uses: tuple[CriterionUse, ...] = ()
    """In order. Our judges': 3 to 5 as a rule, weights total 10."""
    adjustments: tuple[str, ...] = ()
    """What the reply gate changed, in words."""
    call_id: str | None = None

    @staticmethod
    def make_id(
        sample_id: str,
        judge_id: str,
        prompt: str,
        sampling: Sampling,
        repeat: int = 0,
        edited: object = None,
    ) -> str:
        """Hash what makes a set this one; `edited` holds the content of a hand-edited set."""
        return content_id("criteria", sample_id, judge_id, prompt, sampling.key, repeat, edited)


class Mapping(Record):
    """Where a criterion hangs in a tree."""

    criterion_id: Id
    tree_version: Id
    judge_id: Id
    prompt: str
    state: State
    leaf: tuple[str, ...] | None = None
    """The leaf's path, root first; None unless scored."""
    detail: str = ""
    call_id: str | None = None


def own_mark(score: int) -> dict[str, Any]:
    """Return the fields of a checkpoint with this mark on our own scale.

    Args:
        score: 1 to 5.
    """
    return {"score": score, "value": (score - 1) / 4, "raw": str(score), "scale": JUDGE_SCALE.id}


class Checkpoint(Record):
    """One criterion scored on one response: the atom of every number on screen."""

    key: Id
    """Hash of criterion, response, judge, prompt version, sampling settings and repeat."""
    criterion_id: Id
    response_id: Id
    judge_id: Id
    prompt: str
    sampling: Sampling = Sampling()
    repeat: int = 0
    state: MarkState
    score: int | None = Field(default=None, ge=1, le=5)
    """The mark on our own judges' scale, 1 to 5; None on every other scale."""
    reason: str = ""
    """The judge's reason for the score."""
    quote: str = ""
    """The part of the answer that the judge points at."""
    span: tuple[int, int] | None = None
    """Where the quote stands in the answer (start, end); None when it isn't found there."""
    detail: str = ""
    """Reason (unscored) or error (failed)."""
    call_id: str | None = None
    addressed: bool | None = None
    """Whether the answer says anything about this step; None = the judge wasn't asked (marks made
    before scoring/2, imports)."""
    carried: bool | None = None
    """Whether the step is wrong only because an earlier one was; None = the judge wasn't asked."""
    value: float | None = Field(default=None, ge=0, le=1)
    """What the mark is worth on its scale; None unless scored."""
    raw: str = ""
    """The mark as it was written."""
    scale: Id = JUDGE_SCALE.id
    """The declared scale that it was made on."""

    def model_copy(self, *, update: Mapping_[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the mark; one that gets another score gets its value with it."""
        if update and "score" in update and "value" not in update:
            score = update["score"]
            told = {"value": None, "raw": ""} if score is None else own_mark(score)
            update = {**told, **update}
        return super().model_copy(update=update, deep=deep)

    @property
    def points(self) -> float | None:
        """Where its value stands on our own scale, 1 to 5 (`1 + 4 value`); None unless scored."""
        if self.score is not None or self.value is None:
            return self.score
        return 1 + 4 * self.value

    @model_validator(mode="before")
    @classmethod
    def _value_score(cls, data: Any) -> Any:
        """Give a mark of our own its value: older archives and our own stages tell the score."""
        if not isinstance(data, dict) or data.get("scale", JUDGE_SCALE.id) != JUDGE_SCALE.id:
            return data
        score = data.get("score")
        if score is None or data.get("value") is not None or not isinstance(score, int):
            return data
        return {**data, **own_mark(score), "raw": data.get("raw") or str(score)}

    @model_validator(mode="after")
    def _is_on_its_scale(self) -> Checkpoint:
        own = self.scale == JUDGE_SCALE.id
        if self.score is not None and (not own or self.value != (self.score - 1) / 4):
            raise ValueError("a score is a mark on our own scale, worth (score - 1) / 4")
        if own and self.score is None and self.value is not None:
            raise ValueError("a value on our own scale has a score")
        return self

    @staticmethod
    def make_key(
        criterion_id: str,
        response_id: str,
        judge_id: str,
        prompt: str,
        sampling: Sampling,
        repeat: int = 0,
    ) -> str:
        """Equal key = already paid for."""
        return content_id(
            "checkpoint", criterion_id, response_id, judge_id, prompt, sampling.key, repeat
        )

    @staticmethod
    def imported_key(criterion_id: str, response_id: str, judge_id: str, repeat: int = 0) -> str:
        """Return the key that `make_key` gives an imported mark, in a third of the time."""
        return hash_of(
            f'["checkpoint",{quoted(criterion_id)},{quoted(response_id)},{quoted(judge_id)},'
            f"{_IMPORTED},{repeat}]"
        )


OutcomeHow = Literal["imported", "exact", "numeric", "choice", "judge"]


class Outcome(Record):
    """Whether a response's final answer is right, kept apart from its checkpoints."""

    response_id: Id
    how: OutcomeHow
    judge_id: str = ""
    """The judge, for `how = judge`; empty otherwise."""
    state: State = "scored"
    value: float | None = Field(default=None, ge=0, le=1)
    """1 right, 0 wrong; an imported metric may lie between."""
    answer: str = ""
    """The final answer that was read out of the response."""
    detail: str = ""
    call_id: str | None = None


TagSubject = Literal["sample", "response"]


TAG_FACET = "tagged"
"""What people's own tags on samples are labels of."""
PERSON_SOURCE = "person:"
"""How the source of a tag begins that a person put there; the name follows."""


class Tag(Record):
    """A label from a source: skill, category, difficulty, ..."""

    subject: TagSubject
    subject_id: Id
    source: str
    """The file or data set that says so."""
    facet: str
    """What is labelled: `skills`, `task`, `grade`, ..."""
    value: str


class TreeRecord(Record):
    """A capability tree as stored: its content hash names the version."""

    version: Id
    name: str
    body: str
    """The tree as canonical JSON (see `taxonomy`)."""
    created: str = ""
