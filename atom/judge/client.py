"""The judge client: one question in, one reply out, whatever the server does in between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import urlsplit

from atom.access import require_host
from atom.errors import SettingsError, SpendCapReached
from atom.judge.body import ExchangeTurn, build_body
from atom.judge.exchange import (
    MOST_LENGTHENED,
    CompletionVerdict,
    Exchange,
    judge_completion,
    more_tokens,
)
from atom.judge.limiter import Limiter
from atom.judge.pictures.cache import PictureCache
from atom.judge.replies.completion import (
    Completion,
)
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
from atom.judge.servers.dialect import (
    OF_PICTURES,
    THIS_REQUEST,
    Dialect,
    Lesson,
    SentRequest,
    adapted_lines,
    sent_parts,
)
from atom.judge.structured import repair_talk
from atom.judge.timing import Timing
from atom.judge.tries import Tries
from atom.judge.usage import CostEstimate, SpendLedger, estimate_request
from atom.records import Endpoint, ReplyForm, Usage

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
_Attempt = Callable[[Exchange, bytes, float], Awaitable[T]]


class JudgeClient:
    """Asks one endpoint.

    Args:
        spend: the run's money; shared by all clients of the run. None = no account is kept.
        environ: where the key is read; the process's environment when None.
        timing: clock, sleep and chance.
        transport: replaces the network, in tests.
        pictures: prepared pictures; give one cache to several clients to share them.
        policy: retry policy; from the endpoint when None.

    One client belongs to one event loop, and all tasks that ask the endpoint share it: it holds
    the limiter and what was learned about the endpoint: its dialect, and whether it takes pictures.
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
        require_host(urlsplit(endpoint.url or "").hostname or "")
        self.endpoint = endpoint
        self._spend = spend or SpendLedger()
        self._timing = timing or Timing()
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
        self._given = given_dialect(endpoint)
        self._dialect = self._given
        self._thinking_room = endpoint.thinking_tokens
        self._no_pictures: str | None = None
        self._typical: dict[str, tuple[int, int]] = {}
        self._tries = Tries(
            endpoint,
            limiter=self._limiter,
            spend=self._spend,
            timing=self._timing,
            environ=environ,
            transport=transport,
        )

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
        return self._dialect.form("", self.endpoint.structured)

    @property
    def adaptations(self) -> tuple[str, ...]:
        """What the server refused of what was asked for, and what is sent instead, a line each."""
        return self._dialect.lines(self._given)

    async def list_models(self) -> tuple[str, ...]:
        """Return the names of the models that the server lists.

        Raises:
            CallRefused: it gives no list.
            SettingsError: the key isn't set.
        """
        try:
            return await self._tries.list_models()
        except AttemptFailed as failed:
            raise CallRefused(self._explain(failed.fault)) from None

    async def close(self) -> None:
        """Close the connections; the client can be used again afterwards."""
        await self._tries.close()

    def estimate(self, request: Request) -> CostEstimate:
        """Estimate a request's tokens and cost before it's sent."""
        return self._estimate(asked_request(self.endpoint, request), self._thinking_room)

    def _estimate(self, request: Request, room: int) -> CostEstimate:
        total, count = self._typical.get(request.task, (0, 0))
        return estimate_request(
            request,
            self.endpoint.prices,
            self.endpoint.pictures,
            thinking_tokens=room,
            typical_completion=total / count if count else None,
        )

    async def ask(self, request: Request) -> Reply:
        """Ask, and return the reply in whatever state it is.

        Returns:
            The reply; see `Reply.state`. A cut reply was asked for again, one cut while the model
            was thinking several times; an unreadable one has had its repair turn.

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
            return self._end(exchange, failed.fault)

    async def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Ask, and yield the text as it comes.

        Yields:
            Pieces of text, then the `Reply` as the last item. Tries are repeated until the first
            piece has come, not after. A repair turn, where one is needed, isn't streamed.

        Raises:
            AtomError: as `ask` does.
        """
        exchange = await self._begin(request)
        turn = self._first_turn(exchange.request)
        estimate = self._price(exchange, turn)
        try:
            completion: Completion | None = None
            await self._spend.reserve(estimate.most or 0.0)
            try:
                opened = await self._send(exchange, turn, self._tries.stream, stream=True)
                async with opened.stack:
                    shown = self._tries.key.stream()
                    for piece in opened.first:
                        if clean := shown.take(piece):
                            yield clean
                    async for line in opened.lines:
                        for piece in opened.gathered.take_line(line):
                            if clean := shown.take(piece):
                                yield clean
                    if clean := shown.rest():
                        yield clean
                    completion = self._tries.clean(opened.gathered.result())
            finally:
                self._pay(exchange, estimate, completion)
            yield await self._conclude(exchange, completion)
        except AttemptFailed as failed:
            yield self._end(exchange, failed.fault)

    def _first_turn(self, request: Request) -> ExchangeTurn:
        allowed = request.sampling.max_tokens
        room = None if allowed is None else allowed + self._thinking_room
        return ExchangeTurn(max_tokens=room)

    async def _begin(self, request: Request) -> Exchange:
        self._tries.open()  # A missing key is told before anything is prepared.
        request = asked_request(self.endpoint, request)
        exchange = Exchange(request=request, hash=request_hash(request, self.endpoint.model))
        pictures = request.pictures
        limit = self.endpoint.pictures
        if pictures and self._no_pictures is not None:
            raise CallRefused(self._no_pictures)
        if len(pictures) > limit.max_count:
            raise CallRefused(
                f"The request holds {len(pictures):,} pictures; the endpoint "
                f"{self.endpoint.name!r} takes at most {limit.max_count} "
                "(pictures.max_count). Choose another endpoint or leave the sample out."
            )
        await self._prepare(exchange)
        return exchange

    async def _prepare(self, exchange: Exchange) -> None:
        """Make the pictures fit, for what is known of the endpoint now."""
        limit = self.endpoint.pictures
        known = self._dialect
        sides = {
            "min_side": max(limit.min_side, known.min_side),
            "max_side": min(limit.max_side, known.max_side or limit.max_side),
        }
        limit = limit.model_copy(update=sides)
        made = [
            await self._pictures.get(part, limit, keep_program=self.endpoint.is_probe)
            for part in exchange.request.pictures
        ]
        exchange.literals = tuple(picture.literal for picture in made)
        exchange.sides = tuple((picture.width, picture.height) for picture in made)
        boxes = [picture.content for picture in made]
        exchange.sides_unpadded = tuple((box[2] - box[0], box[3] - box[1]) for box in boxes)
        noted = [
            f"picture {number}: {note}"
            for number, picture in enumerate(made, start=1)
            for note in picture.notes
        ]
        exchange.notes = list(dict.fromkeys((*exchange.notes, *noted)))

    def _price(self, exchange: Exchange, turn: ExchangeTurn) -> CostEstimate:
        allowed, room = exchange.request.sampling.max_tokens, self._thinking_room
        if allowed is not None and turn.max_tokens is not None:
            room = turn.max_tokens - allowed
        estimate = exchange.estimate = self._estimate(exchange.request, room)
        if self._spend.cap is not None and estimate.most is None:
            raise SettingsError(
                f"A spend cap of ${self._spend.cap:.4g} is set, but the endpoint "
                f"{self.endpoint.name!r} has no prices, so the cap can't be kept. Give its prices "
                "for input and output (0 for a free server), or take the cap away."
            )
        return estimate

    async def _take_turn(self, exchange: Exchange, turn: ExchangeTurn) -> Completion:
        estimate = self._price(exchange, turn)
        await self._spend.reserve(estimate.most or 0.0)
        completion: Completion | None = None
        try:
            completion = await self._send(exchange, turn, self._tries.complete)
        finally:
            self._pay(exchange, estimate, completion)
        return completion

    def _pay(
        self, exchange: Exchange, estimate: CostEstimate, completion: Completion | None
    ) -> None:
        """Enter in the books what a turn cost.

        A failed one is taken to cost nothing beyond what `_faults` has booked.
        """
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
        """Read a completion; ask again for a longer or a readable one."""
        max_tokens = self._first_turn(exchange.request).max_tokens
        verdict = judge_completion(exchange.request, completion)
        for lengthened in range(MOST_LENGTHENED):
            if verdict.state != "cut" or (lengthened and not verdict.thinking):
                break
            longer = more_tokens(max_tokens, completion.usage)
            limit = self._dialect.limit(longer)
            if lengthened and limit == self._dialect.limit(max_tokens):
                break
            max_tokens = longer
            exchange.notes.append(f"cut by the token limit: asked again with {longer} tokens")
            again = await self._extra_turn(exchange, ExchangeTurn(max_tokens=max_tokens))
            if again is None:
                break
            was_thinking = verdict.thinking
            completion, verdict = again, judge_completion(exchange.request, again)
            if was_thinking and verdict.state != "cut":
                self._learn_room(exchange.request, max_tokens)
        if verdict.state == "unreadable":
            exchange.notes.append(f"repair turn: {verdict.reason}")
            if exchange.form == "json_schema" and verdict.formless:
                self._learn((_TELL_FORM,))
            earlier = repair_talk(completion.content, verdict.reason)
            again = await self._extra_turn(
                exchange, ExchangeTurn(max_tokens=max_tokens, earlier=earlier)
            )
            if again is not None:
                exchange.repaired = True
                completion, verdict = again, judge_completion(exchange.request, again)
        return self._reply(exchange, completion, verdict)

    def _reply(
        self,
        exchange: Exchange,
        completion: Completion,
        verdict: CompletionVerdict,
        error: str | None = None,
    ) -> Reply:
        exchange.notes.extend(verdict.notes)
        text = completion.content or completion.refusal or ""
        return Reply(
            state=verdict.state,
            text=text,
            data=verdict.data,
            reason=verdict.reason,
            call=exchange.record(
                self.endpoint,
                self._timing.now(),
                reply=text,
                # A stored reply is read again later: a refusal must be known as one then, too.
                finish="refusal" if completion.refusal else completion.finish,
                error=error,
            ),
            notes=tuple(exchange.notes),
            estimated_cost=exchange.estimated_cost,
            thoughts=verdict.thoughts,
        )

    def _learn_room(self, request: Request, max_tokens: int) -> None:
        """Give later replies at once the room that this one's thoughts needed."""
        allowed = request.sampling.max_tokens
        if allowed is not None:
            self._thinking_room = max(self._thinking_room, max_tokens - allowed)

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
        request, wanted = exchange.request, self._wanted(exchange, turn, stream=stream)
        while True:
            dialect = self._dialect.joined(exchange.own.lessons)
            sent = exchange.sent = sent_parts(
                request,
                dialect=dialect,
                mode=self.endpoint.structured,
                max_tokens=turn.max_tokens,
                stream=stream,
                sides=exchange.sides,
            )
            exchange.form = sent.form
            exchange.adapted = adapted_lines(wanted, sent)
            body = build_body(request, self.endpoint.model, exchange.literals, turn=turn, sent=sent)
            try:
                return await with_retries(
                    partial(attempt, exchange, body),
                    self._policy,
                    self._timing,
                    paused_elsewhere=self._pause_all,
                )
            except AttemptFailed as failed:
                if failed.fault.kind == "picture":
                    self._no_pictures = self._explain(failed.fault)
                # Held against what was sent, not against what is known by now: others may have
                # been taught the same in the meantime, and this one is to be sent again all the
                # same. Each lesson is new to the dialect it was sent in, so this comes to an end.
                if not failed.fault.lessons:
                    raise
                self._learn(failed.fault.lessons, exchange)
                if any(lesson.part in OF_PICTURES for lesson in failed.fault.lessons):
                    await self._prepare(exchange)

    def _wanted(self, exchange: Exchange, turn: ExchangeTurn, *, stream: bool) -> SentRequest:
        """Say what a turn would hold if the server took everything."""
        return sent_parts(
            exchange.request,
            dialect=self._given,
            mode=self.endpoint.structured,
            max_tokens=turn.max_tokens,
            stream=stream,
            sides=exchange.sides_unpadded,
        )

    def _learn(self, lessons: Sequence[Lesson], exchange: Exchange | None = None) -> None:
        """Keep what a refusal has taught: for all calls, or for this request alone."""
        clean = [
            lesson.model_copy(update={"said": self._tries.key.scrub(lesson.said)})
            for lesson in lessons
        ]
        own = [lesson for lesson in clean if lesson.only == THIS_REQUEST]
        self._dialect = self._dialect.joined(
            lesson for lesson in clean if lesson.only != THIS_REQUEST
        )
        if exchange is not None:
            exchange.own = exchange.own.joined(own)

    def _pause_all(self, fault: Fault, wait: float) -> bool:
        if fault.crowded:
            self._limiter.pause(wait)
        return fault.crowded

    def _end(self, exchange: Exchange, fault: Fault) -> Reply:
        """End an exchange that brought no completion: a filter is an outcome, all else an error.

        Raises:
            CallGaveUp: every try failed.
            CallRefused: the endpoint can't answer this request.
        """
        message = self._explain(fault)
        if fault.kind == "filtered":
            nothing = Completion(content=None, refusal=None, finish="content_filter", usage=Usage())
            reason = f"A content filter stopped the question. {fault.message}"
            return self._reply(
                exchange, nothing, CompletionVerdict(state="filtered", reason=reason), error=reason
            )
        call = exchange.record(self.endpoint, self._timing.now(), error=message)
        kind = CallGaveUp if fault.kind == "transient" else CallRefused
        raise kind(message, call if exchange.attempts else None)

    def _explain(self, fault: Fault) -> str:
        """Say what happened, and what to do next; never with the key in it."""
        host = self.endpoint.host.rpartition("@")[2]
        return self._tries.key.scrub(
            f"Endpoint {self.endpoint.name!r} ({host}): {fault.message} "
            f"{advice(fault, self.endpoint)}"
        )


_TELL_FORM = Lesson(
    part="response_format",
    instead="told",
    said="",
)
"""Replies of another form than the schema that the server took: it seems to make nothing of it."""


def given_dialect(endpoint: Endpoint) -> Dialect:
    """Return what is known of an endpoint before it was asked anything."""
    no_system = (Lesson(part="system", instead="user"),)
    return Dialect(lessons=() if endpoint.system else no_system)
