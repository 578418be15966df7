"""What a run or a step will probably cost, before anything is sent.

What a later step will be asked about isn't there yet; replays, criteria and answers of usual
length stand in for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atom.engine.clock import stamp, utc_now
from atom.engine.items import read_material
from atom.engine.live_replay import Live
from atom.engine.members import Members, gather
from atom.engine.notices import notices
from atom.engine.plan import PlanKeys, SampleState, expected, outlook
from atom.engine.sample_states import CHUNK, load_states
from atom.engine.study.spec import STAGES, RunSpec
from atom.errors import PictureError
from atom.judge import CostEstimate
from atom.pipeline import BY_NAME, OUTCOME, REPLAY
from atom.records import (
    CriteriaSet,
    Criterion,
    CriterionUse,
    Endpoint,
    Replay,
    ReplayStep,
    Response,
    Sample,
    StageName,
    total_cost,
)
from atom.stages.stage import Stage, Subject
from atom.store import Store

TRIED = 6
"""Samples whose requests are built to see how long they are."""
USUAL_CRITERIA = 4
_STEP = "The mark is found in the picture and its value is read against the scale beside it. "
_QUESTION = "Which value does the mark in the picture have on the scale?"
_ANSWER = "I look at the picture and read the values that the question is about. " * 9


@dataclass(frozen=True, kw_only=True)
class StageForecast:
    """What one stage of a run asks one endpoint.

    Args:
        endpoint: who is asked; None where a rule decides, which is free.
        calls: how many requests; stored replies that are used again would make it fewer.
        tokens: tokens in and out, about.
        cost: USD, about; None where the endpoint has no prices.
    """

    stage: StageName
    endpoint: Endpoint | None
    calls: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a run would do.

    Args:
        samples: samples that it looks at.
        stages: the work by stage and endpoint, in the order of the stages.
        notices: what should be known before it starts, a sentence or two each.
    """

    samples: int
    stages: tuple[StageForecast, ...]
    notices: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """Requests in all."""
        return sum(stage.calls for stage in self.stages if stage.endpoint is not None)

    @property
    def tokens(self) -> int:
        """Tokens in all."""
        return sum(stage.tokens for stage in self.stages)

    @property
    def cost(self) -> float | None:
        """USD in all; None where a price is unknown."""
        return total_cost(stage.cost for stage in self.stages)


def forecast(store: Store, spec: RunSpec, endpoints: Mapping[str, Endpoint]) -> Forecast:
    """Say what a run would do and cost.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    members = gather(store, spec, endpoints, stamp(utc_now()))
    keys = members.keys(spec)
    counts: Counter[tuple[StageName, str]] = Counter()
    compared = 0
    for start in range(0, len(members.places), CHUNK):
        places = members.places[start : start + CHUNK]
        for loaded in load_states(store, keys, places, members.candidate_ids):
            work = list(_work(loaded.have, keys))
            counts.update(work)
            compared += loaded.have.has_reference and any(stage == REPLAY.name for stage, _ in work)
    tried = [replace(live, score_pictures=spec.score_pictures) for live in _tried(store, members)]
    if compared and not all(OUTCOME.free(live.sample) for live in tried):
        # Where no rule can, the judge compares its own solution with the known answer, too.
        counts[OUTCOME.name, ""] += compared
    stages = [
        _priced(stage, who, calls, members, tried)
        for (stage, who), calls in sorted(counts.items(), key=lambda i: STAGES.index(i[0][0]))
    ]
    return Forecast(
        samples=len(members.places),
        stages=tuple(stages),
        notices=notices(store, spec, members),
    )


def guess_price(
    live: Live, stage: Stage, there: Subject | None = None, candidate: Endpoint | None = None
) -> CostEstimate:
    """Estimate what a step would cost, with stand-ins for what isn't there yet.

    Args:
        live: the sample and its judge.
        candidate: who answers, for answer.
    """
    there = there or live.about()
    usual_set, usual = _usual_criteria(live.sample)
    cut = there.criteria_set is not None and bool(there.wanted)
    subject = live.about(
        replay=there.replay or _usual_replay(live.sample),
        criteria_set=there.criteria_set if cut else usual_set,
        wanted=there.wanted if cut else usual,
        response=there.response or _usual_response(live.sample),
    )
    return live.price(stage, subject, candidate)


def _work(have: SampleState, keys: PlanKeys) -> Iterator[tuple[StageName, str]]:
    """List (stage, candidate) of everything that is left, as if all went well."""
    while ready := outlook(have, keys).ready:
        for item in ready:
            yield item.stage, item.candidate_id if BY_NAME[item.stage].by_candidate else ""
            have = expected(have, item, USUAL_CRITERIA)


def _tried(store: Store, members: Members) -> Iterator[Live]:
    places = members.places[:: max(1, len(members.places) // TRIED)][:TRIED]
    return with_pictures(
        store, members, store.get_many(Sample, [place.sample_id for place in places])
    )


def with_pictures(store: Store, members: Members, samples: Iterable[Sample]) -> Iterator[Live]:
    """Make samples ready to be priced; one whose pictures can't be read is left out."""
    for sample in samples:
        try:
            pictures = read_material(store, sample).pictures
            for part in pictures:
                part.read()
        except PictureError:
            continue
        yield Live(
            sample=sample,
            pictures=pictures,
            judge=members.judge_endpoint or next(iter(members.endpoints)),
            judge_sampling=members.study.judge_sampling,
            answer_sampling=members.study.answer_sampling,
            tree=members.tree,
        )


def _priced(
    stage: StageName, who: str, calls: int, members: Members, tried: Sequence[Live]
) -> StageForecast:
    endpoint = members.asked[who] if who else members.judge_endpoint
    step = BY_NAME[stage]
    asked = [live for live in tried if not step.free(live.sample)]
    if endpoint is None or (tried and not asked):
        return StageForecast(stage=stage, endpoint=None, calls=calls, tokens=0, cost=0.0)
    calls = round(calls * len(asked) / len(tried)) if tried else calls
    prices = [guess_price(live, step, candidate=endpoint) for live in asked]
    tokens = [price.prompt_tokens + price.completion_tokens for price in prices]
    costs = [price.cost for price in prices if price.cost is not None]
    known = bool(costs) and len(costs) == len(prices)
    return StageForecast(
        stage=stage,
        endpoint=endpoint,
        calls=calls,
        tokens=round(calls * sum(tokens) / len(tokens)) if tokens else 0,
        cost=calls * sum(costs) / len(costs) if known else None,
    )


def _usual_replay(sample: Sample) -> Replay:
    return Replay(
        id="usual",
        sample_id=sample.id,
        judge_id="usual",
        prompt="usual",
        state="scored",
        steps=tuple(ReplayStep(text=_STEP) for _ in range(USUAL_CRITERIA)),
        final_answer="42",
    )


def _usual_criteria(sample: Sample) -> tuple[CriteriaSet, tuple[Criterion, ...]]:
    criteria = tuple(
        Criterion(
            id=Criterion.make_id(sample.id, _QUESTION, "42", number),
            sample_id=sample.id,
            question=_QUESTION,
            ground_truth="42",
        )
        for number in range(USUAL_CRITERIA)
    )
    criteria_set = CriteriaSet(
        id="usual",
        sample_id=sample.id,
        judge_id="usual",
        prompt="usual",
        state="scored",
        uses=tuple(
            CriterionUse(criterion_id=criterion.id, position=place, weight=2)
            for place, criterion in enumerate(criteria)
        ),
    )
    return criteria_set, criteria


def _usual_response(sample: Sample) -> Response:
    return Response(
        id="usual", sample_id=sample.id, candidate_id="usual", prompt="usual", text=_ANSWER
    )
