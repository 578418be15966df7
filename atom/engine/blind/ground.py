"""What a blind control asks: which questions, whom, and what is there of it already.

The questions are a random sample that depends on the study alone, so that a larger control holds a
smaller one, and a stopped one goes on with the same.

Reference: METHODS T8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from atom.engine.clock import stamp, utc_now
from atom.engine.forecast import TRIED, guess_price, with_pictures
from atom.engine.members import Members, gather
from atom.engine.study.spec import RunSpec
from atom.errors import UsageError
from atom.judge.usage import estimate_request
from atom.pipeline import SCORING
from atom.records import (
    CriteriaSet,
    Criterion,
    Endpoint,
    Response,
    RunKind,
    Sample,
    Sampling,
    StageName,
    StudySample,
    content_id,
    total_cost,
)
from atom.stages import blind
from atom.store import Store, study_candidates
from atom.store.standing.criteria import quarantined, standing_sets
from atom.store.standing.marks import marks_of

STAGES: Final[tuple[StageName, ...]] = ("answer", "scoring")
REPLY_TOKENS = 200


@dataclass(frozen=True, kw_only=True)
class BlindSpec:
    """What a blind control is asked to do.

    Args:
        study_id: the study, by id or name.
        samples: how many questions, drawn at random.
        candidates: endpoint names of the models that are asked; they have answered with the
            pictures already.
        judge: the judge's endpoint; None = the study's own judge.
        budget: spend cap in USD.
        retry_failed: ask again for what failed earlier.
    """

    kind: ClassVar[RunKind] = "blind"

    study_id: str
    samples: int
    candidates: tuple[str, ...]
    judge: str | None = None
    budget: float | None = None
    retry_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class ModelQuestion:
    """One question put to one model.

    Args:
        candidate_id: the model.
        criteria_set: the criteria that stand for the question.
    """

    sample: Sample
    candidate_id: str
    criteria_set: CriteriaSet
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True, kw_only=True)
class ControlParts:
    """Whom a control asks about what.

    Args:
        members: study, judge and models; its places are the questions that were drawn.
        pairs: every question with every model.
        eligible: questions that could have been drawn.
    """

    members: Members
    pairs: tuple[ModelQuestion, ...]
    eligible: int

    def sampling(self, candidate_id: str) -> Sampling:
        """Return what a model's requests ask for."""
        return self.members.asked_samplings[candidate_id]

    def response_id(self, pair: ModelQuestion) -> str:
        """Name the answer to a pair."""
        return blind.response_id(
            pair.sample.id, pair.candidate_id, self.sampling(pair.candidate_id)
        )


def lay_ground(
    store: Store, spec: BlindSpec, endpoints: Mapping[str, Endpoint], moment: str
) -> ControlParts:
    """Find out what a control asks.

    Raises:
        UsageError: it asks for something that isn't there; the message says what to do.
        SettingsError: an endpoint's key isn't set, or a budget is given and it has no prices.
    """
    if spec.samples < 1:
        raise UsageError(f"{spec.samples:,} questions without pictures: at least 1 is needed")
    if not spec.candidates:
        raise UsageError("no model is named that answers without the pictures: name some")
    asked = RunSpec(
        study_id=spec.study_id,
        stages=STAGES,
        judge=spec.judge,
        candidates=spec.candidates,
        budget=spec.budget,
    )
    members = gather(store, asked, endpoints, moment)
    seated = {one.id for one in study_candidates(store, members.study.id)}
    foreign = [one.name for one in members.candidates if one.id not in seated]
    if foreign:
        raise UsageError(
            f"{', '.join(foreign)} hasn't answered in this study yet: let it answer with the "
            "pictures first, or nothing can be compared"
        )
    sets, samples = eligible_questions(store, members.places)
    if not samples:
        raise UsageError(
            "no question of this study has pictures and criteria: cut criteria first (a run of the "
            "stages replay and criteria), or import some"
        )
    drawn = draw(members.study.id, tuple(samples), spec.samples)
    ids = [use.criterion_id for name in drawn for use in sets[name].uses]
    criteria = {one.id: one for one in store.get_many(Criterion, ids)}
    chosen = frozenset(drawn)
    pairs = [
        ModelQuestion(
            sample=samples[name],
            candidate_id=candidate.id,
            criteria_set=sets[name],
            criteria=tuple(
                criteria[use.criterion_id]
                for use in sets[name].uses
                if use.criterion_id in criteria
            ),
        )
        for name in drawn
        for candidate in members.candidates
    ]
    places = tuple(place for place in members.places if place.sample_id in chosen)
    return ControlParts(
        members=replace(members, places=places), pairs=tuple(pairs), eligible=len(samples)
    )


def draw(study_id: str, sample_ids: Sequence[str], n: int) -> tuple[str, ...]:
    """Draw n of a study's questions at random; more of them hold fewer."""
    return tuple(sorted(sample_ids, key=lambda name: content_id("blind", study_id, name))[:n])


def eligible_questions(
    store: Store, places: Sequence[StudySample]
) -> tuple[dict[str, CriteriaSet], dict[str, Sample]]:
    """Return the criteria, and the questions, that have pictures and aren't set aside."""
    aside = quarantined(store, places)
    there = [place for place in places if place.sample_id not in aside]
    sets = {name: one for name, one in standing_sets(store, there).items() if one.uses}
    samples = {
        one.id: one
        for one in store.get_many(Sample, sets)
        if one.pictures and all(slot.picture_id for slot in one.pictures)
    }
    return sets, samples


@dataclass(kw_only=True)
class ControlRecords:
    """What is there of a control.

    Args:
        answers: answers without pictures by id.
        marks: states of marks by (answer, criterion).
    """

    answers: dict[str, Response]
    marks: dict[tuple[str, str], str]

    def missing(
        self, ground: ControlParts, pair: ModelQuestion, *, retry: bool = False
    ) -> tuple[bool, tuple[Criterion, ...]]:
        """Say what is missing of a pair: the answer, and which marks.

        Args:
            ground: names the answer.
            retry: whether what failed is wanted again.
        """
        name = ground.response_id(pair)
        answer = self.answers.get(name)
        unanswered = answer is None or (retry and answer.state == "failed")
        if answer is not None and answer.state != "scored" and not unanswered:
            return False, ()
        wanted = tuple(
            one
            for one in pair.criteria
            if (state := self.marks.get((name, one.id))) is None or (retry and state == "failed")
        )
        return unanswered, wanted


def load_have(store: Store, ground: ControlParts) -> ControlRecords:
    """Read what is there of a control."""
    names = [ground.response_id(pair) for pair in ground.pairs]
    answers = {one.id: one for one in store.get_many(Response, names)}
    judge = ground.members.judge
    if judge is None:
        return ControlRecords(answers=answers, marks={})
    marks = marks_of(store, ground.members.study, answers, judge.id)
    return ControlRecords(
        answers=answers,
        marks={
            (name, criterion): mark.state
            for (name, _), of_answer in marks.items()
            for criterion, mark in of_answer.items()
        },
    )


@dataclass(frozen=True, kw_only=True)
class BlindForecast:
    """What a control would ask.

    Args:
        samples: questions.
        eligible: questions that could have been drawn.
        answers: requests to models.
        scorings: requests to the judge.
        cost: USD for all, about; None where a price isn't known.
    """

    samples: int
    eligible: int
    answers: int
    scorings: int
    cost: float | None

    @property
    def calls(self) -> int:
        """Requests in all."""
        return self.answers + self.scorings


def forecast_blind(
    store: Store, spec: BlindSpec, endpoints: Mapping[str, Endpoint]
) -> BlindForecast:
    """Say what a control would ask and cost, before anything is sent.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ground = lay_ground(store, spec, endpoints, stamp(utc_now()))
    have = load_have(store, ground)
    costs: list[float | None] = []
    answers = scorings = 0
    for pair in ground.pairs:
        unanswered, wanted = have.missing(ground, pair)
        scorings += bool(wanted)
        if unanswered:
            answers += 1
            endpoint = ground.members.asked[pair.candidate_id]
            request = blind.build(pair.sample, None, ground.sampling(pair.candidate_id))
            costs.append(
                estimate_request(
                    request, endpoint.prices, endpoint.pictures, typical_completion=REPLY_TOKENS
                ).cost
            )
    prices = _scoring_prices(store, ground)
    known = [price for price in prices if price is not None]
    if scorings:
        costs.append(scorings * sum(known) / len(known) if len(known) == len(prices) > 0 else None)
    return BlindForecast(
        samples=len(ground.members.places),
        eligible=ground.eligible,
        answers=answers,
        scorings=scorings,
        cost=total_cost(costs),
    )


def _scoring_prices(store: Store, ground: ControlParts) -> list[float | None]:
    """Estimate what one scoring costs, on some of the questions."""
    if ground.members.judge_endpoint is None:
        return []
    samples = list({pair.sample.id: pair.sample for pair in ground.pairs}.values())
    tried = samples[:: max(1, len(samples) // TRIED)][:TRIED]
    return [guess_price(live, SCORING).cost for live in with_pictures(store, ground.members, tried)]
