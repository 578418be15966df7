"""Hints: a peer that solved a criterion tells where to look, and not what is there.

Asked of the peer's own model, in plain text, with the pictures. Every hint passes the leak gate
before it can be used; one that gives something away stays as a record, with the reason.

Reference: ATOM 3.5, appendix G (peer-assisted feedback); METHODS B16.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import Criterion, Hint, Response, Sample, Sampling
from atom.records.thoughts import tell_apart
from atom.stages.asking import make_request
from atom.stages.reading import one_line
from atom.stages.scoring import shown
from atom.stages.texts import leaks

TASK: Final = "hint"
PROMPT: Final = "hint/1"
MAX_HINT: Final = 800
"""Characters of a hint; a longer one is no hint any more."""
LEAKED: Final = "It gives something away: "
"""How the reason of a hint that leaked begins."""
_NUMBERED: Final = re.compile(r"^[ \t]*[1-9][.)][ \t]+(?=\S)", re.MULTILINE)


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    criterion: Criterion,
    response: Response,
    sampling: Sampling,
    *,
    attempt: int = 0,
) -> Request:
    """Build the request for a peer's hint.

    Args:
        pictures: the sample's pictures, in order.
        criterion: what the hint is about; its ground truth isn't shown, the peer found it.
        attempt: how many hints were turned down before.

    Returns:
        The request, for free text; another attempt is another question.

    Raises:
        DataError: the peer gave no answer.
    """
    if response.state != "scored":
        raise DataError(
            f"response {response.id!r} is {response.state}: its writer can't give hints"
        )
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "choices": list(sample.choices),
            "step": criterion.question,
            "answer": shown(response.text),
            "attempt": attempt,
        },
        pictures=pictures,
        sampling=sampling,
        repeat=attempt,
    )


def parse(
    reply: Reply,
    sample: Sample,
    criterion: Criterion,
    peer_id: str,
    response: Response,
    sampling: Sampling,
    attempt: int = 0,
    *,
    truths: Sequence[str | Criterion] = (),
    final: str | None = None,
) -> Hint:
    """Make the hint of a reply, past the leak gate.

    Args:
        criterion: what the hint is about.
        peer_id: who wrote it.
        attempt: as in the request.
        truths: what must not be said besides: the sample's other criteria, or their ground truths.
        final: the known final answer where the sample has no reference.

    Returns:
        The hint on one line, without the numbers of a list; unscored when there is none, when it's
        too long, or when it gives something away: then its text is kept, and the reason says what.
    """
    text = one_line(_NUMBERED.sub("", tell_apart(reply.text).answer), MAX_HINT + 1)
    hint = _hint(criterion, peer_id, response, sampling, attempt).model_copy(
        update={"text": text, "call_id": reply.call.id}
    )
    if not reply.ok:
        return _turned_down(hint, reply.reason or f"No hint: {reply.state}.")
    if not text:
        return _turned_down(hint, "The reply holds no hint outside its think block.")
    if len(text) > MAX_HINT:
        return _turned_down(hint, f"The hint is longer than {MAX_HINT} characters.")
    found = leaks.find(
        text,
        sample=sample,
        truths=(criterion, *truths),
        final=final,
        question=criterion.question,
    )
    if found:
        return _turned_down(hint, LEAKED + ", ".join(map(str, found)) + ".")
    return hint


def failed(
    error: str,
    criterion: Criterion,
    peer_id: str,
    response: Response,
    sampling: Sampling,
    attempt: int = 0,
    call_id: str | None = None,
) -> Hint:
    """Make the hint that stands for a call that brought nothing."""
    return _hint(criterion, peer_id, response, sampling, attempt).model_copy(
        update={"state": "failed", "detail": error, "call_id": call_id}
    )


def hint_id(
    criterion: Criterion, peer_id: str, response: Response, sampling: Sampling, attempt: int = 0
) -> str:
    """Name a hint before it's asked for."""
    return Hint.make_id(criterion.id, response.id, peer_id, PROMPT, sampling, attempt)


def _turned_down(hint: Hint, detail: str) -> Hint:
    return hint.model_copy(update={"state": "unscored", "detail": detail})


def _hint(
    criterion: Criterion, peer_id: str, response: Response, sampling: Sampling, attempt: int
) -> Hint:
    return Hint(
        id=hint_id(criterion, peer_id, response, sampling, attempt),
        criterion_id=criterion.id,
        peer_id=peer_id,
        response_id=response.id,
        prompt=PROMPT,
        sampling=sampling,
        attempt=attempt,
        state="scored",
    )
