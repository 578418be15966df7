"""ATOM without replay: criteria are made from the question and the pictures, nothing solved first.

What comes of them is then scored by the usual scoring prompt, so that the worked solution is all
that is missing.

Reference: ATOM 4.1, Table 2 (without CoT reasoning).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.methods.schemas import BARE_CRITERIA
from atom.records import (
    CriteriaSet,
    Criterion,
    CriterionUse,
    Response,
    Sample,
    Sampling,
    Verdict,
)
from atom.stages import scoring
from atom.stages.asking import make_request
from atom.stages.gate import read_criteria
from atom.stages.reading import read_reply
from atom.stages.verdicts import scored, unscored

TASK: Final = "bare_criteria"
PROMPT: Final = "bare_criteria/1"


def build(sample: Sample, pictures: Sequence[PicturePart], sampling: Sampling) -> Request:
    """Build the request for criteria without a solution; the reference is told as in ATOM's own."""
    values = {
        "question": sample.question,
        "choices": list(sample.choices),
        "reference_answer": sample.reference,
    }
    return make_request(
        PROMPT, values, pictures=pictures, sampling=sampling, repeat=0, schema=BARE_CRITERIA
    )


def parse(reply: Reply, blank: Verdict) -> Verdict:
    """Read the criteria through the gate that ATOM's own pass.

    Returns:
        The verdict with `data["criteria"]`: question, ground truth and weight (they total 10).
    """
    usable = read_reply(reply, "criteria")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    reading = read_criteria(usable.data["criteria"], n_steps=0, n_pictures=0)
    if reading.problem:
        return unscored(blank, f"The criteria can't be used: {reading.problem}.", reply.call.id)
    rows = [
        {"question": d.question, "ground_truth": d.ground_truth, "weight": d.weight}
        for d in reading.drafts
    ]
    notes = [*([usable.note] if usable.note else []), *reading.notes]
    return scored(blank, reply, data={"criteria": rows}, detail="; ".join(notes)[:400])


def criteria_of(
    verdict: Verdict | None, sample: Sample
) -> tuple[CriteriaSet, tuple[Criterion, ...]] | None:
    """Make records of a verdict's criteria, as the scoring stage takes them.

    Returns:
        The set and its criteria, in order; None unless the verdict is scored. They are never
        stored: the study's own criteria stay what they are.
    """
    rows = verdict.data.get("criteria") if verdict and verdict.state == "scored" else None
    if not isinstance(rows, list | tuple) or verdict is None:
        return None
    criteria = tuple(
        Criterion(
            id=Criterion.make_id(sample.id, row["question"], row["ground_truth"]),
            sample_id=sample.id,
            question=row["question"],
            ground_truth=row["ground_truth"],
        )
        for row in rows
    )
    uses = tuple(
        CriterionUse(criterion_id=criterion.id, position=at, weight=row["weight"])
        for at, (criterion, row) in enumerate(zip(criteria, rows, strict=True))
    )
    made = CriteriaSet(
        id=verdict.key,
        sample_id=sample.id,
        judge_id=verdict.judge,
        prompt=verdict.prompt,
        state="scored",
        uses=uses,
    )
    return made, criteria


def parse_scores(
    reply: Reply,
    blank: Verdict,
    criteria_set: CriteriaSet,
    criteria: Sequence[Criterion],
    response: Response,
) -> Verdict:
    """Read one answer's checkpoints and add them up.

    Returns:
        The verdict with `value` = sum of weight times score; without one score it is unscored.
    """
    points = scoring.parse(
        reply, criteria_set, criteria, response, blank.judge, blank.sampling, blank.repeat
    )
    weight: Mapping[str, float] = {use.criterion_id: use.weight for use in criteria_set.uses}
    total, scores = 0.0, []
    for point in points:
        if point.score is None:
            return unscored(blank, point.detail or "A criterion has no score.", reply.call.id)
        total += weight[point.criterion_id] * point.score
        scores.append(point.score)
    return scored(blank, reply, value=float(total), data={"scores": scores})
