"""Embeddings: texts to vectors, from an OpenAI-compatible endpoint.

They tell what is alike: which places of a growing tree a judge is asked about, and which reasons of
failures stand in one group. No score rests on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from atom.judge.keys import Key, endpoint_key
from atom.judge.replies.vectors import read_vectors
from atom.judge.reply import CallGaveUp, CallRefused
from atom.judge.retry import (
    AttemptFailed,
    Fault,
    RetryPolicy,
    advice,
    with_retries,
)
from atom.judge.timing import Timing
from atom.judge.transport import as_faults, open_openai
from atom.judge.usage import cost_of
from atom.records import Call, Endpoint, Usage
from atom.records.vectors import Vector, embedding_id, pack, texts_hash

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

TASK: Final = "embedding"
PROMPT: Final = "embedding/1"
MOST_TEXTS: Final = 64
"""Texts in a request."""
MOST_CHARACTERS: Final = 2000
"""Characters of a text that are sent: small embedding models read 256 tokens or so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Embeddings:
    """Vectors, and the record of the call that brought them.

    Args:
        vectors: one for each text, in order, all of one length.
        call: the call; its reply holds the vectors, so that they can be read again.
    """

    vectors: tuple[Vector, ...]
    call: Call


class EmbeddingClient:
    """Asks one endpoint for embeddings.

    Args:
        endpoint: where; its model is the embedding model.
        environ: where the key is read; the process's environment when None.
        timing: clock, sleep and chance.
        transport: replaces the network, in tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        environ: Mapping[str, str] | None = None,
        timing: Timing | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._timing = timing or Timing()
        self._numbers = 0
        self._policy = RetryPolicy(max_tries=endpoint.max_tries, max_seconds=endpoint.max_seconds)
        self._key: Key = endpoint_key(endpoint, environ)
        self._openai: AsyncOpenAI = open_openai(endpoint, self._key, transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._openai.close()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Turn at most `MOST_TEXTS` texts into vectors.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the endpoint can't do this: it has no embeddings, say.
        """
        sent = [text[:MOST_CHARACTERS] or " " for text in texts]
        try:
            vectors, told = await with_retries(
                lambda left: self._attempt(sent, left), self._policy, self._timing
            )
        except AttemptFailed as failed:
            fault = failed.fault
            kind = CallGaveUp if fault.kind == "transient" else CallRefused
            words = self._key.scrub(f"{fault.message} {advice(fault, self.endpoint)}")
            raise kind(f"The endpoint {self.endpoint.name!r} gave no embeddings. {words}") from None
        tokens = told.prompt_tokens
        usage = Usage(prompt_tokens=tokens, completion_tokens=0 if tokens is not None else None)
        call = Call(
            id=embedding_id(self.endpoint.model, texts),
            request_hash=texts_hash(self.endpoint.model, texts),
            task=TASK,
            endpoint=self.endpoint.name,
            model=self.endpoint.model,
            prompt=PROMPT,
            reply=pack(vectors),
            usage=usage,
            cost=cost_of(usage, self.endpoint.prices),
            created=self._timing.now().isoformat(timespec="milliseconds"),
        )
        return Embeddings(vectors=vectors, call=call)

    async def _attempt(self, texts: list[str], left: float) -> tuple[tuple[Vector, ...], Usage]:
        with as_faults(self._timing, self.endpoint.timeout, key=self._key):
            async with asyncio.timeout(min(self.endpoint.timeout, left)):
                found = await self._openai.embeddings.with_raw_response.create(
                    model=self.endpoint.model,
                    input=texts,
                    encoding_format="float",
                )
        vectors, usage = read_vectors(found.content, len(texts))
        if self._numbers not in (0, len(vectors[0])):
            message = (
                f"Its vectors have {len(vectors[0]):,} numbers now, and had {self._numbers:,}: "
                "another model answers under this name."
            )
            raise AttemptFailed(Fault(kind="permanent", message=message))
        self._numbers = len(vectors[0])
        return vectors, usage


def each_alone(embedded: Embeddings, model: str, texts: Sequence[str]) -> tuple[Call, ...]:
    """Return a call for each text, so that texts asked for later find those that are paid for.

    Tokens are shared out by the texts' lengths, so that they add up to what was counted, and the
    cost with them.

    Args:
        embedded: the vectors, and the call for all texts.
        model: the embedding model.
        texts: the texts, in order.
    """
    whole = embedded.call
    lengths = [len(text[:MOST_CHARACTERS]) or 1 for text in texts]
    ends = [end / sum(lengths) for end in accumulate(lengths)]
    tokens = whole.usage.prompt_tokens
    marks = [None if tokens is None else round(tokens * end) for end in ends]
    calls = []
    for at, (text, vector) in enumerate(zip(texts, embedded.vectors, strict=True)):
        here, before = marks[at], marks[at - 1] if at else 0
        mine = None if here is None or before is None else here - before
        part = None if whole.cost is None or not tokens or mine is None else mine / tokens
        calls.append(
            whole.model_copy(
                update={
                    "id": embedding_id(model, [text]),
                    "request_hash": texts_hash(model, [text]),
                    "reply": pack([vector]),
                    "usage": whole.usage.model_copy(update={"prompt_tokens": mine}),
                    "cost": None if part is None or whole.cost is None else whole.cost * part,
                }
            )
        )
    return tuple(calls)
