"""One part of a run, from its start or resumption to its end: what every kind of run shares.

The account (done, unscored, failed, cost), the signs of life, stopping, the endpoints' clients and
the guard against an endpoint that only fails. What is done in which order is for the subclass.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from atom.engine.account import FAULT, EndAccount
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.ledger import LEASE, RunLedger, RunPurse, helper_name
from atom.engine.process import owner_name, rare_collections
from atom.engine.replies import PaidOnce
from atom.engine.together.purse import SharedSpend
from atom.engine.together.slots import Slots
from atom.errors import AtomError, UsageError
from atom.judge import (
    JudgeClient,
    PictureCache,
    Reply,
    Request,
    SpendLedger,
    asked_request,
    call_id,
    request_hash,
)
from atom.records import Call, Endpoint, Run, RunState, State
from atom.store import Store
from atom.store.holds import RunAccount

BEAT = 0.5
"""Seconds between two looks at the run's row."""
RENEWED = 5.0
"""Seconds after which a look renews the run's leases, too."""
PATIENCE = 20.0
"""Seconds that calls in flight get to end after a stop."""
MARGIN = 10.0
"""Seconds before a lease ends within which it is looked at before anybody is asked."""
BREAKER = 20
"""So many failures of an endpoint in a row, with no success between them, stop the run."""

ClientMaker = Callable[[Endpoint, SpendLedger, PictureCache], JudgeClient]
T = TypeVar("T")
OnProgress = Callable[["Progress"], None]


class HaltedError(Exception):
    """A stop is due, and nobody was asked."""


def make_client(endpoint: Endpoint, spend: SpendLedger, pictures: PictureCache) -> JudgeClient:
    """Open the client of an endpoint."""
    return JudgeClient(endpoint, spend=spend, pictures=pictures)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is.

    Args:
        done: items done, earlier parts of the run included.
        total: items in all, as known now.
        unscored: items with an unusable reply.
        failed: items that failed.
        cost: USD spent.
        rate: items a second, over the last seconds of this part.
        phase: what it is doing, in a word; empty where that goes without saying.
    """

    run_id: str
    done: int
    total: int
    unscored: int
    failed: int
    cost: float
    rate: float
    phase: str = ""


@dataclass(kw_only=True)
class Lane:
    """One endpoint: its client and how it has been doing."""

    endpoint: Endpoint
    client: PaidOnce
    failures: int = 0


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What a part of a run works with, whatever it does.

    Args:
        run: the run's row, written already.
        make: opens clients; tests and the demo replace it.
        clock: UTC time, for records.
        on_progress: called twice a second at most.
        processes: how many work at the run.
        number: which of them this one is; 0 is the one that opens and ends the run.
    """

    store: Store
    run: Run
    make: ClientMaker = make_client
    clock: Clock = utc_now
    on_progress: OnProgress | None = None
    processes: int = 1
    number: int = 0


class Execution(ABC):
    """One part of a run.

    Args:
        context: the run, and what it works with.
        endpoints: everybody who is asked.
    """

    def __init__(self, context: RunContext, endpoints: Sequence[Endpoint]) -> None:
        store, run, clock = context.store, context.run, context.clock
        self._store = store
        self._run = run
        self._endpoints = endpoints
        self._make = context.make
        self._clock = clock
        self._on_progress = context.on_progress
        self._number, self._processes = context.number, context.processes
        self._shared = context.processes > 1
        self._ledger = RunLedger(
            store=store,
            run_id=run.id,
            study_id=run.study_id,
            owner=owner_name(helper_name(run.id, context.number)),
            number=context.number,
        )
        self._spend = SpendLedger(run.budget, spent=run.cost)
        if self._shared and run.budget is not None:
            purse = RunPurse(ledger=self._ledger, cap=run.budget)
            self._spend = SharedSpend(run.budget, purse, self._off)
        self._account_seen: RunAccount | None = None
        self._pictures = PictureCache()
        self._lanes: dict[str, Lane] = {}
        self._slots = Slots(limiters={}, ceilings={})
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="atom-write")
        self._left = 0
        self._later = 0
        self._done, self._unscored, self._failed = run.done, run.unscored, run.failed
        self._faults: Counter[str] = Counter()
        self._end = EndAccount(since=stamp(clock()))
        self._wake = asyncio.Event()
        self._renewed = time.monotonic()
        self._stopping: tuple[RunState, str] | None = None
        self._phase = ""
        self.signal = ""
        """The signal that stopped it, by name; empty = none did."""
        self._recent: deque[tuple[float, int]] = deque(maxlen=20)

    @property
    def total(self) -> int:
        """Items of the whole run, as known now."""
        return self._done + self._left

    def stop(self, state: RunState, message: str) -> None:
        """Let calls in flight end and take no further item; the first reason counts."""
        if self._stopping is None:
            self._stopping = (state, message)
        self._wake.set()

    def signalled(self, name: str) -> None:
        """Stop since a signal of this name came."""
        self.signal = name
        self.stop("stopped", f"stopped by {name}")

    async def run(self) -> Run:
        """Do what is missing.

        Returns:
            The run's row at its end: `done`, or `stopped` with the reason.

        Raises:
            UsageError: another process runs this run already.
            StoreError: the store can't be written.
        """
        holder = self._ledger.take_over()
        self._renewed = time.monotonic()
        if holder is not None:
            raise UsageError(f"run {self._run.id} is already running in process {holder}")
        state: RunState = "failed"
        message = "the runner ended early: see its log"
        try:
            async with AsyncExitStack() as stack:
                stack.enter_context(rare_collections())
                for endpoint in self._endpoints:
                    client = self._make(endpoint, self._spend, self._pictures)
                    await stack.enter_async_context(client)
                    self._lanes[endpoint.name] = Lane(
                        endpoint=endpoint, client=PaidOnce(self._store, client)
                    )
                self._slots = self._shares()
                # What may be in flight is known before anything is.
                await self._beat()
                self._left = 0 if self._number else await self._off(self._count)
                await self._drive()
                if self._shared and not self._number:
                    await self._await_helpers()
            if self._shared:
                await self._off(self._count_together)
            state, message = self._stopping or self._outcome()
            message = self._told(message)
        except asyncio.CancelledError:
            state, message = "stopped", "the runner was cancelled"
            raise
        except BaseExceptionGroup as group:
            first = _first(group)
            message = str(first)
            raise first from None
        except AtomError as error:
            message = error.message
            raise
        finally:
            self._ledger.end(state, message, stamp(self._clock()), self.total)
            self._writer.shutdown()
        found = self._store.get(Run, self._run.id)
        assert found is not None
        return found

    def _shares(self) -> Slots:
        limiters = {name: lane.client.limiter for name, lane in self._lanes.items()}
        return Slots(
            limiters={name: limiter for name, limiter in limiters.items() if limiter is not None},
            ceilings={name: lane.endpoint.concurrency for name, lane in self._lanes.items()},
        )

    async def _await_helpers(self) -> None:
        """Let the other processes at the run end first; they are told where it is stopped."""
        if self._stopping is not None:
            await self._off(self._ledger.stop_all)
        until = time.monotonic() + 2 * PATIENCE
        helpers = await self._off(self._ledger.helpers)
        while helpers and time.monotonic() < until:
            await asyncio.sleep(BEAT)
            await self._beat()
            helpers = await self._off(self._ledger.helpers)

    def _count_together(self) -> None:
        """Take over what all processes at the run have done."""
        row = self._store.get(Run, self._run.id)
        if row is not None:
            self._done, self._unscored, self._failed = row.done, row.unscored, row.failed
            self._left = 0 if self._stopping is None else max(0, row.total - row.done)

    @abstractmethod
    def _count(self) -> int:
        """Count what is missing; called once, in the writing thread."""

    @abstractmethod
    async def _labour(self, group: asyncio.TaskGroup) -> Sequence[asyncio.Task[None]]:
        """Start the workers in the group; return them when all is done or a stop is due."""

    async def _drive(self) -> None:
        async with asyncio.TaskGroup() as group:
            ticker = group.create_task(self._tick())
            workers = await self._labour(group)
            _, late = await asyncio.wait(workers, timeout=PATIENCE) if workers else ((), ())
            for worker in late:
                worker.cancel()
            ticker.cancel()
        if isinstance(self._spend, SharedSpend):
            await self._spend.rest()
        self._report()

    def _outcome(self) -> tuple[RunState, str]:
        if self._later:
            return "stopped", (
                f"{self._later} items wait for a batch; resuming the run would ask them one by "
                "one now, at the full price"
            )
        return "done", self._summary()

    def _summary(self) -> str:
        if self._failed or self._unscored:
            words = (
                f"{self._failed} items failed (resume with --retry-failed to ask again), "
                f"{self._unscored} came back with something unscored"
            )
            causes = self._end.unscored
            if causes:
                # What the others met isn't counted here.
                told = [c if self._shared else f"{n:,} {c}" for c, n in causes.most_common()]
                words += ": " + ", ".join(told)
            if causes[FAULT]:
                words += " (resume with --retry-unscored to ask those again)"
            for fault, times in self._faults.most_common(1):
                words += f"; most often ({'once' if times == 1 else f'{times} times'}): {fault}"
            return words
        return "" if self._done else "nothing was missing"

    def _told(self, message: str) -> str:
        """Add to a message what else there is to tell of this part of the run."""
        unpriced = [
            name
            for name, lane in self._lanes.items()
            if name in self._end.asked and lane.endpoint.prices.unknown
        ]
        told = list(self._end.sentences())
        if unpriced:
            told.append(f"What {', '.join(unpriced)} cost isn't known: no prices are given.")
        if message and told:
            message = f"{message.rstrip('.')}."
        return " ".join(part for part in (message, *told) if part)

    def _trouble(self, lane: Lane, error: Exception) -> str:
        """Note that an item failed; an endpoint that only fails stops the run.

        Returns:
            What went wrong, in words for the user.
        """
        text = str(error) if isinstance(error, AtomError) else f"{type(error).__name__}: {error}"
        self._faults[text] += 1
        lane.failures += 1
        if lane.failures >= BREAKER:
            self.stop(
                "stopped",
                f"{lane.failures:,} items in a row failed at {lane.endpoint.name!r}; the last: "
                f"{text} When it's mended, resume with --retry-failed.",
            )
        return text

    def _account(self, state: State, call: Call | None) -> None:
        """Count an item that is done, well or not, with the call that it took."""
        self._end.enter(call, state)
        self._done += 1
        self._unscored += state == "unscored"
        self._failed += state == "failed"

    async def _ask_once(
        self,
        lane: Lane,
        held: list[str],
        request: Request,
        tell: Callable[[str], None] | None = None,
    ) -> Reply:
        """Ask, unless the store holds the reply; another run may be asking just that.

        Args:
            held: what is claimed for it is added here, to be given back with the record.
            tell: told each piece of text as it streams in; None = the reply isn't streamed.

        Raises:
            HaltedError: a stop came while another run was waited for.
            AtomError: as `JudgeClient.ask` does.
        """
        stored = await lane.client.found(request)
        if stored is None:
            asked = asked_request(lane.endpoint, request)
            name = call_id(request_hash(asked, lane.endpoint.model), request.repeat)
            while not await self._off(partial(self._ledger.hold, name)):
                await self._wait(BEAT)
                if self._stopping is not None:
                    raise HaltedError
            held.append(name)
            # Whoever held it may have brought the reply between our look and our turn.
            stored = await lane.client.found(request)
        if stored is not None:
            if tell is not None:
                tell(stored.text)
            return stored
        await self._stay()
        if self._stopping is not None:
            raise HaltedError
        return await lane.client.send(request, tell)

    async def _stay(self) -> None:
        """Go on only if the run is still this process's, should it have stood still for long.

        Raises:
            FencedError: another process took it over.
        """
        still = time.monotonic() - self._renewed
        if still < LEASE - MARGIN:
            return
        await self._off(self._ledger.check)
        if still >= LEASE:
            # What it had claimed may be another run's by now.
            self.stop("stopped", f"it stood still for {still:.0f} seconds; resume it to go on")

    async def _off(self, job: Callable[[], T]) -> T:
        """Do a piece of store work in the one writing thread, in the order of the calls.

        A server that went away is waited for: what came is kept until it is written.
        """
        patiently = partial(self._store.patiently, job)
        return await asyncio.get_running_loop().run_in_executor(self._writer, patiently)

    async def _wait(self, seconds: float) -> None:
        """Wait until something wakes the run, or for so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    # Signs of life

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            await self._stay()
            await self._beat()
            if isinstance(self._spend, SharedSpend):
                await self._spend.rest()
            self._report()

    async def _beat(self) -> None:
        """Show a sign of life; learn whether to go on, and how many calls may be in flight."""
        renew = time.monotonic() - self._renewed >= RENEWED
        told = stamp(self._clock()), self.total, self._slots.ask()
        beat = await self._off(partial(self._ledger.beat, *told, renew=renew))
        if renew:
            self._renewed = time.monotonic()
        self._account_seen = beat.account
        if beat.account is None or beat.account.state != "running":
            self.stop("stopped", "stopped on request")
        self._slots.take(beat.granted)
        if not beat.led:
            self.stop("stopped", "the process that began the run is gone")

    def _report(self) -> None:
        seen = self._account_seen if self._shared else None
        done = seen.done if seen else self._done
        self._recent.append((time.monotonic(), done))
        if self._on_progress is None:
            return
        (then, before), (now, after) = self._recent[0], self._recent[-1]
        self._on_progress(
            Progress(
                run_id=self._run.id,
                done=done,
                total=max(self.total, done),
                unscored=seen.unscored if seen else self._unscored,
                failed=seen.failed if seen else self._failed,
                cost=seen.cost if seen else self._spend.spent,
                rate=(after - before) / (now - then) if now > then else 0.0,
                phase=self._phase,
            )
        )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception of a group, one of ours before others."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves.append(_first(error) if isinstance(error, BaseExceptionGroup) else error)
    return next((error for error in leaves if isinstance(error, AtomError)), leaves[0])
