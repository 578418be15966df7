"""Notes what would be asked instead of asking it: the requests of a batch.

A batch is another way to fill the table of calls. A run that is given these clients works as ever
with replies that are stored; a question that has none is noted and stays missing.

Reference: OpenAI, "Batch API" guide, request file format.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import Field

from atom.errors import SpendCapReached
from atom.judge.body import ExchangeTurn, build_body
from atom.judge.client import JudgeClient
from atom.judge.pictures.cache import PictureCache
from atom.judge.reply import Reply
from atom.judge.request import Request, call_id, request_hash
from atom.judge.sampling import asked_request
from atom.judge.servers.dialect import Dialect, Lesson, SentRequest, keywords_of, sent_parts
from atom.judge.structured import repair_talk
from atom.judge.usage import SpendLedger
from atom.records import Call, Endpoint, ReplyForm
from atom.records.base import Record

CHAT_URL: Literal["/v1/chat/completions"] = "/v1/chat/completions"


_USUAL_SIDE = 1024
"""Pixels; a batch keeps no account of its pictures' sizes."""


class LeftForLater(Exception):
    """Nobody was asked: the question waits for a batch, and what it is for stays missing."""


class EndpointLessons(Record):
    """What an endpoint's refusals have taught."""

    lessons: tuple[Lesson, ...] = ()
    token_name: str = "max_tokens"
    """As it was kept before there were lessons; so is the next."""
    form: ReplyForm | None = None

    @property
    def dialect(self) -> Dialect:
        """All that is known."""
        return Dialect(lessons=self.lessons).joined(_older(self.token_name, self.form))


def _older(token_name: str, form: ReplyForm | None) -> tuple[Lesson, ...]:
    """Return the lessons of files from before there were any."""
    found: list[Lesson] = []
    if token_name != "max_tokens":
        found.append(Lesson(part="max_tokens", instead=token_name))
    if form in ("json_object", "text"):
        found.append(Lesson(part="response_format", instead=form))
    return tuple(found)


class UnfinishedReply(Record):
    """A reply that can't be used as it came, and is asked for once more in the next batch."""

    call: Call
    """The first reply, with what it cost."""
    reason: str
    """Why it can't be used."""
    max_tokens: int | None = None
    """Token limit of the next turn."""
    lengthened: bool = False
    """Whether the next turn is one with more tokens, or one has been."""
    repaired: bool = False
    """Whether the next turn asks for a readable reply."""
    turns: int = Field(default=1, ge=1)
    """Turns that there have been."""


class Entry(Record):
    """What must be known of a request to read its reply later."""

    custom_id: str
    """The call's id; for a later turn with `-2` or `-3` behind it."""
    call_id: str
    request_hash: str
    repeat: int = 0
    task: str
    prompt: str
    form: ReplyForm = "text"
    token_name: str = "max_tokens"
    schema_name: str = ""
    schema_key: str = ""
    """The schema among those of the file; empty for free text."""
    has_pictures: bool = False
    max_tokens: int | None = None
    most: float | None = None
    """What it may cost at most, in USD."""
    lessons: tuple[Lesson, ...] = ()
    """The dialect that it is sent in."""
    parts: tuple[str, ...] = ()
    """The parts of a request that it holds."""
    earlier: UnfinishedReply | None = None
    """What came before this turn."""

    def sent(self, endpoint: Endpoint, schema: Mapping[str, object] | None) -> SentRequest:
        """Say what it holds, so that a refusal can be held against it."""
        parts = set(self.parts)
        if self.max_tokens is not None:
            parts.add("max_tokens")
        if self.form != "text":
            parts.add("response_format")
        dialect = Dialect(lessons=self.lessons).joined(_older(self.token_name, None))
        return SentRequest(
            dialect=dialect,
            parts=frozenset(parts),
            form=self.form,
            fixed_form=endpoint.structured != "auto",
            schema_name=self.schema_name,
            keywords=keywords_of(schema) - dialect.keywords,
            max_tokens=self.max_tokens,
            sides=((_USUAL_SIDE, _USUAL_SIDE),) if self.has_pictures else (),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NotedRequest:
    """A request that was noted.

    Args:
        entry: what must be known to read its reply.
        line: the line for the file, without its end.
        schema: the reply's schema.
    """

    entry: Entry
    line: bytes
    schema: Mapping[str, object] | None = field(default=None, hash=False)


class Book(Protocol):
    """Where requests are noted, and what became of those noted before."""

    def learned(self, endpoint: Endpoint) -> EndpointLessons:
        """Say what the endpoint's refusals have taught."""

    def waits(self, call_id: str) -> Entry | None:
        """Return a request that was noted before and whose reply isn't here yet."""

    def settled(self, request: Request, call_id: str) -> Reply | None:
        """Return a first reply that has to do, since a better one can't be had.

        Raises:
            CallGaveUp: no batch brought a reply, and no further one is to try.
            CallRefused: the endpoint can't answer this request.
        """

    def unfinished(self, call_id: str) -> UnfinishedReply | None:
        """Return the reply that the next turn is to better."""

    def note(self, endpoint: Endpoint, note: NotedRequest) -> None:
        """Note a request.

        Raises:
            StoreError: it can't be written.
        """


class NotingClient(JudgeClient):
    """Takes the place of an endpoint's client where the questions are to go into a batch.

    Args:
        endpoint: whom the batch will ask.
        book: where requests are noted.
        spend: the run's money: what noted requests may cost stays under the cap, too.
        pictures: prepared pictures.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        book: Book,
        *,
        spend: SpendLedger | None = None,
        pictures: PictureCache | None = None,
    ) -> None:
        super().__init__(endpoint, spend=spend, pictures=pictures)
        self._book = book
        known = book.learned(endpoint)
        self._dialect = self._given.joined(known.dialect.lessons)

    async def ask(self, request: Request) -> Reply:
        """Note the request.

        Returns:
            A reply only where an earlier one has to do.

        Raises:
            LeftForLater: it was noted, now or before.
            CallGaveUp: no batch brought a reply, and no further one is to try.
            CallRefused: the endpoint can't answer this request.
            PictureError: a picture can't be used.
            SettingsError: a cap is set but no prices.
            SpendCapReached: what is noted may cost all that the cap leaves.
        """
        request = asked_request(self.endpoint, request)
        name = call_id(request_hash(request, self.endpoint.model), request.repeat)
        waiting = self._book.waits(name)
        if waiting is not None:
            await self._set_aside(waiting.most or 0.0, limit=False)
            raise LeftForLater
        reply = self._book.settled(request, name)
        if reply is not None:
            return reply
        note = await self._note(request, name)
        await self._set_aside(note.entry.most or 0.0)
        self._book.note(self.endpoint, note)
        raise LeftForLater

    async def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Note the request; nothing streams out of a batch.

        Raises:
            AtomError: as `ask` does.
        """
        yield await self.ask(request)

    async def _note(self, request: Request, name: str) -> NotedRequest:
        exchange = await self._begin(request)
        estimate = self._price(exchange, self._first_turn(request))
        share = self.endpoint.prices.batch_share
        most = estimate.most
        if most is not None and share is not None:
            most *= share
        earlier = self._book.unfinished(name)
        turn = self._first_turn(request)
        if earlier is not None:
            said = repair_talk(earlier.call.reply, earlier.reason) if earlier.repaired else None
            turn = ExchangeTurn(max_tokens=earlier.max_tokens, earlier=said)
        sent = sent_parts(
            request,
            dialect=self._dialect,
            mode=self.endpoint.structured,
            max_tokens=turn.max_tokens,
            sides=exchange.sides,
        )
        body = build_body(request, self.endpoint.model, exchange.literals, turn=turn, sent=sent)
        custom_id = name if earlier is None else f"{name}-{earlier.turns + 1}"
        entry = Entry(
            custom_id=custom_id,
            call_id=name,
            request_hash=exchange.hash,
            repeat=request.repeat,
            task=request.task,
            prompt=request.prompt_id,
            form=sent.form,
            lessons=self._dialect.lessons,
            parts=tuple(sorted(sent.parts)),
            schema_name=request.schema_name,
            has_pictures=bool(request.pictures),
            max_tokens=sent.max_tokens,
            most=most,
            earlier=earlier,
        )
        return NotedRequest(entry=entry, line=request_line(custom_id, body), schema=request.schema)

    async def _set_aside(self, most: float, *, limit: bool = True) -> None:
        """Keep the noted requests' cost under the cap; nothing of it is given back in this run."""
        cap, spend = self._spend.cap, self._spend
        if cap is None:
            return
        if spend.spent + spend.reserved + most > cap:
            if not limit:
                return
            raise SpendCapReached(
                f"The spend cap of ${cap:.4g} leaves no room: ${spend.spent:.4f} are spent, what "
                f"is noted may cost ${spend.reserved:.4f}, and the next call ${most:.4f}. It "
                "was not noted, and nothing was sent."
            )
        await spend.reserve(most)


def request_line(custom_id: str, body: bytes) -> bytes:
    """Return a request as a line of a batch file, without its end."""
    head = json.dumps({"custom_id": custom_id, "method": "POST", "url": CHAT_URL})[:-1].encode()
    return head + b', "body": ' + body + b"}"
