"""Live replay's steps in a row, as its page takes them."""

from __future__ import annotations

from atom.engine.live_replay import Live
from atom.pipeline import ANSWER, CRITERIA, MAPPING, OUTCOME, REPLAY, SCORING
from atom.records import Checkpoint, CriteriaSet, Criterion, Mapping, Outcome, Replay, Response
from atom.stages.criteria import CriteriaResult


async def solve(live: Live, on_text=None) -> Replay:
    """Let the judge solve the sample."""
    return (await live.take(REPLAY, live.about(), on_text)).one(Replay)


async def cut(live: Live, solved: Replay, on_text=None) -> CriteriaResult:
    """Let the judge cut its solution into criteria."""
    brought = await live.take(CRITERIA, live.about(replay=solved), on_text)
    return CriteriaResult(criteria_set=brought.one(CriteriaSet), criteria=brought.all(Criterion))


async def hang(live: Live, result: CriteriaResult) -> tuple[Mapping, ...]:
    """Let the judge map criteria."""
    about = live.about(criteria_set=result.criteria_set, wanted=result.criteria)
    return (await live.take(MAPPING, about)).all(Mapping)


async def answered(live: Live, candidate) -> tuple[Response, Outcome | None]:
    """Let a candidate answer."""
    brought = await live.take(ANSWER, candidate=candidate)
    return brought.one(Response), next(iter(brought.all(Outcome)), None)


async def score(live: Live, result: CriteriaResult, response: Response) -> tuple[Checkpoint, ...]:
    """Let the judge score an answer."""
    about = live.about(criteria_set=result.criteria_set, wanted=result.criteria, response=response)
    return (await live.take(SCORING, about)).all(Checkpoint)


async def checked(live: Live, response: Response) -> Outcome:
    """Let the judge say whether an answer is right."""
    return (await live.take(OUTCOME, live.about(response=response))).one(Outcome)
