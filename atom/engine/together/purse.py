"""A run's budget that several processes spend: taken from the store in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from atom.errors import SpendCapReached
from atom.judge import SpendLedger

AGAIN = 0.25
"""Seconds until it is looked again whether another process gave some money back."""


class Purse(Protocol):
    """Where the money is."""

    def take(self, least: float, held: float) -> float:
        """Return USD that were got beyond what is held: at least so many, or none."""

    def give(self, held: float) -> bool:
        """Keep so many USD and give back the rest; return whether nobody else will give any."""


T = TypeVar("T")


class StoreWorker(Protocol):
    """Does store work elsewhere than in the event loop."""

    def __call__(self, job: Callable[[], T]) -> Awaitable[T]:
        """Return what the job returns."""


class SharedSpend(SpendLedger):
    """Keeps a process's spending within the pieces that it took of its run's budget.

    A request is let through when what is spent, what the requests in flight may cost and what it
    may cost itself stay within the pieces. Where no piece is left, it waits for the requests in
    flight, here and in the other processes, since most cost less than they may.

    Args:
        cap: USD of the whole run, for messages.
        purse: where the money is.
        off: does store work elsewhere than in the event loop.
    """

    def __init__(self, cap: float, purse: Purse, off: StoreWorker) -> None:
        super().__init__(cap)
        self._allowed = 0.0
        self._given = True
        self._purse = purse
        self._off = off
        self._turn = asyncio.Lock()

    async def reserve(self, most: float) -> None:
        """Set aside what a request may cost at most.

        Raises:
            SpendCapReached: it doesn't fit under the run's cap; nothing was sent.
        """
        async with self._turn:
            while (short := self._spent + self._reserved + most - self._allowed) > 0:
                got = await self._off(partial(self._purse.take, short, self._allowed))
                self._allowed += got
                self._given = self._given and not got
                if got or self._spent + self._reserved + most <= self._allowed:
                    continue
                if self._reserved > 0:
                    await self._settled()
                elif await self._give_back():
                    raise SpendCapReached(
                        f"The spend cap of ${self._cap:.4g} is reached: what is left of it doesn't "
                        f"pay for the next call, which may cost ${most:.4f}. Nothing more was "
                        "sent. Raise the cap and resume; what is done stays done."
                    )
                else:
                    await asyncio.sleep(AGAIN)
            self._reserved += most

    async def rest(self) -> None:
        """Give back what isn't needed while nothing is in flight, so that nobody waits for it."""
        if self._given or self._reserved > 0 or self._turn.locked():
            return
        async with self._turn:
            if not self._reserved:
                await self._give_back()

    async def _give_back(self) -> bool:
        self._allowed = self._spent
        self._given = True
        return await self._off(partial(self._purse.give, self._allowed))

    async def _settled(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn
