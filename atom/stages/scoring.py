"""Checkpoint scoring: the judge scores one response at every criterion, in one call.

Entries are keyed by criterion id in prompt and reply, so that two criteria on one leaf can be told
apart.

Reference: ATOM 3.3, equation 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.errors import DataError
from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.records import Checkpoint, CriteriaSet, Criterion, Response, Sample, Sampling, State
from atom.stages.asking import make_request
from atom.stages.gate import keyed_entries, read_score, short_ids
from atom.stages.quotes import AnswerIndex
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import scoring_schema

TASK: Final = "scoring"
PROMPT: Final = "scoring/1"
MAX_ANSWER: Final = 60_000
"""Characters of an answer that a judge is shown; a longer one loses its middle."""


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
    sampling: Sampling,
    *,
    repeat: int = 0,
) -> Request:
    """Build the request that scores a response.

    Args:
        sample: the question.
        pictures: the sample's pictures, in order.
        criteria_set: the set that stands for the sample.
        criteria: its criteria, or some of them where the others are scored already.
        response: the answer.
        sampling: the study's settings for the judge.
        repeat: 0-based index among equal requests.

    Returns:
        The request. Weights aren't shown: they are no business of a single score.

    Raises:
        DataError: none of the criteria is in the set, or the response holds no answer.
    """
    asked = in_order(criteria_set, criteria)
    if not asked or response.state != "scored":
        raise DataError(
            f"response {response.id!r} is {response.state}, {len(asked)} criteria of the set were "
            "given: scoring needs an answer and at least one criterion"
        )
    short = short_ids([criterion.id for criterion in asked])
    return make_request(
        PROMPT,
        {
            "question": sample.question,
            "choices": list(sample.choices),
            "criteria": [
                {
                    "id": short[criterion.id],
                    "question": criterion.question,
                    "ground_truth": criterion.ground_truth,
                }
                for criterion in asked
            ],
            "answer": shown(response.text),
        },
        pictures=pictures,
        sampling=sampling,
        repeat=repeat,
        schema=scoring_schema(len(asked)),
    )


def in_order(criteria_set: CriteriaSet, criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Return those of the criteria that are in the set, in the set's order."""
    by_id = {criterion.id: criterion for criterion in criteria}
    uses = sorted(criteria_set.uses, key=lambda use: use.position)
    return tuple(by_id[use.criterion_id] for use in uses if use.criterion_id in by_id)


def shown(answer: str) -> str:
    """Return an answer as a judge is shown it: a very long one without its middle."""
    if len(answer) <= MAX_ANSWER:
        return answer
    head, tail = answer[: MAX_ANSWER // 2], answer[-(MAX_ANSWER // 2) :]
    return f"{head}\n[... {len(answer) - len(head) - len(tail)} characters left out ...]\n{tail}"


def parse(
    reply: Reply,
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
) -> tuple[Checkpoint, ...]:
    """Make the checkpoints of a judge's reply.

    Args:
        reply: what came back.
        criteria_set: as in the request.
        criteria: as in the request.
        response: the answer that was scored.
        judge_id: who scored.
        sampling: the study's settings.
        repeat: as in the request.

    Returns:
        One checkpoint for each criterion, in the set's order: scored, or unscored because the
        reply is unusable, leaves the criterion out, declines, gives no whole number from 1 to 5,
        or gives two different scores.
    """
    asked = in_order(criteria_set, criteria)

    def blank(criterion: Criterion, detail: str) -> Checkpoint:
        return _checkpoint(
            criterion, response, judge_id, sampling, repeat, "unscored", detail, reply.call.id
        )

    usable = read_reply(reply, "scores", partial=True)
    if usable.data is None:
        return tuple(blank(criterion, usable.reason) for criterion in asked)
    keyed = keyed_entries(usable.data["scores"], [criterion.id for criterion in asked])
    index = AnswerIndex(response.text)
    note = "" if len(response.text) <= MAX_ANSWER else "Scored without the middle of the answer."
    checkpoints = []
    for criterion in asked:
        entries = keyed.entries[criterion.id]
        if entries:
            checkpoints.append(_scored(blank(criterion, note), entries, index))
            continue
        detail = "The judge gave no score for this criterion."
        if usable.cut:
            detail = f"The reply was cut before this criterion. {reply.reason}".strip()
        if keyed.unknown:
            detail += f" It named unknown ids: {', '.join(keyed.unknown[:8])}."
        checkpoints.append(blank(criterion, detail))
    return tuple(checkpoints)


def _scored(
    blank: Checkpoint, entries: Sequence[Mapping[str, object]], index: AnswerIndex
) -> Checkpoint:
    """Put what the entries say into a checkpoint that's unscored so far."""
    scores = [read_score(entry.get("score")) for entry in entries]
    first = entries[0]
    reason = one_line(text_of(first.get("reason")))
    quote = text_of(first.get("quote"))[:1000]
    told = {"reason": reason, "quote": quote, "span": index.locate(quote)}
    if len(set(scores)) > 1:
        said = ", ".join(one_line(f"{entry.get('score')}", 20) for entry in entries[:8])
        detail = f"The judge contradicts itself on this criterion: {said}."
        return blank.model_copy(update={**told, "detail": detail})
    score = scores[0]
    if score.declined:
        detail = reason or "The judge declined to score this criterion."
        return blank.model_copy(update={**told, "detail": detail})
    if score.score is None:
        return blank.model_copy(update={**told, "detail": f"Not usable: {score.problem}."})
    return blank.model_copy(update={**told, "state": "scored", "score": score.score})


def failed(
    error: str,
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int = 0,
    call_id: str | None = None,
) -> tuple[Checkpoint, ...]:
    """Make the checkpoints that stand for a call that brought nothing."""
    return tuple(
        _checkpoint(criterion, response, judge_id, sampling, repeat, "failed", error, call_id)
        for criterion in in_order(criteria_set, criteria)
    )


def _checkpoint(
    criterion: Criterion,
    response: Response,
    judge_id: str,
    sampling: Sampling,
    repeat: int,
    state: State,
    detail: str,
    call_id: str | None,
) -> Checkpoint:
    return Checkpoint(
        key=Checkpoint.make_key(criterion.id, response.id, judge_id, PROMPT, sampling, repeat),
        criterion_id=criterion.id,
        response_id=response.id,
        judge_id=judge_id,
        prompt=PROMPT,
        sampling=sampling,
        repeat=repeat,
        state=state,
        detail=detail,
        call_id=call_id,
    )
