"""Asking a judge which view answers a question: one cheap call, with its price and an agreement.

Names of models, capabilities and labels go out with the question; no picture, answer or number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from atom.asked.wanted import Vocabulary
from atom.engine.consent import ConsentNeeded, ConsentQuestion, is_remote
from atom.engine.members import check_endpoint
from atom.engine.replies import PaidOnce, stored_reply
from atom.engine.shift import ClientMaker, make_client
from atom.errors import JudgeError, UsageError
from atom.judge import PictureCache, SpendLedger, failed_call
from atom.judge.usage import estimate_request
from atom.records import Call, Endpoint, Study
from atom.stages.asked.ask import Heard, build, parse
from atom.store import Store
from atom.store.team.budgets import may_ask

TYPICAL_REPLY = 150.0
"""Tokens of a reply, for the estimate."""


@dataclass(frozen=True, kw_only=True)
class AskPrice:
    """What a question will probably cost.

    Attributes:
        tokens: in and out, about; 0 where the stored reply is used again.
        cost: USD, about; None where the endpoint has no prices.
    """

    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class NamesQuestion(ConsentQuestion):
    """What a question would send to one host: itself, and the names of the study."""

    @property
    def sentence(self) -> str:
        """The question in words."""
        return (
            f"your question and {self.texts} names of the study (models, capabilities, labels; no "
            f"picture, answer or number) would be sent to {self.host} "
            f"({', '.join(self.endpoints)})"
        )


def price(store: Store, endpoint: Endpoint, question: str, vocabulary: Vocabulary) -> AskPrice:
    """Say what a question will cost, before anything is sent.

    Raises:
        DataError: the question is empty.
    """
    request = build(question, vocabulary)
    if stored_reply(store, request, endpoint) is not None:
        return AskPrice(tokens=0, cost=0.0)
    found = estimate_request(
        request, endpoint.prices, endpoint.pictures, typical_completion=TYPICAL_REPLY
    )
    free = endpoint.is_probe and not endpoint.url
    tokens = found.prompt_tokens + found.completion_tokens
    return AskPrice(tokens=tokens, cost=0.0 if free else found.cost)


def consent_question(
    study: Study, endpoint: Endpoint, vocabulary: Vocabulary
) -> NamesQuestion | None:
    """Return what somebody must agree to before names leave; None where nothing is to be asked."""
    if not is_remote(endpoint) or endpoint.host in study.consent:
        return None
    names = len(vocabulary.models) + len(vocabulary.capabilities)
    names += sum(1 + len(values) for values in vocabulary.labels.values())
    return NamesQuestion(host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=names)


async def ask(
    store: Store,
    study: Study,
    endpoint: Endpoint,
    question: str,
    vocabulary: Vocabulary,
    *,
    agreed: Collection[str] = (),
    make: ClientMaker = make_client,
) -> Heard:
    """Let a judge say which view answers a question; a reply that is stored is used again.

    Args:
        store: where replies are kept, if it can be written.
        study: the study.
        endpoint: the judge.
        question: in words.
        vocabulary: the names of the study.
        agreed: hosts that were agreed to for this visit alone.
        make: opens the client.

    Raises:
        UsageError: the endpoint can't be a judge.
        SettingsError: its key isn't set.
        ConsentNeeded: nobody has agreed that names go there.
        DataError: the question is empty.
        AccessError: whoever asks may take no paid step, or has nothing left.
    """
    if "judge" not in endpoint.roles:
        raise UsageError(f"the endpoint {endpoint.name!r} isn't a judge: choose another")
    check_endpoint(endpoint, None)
    needed = consent_question(study, endpoint, vocabulary)
    if needed is not None and endpoint.host not in agreed:
        raise ConsentNeeded([needed])
    request = build(question, vocabulary)
    may_ask(store, endpoint)
    async with make(endpoint, SpendLedger(None), PictureCache()) as client:
        try:
            reply = await PaidOnce(store, client).ask(request)
        except JudgeError as error:
            _keep(store, failed_call(error))
            return Heard(wanted=None, why=error.message)
    _keep(store, reply.call)
    return parse(reply)


def _keep(store: Store, call: Call | None) -> None:
    if call is not None and not store.read_only:
        with store.write() as writer:
            writer.replace([call])
