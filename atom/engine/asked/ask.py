"""Asking a judge which view answers a question: one cheap call, with its price and an agreement.

Names of models, capabilities and labels go out with the question; no picture, answer or number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from atom.asked.view_request import Vocabulary
from atom.engine.asked.once import ask_once
from atom.engine.consent import ConsentQuestion, needs_consent
from atom.engine.execution import ClientMaker, make_client
from atom.engine.replies import stored_reply
from atom.errors import JudgeError
from atom.judge.usage import estimate_request
from atom.records import Endpoint, Study
from atom.stages.asked.ask import QuestionReading, build, parse
from atom.store import Store

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
            f"your question and {self.texts:,} names of the study (models, "
            "capabilities, labels; no "
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
    if not needs_consent(endpoint, study.consent):
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
) -> QuestionReading:
    """Let a judge say which view answers a question; a reply that is stored is used again.

    Args:
        store: where replies are kept, if it can be written.
        question: in words.
        vocabulary: the names of the study.
        agreed: hosts that were agreed to for this visit alone.

    Raises:
        UsageError: the endpoint can't be a judge.
        SettingsError: its key isn't set.
        ConsentNeeded: nobody has agreed that names go there.
        DataError: the question is empty.
        AccessError: whoever asks may take no paid step, or has nothing left.
    """
    request = build(question, vocabulary)
    needed = consent_question(study, endpoint, vocabulary)
    reply = await ask_once(store, endpoint, request, needed, agreed=agreed, make=make)
    if isinstance(reply, JudgeError):
        return QuestionReading(wanted=None, why=reply.message)
    return parse(reply)
