"""Asking the judge: what it costs, who must agree, and the calls themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from atom.engine.asked.once import keep_call
from atom.engine.consent import ConsentNeeded, ConsentQuestion, needs_consent
from atom.engine.execution import ClientMaker, make_client
from atom.engine.members import check_endpoint
from atom.engine.replies import PaidOnce
from atom.errors import JudgeError, SpendCapReached, UsageError
from atom.judge import (
    PictureCache,
    Reply,
    SpendLedger,
    asked_request,
    call_id,
    failed_call,
    request_hash,
)
from atom.judge.usage import estimate_request
from atom.records import Call, Endpoint, Study
from atom.reports.records import Report, Section
from atom.reports.writing import Brief, build, fallback, parse
from atom.store import Store
from atom.store.team.budgets import may_ask

TYPICAL_REPLY = 900.0
"""Tokens of a section's prose, for the estimate."""
OnSection = Callable[[int, int], None]
"""(sections done, sections in all)."""


@dataclass(frozen=True, kw_only=True)
class WritingPrice:
    """What writing will probably cost.

    Attributes:
        sections: sections to be written.
        calls: of these, how many must be asked; the rest has its reply in the store.
        tokens: in and out, about.
        cost: USD, about; None where the endpoint has no prices.
    """

    sections: int
    calls: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class FindingsQuestion(ConsentQuestion):
    """What writing a report would send to one host: findings, and texts of the cases shown."""

    @property
    def sentence(self) -> str:
        """The question in words."""
        return (
            f"the findings of {self.texts} sections (names of models and capabilities, numbers, "
            "questions and judge's reasons of the cases shown; no picture and no whole answer) "
            f"would be sent to {self.host} ({', '.join(self.endpoints)})"
        )


def price(store: Store, study: Study, endpoint: Endpoint, wanted: Sequence[Brief]) -> WritingPrice:
    """Say what writing will cost, before anything is sent."""
    calls, tokens = 0, 0
    cost: float | None = 0.0
    for brief in wanted:
        request = asked_request(endpoint, build(brief, study.judge_sampling))
        name = call_id(request_hash(request, endpoint.model), request.repeat)
        held = store.get(Call, name)
        if held is not None and held.reply is not None:
            continue
        estimate = estimate_request(
            request, endpoint.prices, endpoint.pictures, typical_completion=TYPICAL_REPLY
        )
        calls += 1
        tokens += estimate.prompt_tokens + estimate.completion_tokens
        cost = None if cost is None or estimate.cost is None else cost + estimate.cost
    free = endpoint.is_probe and not endpoint.url
    return WritingPrice(
        sections=len(wanted), calls=calls, tokens=tokens, cost=0.0 if free else cost
    )


def consent_question(study: Study, endpoint: Endpoint, sections: int) -> FindingsQuestion | None:
    """Return what somebody must agree to before findings leave; None where nothing is to be asked.

    Args:
        study: the study, with the hosts that it may be sent to.
        endpoint: who would write.
        sections: how many sections.
    """
    if not needs_consent(endpoint, study.consent):
        return None
    return FindingsQuestion(
        host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=sections
    )


async def write(
    store: Store,
    study: Study,
    report: Report,
    wanted: Sequence[Brief],
    endpoint: Endpoint,
    *,
    budget: float | None = None,
    agreed: Collection[str] = (),
    make: ClientMaker = make_client,
    on_section: OnSection | None = None,
) -> Report:
    """Let a judge write a report's sections.

    Args:
        store: replies that it holds are used again, and new ones are kept where it can be written.
        report: the report as the rules composed it.
        wanted: what the judge is given, section by section.
        budget: spend cap in USD.
        agreed: hosts that were agreed to for this visit alone.
        on_section: told after each section.

    Returns:
        The report, its text checked. A section whose call failed, or that the budget didn't reach,
        stays as the rules composed it and says why.

    Raises:
        UsageError: the endpoint can't be a judge.
        SettingsError: its key isn't set, or a budget is given and it has no prices.
        ConsentNeeded: nobody has agreed that the findings go there.
    """
    if "judge" not in endpoint.roles:
        raise UsageError(f"the endpoint {endpoint.name!r} isn't a judge: choose another")
    check_endpoint(endpoint, budget)
    question = consent_question(study, endpoint, len(wanted))
    if question is not None and endpoint.host not in agreed:
        raise ConsentNeeded([question])
    may_ask(store, endpoint)
    done = 0

    async def one(brief: Brief, ask: PaidOnce) -> Section:
        nonlocal done
        section = await _section(store, study, brief, ask)
        done += 1
        if on_section is not None:
            on_section(done, len(wanted))
        return section

    async with make(endpoint, SpendLedger(budget), PictureCache()) as client:
        ask = PaidOnce(store, client)
        sections = await asyncio.gather(*(one(brief, ask) for brief in wanted))
    by_id = {section.id: section for section in sections}
    return report.model_copy(
        update={
            "sections": tuple(by_id.get(section.id, section) for section in report.sections),
            "written_by": endpoint.model,
        }
    )


async def _section(store: Store, study: Study, brief: Brief, ask: PaidOnce) -> Section:
    try:
        reply: Reply = await ask.ask(build(brief, study.judge_sampling))
    except SpendCapReached as reached:
        return fallback(brief.section, reached.message)
    except JudgeError as error:
        keep_call(store, failed_call(error))
        return fallback(brief.section, error.message)
    keep_call(store, reply.call)
    return parse(reply, brief)
