"""The judge client: one question in, one reply out, whatever the server does in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, cast

from atom.errors import SettingsError, SpendCapReached
from atom.judge.body import Dialect, ExchangeTurn, build_body
from atom.judge.completion import Completion, StreamedCompletion, read_completion, read_models
from atom.judge.exchange import Exchange, judge_completion, more_tokens
from atom.judge.keys import Key, endpoint_key
from atom.judge.limiter import Limiter, Slot
from atom.judge.pictures import PictureCache
from atom.judge.reply import CallGaveUp, CallRefused, Reply
from atom.judge.request import Request, request_hash
from atom.judge.retry import (
    AttemptFailed,
    Fault,
    RetryPolicy,
    advice,
    with_retries,
)
from atom.judge.sampling import asked_request
from atom.judge.structured import FormLadder, repair_talk
from atom.judge.timing import Timing
from atom.judge.transport import as_faults, open_openai
from atom.judge.usage import Estimate, SpendLedger, estimate_request
from atom.records import Endpoint, ReplyForm, Usage

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, Omit

T = TypeVar("T")
_Attempt = Callable[[Exchange, bytes, float], Awaitable[T]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _OpenStream:
    """A stream that has begun, with the first text that came."""

    stack: AsyncExitStack
    lines: AsyncIterator[str]
    gathered: StreamedCompletion
    first: tuple[str, ...]


class JudgeClient:
    """Asks one endpoint.

    Args:
        endpoint: where and how.
        spend: the run's money; shared by all clients of the run. None = no account is kept.
        environ: where the key is read; the process's environment when None.
        timing: clock, sleep and chance.
        transport: replaces the network, in tests.
        pictures: prepared pictures; give one cache to several clients to share them.
        policy: retry policy; from the endpoint when None.

    One client belongs to one event loop, and all tasks that ask the endpoint share it: it holds
    the limiter and what was learned about the endpoint (reply form, no pictures, token field).
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        spend: SpendLedger | None = None,
        environ: Mapping[str, str] | None = None,
        timing: Timing | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        pictures: PictureCache | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._spend = spend or SpendLedger()
        self._environ = environ
        self._timing = timing or Timing()
        self._transport = transport
        self._pictures = pictures or PictureCache()
        self._policy = policy or RetryPolicy(
            max_tries=endpoint.max_tries, max_seconds=endpoint.max_seconds
        )
        self._limiter = Limiter(
            endpoint.concurrency,
            requests_per_minute=endpoint.requests_per_minute,
            tokens_per_minute=endpoint.tokens_per_minute,
            timing=self._timing,
        )
        self._ladder = FormLadder(endpoint.structured)
        self._dialect = Dialect(system=endpoint.system)
        self._no_pictures: str | None = None
        self._typical: dict[str, tuple[int, int]] = {}
        self._key = Key(None)
        self._openai: AsyncOpenAI | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def limiter(self) -> Limiter:
        """The endpoint's limiter, for progress displays."""
        return self._limiter

    @property
    def reply_form(self) -> ReplyForm:
        """How structured replies are asked for, as far as it was learned."""
        return self._ladder.general

    async def list_models(self) -> tuple[str, ...]:
        """Return the names of the models that the server lists.

        Raises:
            CallRefused: it gives no list.
            SettingsError: the key isn't set.
        """
        import httpx2

        try:
            async with self._limiter.slot() as slot:
                with self._faults(False, slot):
                    async with asyncio.timeout(self.endpoint.timeout):
                        response = await self._client().get(
                            "/models",
                            cast_to=httpx2.Response,
                            options={"headers": self._headers(1)},
                        )
                    return read_models(response.content)
        except AttemptFailed as failed:
            raise CallRefused(self._explain(failed.fault)) from None

    async def close(self) -> None:
        """Close the connections; the client can be used again afterwards."""
        client, self._openai = self._openai, None
        if client is not None:
            await client.close()

    def estimate(self, request: Request) -> Estimate:
        """Estimate a request's tokens and cost before it's sent."""
        total, count = self._typical.get(request.task, (0, 0))
        return estimate_request(
            asked_request(self.endpoint, request),
            self.endpoint.prices,
            self.endpoint.pictures,
            thinking_tokens=self.endpoint.thinking_tokens,
            typical_completion=total / count if count else None,
        )

    async def ask(self, request: Request) -> Reply:
        """Ask, and return the reply in whatever state it is.

        Args:
            request: the question.

        Returns:
            The reply; see `Reply.state`. A cut reply was asked for twice, an unreadable one has
            had its repair turn.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the endpoint can't answer this request.
            PictureError: a picture can't be used; nothing was sent.
            SettingsError: the key isn't set, or a cap is set but no prices; nothing was sent.
            SpendCapReached: the cap leaves no room for the call; nothing was sent.
        """
        exchange = await self._begin(request)
        try:
            completion = await self._take_turn(exchange, self._first_turn(exchange.request))
            return await self._conclude(exchange, completion)
        except AttemptFailed as failed:
            raise self._error(exchange, failed.fault) from None

    async def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Ask, and yield the text as it comes.

        Args:
            request: the question.

        Yields:
            Pieces of text, then the `Reply` as the last item. Tries are repeated until the first
            piece has come, not after. A repair turn, where one is needed, isn't streamed.

        Raises:
            AtomError: as `ask` does.
        """
        exchange = await self._begin(request)
        turn = self._first_turn(exchange.request)
        estimate = self._price(exchange)
        try:
            completion: Completion | None = None
            await self._spend.reserve(estimate.most or 0.0)
            try:
                opened = await self._send(exchange, turn, self._attempt_stream, stream=True)
                async with opened.stack:
                    for piece in opened.first:
                        yield piece
                    async for line in opened.lines:
                        for piece in opened.gathered.take_line(line):
                            yield piece
                    completion = opened.gathered.result()
            finally:
                self._pay(exchange, estimate, completion)
            yield await self._conclude(exchange, completion)
        except AttemptFailed as failed:
            raise self._error(exchange, failed.fault) from None

    def _first_turn(self, request: Request) -> ExchangeTurn:
        allowed = request.sampling.max_tokens
        room = None if allowed is None else allowed + self.endpoint.thinking_tokens
        return ExchangeTurn(max_tokens=room)

    async def _begin(self, request: Request) -> Exchange:
        self._client()  # A missing key is told before anything is prepared.
        request = asked_request(self.endpoint, request)
        exchange = Exchange(request=request, hash=request_hash(request, self.endpoint.model))
        pictures = request.pictures
        limit = self.endpoint.pictures
        if pictures and self._no_pictures is not None:
            raise CallRefused(self._no_pictures)
        if len(pictures) > limit.max_count:
            raise CallRefused(
                f"The request holds {len(pictures)} pictures; the endpoint "
                f"{self.endpoint.name!r} takes at most {limit.max_count} "
                "(pictures.max_count). Choose another endpoint or leave the sample out."
            )
        made = [
            await self._pictures.get(part, limit, keep_program=self.endpoint.is_probe)
            for part in pictures
        ]
        exchange.literals = tuple(picture.literal for picture in made)
        exchange.notes.extend(
            f"picture {number}: {note}"
            for number, picture in enumerate(made, start=1)
            for note in picture.notes
        )
        return exchange

    def _price(self, exchange: Exchange) -> Estimate:
        estimate = self.estimate(exchange.request)
        exchange.expected_tokens = estimate.prompt_tokens + estimate.completion_tokens
        if self._spend.cap is not None and estimate.most is None:
            raise SettingsError(
                f"A spend cap of ${self._spend.cap:.4g} is set, but the endpoint "
                f"{self.endpoint.name!r} has no prices, so the cap can't be kept. Give its prices "
                "for input and output (0 for a free server), or take the cap away."
            )
        return estimate

    async def _take_turn(self, exchange: Exchange, turn: ExchangeTurn) -> Completion:
        estimate = self._price(exchange)
        await self._spend.reserve(estimate.most or 0.0)
        completion: Completion | None = None
        try:
            completion = await self._send(exchange, turn, self._attempt)
        finally:
            self._pay(exchange, estimate, completion)
        return completion

    def _pay(self, exchange: Exchange, estimate: Estimate, completion: Completion | None) -> None:
        """Enter in the books what a turn cost; a failed one is taken to cost nothing."""
        most = estimate.most or 0.0
        if completion is None:
            self._spend.settle(most, 0.0)
            return
        cost = exchange.pay(self.endpoint, completion.usage, estimate)
        self._spend.settle(most, cost, estimate.cost)
        tokens = completion.usage.completion_tokens
        if tokens is not None:
            total, count = self._typical.get(exchange.request.task, (0, 0))
            self._typical[exchange.request.task] = (total + tokens, count + 1)

    async def _conclude(self, exchange: Exchange, completion: Completion) -> Reply:
        """Read a completion; ask again for a longer or a readable one, each once."""
        max_tokens = self._first_turn(exchange.request).max_tokens
        verdict = judge_completion(exchange.request, completion)
        if verdict.state == "cut":
            max_tokens = more_tokens(max_tokens, completion.usage)
            exchange.notes.append(f"cut by the token limit: asked again with {max_tokens} tokens")
            again = await self._extra_turn(exchange, ExchangeTurn(max_tokens=max_tokens))
            if again is not None:
                completion, verdict = again, judge_completion(exchange.request, again)
        if verdict.state == "unreadable":
            exchange.notes.append(f"repair turn: {verdict.reason}")
            earlier = repair_talk(completion.content, verdict.reason)
            again = await self._extra_turn(
                exchange, ExchangeTurn(max_tokens=max_tokens, earlier=earlier)
            )
            if again is not None:
                exchange.repaired = True
                completion, verdict = again, judge_completion(exchange.request, again)
        exchange.notes.extend(verdict.notes)
        text = self._key.scrub(completion.content or completion.refusal or "")
        return Reply(
            state=verdict.state,
            text=text,
            data=verdict.data,
            reason=self._key.scrub(verdict.reason),
            call=exchange.record(
                self.endpoint,
                self._timing.now(),
                reply=text,
                # A stored reply is read again later: a refusal must be known as one then, too.
                finish="refusal" if completion.refusal else completion.finish,
            ),
            notes=tuple(exchange.notes),
            estimated_cost=exchange.estimated_cost,
        )

    async def _extra_turn(self, exchange: Exchange, turn: ExchangeTurn) -> Completion | None:
        """Take a second turn, unless the spend cap forbids it: then the first reply stands."""
        try:
            return await self._take_turn(exchange, turn)
        except SpendCapReached:
            exchange.notes.append("the second turn was left out: the spend cap is reached")
            return None

    async def _send(
        self, exchange: Exchange, turn: ExchangeTurn, attempt: _Attempt[T], *, stream: bool = False
    ) -> T:
        """Send one turn: repeat failed tries, and step down where the endpoint knows less."""
        request = exchange.request
        while True:
            exchange.form = self._ladder.form_for(request)
            body = build_body(
                request,
                self.endpoint.model,
                exchange.literals,
                turn=turn,
                form=exchange.form,
                dialect=self._dialect,
                stream=stream,
            )
            try:
                return await with_retries(
                    partial(attempt, exchange, body),
                    self._policy,
                    self._timing,
                    paused_elsewhere=self._pause_all,
                )
            except AttemptFailed as failed:
                if not self._adapt(exchange, turn, failed.fault):
                    raise

    def _pause_all(self, fault: Fault, wait: float) -> bool:
        if fault.crowded:
            self._limiter.pause(wait)
        return fault.crowded

    def _adapt(self, exchange: Exchange, turn: ExchangeTurn, fault: Fault) -> bool:
        """Learn from a refusal; True when the turn can be sent in another way."""
        if fault.kind == "picture":
            self._no_pictures = self._explain(fault)
        elif fault.kind == "form":
            below = self._ladder.refused(exchange.request, exchange.form, fault.message)
            if below is not None:
                exchange.notes.append(
                    f"the server refused {exchange.form}, asked for {below}: {fault.message}"
                )
            return below is not None
        elif fault.kind == "token_name" and turn.max_tokens is not None:
            known = self._dialect.token_name
            self._dialect = replace(self._dialect, token_name="max_completion_tokens")
            return known != "max_completion_tokens"
        elif fault.kind == "usage":
            known_usage = self._dialect.stream_usage
            self._dialect = replace(self._dialect, stream_usage=False)
            return known_usage
        return False

    async def _attempt(self, exchange: Exchange, body: bytes, left: float) -> Completion:
        has_pictures = bool(exchange.literals)
        async with self._in_flight(exchange) as slot:
            with self._faults(has_pictures, slot):
                async with asyncio.timeout(min(self.endpoint.timeout, left)):
                    response = await self._post(exchange, body)
                completion = read_completion(response.content, has_pictures=has_pictures)
            slot.clean(_total(completion.usage))
        return completion

    async def _attempt_stream(self, exchange: Exchange, body: bytes, left: float) -> _OpenStream:
        """Open a stream and read up to its first text; the slot stays held until it's closed."""
        has_pictures = bool(exchange.literals)
        deadline = self._timing.clock() + min(self.endpoint.timeout, left)
        async with AsyncExitStack() as stack:
            slot = await stack.enter_async_context(self._in_flight(exchange))
            stack.enter_context(self._faults(has_pictures, slot))
            async with asyncio.timeout(min(self.endpoint.timeout, left)):
                response = await self._post(exchange, body, stream=True)
            stack.push_async_callback(response.aclose)
            gathered = StreamedCompletion(has_pictures=has_pictures)
            lines = self._lines(response, deadline, has_pictures=has_pictures)
            first: tuple[str, ...] = ()
            async for line in lines:
                first = tuple(gathered.take_line(line))
                if first:
                    break
            else:
                gathered.result()
            slot.clean()
            return _OpenStream(stack=stack.pop_all(), lines=lines, gathered=gathered, first=first)

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
    def _faults(self, has_pictures: bool, slot: Slot) -> Iterator[None]:
        """Turn whatever goes wrong in a try into a fault, and tell the limiter of a crowd."""
        try:
            with as_faults(self._timing, self.endpoint.timeout, has_pictures=has_pictures):
                yield
        except AttemptFailed as failed:
            if failed.fault.crowded:
                slot.crowded()
            raise

    def _client(self) -> AsyncOpenAI:
        if self._openai is None:
            self._key = endpoint_key(self.endpoint, self._environ)
            self._openai = open_openai(self.endpoint, self._key, self._transport)
        return self._openai

    @staticmethod
    def _headers(attempt: int) -> dict[str, str | Omit]:
        return {"Content-Type": "application/json", "x-atomscope-attempt": str(attempt)}

    async def _post(
        self, exchange: Exchange, body: bytes, *, stream: bool = False
    ) -> httpx2.Response:
        import httpx2
        from openai import AsyncStream

        client = self._client()
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
        self, response: httpx2.Response, deadline: float, *, has_pictures: bool
    ) -> AsyncIterator[str]:
        """Yield the lines of an event stream; a server that doesn't stream gives one event."""
        if "event-stream" not in response.headers.get("content-type", ""):
            async with asyncio.timeout(deadline - self._timing.clock()):
                raw = await response.aread()
            read_completion(raw, has_pictures=has_pictures)
            yield "data: " + raw.decode()
            yield "data: [DONE]"
            return
        lines = aiter(response.aiter_lines())
        while True:
            try:
                async with asyncio.timeout(deadline - self._timing.clock()):
                    line = await anext(lines)
            except StopAsyncIteration:
                return
            yield line

    def _error(self, exchange: Exchange, fault: Fault) -> CallGaveUp | CallRefused:
        message = self._explain(fault)
        call = exchange.record(self.endpoint, self._timing.now(), error=message)
        kind = CallGaveUp if fault.kind == "transient" else CallRefused
        return kind(message, call if exchange.attempts else None)

    def _explain(self, fault: Fault) -> str:
        """Say what happened, and what to do next; never with the key in it."""
        host = self.endpoint.host.rpartition("@")[2]
        return self._key.scrub(
            f"Endpoint {self.endpoint.name!r} ({host}): {fault.message} "
            f"{advice(fault, self.endpoint)}"
        )


def _total(usage: Usage) -> int | None:
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return usage.prompt_tokens + usage.completion_tokens
