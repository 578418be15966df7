"""What stands behind `atom.judge_sample`: the method in a row, and a frame of its marks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from atom.engine.consent import is_remote
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.live_replay import Live, upload_sample
from atom.errors import UsageError
from atom.foreign import read_foreign
from atom.notebook.columns import JUDGED, frame_of
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Criterion,
    Endpoint,
    Outcome,
    Replay,
    Response,
    total_cost,
)
from atom.records import Mapping as LeafMapping
from atom.settings import load_settings
from atom.stages.stage import StageResult
from atom.views.replay.page import typed_answer


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is judged about.

    Args:
        pictures: files or bytes, in order.
        choices: answer options; empty for an open question.
        reference: the right answer, where it's known.
    """

    text: str
    pictures: tuple[str | Path | bytes, ...] = ()
    choices: tuple[str, ...] = ()
    reference: str | None = None


def judged(
    question: Question,
    answers: Mapping[str, str],
    judge: str,
    *,
    send: bool = False,
    budget: float | None = None,
) -> pd.DataFrame:
    """Judge answers to a question; see `judge_sample`."""
    endpoint = known_endpoints(load_settings()).get(judge)
    if endpoint is None:
        raise UsageError(f"there is no endpoint {judge!r}: `endpoint list` names those there are")
    if not answers:
        raise UsageError("there is no answer to judge: give {model: text}")
    if is_remote(endpoint) and not send:
        raise UsageError(
            f"{len(question.pictures):,} pictures, the question and {len(answers):,} "
            "answers would be "
            f"sent to {endpoint.base_url}: agree with send=True"
        )
    data = [one if isinstance(one, bytes) else read_foreign(Path(one)) for one in question.pictures]
    sample, parts = upload_sample(
        question.text, data, choices=question.choices, reference=question.reference
    )
    live = Live(sample=sample, pictures=parts, judge=endpoint, budget=budget)
    given = {
        name: typed_answer(sample, text, name, live.answer_sampling).response
        for name, text in answers.items()
    }
    # A notebook runs an event loop of its own, so this one has a thread of its own.
    with ThreadPoolExecutor(1) as pool:
        brought = pool.submit(asyncio.run, _whole(live, list(given.values()))).result()
    return _frame(live, endpoint, given, brought)


async def _whole(live: Live, given: Sequence[Response]) -> list[StageResult]:
    return [brought async for brought in live.whole(given)]


def _frame(
    live: Live, endpoint: Endpoint, given: Mapping[str, Response], steps: Sequence[StageResult]
) -> pd.DataFrame:
    brought = StageResult(records=tuple(record for step in steps for record in step.records))
    model_of = {response.id: name for name, response in given.items()}
    uses = {use.criterion_id: use for found in brought.all(CriteriaSet) for use in found.uses}
    leaves = {one.criterion_id: one.leaf for one in brought.all(LeafMapping)}
    about = {one.id: one for one in brought.all(Criterion)}
    frame = frame_of(
        JUDGED,
        (
            (
                model_of[mark.response_id],
                uses[mark.criterion_id].position + 1,
                about[mark.criterion_id].question,
                about[mark.criterion_id].ground_truth,
                uses[mark.criterion_id].weight,
                leaves.get(mark.criterion_id) or (),
                mark.state,
                mark.score,
                mark.reason,
                mark.detail,
            )
            for mark in brought.all(Checkpoint)
        ),
    )
    solved = brought.one(Replay)
    right = {model_of[one.response_id]: one.value for one in brought.all(Outcome)}
    frame.attrs = {
        "judge": endpoint.name,
        "synthetic": live.sample.synthetic,
        "solution": [step.text for step in solved.steps],
        "final_answer": solved.final_answer,
        "right": {
            name: None if (value := right.get(name)) is None else value >= 0.5 for name in given
        },
        "cost": total_cost(call.cost for call in live.calls),
        "problem": _problem(solved, brought.all(CriteriaSet)),
    }
    return frame


def _problem(solved: Replay, cut: Sequence[CriteriaSet]) -> str:
    stages: list[Replay | CriteriaSet] = [solved, *cut]
    return next((one.detail for one in stages if one.state != "scored"), "")
