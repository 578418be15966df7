"""Reasons of failures as an endpoint's embeddings: price, agreement, each text paid for once.

What goes out is what reasons say of errors, less the words of question, criterion and answer: no
picture, question or answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from atom.engine.clock import stamp, utc_now
from atom.engine.consent import ConsentQuestion, needs_consent, refuse_unless_agreed
from atom.engine.members import check_endpoint
from atom.engine.reasons.choice import choose
from atom.errors import UsageError
from atom.judge.embedding import MOST_CHARACTERS, MOST_TEXTS, EmbeddingClient, each_alone
from atom.judge.usage import CHARACTERS_A_TOKEN, cost_of
from atom.records import Call, Endpoint, Study, Usage
from atom.records.grouped import GroupingChoice
from atom.records.vectors import embedding_id, unpack
from atom.store import Store
from atom.store.reading.calls import paid_for
from atom.store.team.budgets import may_ask

MOST_DIFFERENT: Final = 20_000
"""Different reasons at most: a million of them would fill the store with vectors."""
EmbedderMaker = Callable[[Endpoint], EmbeddingClient]


@dataclass(frozen=True, kw_only=True)
class VectorPrice:
    """What embeddings of a study's reasons will probably cost.

    Attributes:
        texts: different reasons.
        missing: of these, not in the store: only they are sent.
        tokens: about, 4 characters each; 0 where nothing is missing.
        cost: USD, about; None where the endpoint has no prices.
    """

    texts: int
    missing: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class ReasonsQuestion(ConsentQuestion):
    """What would be sent to be embedded."""

    @property
    def sentence(self) -> str:
        """The question in words."""
        return (
            f"{self.texts:,} texts (what reasons of failures say of the error, less the words of "
            f"question, criterion and answer; no picture) would be sent to {self.host} "
            f"({', '.join(self.endpoints)})"
        )


def missing_texts(store: Store, endpoint: Endpoint, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts whose embedding the store doesn't hold, in order."""
    names = {embedding_id(endpoint.model, [text]): text for text in texts}
    there = paid_for(store, names)
    return tuple(text for name, text in names.items() if name not in there)


def price(store: Store, endpoint: Endpoint, texts: Sequence[str]) -> VectorPrice:
    """Say what embeddings of these texts will cost, before anything is sent."""
    missing = missing_texts(store, endpoint, texts)
    letters = sum(len(text[:MOST_CHARACTERS]) for text in missing)
    tokens = math.ceil(letters / CHARACTERS_A_TOKEN)
    cost = cost_of(Usage(prompt_tokens=tokens, completion_tokens=0), endpoint.prices)
    return VectorPrice(
        texts=len(texts), missing=len(missing), tokens=tokens, cost=cost if missing else 0.0
    )


def consent_question(study: Study, endpoint: Endpoint, texts: int) -> ReasonsQuestion | None:
    """Return what somebody must agree to before texts leave; None where nothing is to be asked."""
    if not texts or not needs_consent(endpoint, study.consent):
        return None
    return ReasonsQuestion(host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=texts)


async def embed(
    store: Store,
    study: Study,
    marks: str,
    endpoint: Endpoint,
    texts: Sequence[str],
    *,
    agreed: Collection[str] = (),
    make: EmbedderMaker = EmbeddingClient,
    tell: Callable[[str], None] | None = None,
) -> GroupingChoice:
    """Embed the texts that the store lacks, and use the embeddings for the study's groups.

    What came is kept at once: stopped half-way, only the rest is paid for the next time.

    Args:
        marks: whose marks the groups are of.
        texts: what reasons say of errors, each once.
        agreed: hosts that were agreed to for this visit alone.
        tell: told how far it is.

    Raises:
        UsageError: the endpoint gives no embeddings, or there are too many texts.
        ConsentNeeded: nobody has agreed that texts go there.
        JudgeError: no embeddings came.
    """
    if "embedding" not in endpoint.roles:
        raise UsageError(f"the endpoint {endpoint.name!r} hasn't the role embedding")
    if len(texts) > MOST_DIFFERENT:
        raise UsageError(
            f"{len(texts):,} different reasons are more than {MOST_DIFFERENT:,}: words make the "
            "groups of so large a study"
        )
    check_endpoint(endpoint, None)
    missing = missing_texts(store, endpoint, texts)
    needed = consent_question(study, endpoint, len(missing))
    if needed is not None and endpoint.host not in agreed:
        refuse_unless_agreed([needed])
    may_ask(store, endpoint)
    if missing:
        held = _numbers_held(store, endpoint, set(texts).difference(missing))
        async with make(endpoint) as client:
            for start in range(0, len(missing), MOST_TEXTS):
                part = missing[start : start + MOST_TEXTS]
                if tell is not None:
                    tell(f"{start:,} of {len(missing):,} texts")
                came = await client.embed(part)
                if held not in (0, len(came.vectors[0])):
                    raise UsageError(
                        f"vectors of {endpoint.model!r} have {len(came.vectors[0]):,} numbers, "
                        f"those in the store {held:,}: another model answers under this name, so "
                        "give the endpoint's model another name"
                    )
                calls = each_alone(came, endpoint.model, part)
                with store.write() as writer:
                    writer.replace(list(calls))
    return choose(store, study.id, marks, endpoint=endpoint.name, model=endpoint.model,
                  at=stamp(utc_now()), synthetic=endpoint.is_probe)  # fmt: skip


def _numbers_held(store: Store, endpoint: Endpoint, texts: Collection[str]) -> int:
    """Return how many numbers the vectors in the store have; 0 where there are none."""
    held = store.get(Call, embedding_id(endpoint.model, [min(texts)])) if texts else None
    rows = unpack(held.reply) if held is not None and held.reply else []
    return len(rows[0]) if rows else 0
