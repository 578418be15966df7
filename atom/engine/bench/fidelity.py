"""Fidelity: have a judge rank a study's answers by rival methods.

What it says becomes verdicts of the study; how well they follow people is for the views to say.

Reference: ATOM 4.1, Tables 1 and 2, appendix B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import ClassVar, Final

from atom.analysis.agreement.fidelity import ranks_of
from atom.display.facts import Facts
from atom.display.numbers import count
from atom.display.table import Column, Table
from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, questions_of
from atom.engine.endpoints.price import cost_words
from atom.engine.execution import Execution, RunContext
from atom.engine.items import read_material
from atom.engine.members import asks, check_endpoint, judge_of, pick_endpoint
from atom.engine.work import Work
from atom.engine.worklist import WorklistExecution, load_verdicts, open_asks, price_of
from atom.errors import UsageError
from atom.judge import PicturePart
from atom.methods.base import MethodPlan, MethodSample
from atom.methods.registry import ASKED, METHODS, find_method
from atom.methods.worklists import CRITERIA
from atom.records import (
    Endpoint,
    Judge,
    MethodsTask,
    Replay,
    Response,
    Run,
    RunKind,
    Sample,
    Study,
    Verdict,
    content_id,
    total_cost,
)
from atom.stages.verdicts import Ask, Worklist
from atom.store import Store, Writer, find_study, study_places
from atom.store.labels import labels_of
from atom.store.standing.answers import compared_answers as all_compared


@dataclass(frozen=True, kw_only=True)
class FidelitySpec:
    """What a judge is to be asked.

    Args:
        study_id: the study's id or name.
        judge: name of the judge's endpoint.
        methods: the methods; empty = all that ask anything.
        limit: only the first so many samples, those that people ranked first.
        budget: spend cap in USD.
        retry_failed: ask again for what failed earlier.
    """

    kind: ClassVar[RunKind] = "methods"

    study_id: str
    judge: str
    methods: tuple[str, ...] = ()
    limit: int | None = None
    budget: float | None = None
    retry_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class FidelityParts:
    """A run's parts, found and checked.

    Args:
        methods: the methods that ask anything.
        ranked: samples among them that people ranked.
    """

    study: Study
    judge: Judge
    endpoint: Endpoint
    methods: tuple[str, ...]
    plan: MethodPlan
    ranked: int

    @property
    def worklist(self) -> Worklist:
        """What there is to ask."""
        made = [make(self.plan) for name in self.methods if (make := METHODS[name].worklist)]
        return _JoinedWorklist(parts=tuple(made))


@dataclass(frozen=True, kw_only=True)
class _JoinedWorklist:
    """Several worklists as one."""

    parts: tuple[Worklist, ...]

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        return list(chain.from_iterable(part.asks(have) for part in self.parts))


@dataclass(frozen=True, kw_only=True)
class MethodForecast:
    """What a method would ask.

    Args:
        calls: requests that can be asked at once.
        later: requests that build on their replies, about.
        blocked: samples for which nothing can be asked, since no solution stands for them.
        cost: USD, about, later requests included; None where a price is unknown.
    """

    method: str
    calls: int
    later: int
    blocked: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, kw_only=True)
class FidelityForecast:
    """What a run would ask.

    Args:
        samples: samples that are looked at.
        ranked: of these, samples that people ranked.
    """

    samples: int
    ranked: int
    methods: tuple[MethodForecast, ...] = ()

    @property
    def cost(self) -> float | None:
        """USD of all, about, later requests included; None where a price is unknown."""
        return total_cost(one.cost for one in self.methods)

    @property
    def calls(self) -> int:
        """All requests, later ones included."""
        return sum(one.calls + one.later for one in self.methods)

    def facts(self, judge: Endpoint) -> Facts:
        """Say what the methods would ask and cost.

        Args:
            judge: the endpoint that is asked.
        """
        about = "about " if any(one.later for one in self.methods) else ""
        price = cost_words(None, self.cost, [judge])
        calls = f"{about}{count(self.calls, 'call')} to {judge.name}"
        more = ["People have ranked none of them yet; what is asked now is kept until they do."]
        if self.ranked:
            more = [f"People have ranked {self.ranked:,} of them."]
        if any(one.blocked for one in self.methods):
            more.append("Solutions come from a run of a judge on the study.")
        return Facts(
            head=f"{count(self.samples, 'sample')}: {calls}, {price}.",
            more=tuple(more),
            table=Table(
                label="By method",
                columns=(
                    Column(title="Method", of=lambda one: METHODS[one.method].title),
                    Column(title="Calls", of=lambda one: one.calls, number=True),
                    Column(title="Then, about", of=lambda one: one.later, number=True),
                    Column(
                        title="Without a solution", of=lambda one: one.blocked or "", number=True,
                        spare=True,
                    ),
                ),
                rows=self.methods,
            ),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AnswersToRank:
    """A study's answers as they are ranked.

    Args:
        responses: sample's id → its answers, two at least.
        alone: samples with fewer than two answers.
    """

    responses: Mapping[str, tuple[Response, ...]] = field(default_factory=dict)
    alone: int = 0


def compared_answers(store: Store, study: Study) -> AnswersToRank:
    """Return the answers of a study that are ranked, by sample, in the study's order."""
    found = all_compared(store, study)
    usable = {name: answers for name, answers in found.items() if len(answers) > 1}
    ids = [one.id for answers in usable.values() for one in answers]
    records = {one.id: one for one in store.get_many(Response, ids)}
    return AnswersToRank(
        responses={
            name: tuple(records[one.id] for one in answers) for name, answers in usable.items()
        },
        alone=len(found) - len(usable),
    )


def prepare_fidelity(
    store: Store, spec: FidelitySpec, endpoints: Mapping[str, Endpoint]
) -> FidelityParts:
    """Find and check all that a run needs.

    Raises:
        UsageError: it asks for something that isn't there.
        SettingsError: a key isn't set, or a budget is given and an endpoint has no prices.
    """
    study = find_study(store, spec.study_id)
    for name in spec.methods:
        if find_method(name).worklist is None:
            raise UsageError(
                f"the method {name!r} asks nothing: it is read off the checkpoints of the study's "
                f"own run; there are to ask {', '.join(ASKED)}"
            )
    if spec.limit is not None and spec.limit < 1:
        raise UsageError(f"the limit is {spec.limit}: at least 1 sample is needed")
    endpoint = pick_endpoint(endpoints, spec.judge, "judge")
    check_endpoint(endpoint, spec.budget)
    judge = judge_of(endpoint)
    responses = compared_answers(store, study).responses
    if not responses:
        raise UsageError(
            f"no sample of {study.name!r} has two answers to compare: let two candidates answer "
            "first (`run start --stages answer`)"
        )
    ranked = _ranked(store, study, responses)
    order = [name for name in responses if name in ranked]
    order += [name for name in responses if name not in ranked]
    chosen = order[: spec.limit]
    samples = {sample.id: sample for sample in store.get_many(Sample, chosen)}
    replays = _solutions(store, study, chosen)
    plan = MethodPlan(
        study_id=study.id,
        samples=[
            MethodSample(sample=samples[name], responses=responses[name], replay=replays.get(name))
            for name in chosen
        ],
        pictures=lambda sample: _pictures(store, sample),
        judge=judge.id,
        sampling=asks(endpoint, study.judge_sampling),
    )
    return FidelityParts(
        study=study,
        judge=judge,
        endpoint=endpoint,
        methods=tuple(name for name in ASKED if name in spec.methods) or ASKED,
        plan=plan,
        ranked=sum(name in ranked for name in chosen),
    )


def _pictures(store: Store, sample: Sample) -> tuple[PicturePart, ...]:
    return read_material(store, sample).pictures


def _ranked(store: Store, study: Study, responses: Mapping[str, tuple[Response, ...]]) -> set[str]:
    """Return the samples that people ranked, or some pair of."""
    sample_of = {answer.id: name for name, answers in responses.items() for answer in answers}
    rows = labels_of(store, study.id, ("ranking", "preference"))
    return {
        sample_of[one.response_id]
        for row in rows
        for one in ranks_of(row)
        if one.response_id in sample_of
    }


def _solutions(store: Store, study: Study, sample_ids: Sequence[str]) -> dict[str, Replay]:
    """Return the solutions that stand for the samples: those their criteria were cut from."""
    wanted = set(sample_ids)
    ids = [
        place.replay_id
        for place in study_places(store, study.id)
        if place.replay_id is not None and place.sample_id in wanted
    ]
    rows = store.get_many(Replay, ids)
    return {row.sample_id: row for row in rows if row.state == "scored"}


def forecast_fidelity(
    store: Store, spec: FidelitySpec, endpoints: Mapping[str, Endpoint]
) -> FidelityForecast:
    """Say what a run would ask, and what about it would cost.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ready = prepare_fidelity(store, spec, endpoints)
    have = load_verdicts(store, ready.study.id)
    answers = {one.sample.id: len(one.responses) for one in ready.plan.samples}
    rows = []
    for name in ready.methods:
        make = METHODS[name].worklist
        if make is None:
            continue
        worklist = make(ready.plan)
        asks = open_asks(worklist, have, retry_failed=spec.retry_failed)
        first = {ask.blank.subject_id for ask in asks if ask.blank.part.endswith(f"/{CRITERIA}")}
        later = sum(answers[subject] for subject in first)
        blocked = len(answers.keys() - {ask.blank.subject_id for ask in worklist.asks(have)})
        cost = price_of(ready.endpoint, asks, len(asks) + later)
        rows.append(
            MethodForecast(method=name, calls=len(asks), later=later, blocked=blocked, cost=cost)
        )
    return FidelityForecast(
        samples=len(ready.plan.samples), ranked=ready.ranked, methods=tuple(rows)
    )


class _MethodsWork(Work[FidelitySpec, FidelityParts]):
    """Has a judge rank a study's answers by rival methods; the same again goes on with its run."""

    sealed = "this store is sealed: copy the study into one of your own first (`study copy`)"

    def prepare(
        self, store: Store, spec: FidelitySpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> FidelityParts:
        return prepare_fidelity(store, spec, endpoints)

    def forecast(
        self, store: Store, spec: FidelitySpec, endpoints: Mapping[str, Endpoint]
    ) -> FidelityForecast:
        return forecast_fidelity(store, spec, endpoints)

    def questions(self, store: Store, ground: FidelityParts) -> tuple[ConsentQuestion, ...]:
        return questions_of(
            [ground.endpoint],
            ground.study.consent,
            lambda: [one.sample.pictures for one in ground.plan.samples],
        )

    def row(self, spec: FidelitySpec, ground: FidelityParts, moment: datetime) -> Run:
        asked = ground.endpoint.name
        told = (asked, list(ground.methods), spec.limit, ground.plan.sampling.key)
        created = stamp(moment)
        return Run(
            id=content_id("fidelity run", ground.study.id, *told)[:12],
            study_id=ground.study.id,
            judge=asked,
            task=MethodsTask(kind="methods", methods=ground.methods),
            limit=spec.limit,
            budget=spec.budget,
            created=created,
            heartbeat=created,
        )

    def begin(self, writer: Writer, ground: FidelityParts, moment: str) -> None:
        writer.put([ground.judge])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> FidelitySpec:
        assert isinstance(run.task, MethodsTask)
        return FidelitySpec(
            study_id=run.study_id,
            judge=run.judge or "",
            methods=run.task.methods,
            limit=run.limit,
            budget=run.budget,
            retry_failed=retry_failed,
        )

    def execution(
        self, context: RunContext, spec: FidelitySpec, ground: FidelityParts
    ) -> Execution:
        return WorklistExecution(
            context,
            ground.worklist,
            ground.study.id,
            {"judge": ground.endpoint},
            retry_failed=spec.retry_failed,
        )


WORK: Final = _MethodsWork()
