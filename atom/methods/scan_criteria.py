"""SCAN adapted, first half: criteria and their weights from what sets the answers apart.

Reference: ATOM 4.1, appendix B (SCAN adapted: criteria extraction, weighting); Wang et al. 2025.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from atom.judge.reply import Reply
from atom.judge.request import PicturePart, Request
from atom.judge.templates import JsonValue
from atom.methods.base import letter, shown, whole_number
from atom.methods.schemas import SCAN_CRITERIA
from atom.records import Response, Sample, Sampling, Verdict
from atom.stages.asking import make_request
from atom.stages.gate import normal_question
from atom.stages.reading import one_line, read_reply, text_of
from atom.stages.schemas import MAX_CRITERIA
from atom.stages.verdicts import scored, unscored

TASK: Final = "scan_criteria"
PROMPT: Final = "scan_criteria/1"
HEAVIEST = 10


@dataclass(frozen=True, kw_only=True)
class ScanCriterion:
    """What answers are told apart by: a name, the criterion in words, its weight 1 to 10."""

    name: str
    criterion: str
    weight: int


def build(
    sample: Sample,
    pictures: Sequence[PicturePart],
    order: Sequence[Response],
    sampling: Sampling,
) -> Request:
    """Build the request that compares a sample's answers; arguments as in batch ranking."""
    values: dict[str, JsonValue] = {
        "question": sample.question,
        "choices": list(sample.choices),
        "answers": [
            {"id": letter(at), "answer": shown(response.text, len(order))}
            for at, response in enumerate(order)
        ],
    }
    return make_request(
        PROMPT, values, pictures=pictures, sampling=sampling, repeat=0, schema=SCAN_CRITERIA
    )


def parse(reply: Reply, blank: Verdict) -> Verdict:
    """Read the weighted criteria.

    Returns:
        The verdict with `data["criteria"]`; a criterion without words or weight, or said before in
        other spelling, is dropped with a note. With none left it is unscored.
    """
    usable = read_reply(reply, "criteria")
    if usable.data is None:
        return unscored(blank, usable.reason, reply.call.id)
    stated = usable.data["criteria"]
    kept: list[dict[str, object]] = []
    notes = [usable.note] if usable.note else []
    seen: set[str] = set()
    for place, item in enumerate(stated if isinstance(stated, list | tuple) else (), start=1):
        text = text_of(item.get("criterion")) if isinstance(item, Mapping) else ""
        weight = whole_number(item.get("weight")) if isinstance(item, Mapping) else None
        if not text or weight is None or not 1 <= weight <= HEAVIEST:
            notes.append(f"criterion {place} has no words or no weight from 1 to 10: dropped")
        elif normal_question(text) in seen:
            notes.append(f"criterion {place} says what another one says: dropped")
        else:
            seen.add(normal_question(text))
            name = one_line(text_of(item.get("name")), 120)
            kept.append({"name": name, "criterion": one_line(text, 400), "weight": weight})
    if len(kept) > MAX_CRITERIA:
        notes.append(f"{len(kept)} criteria, the first {MAX_CRITERIA} were kept")
    detail = "; ".join(notes)[:400]
    if not kept:
        return unscored(blank, f"No criterion can be used. {detail}".strip(), reply.call.id)
    return scored(blank, reply, data={"criteria": kept[:MAX_CRITERIA]}, detail=detail)


def criteria_of(verdict: Verdict | None) -> tuple[ScanCriterion, ...]:
    """Return the criteria of a verdict; none unless it is scored."""
    if verdict is None or verdict.state != "scored":
        return ()
    rows = verdict.data.get("criteria")
    return tuple(
        ScanCriterion(name=str(row["name"]), criterion=str(row["criterion"]), weight=row["weight"])
        for row in (rows if isinstance(rows, list | tuple) else ())
    )
