"""Runs whose items become verdicts: judge benchmarks and rival methods."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial

from atom.engine.execution import BEAT, Execution, HaltedError, RunContext
from atom.errors import SpendCapReached, StoreError
from atom.judge import JudgeClient, failed_call
from atom.judge.noting import LeftForLater
from atom.records import Call, Endpoint, Verdict
from atom.stages import verdicts
from atom.stages.verdicts import Ask, RespondentName, Worklist
from atom.store import Store
from atom.store import table as columns_of

ROUNDS = 64
"""No worklist has later questions than so many rounds deep."""
TRIED = 6
"""Requests that are built to see how long they are."""


def load_verdicts(store: Store, group: str) -> dict[str, Verdict]:
    """Return a set's or a study's verdicts by key."""
    columns = columns_of(Verdict).c
    return {row.key: row for row in store.select(Verdict, columns.group == group)}


def open_asks(
    worklist: Worklist, have: Mapping[str, Verdict], *, retry_failed: bool = False
) -> list[Ask]:
    """Return what is still to be asked, each question once."""

    def is_open(ask: Ask) -> bool:
        there = have.get(ask.key)
        return there is None or (retry_failed and there.state == "failed")

    return list({ask.key: ask for ask in worklist.asks(have) if is_open(ask)}.values())


def price_of(endpoint: Endpoint, asks: Sequence[Ask], calls: int) -> float | None:
    """Return what so many calls cost, about, by some of the requests; None = no price is known."""
    if not asks:
        return 0.0
    client = JudgeClient(endpoint)
    prices = [client.estimate(ask.build()).cost for ask in asks[:: -(-len(asks) // TRIED)]]
    known = [price for price in prices if price is not None]
    return sum(known) / len(known) * calls if len(known) == len(prices) else None


class WorklistExecution(Execution):
    """One part of a run that works through a worklist.

    Args:
        context: the run, and what it works with.
        worklist: what there is to ask.
        group: whose verdicts they become: the set's or the study's id.
        asked: the endpoint of everybody who is asked.
        retry_failed: ask again for what failed earlier.
    """

    def __init__(
        self,
        context: RunContext,
        worklist: Worklist,
        group: str,
        asked: Mapping[RespondentName, Endpoint],
        *,
        retry_failed: bool = False,
    ) -> None:
        super().__init__(context, list({end.name: end for end in asked.values()}.values()))
        self._worklist = worklist
        self._group = group
        self._asked = asked
        self._retry_failed = retry_failed
        self._have: dict[str, Verdict] = {}
        self._tried: set[str] = set()
        self._queue: deque[Ask] = deque()

    def _count(self) -> int:
        self._have = load_verdicts(self._store, self._group)
        self._queue = deque(self._still_open())
        return len(self._queue)

    def _still_open(self) -> list[Ask]:
        found = open_asks(self._worklist, self._have, retry_failed=self._retry_failed)
        return [ask for ask in found if ask.key not in self._tried]

    async def _labour(self, group: asyncio.TaskGroup) -> Sequence[asyncio.Task[None]]:
        at_once = sum(lane.endpoint.concurrency for lane in self._lanes.values())
        workers: list[asyncio.Task[None]] = []
        for _ in range(ROUNDS):
            if not self._queue or self._stopping is not None:
                break
            workers = [group.create_task(self._work()) for _ in range(at_once)]
            while self._stopping is None and not all(worker.done() for worker in workers):
                await asyncio.wait(workers, timeout=BEAT, return_when=asyncio.FIRST_EXCEPTION)
            if self._stopping is None:
                self._queue = deque(await self._off(self._still_open))
                self._left = len(self._queue) + self._later
        return workers

    async def _work(self) -> None:
        while self._queue and self._stopping is None:
            await self._do(self._queue.popleft())

    async def _do(self, ask: Ask) -> None:
        """Ask; here, and nowhere else, an exception becomes a failed verdict.

        Raises:
            StoreError: the store can't be read or written.
        """
        lane = self._lanes[self._asked[ask.by].name]
        held: list[str] = []
        call: Call | None = None
        try:
            reply = await self._ask_once(lane, held, ask.build())
            verdict, call = ask.read(reply, ask.blank), reply.call
        except SpendCapReached as reached:
            self.stop("stopped", f"{reached.message} Resume with a larger budget.")
            return
        except (StoreError, asyncio.CancelledError):
            raise
        except HaltedError:
            return
        except LeftForLater:
            self._tried.add(ask.key)
            self._later += 1
            return
        except Exception as error:  # noqa: BLE001 - the one place that accounts for failures
            text, call = self._trouble(lane, error), failed_call(error)
            verdict = verdicts.failed(ask.blank, text, call.id if call else None)
        else:
            lane.failures = 0
        await self._finish(verdict, call, held)

    async def _finish(self, verdict: Verdict, call: Call | None, held: Sequence[str]) -> None:
        self._tried.add(verdict.key)
        there = self._have.get(verdict.key)
        worse = verdict.state == "failed" and there is not None and there.state != "failed"
        if not worse:
            self._have[verdict.key] = verdict
        self._account(verdict.state, call)
        self._left -= 1
        await self._off(
            partial(
                self._ledger.record,
                call,
                [],
                [] if worse else [verdict],
                state=verdict.state,
                total=self.total,
                cost=self._spend.spent,
                held=held,
            )
        )
