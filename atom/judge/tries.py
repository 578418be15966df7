"""One try of a call: a slot, a request over the network, its reply or the fault that it met."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from atom.judge.exchange import Exchange
from atom.judge.keys import NO_KEY, endpoint_key
from atom.judge.limiter import Limiter, Slot
from atom.judge.replies.completion import (
    Completion,
    StreamedCompletion,
    read_completion,
    read_models,
)
from atom.judge.retry import AttemptFailed
from atom.judge.servers.dialect import SentRequest
from atom.judge.timing import Timing
from atom.judge.transport import as_faults, open_openai
from atom.judge.usage import SpendLedger
from atom.records import Endpoint, Usage

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, Omit


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenStream:
    """A stream that has begun, with the first text that came."""

    stack: AsyncExitStack
    lines: AsyncIterator[str]
    gathered: StreamedCompletion
    first: tuple[str, ...]


class Tries:
    """Sends requests to one endpoint, each once; whoever asks decides about another try.

    Args:
        endpoint: whom to ask.
        limiter: gives the slots that tries are made in.
        spend: the run's money; a reply of no use is booked at its estimate.
        environ: where the key is read; the process's environment when None.
        transport: replaces the network, in tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        limiter: Limiter,
        spend: SpendLedger,
        timing: Timing,
        environ: Mapping[str, str] | None,
        transport: httpx2.AsyncBaseTransport | None,
    ) -> None:
        self.key = NO_KEY
        """The endpoint's key, once it was read."""
        self._endpoint = endpoint
        self._limiter = limiter
        self._spend = spend
        self._timing = timing
        self._environ = environ
        self._transport = transport
        self._openai: AsyncOpenAI | None = None

    async def close(self) -> None:
        """Close the connections; they open again when they are needed."""
        client, self._openai = self._openai, None
        if client is not None:
            await client.close()

    async def list_models(self) -> tuple[str, ...]:
        """Ask once for the names of the models that the server lists."""
        import httpx2

        async with self._limiter.slot() as slot:
            with self._faults(SentRequest(), slot):
                async with asyncio.timeout(self._endpoint.timeout):
                    response = await self.open().get(
                        "/models",
                        cast_to=httpx2.Response,
                        options={"headers": self._headers(1)},
                    )
                raw = response.content.decode("utf-8", errors="replace")
                return read_models(self.key.scrub(raw))

    def clean(self, completion: Completion) -> Completion:
        """Take out secrets that came in parts: joined, they are whole again."""
        scrub = self.key.scrub
        return replace(
            completion,
            content=None if completion.content is None else scrub(completion.content),
            refusal=None if completion.refusal is None else scrub(completion.refusal),
            thoughts=scrub(completion.thoughts),
        )

    async def complete(self, exchange: Exchange, body: bytes, left: float) -> Completion:
        """Send a request once and read its reply."""
        async with self._in_flight(exchange) as slot:
            with self._faults(exchange.sent, slot, exchange):
                async with asyncio.timeout(min(self._endpoint.timeout, left)):
                    response = await self._post(exchange, body)
                # Secrets are taken out at the door, before anything is parsed, cut or kept.
                raw = self.key.scrub(response.content.decode("utf-8", errors="replace"))
                completion = self.clean(read_completion(raw, sent=exchange.sent))
            slot.clean(_total(completion.usage))
        return completion

    async def stream(self, exchange: Exchange, body: bytes, left: float) -> OpenStream:
        """Open a stream and read up to its first text; the slot stays held until it's closed."""
        sent = exchange.sent
        deadline = self._timing.clock() + min(self._endpoint.timeout, left)
        async with AsyncExitStack() as stack:
            slot = await stack.enter_async_context(self._in_flight(exchange))
            stack.enter_context(self._faults(sent, slot, exchange))
            async with asyncio.timeout(min(self._endpoint.timeout, left)):
                response = await self._post(exchange, body, stream=True)
            stack.push_async_callback(response.aclose)
            gathered = StreamedCompletion(sent=sent)
            lines = self._lines(response, deadline, sent)
            first: tuple[str, ...] = ()
            async for line in lines:
                first = tuple(gathered.take_line(line))
                if first:
                    break
            else:
                gathered.result()
            slot.clean()
            return OpenStream(stack=stack.pop_all(), lines=lines, gathered=gathered, first=first)

    @asynccontextmanager
    async def _in_flight(self, exchange: Exchange) -> AsyncIterator[Slot]:
        """Hold a slot, and enter the try in the books."""
        async with self._limiter.slot(exchange.expected_tokens) as slot:
            exchange.attempts += 1
            started = self._timing.clock()
            try:
                yield slot
            finally:
                exchange.seconds = self._timing.clock() - started

    @contextmanager
    def _faults(
        self, sent: SentRequest, slot: Slot, exchange: Exchange | None = None
    ) -> Iterator[None]:
        """Turn whatever goes wrong in a try into a fault; tell the limiter of a crowd.

        A reply that was written but is of no use is booked at its estimate: it will be charged.
        """
        try:
            with as_faults(self._timing, self._endpoint.timeout, sent=sent, key=self.key):
                yield
        except AttemptFailed as failed:
            if failed.fault.crowded:
                slot.crowded()
            if failed.fault.answered and exchange is not None:
                self._spend.settle(0.0, None, exchange.assume())
            raise

    def open(self) -> AsyncOpenAI:
        """Return the connections, opened where they aren't.

        Raises:
            SettingsError: the key isn't set.
        """
        if self._openai is None:
            self.key = endpoint_key(self._endpoint, self._environ)
            self._openai = open_openai(self._endpoint, self.key, self._transport)
        return self._openai

    @staticmethod
    def _headers(attempt: int) -> dict[str, str | Omit]:
        return {"Content-Type": "application/json", "x-atomscope-attempt": str(attempt)}

    async def _post(
        self, exchange: Exchange, body: bytes, *, stream: bool = False
    ) -> httpx2.Response:
        import httpx2
        from openai import AsyncStream

        client = self.open()
        headers = self._headers(exchange.attempts)
        if not stream:
            return await client.post(
                "/chat/completions",
                content=body,
                cast_to=httpx2.Response,
                options={"headers": headers},
            )
        # With this cast_to the library hands the open response on, whatever its types say.
        opened: object = await client.post(
            "/chat/completions",
            content=body,
            cast_to=httpx2.Response,
            options={"headers": headers},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        return cast("httpx2.Response", opened)

    async def _lines(
        self, response: httpx2.Response, deadline: float, sent: SentRequest
    ) -> AsyncIterator[str]:
        """Yield the lines of an event stream; a server that doesn't stream gives one event."""
        if "event-stream" not in response.headers.get("content-type", ""):
            async with asyncio.timeout(deadline - self._timing.clock()):
                body = await response.aread()
            raw = self.key.scrub(body.decode("utf-8", errors="replace"))
            read_completion(raw, sent=sent)
            yield "data: " + raw
            yield "data: [DONE]"
            return
        lines = aiter(response.aiter_lines())
        while True:
            try:
                async with asyncio.timeout(deadline - self._timing.clock()):
                    line = await anext(lines)
            except StopAsyncIteration:
                return
            yield self.key.scrub(line)


def _total(usage: Usage) -> int | None:
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens
