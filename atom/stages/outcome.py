"""The outcome: whether the final answer is right, kept apart from the checkpoints.

So a right answer with wrong steps behind it can be seen. Rules decide where they can decide
without doubt; what they can't is for the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import Outcome, Record, Response, Sample, Sampling, State
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import OUTCOME
from atom.stages.scoring import shown
from atom.stages.sight import Material
from atom.stages.stage import Ask, Setting, Stage, StageResult, Subject
from atom.stages.texts.final_answer import compare_response

TASK: Final = "outcome"
PROMPT: Final = "outcome/2"
FEW_WORDS: Final = 4
"""Words of a reference that answers are often met in, word for word."""
_VERDICTS: Final = {"right": True, "wrong": False}


def check(sample: Sample, response: Response) -> Outcome | None:
    """Decide by rule whether a response's final answer is right.

    Args:
        sample: the question, with its reference answer.

    Returns:
        The outcome (`exact`, `numeric` or `choice`); None when there is no reference, no answer,
        or no rule that can tell for sure.
    """
    if response.state != "scored":
        return None
    verdict = compare_response(sample, response.text)
    if verdict is None:
        return None
    return Outcome(
        response_id=response.id,
        how=verdict.how,
        value=1.0 if verdict.right else 0.0,
        answer=one_line(verdict.answer, 200),
    )


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    response: Response,
    sampling: Sampling,
    *,
    repeat: int = 0,
) -> Request:
    """Build the request that lets the judge decide.

    Args:
        sample: the question, with its reference answer.
        pictures: the sample's pictures, in order.
        repeat: 0-based index among equal requests.

    Raises:
        DataError: there is no reference answer, or the response holds no answer.
    """
    if sample.reference is None or response.state != "scored":
        raise DataError(
            f"response {response.id!r} is {response.state}, the reference answer is "
            f"{sample.reference!r}: an outcome needs both"
        )
    return ask_about(sample, pictures, response.text, sampling, repeat=repeat)


def ask_about(
    sample: Sample,
    pictures: Sequence[PicturePart],
    text: str,
    sampling: Sampling,
    *,
    repeat: int = 0,
) -> Request:
    """Build the request about the final answer of any text; arguments as in `build`."""
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "choices": list(sample.choices),
            "reference_answer": sample.reference,
            "answer": shown(text),
        },
        pictures=pictures,
        sampling=sampling,
        repeat=repeat,
        schema=OUTCOME,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeReply:
    """What the judge says of a final answer.

    Args:
        right: whether it is right; None where the judge finds it unclear, or can't be understood.
        answer: the final answer that it read.
        detail: its reason, or why there is no verdict.
    """

    right: bool | None
    answer: str = ""
    detail: str = ""


def read_verdict(reply: Reply) -> OutcomeReply:
    """Read the judge's verdict on a final answer."""
    usable = read_reply(reply, "verdict")
    if usable.data is None:
        return OutcomeReply(right=None, detail=usable.reason)
    stated = text_of(usable.data["verdict"])
    verdict = stated.casefold().strip(" .!*\"'`")
    reason = one_line(text_of(usable.data.get("reason")))
    answer = one_line(text_of(usable.data.get("final_answer")), 200)
    if verdict in _VERDICTS:
        return OutcomeReply(right=_VERDICTS[verdict], answer=answer, detail=reason)
    if verdict == "unclear":
        why = reason or "The judge finds the final answer unclear."
    else:
        why = f"{one_line(stated, 60)!r} is none of right, wrong, unclear."
    return OutcomeReply(right=None, answer=answer, detail=why)


def parse(reply: Reply, response: Response, judge_id: str) -> Outcome:
    """Make the outcome of a judge's reply.

    Args:
        judge_id: who checked it.

    Returns:
        The outcome; unscored when the judge finds it unclear or gives no such verdict.
    """
    said = read_verdict(reply)
    told = {"answer": said.answer, "detail": said.detail}
    blank = _outcome(response, judge_id, "unscored", reply.call.id).model_copy(update=told)
    if said.right is None:
        return blank
    return blank.model_copy(update={"state": "scored", "value": float(said.right)})


def failed(error: str, response: Response, judge_id: str, call_id: str | None = None) -> Outcome:
    """Make the outcome that stands for a call that brought nothing."""
    return _outcome(response, judge_id, "failed", call_id).model_copy(update={"detail": error})


def _outcome(response: Response, judge_id: str, state: State, call_id: str | None) -> Outcome:
    return Outcome(
        response_id=response.id, how="judge", judge_id=judge_id, state=state, call_id=call_id
    )


class OutcomeStage(Stage):
    """Whether the final answer is right: by rule where one can tell, else by the judge."""

    name = TASK
    prompt = PROMPT
    needs = frozenset({"response"})

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Show the answer beside the known one."""
        return build(subject.sample, material.pictures, subject.answered, setting.sampling)

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Read right, wrong or unclear."""
        return (parse(reply, subject.answered, setting.who),)

    async def take(
        self, ask: Ask, material: Material, subject: Subject, setting: Setting
    ) -> StageResult:
        """Let a rule decide; ask the judge only where none can."""
        verdict = check(subject.sample, subject.answered)
        if verdict is not None:
            return StageResult(records=(verdict,))
        return await super().take(ask, material, subject, setting)

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the outcome that nobody could give."""
        return (failed(error, subject.answered, setting.who, call_id),)

    def free(self, sample: Sample) -> bool:
        """Whether a rule will decide most answers.

        A reference of many words is met word for word by nobody.
        """
        usual = Response(
            id="usual",
            sample_id=sample.id,
            candidate_id="usual",
            prompt="usual",
            text=f"Answer: {sample.reference}",
        )
        verdict = check(sample, usual)
        words = len((sample.reference or "").split())
        return verdict is not None and (verdict.how != "exact" or words <= FEW_WORDS)


STAGE: Final = OutcomeStage()
