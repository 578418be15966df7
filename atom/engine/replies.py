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

PAUSE = 0.1
"""Seconds for which a look at what is stored waits for more, where as many calls as may be in
flight wait for a place before it."""


class PaidOnce:
    """Asks a model, unless the store holds its reply already.

    Args:
        store: where calls are kept.
        client: the endpoint's client.
    """

    def __init__(self, store: Store, client: JudgeClient) -> None:
        self._store = store
        self._client = client
        self._wanted = _CallRequests(store, self.limiter)

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
            call = await self._wanted.call(_call_id(request, self._client.endpoint))
        except AwayError:
            look = partial(self.stored, request)
            return await asyncio.to_thread(self._store.patiently, look)
        return _reply_of(request, call)

    async def send(self, request: Request, tell: Callable[[str], None] | None = None) -> Reply:
        """Ask, without a look at what is stored.

        Args:
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
    return _reply_of(request, store.get(Call, _call_id(request, endpoint)))


def _call_id(request: Request, endpoint: Endpoint) -> str:
    asked = asked_request(endpoint, request)
    return call_id(request_hash(asked, endpoint.model), request.repeat)


def _reply_of(request: Request, call: Call | None) -> Reply | None:
    return None if call is None or call.reply is None else reread(request, call)


class _CallRequests:
    """Looks for stored calls: those that workers want at one time in one statement.

    Items become ready together, when what they wait for is written, so they look together. Where
    others wait for a place already, more may join: nobody is asked later for it.

    Args:
        store: where calls are kept.
        limiter: who waits for a place; None = whoever looks is asked at once.
    """

    def __init__(self, store: Store, limiter: Limiter | None) -> None:
        self._store = store
        self._limiter = limiter
        self._waiting: dict[asyncio.Future[Call | None], str] = {}

    async def call(self, name: str) -> Call | None:
        """Return a stored call by its id, or None.

        Raises:
            AwayError: the store's server went.
        """
        loop = asyncio.get_running_loop()
        if all(one.get_loop() is not loop for one in self._waiting):
            self._waiting.clear()  # of a loop that was given up
            loop.call_later(self._pause(), self._look)
        mine: asyncio.Future[Call | None] = loop.create_future()
        self._waiting[mine] = name
        return await mine

    def _pause(self) -> float:
        """Return the seconds for which others may join."""
        limiter = self._limiter
        return PAUSE if limiter is not None and limiter.wanted >= 2 * limiter.limit else 0.0

    def _look(self) -> None:
        waiting, self._waiting = self._waiting, {}
        names = set(waiting.values())
        try:
            found = {one.id: one for one in self._store.get_many(Call, names)}
        except Exception as error:  # noqa: BLE001 - each that waits raises it, where it is told apart
            for one in waiting:
                if not one.done():
                    one.set_exception(error)
            return
        for one, name in waiting.items():
            if not one.done():
                one.set_result(found.get(name))


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
