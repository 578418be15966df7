"""What each method asks: one worklist a method, built from the requests beside this module.

A question about several answers is named by who they are (`roster`), so that an answer that joins
later makes a new question instead of a hole in an old one.

Reference: ATOM 4.1, Tables 1 and 2, appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from atom.judge.request import Request
from atom.methods import bare_criteria, batch_rank, pointwise, scan_criteria, scan_scoring, whole
from atom.methods.base import (
    MethodName,
    MethodPlan,
    MethodSample,
    Scores,
    answers_of,
    part_of,
    shuffled,
)
from atom.records import Replay, Response, Verdict, content_id
from atom.stages import scoring
from atom.stages.verdicts import Ask, blank

CRITERIA = "criteria"
"""What a verdict's part says behind the method's name where criteria are made."""


def roster(response_ids: Sequence[str]) -> str:
    """Name a set of answers, in whatever order they come."""
    return content_id("roster", sorted(response_ids))[:10]


@dataclass(frozen=True, kw_only=True)
class MethodWorklist:
    """Asks a method's questions about one sample after the other.

    Args:
        plan: what the judge is asked about.
        questions: the questions about one sample, given the verdicts that are there.
    """

    plan: MethodPlan
    questions: Callable[[MethodPlan, MethodSample, Mapping[str, Verdict]], Iterator[Ask]]

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        """Return all that can be asked by now."""
        return [
            ask for sample in self.plan.samples for ask in self.questions(self.plan, sample, have)
        ]


def _blank(plan: MethodPlan, sample: MethodSample, part: str, prompt: str) -> Verdict:
    return blank(plan.study_id, sample.sample.id, part, plan.judge, prompt, plan.sampling)


def ids_of(sample: MethodSample) -> list[str]:
    """Return the ids of a sample's answers."""
    return [response.id for response in sample.responses]


# --- pointwise -----------------------------------------------------------------------------------


def pointwise_asks(
    plan: MethodPlan, sample: MethodSample, have: Mapping[str, Verdict]
) -> Iterator[Ask]:
    """Ask for one score an answer."""
    for response in sample.responses:

        def build(response: Response = response) -> Request:
            pictures = plan.pictures(sample.sample)
            return pointwise.build(sample.sample, pictures, response, plan.sampling)

        part = part_of("pointwise", response.id)
        yield Ask(
            blank=_blank(plan, sample, part, pointwise.PROMPT), build=build, read=pointwise.parse
        )


# --- batch ---------------------------------------------------------------------------------------


def batch_asks(
    plan: MethodPlan, sample: MethodSample, have: Mapping[str, Verdict]
) -> Iterator[Ask]:
    """Ask for one ranking a sample, the answers in a shuffled order."""
    order = shuffled(sample.sample.id, sample.responses, batch_rank.TASK)

    def build() -> Request:
        pictures = plan.pictures(sample.sample)
        return batch_rank.build(sample.sample, pictures, order, plan.sampling)

    part = part_of("batch", roster(ids_of(sample)))
    yield Ask(
        blank=_blank(plan, sample, part, batch_rank.PROMPT),
        build=build,
        read=partial(batch_rank.parse, order=order),
    )


# --- SCAN ----------------------------------------------------------------------------------------


def scan_asks(plan: MethodPlan, sample: MethodSample, have: Mapping[str, Verdict]) -> Iterator[Ask]:
    """Ask for criteria from comparing the answers, then for every answer's scores on them."""
    order = shuffled(sample.sample.id, sample.responses, scan_criteria.TASK)

    def compare() -> Request:
        pictures = plan.pictures(sample.sample)
        return scan_criteria.build(sample.sample, pictures, order, plan.sampling)

    who = roster(ids_of(sample))
    first = Ask(
        blank=_blank(plan, sample, part_of("scan", f"{who}/{CRITERIA}"), scan_criteria.PROMPT),
        build=compare,
        read=scan_criteria.parse,
    )
    yield first
    criteria = scan_criteria.criteria_of(have.get(first.key))
    for response in sample.responses if criteria else ():

        def build(response: Response = response) -> Request:
            pictures = plan.pictures(sample.sample)
            return scan_scoring.build(sample.sample, pictures, criteria, response, plan.sampling)

        part = part_of("scan", f"{who}/{response.id}")
        yield Ask(
            blank=_blank(plan, sample, part, scan_scoring.PROMPT),
            build=build,
            read=partial(scan_scoring.parse, criteria=criteria),
        )


# --- ablations -----------------------------------------------------------------------------------


def no_replay_asks(
    plan: MethodPlan, sample: MethodSample, have: Mapping[str, Verdict]
) -> Iterator[Ask]:
    """Ask for criteria without a solution, then for every answer's scores on them."""

    def make() -> Request:
        return bare_criteria.build(sample.sample, plan.pictures(sample.sample), plan.sampling)

    first = Ask(
        blank=_blank(plan, sample, part_of("no_replay", CRITERIA), bare_criteria.PROMPT),
        build=make,
        read=bare_criteria.parse,
    )
    yield first
    made = bare_criteria.criteria_of(have.get(first.key), sample.sample)
    if made is None:
        return
    criteria_set, criteria = made
    for response in sample.responses:

        def build(response: Response = response) -> Request:
            pictures = plan.pictures(sample.sample)
            return scoring.build(
                sample.sample, pictures, criteria_set, criteria, response, plan.sampling
            )

        yield Ask(
            blank=_blank(plan, sample, part_of("no_replay", response.id), scoring.PROMPT),
            build=build,
            read=partial(
                bare_criteria.parse_scores,
                criteria_set=criteria_set,
                criteria=criteria,
                response=response,
            ),
        )


def no_decomposition_asks(
    plan: MethodPlan, sample: MethodSample, have: Mapping[str, Verdict]
) -> Iterator[Ask]:
    """Ask for one score an answer, the solution at hand; nothing where there is no solution."""
    replay = sample.replay
    if replay is None or replay.state != "scored":
        return
    for response in sample.responses:

        def build(response: Response = response, replay: Replay = replay) -> Request:
            pictures = plan.pictures(sample.sample)
            return whole.build(sample.sample, pictures, replay, response, plan.sampling)

        part = part_of("no_decomposition", response.id)
        yield Ask(blank=_blank(plan, sample, part, whole.PROMPT), build=build, read=whole.parse)


# --- scores --------------------------------------------------------------------------------------


def _number(verdict: Verdict | None) -> int | None:
    if verdict is None or verdict.state != "scored" or verdict.value is None:
        return None
    return round(verdict.value)


def value_scores(
    method: MethodName, response_ids: Sequence[str], verdicts: Sequence[Verdict]
) -> Scores:
    """Return each answer's own value: a score, or a sum of weight times score."""
    mine = answers_of(method, verdicts)
    return {name: _number(mine.get(name)) for name in response_ids}


def scan_scores(response_ids: Sequence[str], verdicts: Sequence[Verdict]) -> Scores:
    """Return each answer's sum over the criteria that were made from just these answers."""
    mine, who = answers_of("scan", verdicts), roster(response_ids)
    return {name: _number(mine.get(f"{who}/{name}")) for name in response_ids}


def batch_scores(response_ids: Sequence[str], verdicts: Sequence[Verdict]) -> Scores:
    """Return each answer's rank in the ranking of just these answers, its sign turned."""
    verdict = answers_of("batch", verdicts).get(roster(response_ids))
    ranks = batch_rank.ranks_of(verdict) if verdict else {}
    return {name: ranks.get(name) for name in response_ids}
