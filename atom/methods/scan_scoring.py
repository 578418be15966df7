"""SCAN adapted, second half: one answer scored on the weighted criteria.

Reference: ATOM 4.1, appendix B (SCAN adapted: scoring).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.judge.templates import JsonValue
from atom.methods.base import shown
from atom.methods.scan_criteria import ScanCriterion
from atom.methods.schemas import scan_scoring_schema
from atom.records import Response, Sample, Sampling, Verdict
from atom.stages.asking import make_request
from atom.stages.gate import read_score
from atom.stages.reading import read_reply, text_of
from atom.stages.verdicts import scored, unscored

TASK: Final = "scan_scoring"
PROMPT: Final = "scan_scoring/2"


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    criteria: Sequence[ScanCriterion],
    response: Response,
    sampling: Sampling,
) -> Request:
    """Build the request that scores one answer; weights aren't shown."""
    values: dict[str, JsonValue] = {
        "question": sample.question,
        "choices": list(sample.choices),
        "criteria": [
            {"id": f"k{at}", "name": one.name, "criterion": one.criterion}
            for at, one in enumerate(criteria, start=1)
        ],
        "answer": shown(response.text),
    }
    return make_request(
        PROMPT,
        values,
        pictures=pictures,
        sampling=sampling,
        repeat=0,
        schema=scan_scoring_schema(len(criteria)),
    )


def parse(reply: Reply, blank: Verdict, criteria: Sequence[ScanCriterion]) -> Verdict:
    """Read the scores.

    Returns:
        The verdict with `value` = sum of weight times score and `data["scores"]` in the criteria's
        order. One criterion without a usable score leaves the answer without a number: numbers of
        answers compare only over the same criteria.
    """
    usable = read_reply(reply, "scores")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    stated: dict[str, list[int | None]] = {}
    rows = usable.data["scores"]
    for item in rows if isinstance(rows, list | tuple) else ():
        if isinstance(item, Mapping):
            name = text_of(item.get("id")).strip("#\"'`()[]<>. ").casefold()
            stated.setdefault(name, []).append(read_score(item.get("score")).score)
    scores: list[int] = []
    for at, one in enumerate(criteria, start=1):
        given = set(stated.get(f"k{at}", []))
        score = given.pop() if len(given) == 1 else None
        if score is None:
            why = "contradicts itself on" if given else "gives no usable score for"
            detail = f"The judge {why} criterion k{at} ({one.name or one.criterion:.60})."
            return unscored(blank, detail, reply.call.id)
        scores.append(score)
    total = sum(one.weight * score for one, score in zip(criteria, scores, strict=True))
    return scored(blank, reply, value=float(total), data={"scores": scores}, detail=usable.note)
