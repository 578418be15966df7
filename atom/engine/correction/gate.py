"""The behavioural leak gate, on demand: the model answers without the pictures, with and without
the hints that it was given. Where they help it then, they tell what only the picture should.

Calls are kept as they come, so that a gate that was stopped goes on and nothing is paid twice.

Reference: METHODS B16.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atom.analysis.correction.trials import BlindGate, blind_gate
from atom.engine.consent import ConsentNeeded, ConsentQuestion, needs_consent
from atom.engine.correction.ground import endpoint_of
from atom.engine.execution import ClientMaker, make_client
from atom.engine.members import asks, check_endpoint
from atom.engine.replies import PaidOnce, stored_reply
from atom.errors import JudgeError, SpendCapReached, UsageError
from atom.judge import PictureCache, Request, SpendLedger, failed_call
from atom.judge.usage import estimate_request
from atom.records import (
    Candidate,
    Correction,
    Endpoint,
    Experiment,
    Response,
    Sample,
    Study,
    total_cost,
)
from atom.stages import blind
from atom.store import Store, table
from atom.store.team.budgets import may_ask

_REPLY_TOKENS = 200


@dataclass(frozen=True, kw_only=True)
class BlindPair:
    """One answer's two questions.

    Args:
        sample: the question, whose pictures aren't shown.
        without: the question alone.
    """

    sample: Sample
    without: Request
    hinted: Request


@dataclass(frozen=True, kw_only=True)
class GatePlan:
    """What the gate asks.

    Args:
        pairs: what is asked, a pair for each answer that got hints.
        missing: requests that no stored reply answers.
        cost: USD for those, about; None where the endpoint has no prices.
    """

    study: Study
    endpoint: Endpoint
    pairs: tuple[BlindPair, ...]
    missing: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """What the gate found.

    Args:
        verdict: with and without hints, compared.
        undecided: answers without a result in one of the two.
        message: why it ended early; empty otherwise.
    """

    verdict: BlindGate
    undecided: int
    message: str = ""


def prepare_gate(
    store: Store,
    experiment: Experiment,
    endpoints: Mapping[str, Endpoint],
    *,
    limit: int | None = None,
) -> GatePlan:
    """Say what the gate would ask.

    Args:
        endpoints: endpoints by name.
        limit: at most this many answers, in order of their ids.

    Raises:
        UsageError: the experiment holds no hints, or the model can't be asked.
    """
    study = store.get(Study, experiment.study_id)
    candidate = store.get(Candidate, experiment.candidate_id)
    endpoint = endpoint_of(candidate, endpoints) if candidate else None
    if study is None or candidate is None or endpoint is None:
        raise UsageError("the model of this experiment has no endpoint, so it can't be asked")
    given = _hints(store, experiment)
    if not given:
        raise UsageError(
            "no hint was given in this experiment: only the arms 'peer' and 'guided_peer' have some"
        )
    firsts = {r.id: r for r in store.get_many(Response, sorted(given)[:limit])}
    samples = {s.id: s for s in store.get_many(Sample, [r.sample_id for r in firsts.values()])}
    sampling = asks(endpoint, study.answer_sampling)
    pairs = tuple(
        BlindPair(
            sample=(sample := samples[first.sample_id]),
            without=blind.build(sample, None, sampling),
            hinted=blind.build(sample, given[name], sampling),
        )
        for name, first in sorted(firsts.items())
    )
    asked = [request for pair in pairs for request in (pair.without, pair.hinted)]
    missing = [r for r in asked if stored_reply(store, r, endpoint) is None]
    costs = [
        estimate_request(
            request, endpoint.prices, endpoint.pictures, typical_completion=_REPLY_TOKENS
        ).cost
        for request in missing
    ]
    return GatePlan(
        study=study,
        endpoint=endpoint,
        pairs=pairs,
        missing=len(missing),
        cost=total_cost(costs),
    )


def _hints(store: Store, experiment: Experiment) -> dict[str, str]:
    """Return the hints that each initial answer was given in its first round, as one text."""
    columns = table(Correction).c
    rows = store.select(
        Correction,
        columns.experiment_id == experiment.id,
        columns.round == 1,
        order_by=[columns.response_id, columns.arm],
    )
    given: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row.arm != "peer"):
        if row.hints:
            given.setdefault(row.response_id, " ".join(use.text for use in row.hints))
    return given


def read_gate(store: Store, plan: GatePlan) -> GateResult:
    """Read what the stored replies say, without asking anybody."""
    results = [
        [_right(store, pair.sample, request, plan.endpoint) for request in _both(pair)]
        for pair in plan.pairs
    ]
    values = np.array(results, dtype=np.float64).reshape(-1, 2)
    verdict = blind_gate(values[:, 0], values[:, 1])
    return GateResult(verdict=verdict, undecided=len(results) - verdict.n)


def _both(pair: BlindPair) -> Sequence[Request]:
    return (pair.without, pair.hinted)


def _right(store: Store, sample: Sample, request: Request, endpoint: Endpoint) -> float:
    reply = stored_reply(store, request, endpoint)
    right = None if reply is None else blind.right(reply, sample)
    return float("nan") if right is None else float(right)


async def run_gate(
    store: Store,
    plan: GatePlan,
    *,
    budget: float | None = None,
    make: ClientMaker = make_client,
) -> GateResult:
    """Ask what is missing, and read what all replies say.

    Args:
        budget: spend cap in USD for this part.

    Raises:
        ConsentNeeded: it would send questions to a host that nobody has agreed to.
        SettingsError: the endpoint's key isn't set, or a budget is given and it has no prices.
    """
    check_endpoint(plan.endpoint, budget)
    may_ask(store, plan.endpoint)
    if needs_consent(plan.endpoint, plan.study.consent):
        question = ConsentQuestion(
            host=plan.endpoint.host,
            endpoints=(plan.endpoint.name,),
            pictures=0,
            texts=len(plan.pairs),
        )
        raise ConsentNeeded([question])
    troubles: list[str] = []
    at_once = asyncio.Semaphore(plan.endpoint.concurrency)
    async with make(plan.endpoint, SpendLedger(budget), PictureCache()) as client:
        paid = PaidOnce(store, client)

        async def one(request: Request) -> None:
            if stored_reply(store, request, plan.endpoint) is not None:
                return
            async with at_once:
                try:
                    call = (await paid.send(request)).call
                except SpendCapReached as reached:
                    troubles.append(reached.message)
                    return
                except JudgeError as error:
                    troubles.append(error.message)
                    failed = failed_call(error)
                    await asyncio.to_thread(store.put, [failed] if failed else [])
                    return
            await asyncio.to_thread(store.replace, [call])

        wanted = {request: None for pair in plan.pairs for request in _both(pair)}
        await asyncio.gather(*(one(request) for request in wanted))
    found = read_gate(store, plan)
    message = (
        f"{len(troubles):,} calls brought nothing; the last: {troubles[-1]}" if troubles else ""
    )
    return GateResult(verdict=found.verdict, undecided=found.undecided, message=message)
