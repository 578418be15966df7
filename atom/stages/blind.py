"""Questions without their pictures.

For the behavioural leak gate a model that sees no picture answers with and without a hint: if the
hint lets it answer better, the hint carries the answer, in whatever words. For the blind control of
a study it answers the bare question, and what it reaches so needs no seeing.

Reference: METHODS B16, T8.
"""

from __future__ import annotations

from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import Record, Response, Sample, Sampling
from atom.records.thoughts import tell_apart
from atom.stages import answer, outcome
from atom.stages.answer import lettered
from atom.stages.asking import make_request
from atom.stages.reading import one_line
from atom.stages.sight import Material
from atom.stages.stage import Setting, Stage, Subject
from atom.stages.texts.final_answer import compare_response

TASK: Final = "blind"
PROMPT: Final = "blind/1"
ARM: Final = "blind"
"""What keeps such answers apart: they are none of the study's own."""


def build(sample: Sample, hint: str | None, sampling: Sampling, *, repeat: int = 0) -> Request:
    """Build the request for an answer without the pictures.

    Args:
        hint: what to give along; None for nothing.
        repeat: 0-based index among equal requests.

    Returns:
        The request, for free text that ends in `Answer: ...`.
    """
    form = "_".join(
        name for name, used in (("hint", hint is not None), ("choices", sample.choices)) if used
    )
    return make_request(
        PROMPT,
        {
            "question": sample.question.strip(),
            "choices": lettered(sample.choices),
            "hint": one_line(hint or ""),
        },
        pictures=(),
        sampling=sampling,
        repeat=repeat,
        form=form or None,
    )


def right(reply: Reply, sample: Sample) -> bool | None:
    """Tell whether a blind answer is right, by rules alone.

    Returns:
        None when there is no answer, or no rule can tell.
    """
    if not reply.ok:
        return None
    verdict = compare_response(sample, tell_apart(reply.text).answer)
    return None if verdict is None else verdict.right


def response_id(sample_id: str, candidate_id: str, sampling: Sampling, repeat: int = 0) -> str:
    """Name the answer that a candidate gives without the pictures."""
    return Response.make_id(sample_id, candidate_id, PROMPT, sampling, repeat, None, ARM)


class BlindStage(Stage):
    """A candidate answers without the pictures; a verdict that a rule can give comes along."""

    name = answer.TASK
    prompt = PROMPT
    by_candidate = True

    def build(self, material: Material, subject: Subject, setting: Setting) -> Request:
        """Ask the bare question."""
        return build(subject.sample, None, setting.sampling, repeat=setting.repeat)

    def read(
        self, reply: Reply, material: Material, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Keep the answer as it came, apart from the study's own."""
        sample, who, how = subject.sample, setting.who, setting.sampling
        response = _apart(answer.parse(reply, sample, who, how, setting.repeat))
        verdict = outcome.check(sample, response)
        return (response,) if verdict is None else (response, verdict)

    def failed(
        self, error: str, call_id: str | None, subject: Subject, setting: Setting
    ) -> tuple[Record, ...]:
        """Return the answer that didn't come."""
        who, how, repeat = setting.who, setting.sampling, setting.repeat
        return (_apart(answer.failed(error, subject.sample, who, how, repeat, call_id)),)


def _apart(response: Response) -> Response:
    name = response_id(
        response.sample_id, response.candidate_id, response.sampling, response.repeat
    )
    return response.model_copy(update={"id": name, "prompt": PROMPT, "arm": ARM})


STAGE: Final = BlindStage()
