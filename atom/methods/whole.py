"""ATOM without decomposition: the worked solution stays, the checkpoints go; one score remains.

The whole question is the one criterion, with the judge's own solution as its ground truth and the
same five scores, so that cutting into criteria is all that differs.

Reference: ATOM 4.1, Table 2 and appendix B (pointwise against without atomic decomposition).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from atom.errors import UsageError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.judge.templates import JsonValue
from atom.methods.base import shown
from atom.methods.pointwise import read_score
from atom.methods.schemas import WHOLE
from atom.records import Replay, Response, Sample, Sampling, Verdict
from atom.stages.asking import make_request

TASK: Final = "whole"
PROMPT: Final = "whole/2"


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    replay: Replay,
    response: Response,
    sampling: Sampling,
) -> Request:
    """Build the request that holds one answer against the whole solution.

    Raises:
        UsageError: the replay holds no solution.
    """
    if replay.state != "scored":
        raise UsageError(f"the replay of sample {sample.id!r} is {replay.state}: replay it again")
    values: dict[str, JsonValue] = {
        "question": sample.question,
        "choices": list(sample.choices),
        "solution": {
            "steps": [step.text for step in replay.steps],
            "final_answer": replay.final_answer,
        },
        "answer": shown(response.text),
    }
    return make_request(
        PROMPT, values, pictures=pictures, sampling=sampling, repeat=0, schema=WHOLE
    )


def parse(reply: Reply, blank: Verdict) -> Verdict:
    """Read the score, 1 to 5; anything else leaves the verdict unscored, with the reason."""
    return read_score(reply, blank, 5)
