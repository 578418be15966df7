"""Fidelity: have a judge rank a study's answers by rival methods.

What it says becomes verdicts of the study; how well they follow people is for the views to say.

Reference: ATOM 4.1, Tables 1 and 2, appendix B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from atom.analysis.agreement.fidelity import ranks_of
from atom.engine.agenda import AgendaShift, load_verdicts, open_agenda_run, open_asks, price_of
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import ConsentNeeded, questions_of
from atom.engine.members import asks, check_endpoint, judge_of, pick_endpoint
from atom.engine.process import halted_by_signals
from atom.engine.shift import ClientMaker, OnProgress, make_client
from atom.engine.subjects import read_material
from atom.errors import UsageError
from atom.judge import PicturePart
from atom.methods.agendas import CRITERIA
from atom.methods.base import MethodPlan, MethodSample
from atom.methods.registry import ASKED, METHODS, find_method
from atom.records import (
    Endpoint,
    Judge,
    Replay,
    Response,
    Run,
    Sample,
    Study,
    Verdict,
    content_id,
    total_cost,
)
from atom.stages.verdicts import Agenda, Ask
from atom.store import Store, find_study, standing, study_places
from atom.store.labels import labels_of


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

    study_id: str
    judge: str
    methods: tuple[str, ...] = ()
    limit: int | None = None
    budget: float | None = None
    retry_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A run's parts, found and checked.

    Args:
        study: the study.
        judge: the judge's record.
        endpoint: where it is asked.
        methods: the methods that ask anything.
        plan: what they are given.
        ranked: samples among them that people ranked.
    """

    study: Study
    judge: Judge
    endpoint: Endpoint
    methods: tuple[str, ...]
    plan: MethodPlan
    ranked: int

    @property
    def agenda(self) -> Agenda:
        """What there is to ask."""
        made = [make(self.plan) for name in self.methods if (make := METHODS[name].agenda)]
        return _Together(parts=tuple(made))


@dataclass(frozen=True, kw_only=True)
class _Together:
    """Several agendas as one."""

    parts: tuple[Agenda, ...]

    def asks(self, have: Mapping[str, Verdict]) -> Sequence[Ask]:
        return list(chain.from_iterable(part.asks(have) for part in self.parts))


@dataclass(frozen=True, kw_only=True)
class MethodForecast:
    """What a method would ask.

    Args:
        method: its name.
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
        methods: by method.
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


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A study's answers as they are ranked.

    Args:
        responses: sample's id → its answers, two at least.
        alone: samples with fewer than two answers.
    """

    responses: Mapping[str, tuple[Response, ...]] = field(default_factory=dict)
    alone: int = 0


def compared_answers(store: Store, study: Study) -> Compared:
    """Return the answers of a study that are ranked, by sample, in the study's order."""
    found = standing.compared_answers(store, study)
    usable = {name: answers for name, answers in found.items() if len(answers) > 1}
    ids = [one.id for answers in usable.values() for one in answers]
    records = {one.id: one for one in store.get_many(Response, ids)}
    return Compared(
        responses={
            name: tuple(records[one.id] for one in answers) for name, answers in usable.items()
        },
        alone=len(found) - len(usable),
    )


def prepare_fidelity(store: Store, spec: FidelitySpec, endpoints: Mapping[str, Endpoint]) -> Ready:
    """Find and check all that a run needs.

    Raises:
        UsageError: it asks for something that isn't there.
        SettingsError: a key isn't set, or a budget is given and an endpoint has no prices.
    """
    study = find_study(store, spec.study_id)
    for name in spec.methods:
        if find_method(name).agenda is None:
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
    return Ready(
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
        make = METHODS[name].agenda
        if make is None:
            continue
        agenda = make(ready.plan)
        asks = open_asks(agenda, have, retry_failed=spec.retry_failed)
        first = {ask.blank.subject_id for ask in asks if ask.blank.part.endswith(f"/{CRITERIA}")}
        later = sum(answers[subject] for subject in first)
        blocked = len(answers.keys() - {ask.blank.subject_id for ask in agenda.asks(have)})
        cost = price_of(ready.endpoint, asks, len(asks) + later)
        rows.append(
            MethodForecast(method=name, calls=len(asks), later=later, blocked=blocked, cost=cost)
        )
    return FidelityForecast(
        samples=len(ready.plan.samples), ranked=ready.ranked, methods=tuple(rows)
    )


def open_fidelity(
    store: Store,
    spec: FidelitySpec,
    endpoints: Mapping[str, Endpoint],
    *,
    clock: Clock = utc_now,
) -> Run:
    """Check what a judge is to be asked, and write the run.

    The same asked for again takes up the run that is there.

    Raises:
        UsageError: it asks for something that isn't there, or it is running already.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    store.must_be_open(
        "this store is sealed: copy the study into one of your own first (`study copy`)"
    )
    ready = prepare_fidelity(store, spec, endpoints)
    _ask_consent(ready)
    moment = stamp(clock())
    told = (ready.endpoint.name, list(ready.methods), spec.limit, ready.plan.sampling.key)
    run_id = content_id("fidelity run", ready.study.id, *told)[:12]
    row = Run(
        id=run_id,
        study_id=ready.study.id,
        stages=(),
        judge=ready.endpoint.name,
        methods=ready.methods,
        limit=spec.limit,
        budget=spec.budget,
        created=moment,
        heartbeat=moment,
    )
    return open_agenda_run(store, row, [ready.judge])


def _ask_consent(ready: Ready) -> None:
    """Refuse to send anything to a host that the study's owner hasn't agreed to.

    Raises:
        ConsentNeeded: with what would be sent.
    """
    questions = questions_of(
        [ready.endpoint],
        ready.study.consent,
        lambda: [one.sample.pictures for one in ready.plan.samples],
    )
    if questions:
        raise ConsentNeeded(questions)


async def run_fidelity(
    store: Store,
    run_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    retry_failed: bool = False,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
) -> Run:
    """Have a judge apply the methods to a study, or to the rest of it, in this process.

    Args:
        store: the store.
        run_id: the run, as `open_fidelity` made it.
        endpoints: endpoints by name.
        retry_failed: ask again for what failed earlier.
        make: opens clients.
        clock: UTC time, for records.
        on_progress: called twice a second at most.

    Returns:
        The run's row at its end.

    Raises:
        AtomError: it can't begin, or the store can't be written.
    """
    row = store.get(Run, run_id)
    if row is None or not row.methods or row.bench_set_id is not None or row.judge is None:
        raise UsageError(f"there is no fidelity run {run_id!r}; `run status` lists the runs")
    spec = FidelitySpec(
        study_id=row.study_id,
        judge=row.judge,
        methods=row.methods,
        limit=row.limit,
        budget=row.budget,
    )
    ready = prepare_fidelity(store, spec, endpoints)
    _ask_consent(ready)
    shift = AgendaShift(
        store,
        row,
        ready.agenda,
        ready.study.id,
        {"judge": ready.endpoint},
        retry_failed=retry_failed,
        make=make,
        clock=clock,
        on_progress=on_progress,
    )
    with halted_by_signals(shift.signalled):
        return await shift.run()
