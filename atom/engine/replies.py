"""Stored replies: the same question to the same model is paid for once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from atom.errors import AwayError
from atom.judge import JudgeClient, Reply, Request, asked_request, call_id, request_hash
from atom.judge.exchange import judge_completion
from atom.judge.limiter import Limiter
from atom.judge.replies.completion import Completion
from atom.records import Call, Endpoint
from atom.store import Store


class PaidOnce:
    """Asks a model, unless the store holds its reply already.

    Args:
        store: where calls are kept.
        client: the endpoint's client.
    """

    def __init__(self, store: Store, client: JudgeClient) -> None:
        self._store = store
        self._client = client

    @property
    def limiter(self) -> Limiter | None:
        """What limits the client's calls; None for one that asks nobody."""
        return getattr(self._client, "limiter", None)

    async def ask(self, request: Request) -> Reply:
        """Return the stored reply to this request, or ask.

        Raises:
            AtomError: as `JudgeClient.ask` does.
        """
        stored = await self.found(request)
        return stored if stored is not None else await self.send(request)

    async def found(self, request: Request) -> Reply | None:
        """Return the stored reply to this request, or None; a server that went is waited for.

        Raises:
            AwayError: it didn't come back.
        """
        try:
            return self.stored(request)
        except AwayError:
            look = partial(self.stored, request)
            return await asyncio.to_thread(self._store.patiently, look)

    async def send(self, request: Request, tell: Callable[[str], None] | None = None) -> Reply:
        """Ask, without a look at what is stored.

        Args:
            request: the question.
            tell: told each piece of text as it streams in; None = the reply isn't streamed.

        Raises:
            AtomError: as `JudgeClient.ask` does.
        """
        if tell is None:
            return await self._client.ask(request)
        async for piece in self._client.stream(request):
            if not isinstance(piece, str):
                return piece
            tell(piece)
        raise AssertionError("a stream ends with its reply")

    def stored(self, request: Request) -> Reply | None:
        """Return the stored reply to this request, or None; it costs nothing again."""
        return stored_reply(self._store, request, self._client.endpoint)


def stored_reply(store: Store, request: Request, endpoint: Endpoint) -> Reply | None:
    """Return the stored reply of an endpoint's model to a request, or None."""
    asked = asked_request(endpoint, request)
    call = store.get(Call, call_id(request_hash(asked, endpoint.model), request.repeat))
    if call is None or call.reply is None:
        return None
    return reread(request, call)


def reread(request: Request, call: Call) -> Reply:
    """Read a stored call's reply again, as the client read it when it came."""
    refused = call.finish == "refusal"
    verdict = judge_completion(
        request,
        Completion(
            content=None if refused else call.reply,
            refusal=call.reply if refused else None,
            finish=call.finish,
            usage=call.usage,
        ),
    )
    return Reply(
        state=verdict.state,
        text=call.reply or "",
        data=verdict.data,
        reason=call.error or verdict.reason,
        thoughts=verdict.thoughts,
        call=call,
        notes=("the stored reply was used again",),
        estimated_cost=0.0,
    )
