"""Answering: a candidate answers a sample.

Candidates are asked in plain text, as any user would: pictures, question, lettered options.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final, get_args

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import AnswerCause, Record, Response, Sample, Sampling, State
from atom.records.thoughts import tell_apart
from atom.stages import outcome
from atom.stages.asking import make_request
from atom.stages.sight import Material
from atom.stages.stage import Setting, Stage, Subject

TASK: Final = "answer"
PROMPT: Final = "answer/1"


def build(
    sample: Sample, pictures: Sequence[PicturePart], sampling: Sampling, *, repeat: int = 0
) -> Request:
    """Build the request for a candidate's answer.

    Args:
        pictures: the sample's pictures, in order.
        repeat: 0-based index among equal requests.

    Returns:
        The request, for free text that ends in `Answer: ...`.

    Raises:
        DataError: the sample has more than 26 choices.
    """
    return make_request(
        PROMPT,
        {"question": sample.question.strip(), "choices": lettered(sample.choices)},
        pictures=pictures,
        sampling=sampling,
        repeat=repeat,
        form="choices" if sample.choices else None,
    )


def lettered(choices: Sequence[str]) -> str:
    """Write choices as lettered lines, each on one line: `A) red`."""
    if len(choices) > len(ascii_uppercase):
        raise DataError(f"{len(choices)} choices; up to 26 can be lettered")
    lines = (
        f"{letter}) {' '.join(choice.split())}"
        for letter, choice in zip(ascii_uppercase, choices, strict=False)
    )
    return "\n".join(lines)


def parse(
    reply: Reply, sample: Sample, candidate_id: str, sampling: Sampling, repeat: int = 0
) -> Response:
    """Make the response of a candidate's reply.

    Args:
        candidate_id: who answered.
        repeat: as in the request.

    Returns:
        The response without its think blocks; unscored when there is no answer. A refusal keeps
        its words in `text`, so that they can be seen.
    """
    said = tell_apart(reply.text)
    text = said.answer
    state: State = "scored"
    detail = ""
    if not reply.ok:
        state, detail = "unscored", reply.reason or f"No answer: {reply.state}."
    elif not text:
        state, detail = "unscored", "The reply holds no answer outside its think block."
    return _response(sample, candidate_id, sampling, repeat).model_copy(
        update={
            "state": state,
            "text": text,
            "detail": detail,
            "call_id": reply.call.id,
            "thoughts": reply.thoughts or said.thoughts,
            "cause": reply.state if reply.state in get_args(AnswerCause) else "",
        }
    )


def failed(
    error: str,
    sample: Sample,
    candidate_id: str,
    sampling: Sampling,
    repeat: int = 0,
    call_id: str | None = None,
) -> Response:
    """Make the response that stands for a call that brought nothing."""
    return _response(sample, candidate_id, sampling, repeat).model_copy(
        update={"state": "failed", "detail": error, "call_id": call_id}
    )


def _response(sample: Sample, candidate_id: str, sampling: Sampling, repeat: int) -> Response:
    return Response(
        id=Response.make_id(sample.id, candidate_id, PROMPT, sampling, repeat),
        sample_id=sample.id,
        candidate_id=candidate_id,
        prompt=PROMPT,
        sampling=sampling,
        repeat=repeat,
    )


class AnswerStage(Stage):
    """A candidate answers; a verdict that a rule can give comes along, free."""

    name = TASK
    prompt = PROMPT
    by_candidate = True

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Ask the question as any user would."""
        return build(subject.sample, material.pictures, setting.sampling, repeat=setting.repeat)

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Keep the answer as it came, and its outcome where a rule can tell."""
        response = parse(reply, subject.sample, setting.who, setting.sampling, setting.repeat)
        verdict = outcome.check(subject.sample, response)
        return (response,) if verdict is None else (response, verdict)

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the answer that didn't come."""
        who, how, repeat = setting.who, setting.sampling, setting.repeat
        return (failed(error, subject.sample, who, how, repeat, call_id),)


STAGE: Final = AnswerStage()
