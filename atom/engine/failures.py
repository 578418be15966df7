"""The records that stand for an item that failed."""

from __future__ import annotations

from dataclasses import dataclass

from atom.engine.plan import Item, PlanKeys
from atom.records import CriteriaSet, Criterion, Record, Replay, Response, Sample
from atom.stages import answer, criteria, mapping, outcome, replay, scoring


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What an item is about.

    Args:
        sample: the sample.
        replay: for criteria.
        criteria_set: for mapping and scoring.
        wanted: for mapping and scoring, the criteria that are still without.
        response: for scoring and outcome.
    """

    sample: Sample
    replay: Replay | None = None
    criteria_set: CriteriaSet | None = None
    wanted: tuple[Criterion, ...] = ()
    response: Response | None = None


def failed_records(
    error: str, call_id: str | None, item: Item, keys: PlanKeys, subject: Subject
) -> tuple[Record, ...]:
    """Account for an item that failed.

    Args:
        error: what went wrong, in words for the user.
        call_id: the failed call, where one was sent.
        item: the item.
        keys: the run's content keys.
        subject: what it is about.

    Returns:
        What the item would have brought, in state `failed`, under the same keys.
    """
    sample, judge, sampling = subject.sample, keys.judge_id, keys.judge_sampling
    if item.stage == "answer":
        who, how = item.candidate_id, keys.asks(item.candidate_id)
        return (answer.failed(error, sample, who, how, item.repeat, call_id),)
    if item.stage == "replay":
        told = keys.prompts["replay"] == replay.TOLD
        return (
            replay.failed(error, sample, judge, sampling, call_id=call_id, with_reference=told),
        )
    if item.stage == "criteria":
        assert subject.replay is not None
        result = criteria.failed(error, sample, subject.replay, judge, sampling, call_id=call_id)
        return (result.criteria_set,)
    if item.stage == "mapping":
        return mapping.failed(error, subject.wanted, keys.tree_version, judge, call_id)
    assert subject.response is not None
    if item.stage == "outcome":
        return (outcome.failed(error, subject.response, judge, call_id),)
    assert subject.criteria_set is not None
    return scoring.failed(
        error,
        subject.criteria_set,
        subject.wanted,
        subject.response,
        judge,
        sampling,
        item.repeat,
        call_id,
        blind=keys.prompts["scoring"] == scoring.BLIND,
    )
