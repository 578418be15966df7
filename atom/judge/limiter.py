"""One limiter for each endpoint: how many requests are in flight, and how fast they start.

The number in flight begins at the endpoint's concurrency. A crowded answer (429, 503, 529) cuts
it to half, once for all the requests that were in flight then, and pauses every start for as long
as the server asked. Each clean answer grows it again by 1/limit, one more for each full round, up
to the concurrency. A slot is held only while a request is in flight, never during a wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from atom.judge.timing import Timing

BURST_SECONDS = 5.0
"""How many seconds' worth of a rate may be used at once after a quiet time."""
MAX_SPREAD = 2.0
"""Seconds over which the starts after a shared pause are spread at most."""


class Limiter:
    """Limits requests in flight, requests a minute and tokens a minute.

    Args:
        concurrency: most requests in flight.
        requests_per_minute: rate of starts; None = no limit.
        tokens_per_minute: rate of tokens; None = no limit.
        timing: clock, sleep and chance.

    It belongs to one event loop.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._timing = timing or Timing()
        self._ceiling = concurrency
        self._limit = float(concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cuts = 0
        self._shared_until = float("inf")
        self._pause_until = float("-inf")
        self._spread = 0.0
        self._requests = _Rate(requests_per_minute)
        self._tokens = _Rate(tokens_per_minute)

    @property
    def limit(self) -> int:
        """Requests that may be in flight now."""
        return int(self._limit) if self._timing.clock() < self._shared_until else 0

    @property
    def in_flight(self) -> int:
        """Requests in flight now."""
        return self._in_flight

    @property
    def clock(self) -> Callable[[], float]:
        """The clock that it goes by."""
        return self._timing.clock

    @property
    def wanted(self) -> int:
        """Requests that are in flight or wait for a place."""
        return self._in_flight + len(self._waiting)

    @property
    def ceiling(self) -> int:
        """The most requests that may ever be in flight now."""
        return self._ceiling

    def share(self, slots: int, of: int, until: float = float("inf")) -> None:
        """Use a part of the endpoint's places and rates; other processes use the rest.

        Args:
            slots: places that are this process's from now on; requests in flight end first.
            of: places that there are.
            until: when they are others' unless it is said again, by the limiter's clock.
        """
        self._shared_until = until
        whole = self._limit >= self._ceiling
        self._ceiling = slots
        self._limit = float(slots) if whole else min(self._limit, float(slots))
        if slots:
            self._limit = max(1.0, self._limit)
            self._requests.share(slots / of)
            self._tokens.share(slots / of)
        self._admit()

    @asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[Slot]:
        """Hold a place for one request.

        Args:
            tokens: estimated tokens of the request, for the token rate.

        Yields:
            The slot; tell it how the request went.
        """
        await self._wait_for_rates(tokens)
        while True:
            await self._wait_for_pause()
            await self._enter()
            if self._timing.clock() >= self._pause_until:
                break
            self._leave()
        try:
            yield Slot(limiter=self, cuts=self._cuts, tokens=tokens)
        finally:
            self._leave()

    def pause(self, seconds: float) -> None:
        """Let nothing start for so many seconds; afterwards the starts are spread a little."""
        until = self._timing.clock() + seconds
        if until > self._pause_until:
            self._pause_until = until
            self._spread = min(MAX_SPREAD, seconds / 4)

    async def _wait_for_rates(self, tokens: int) -> None:
        now = self._timing.clock()
        wait = max(self._requests.book(1, now), self._tokens.book(tokens, now))
        if wait > 0:
            await self._timing.sleep(wait)

    async def _wait_for_pause(self) -> None:
        while (wait := self._pause_until - self._timing.clock()) > 0:
            await self._timing.sleep(wait + self._timing.random() * self._spread)

    async def _enter(self) -> None:
        if self._in_flight < self.limit and not self._waiting:
            self._in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # The place was given in the same moment: hand it on.
            else:
                with suppress(ValueError):
                    self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def _grow(self) -> None:
        if 0 < self._limit < self._ceiling:
            self._limit = min(self._ceiling, self._limit + 1.0 / self._limit)
            self._admit()

    def _cut(self, cuts: int) -> None:
        if cuts == self._cuts:
            self._cuts += 1
            self._limit = min(float(self._ceiling), max(1.0, self._limit / 2))


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """A place for one request in flight."""

    limiter: Limiter
    cuts: int
    """Cuts made before this request began: it may cause the next one only."""
    tokens: int

    def clean(self, tokens: int | None = None) -> None:
        """Report a clean answer.

        Args:
            tokens: tokens that the server counted; the estimate is put right by them.
        """
        if tokens is not None:
            self.limiter._tokens.book(tokens - self.tokens, None)
        self.limiter._grow()

    def crowded(self) -> None:
        """Report that the server is too busy: cut the limit."""
        self.limiter._cut(self.cuts)


class _Rate:
    """Spaces out amounts so that a rate holds, with a burst after a quiet time (GCRA)."""

    def __init__(self, per_minute: int | None) -> None:
        self._whole = None if per_minute is None else 60.0 / per_minute
        self._seconds_each = self._whole
        self._booked_until = float("-inf")

    def share(self, part: float) -> None:
        """Use a part of the rate only.

        Args:
            part: above 0, up to 1.
        """
        self._seconds_each = None if self._whole is None else self._whole / part

    def book(self, amount: int, now: float | None) -> float:
        """Book an amount and return the seconds to wait; with `now` None only correct the books."""
        if self._seconds_each is None:
            return 0.0
        if now is None:
            self._booked_until += amount * self._seconds_each
            return 0.0
        start = max(now, self._booked_until)
        self._booked_until = start + amount * self._seconds_each
        return max(0.0, start - now - BURST_SECONDS)
