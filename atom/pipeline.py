"""The method in one place: how a judge takes one sample apart, and every answer to it.

ATOM, section 3. A judge first solves the question itself, from the picture. It cuts its solution
into a few weighted criteria that can be checked one by one, and hangs each on a leaf of the
capability tree. Then it marks every answer at every criterion, and says whether the final answer
is right. Marks, summed by weight and by leaf, are the fingerprints of the models.

Runs go through the same stages sample by sample, item by item, as `engine.plan` finds what is
still missing in the store; Live replay takes them one at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from atom.records import CriteriaSet, Criterion, Record, Replay, Response, StageName
from atom.stages import answer, criteria, mapping, outcome, replay, scoring
from atom.stages.sight import Material
from atom.stages.stage import Ask, Setting, Stage, StageResult, Subject

ANSWER, REPLAY, CRITERIA = answer.STAGE, replay.STAGE, criteria.STAGE
MAPPING, SCORING, OUTCOME = mapping.STAGE, scoring.STAGE, outcome.STAGE
LOOP: tuple[Stage, ...] = (ANSWER, REPLAY, CRITERIA, MAPPING, SCORING, OUTCOME)
"""The stages in the order of the method; answers come first where candidates are asked."""
BY_NAME: Mapping[StageName, Stage] = {stage.name: stage for stage in LOOP}


def stages_named(names: Collection[StageName]) -> tuple[Stage, ...]:
    """Return the stages of these names, in the order of the method."""
    return tuple(stage for stage in LOOP if stage.name in names)


@dataclass(frozen=True, kw_only=True)
class Respondent:
    """One who is asked, and how.

    Args:
        setting: its id, its sampling and the rest.
    """

    ask: Ask
    setting: Setting


async def judge_sample(
    material: Material,
    judge: Respondent,
    *,
    candidates: Sequence[Respondent] = (),
    answers: Sequence[Response] = (),
) -> AsyncIterator[StageResult]:
    """Take a sample apart, and every answer to it.

    Args:
        judge: the judge; its setting holds the tree.
        candidates: models that answer first.
        answers: answers that are there already.

    Yields:
        What each stage brings, in order; no stage follows from what couldn't be used.

    Raises:
        AtomError: no reply came.
    """
    about, given = Subject(sample=material.sample), list(answers)
    for candidate in candidates:
        brought = await ANSWER.take(candidate.ask, material, about, candidate.setting)
        given += brought.all(Response)
        yield brought
    given = [response for response in given if response.state == "scored"]

    for stage in (REPLAY, CRITERIA, MAPPING):
        if usable(about, stage):
            yield (brought := await stage.take(judge.ask, material, about, judge.setting))
            about = known(about, brought.records)

    for response in given:
        answered = replace(about, response=response)
        if usable(answered, SCORING):
            yield await SCORING.take(judge.ask, material, answered, judge.setting)
        if material.sample.reference is not None:
            yield await OUTCOME.take(judge.ask, material, answered, judge.setting)


def known(about: Subject, records: Sequence[Record]) -> Subject:
    """Return a subject with what a stage has brought."""
    for record in records:
        if isinstance(record, Replay):
            about = replace(about, replay=record)
        elif isinstance(record, CriteriaSet):
            cut = tuple(one for one in records if isinstance(one, Criterion))
            about = replace(about, criteria_set=record, wanted=cut)
        elif isinstance(record, Response):
            about = replace(about, response=record)
    return about


def usable(about: Subject, stage: Stage) -> bool:
    """Whether all that a stage needs is there, and can be used."""
    needed = [getattr(about, name) for name in stage.needs]
    return all(found and getattr(found, "state", "scored") == "scored" for found in needed)
