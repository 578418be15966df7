"""The behavioural leak gate: a model that sees no picture answers with and without a hint.

If a hint lets it answer better than without, the hint carries the answer, in whatever words.

Reference: METHODS B16.
"""

from __future__ import annotations

from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import Request
from atom.records import Sample, Sampling
from atom.records.thoughts import tell_apart
from atom.stages.answer import lettered
from atom.stages.asking import make_request
from atom.stages.reading import one_line
from atom.stages.texts.final_answer import compare_response

TASK: Final = "blind"
PROMPT: Final = "blind/1"


def build(sample: Sample, hint: str | None, sampling: Sampling, *, repeat: int = 0) -> Request:
    """Build the request for an answer without the pictures.

    Args:
        sample: the question.
        hint: what to give along; None for nothing.
        sampling: the study's settings for answers.
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
