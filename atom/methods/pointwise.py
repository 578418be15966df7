"""Pointwise holistic scoring: one number for one answer, seen alone.

Reference: ATOM 4.1, appendix B (pointwise scoring).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.methods.base import shown, whole_number
from atom.methods.schemas import POINTWISE, TOP
from atom.records import Response, Sample, Sampling, Verdict
from atom.stages.asking import make_request
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.verdicts import scored, unscored

TASK: Final = "pointwise"
PROMPT: Final = "pointwise/1"


def build(
    sample: Sample, pictures: Sequence[PicturePart], response: Response, sampling: Sampling
) -> Request:
    """Build the request for one answer's score; the judge is told no reference."""
    values = {
        "question": sample.question,
        "choices": list(sample.choices),
        "answer": shown(response.text),
    }
    return make_request(
        PROMPT, values, pictures=pictures, sampling=sampling, repeat=0, schema=POINTWISE
    )


def parse(reply: Reply, blank: Verdict) -> Verdict:
    """Read the score, 1 to 10; anything else leaves the verdict unscored, with the reason."""
    return read_score(reply, blank, TOP)


def read_score(reply: Reply, blank: Verdict, top: int) -> Verdict:
    """Read the one whole number of a reply.

    Args:
        blank: the verdict, unscored so far.
        top: the best score; the worst is 1.
    """
    usable = read_reply(reply, "score")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    stated = usable.data["score"]
    reason = one_line(text_of(usable.data.get("reason")))
    if stated is None:
        return unscored(blank, reason or "The judge declined to score.", reply.call.id)
    score = whole_number(stated)
    if score is None or not 1 <= score <= top:
        detail = f"Not usable: the score {stated!r:.40} isn't a whole number from 1 to {top}."
        return unscored(blank, detail, reply.call.id)
    return scored(blank, reply, value=float(score), text=reason, detail=usable.note)
