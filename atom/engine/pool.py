"""Runs a plan: bounded queues of items, a fixed pool of workers for each endpoint.

Each worker takes an item, asks, parses, and writes what came in one transaction together with the
items that became ready by it. So a stop at any moment loses at most the calls in flight, and a
resumed run finds by the content keys what is still missing.

Every item ends `scored`, `unscored` (the reply was unusable, with the reason) or `failed` (with
the error); `Runner._perform` is the one place where an exception becomes a failed record. Samples
whose replay disagrees with the reference are judged like all others; the views leave them out.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from atom.engine import steps
from atom.engine.cases import CHUNK, Loaded, load_cases
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.failures import failed_records
from atom.engine.ledger import RunLedger
from atom.engine.members import Members
from atom.engine.plan import Case, Item, PlanKeys, RunSpec, finished, outlook, state_of
from atom.engine.process import owner_name
from atom.engine.replies import PaidOnce
from atom.engine.subjects import KEPT, fetch_subject, perform
from atom.errors import AtomError, SpendCapReached, StoreError, UsageError
from atom.judge import JudgeClient, PictureCache, SpendLedger, failed_call
from atom.records import (
    Endpoint,
    Record,
    Run,
    RunState,
    StudySample,
)
from atom.store import Store

BEAT = 0.5
"""Seconds between two looks at the run's row."""
PATIENCE = 20.0
"""Seconds that calls in flight get to end after a stop."""
BREAKER = 20
"""So many failures of an endpoint in a row, with no success between them, stop the run."""

ClientMaker = Callable[[Endpoint, SpendLedger, PictureCache], JudgeClient]
T = TypeVar("T")
R = TypeVar("R", bound=Record)
OnProgress = Callable[["Progress"], None]


def make_client(endpoint: Endpoint, spend: SpendLedger, pictures: PictureCache) -> JudgeClient:
    """Open the client of an endpoint."""
    return JudgeClient(endpoint, spend=spend, pictures=pictures)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is.

    Args:
        run_id: the run.
        done: items done, earlier parts of the run included.
        total: items in all, as known now.
        unscored: items with an unusable reply.
        failed: items that failed.
        cost: USD spent.
        rate: items a second, over the last seconds of this part.
    """

    run_id: str
    done: int
    total: int
    unscored: int
    failed: int
    cost: float
    rate: float


@dataclass(kw_only=True)
class _Lane:
    """One endpoint: its client, its queue and how it has been doing."""

    endpoint: Endpoint
    client: PaidOnce
    queue: asyncio.PriorityQueue[tuple[int, int, Item | None]] = field(
        default_factory=asyncio.PriorityQueue
    )
    failures: int = 0


@dataclass(kw_only=True)
class _Open:
    """A case that is being worked on."""

    number: int
    case: Case
    place: StudySample
    remaining: int = 0
    scheduled: set[str] = field(default_factory=set)
    contended: bool = False
    kept: dict[str, Record] = field(default_factory=dict)


class Runner:
    """One part of a run, from its start or resumption to its end.

    Args:
        store: the store.
        run: the run's row, written already.
        spec: what it does.
        members: who takes part.
        make: opens clients; tests and the demo replace it.
        clock: UTC time, for records.
        on_progress: called twice a second at most.
    """

    def __init__(
        self,
        store: Store,
        run: Run,
        spec: RunSpec,
        members: Members,
        *,
        make: ClientMaker = make_client,
        clock: Clock = utc_now,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._store = store
        self._run = run
        self._members = members
        self._keys: PlanKeys = members.keys(spec)
        self._make = make
        self._clock = clock
        self._on_progress = on_progress
        self._ledger = RunLedger(
            store=store, run_id=run.id, study_id=members.study.id, owner=owner_name(run.id)
        )
        self._spend = SpendLedger(spec.budget, spent=run.cost)
        self._lanes: dict[str, _Lane] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="atom-write")
        self._open: dict[str, _Open] = {}
        self._pending = 0
        self._left = 0
        self._done, self._unscored, self._failed = run.done, run.unscored, run.failed
        self._faults: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._stopping: tuple[RunState, str] | None = None
        self._recent: deque[tuple[float, int]] = deque(maxlen=20)
        self._order = 0

    @property
    def total(self) -> int:
        """Items of the whole run, as known now."""
        return self._done + self._left

    def stop(self, state: RunState, message: str) -> None:
        """Let calls in flight end and take no further item; the first reason counts."""
        if self._stopping is None:
            self._stopping = (state, message)
        self._wake.set()

    async def run(self) -> Run:
        """Do what is missing.

        Returns:
            The run's row at its end: `done`, or `stopped` with the reason.

        Raises:
            UsageError: another process runs this run already.
            StoreError: the store can't be written.
        """
        holder = self._ledger.take_over()
        if holder is not None:
            raise UsageError(f"run {self._run.id} is already running in process {holder}")
        state: RunState = "failed"
        message = "the runner ended early: see its log"
        try:
            async with AsyncExitStack() as stack:
                pictures = PictureCache()
                for endpoint in self._members.endpoints:
                    client = self._make(endpoint, self._spend, pictures)
                    await stack.enter_async_context(client)
                    self._lanes[endpoint.name] = _Lane(
                        endpoint=endpoint, client=PaidOnce(self._store, client)
                    )
                self._left = await self._off(self._count)
                await self._drive()
            state, message = self._stopping or ("done", self._summary())
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

    async def _drive(self) -> None:
        async with asyncio.TaskGroup() as group:
            workers = [
                group.create_task(self._work(lane))
                for lane in self._lanes.values()
                for _ in range(lane.endpoint.concurrency)
            ]
            ticker = group.create_task(self._tick())
            await self._feed()
            for lane in self._lanes.values():
                for _ in range(lane.endpoint.concurrency):
                    lane.queue.put_nowait((-1, 0, None))
            _, late = await asyncio.wait(workers, timeout=PATIENCE)
            for worker in late:
                worker.cancel()
            ticker.cancel()
        self._report()

    def _summary(self) -> str:
        if self._failed or self._unscored:
            words = (
                f"{self._failed} items failed (resume with --retry-failed to ask again), "
                f"{self._unscored} came back with something unscored"
            )
            for fault, times in self._faults.most_common(1):
                words += f"; most often ({times} times): {fault}"
            return words
        return "" if self._done else "nothing was missing"

    # Planning

    def _count(self) -> int:
        return sum(
            outlook(loaded.case, self._keys).remaining
            for start in range(0, len(self._members.places), CHUNK)
            for loaded in self._load(self._members.places[start : start + CHUNK])
        )

    def _load(self, places: Sequence[StudySample]) -> list[Loaded]:
        return load_cases(self._store, self._keys, places, self._members.candidate_ids)

    async def _feed(self) -> None:
        """Open cases while the queues run low; return when nothing is left or a stop is due."""
        places = self._members.places
        at = 0
        while self._stopping is None:
            self._wake.clear()
            if at < len(places) and self._hungry():
                await self._admit(places[at : at + CHUNK], at)
                at += CHUNK
            elif self._pending:
                await self._wait(BEAT)
            elif contended := [o for o in self._open.values() if o.contended]:
                await self._wait(BEAT)
                await self._admit([o.place for o in contended[:CHUNK]], contended[0].number)
            elif at >= len(places):
                return

    def _hungry(self) -> bool:
        return any(
            lane.queue.qsize() < 2 * lane.endpoint.concurrency for lane in self._lanes.values()
        )

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _admit(self, places: Sequence[StudySample], first: int) -> None:
        """Load cases, claim what is ready in them, and queue it."""
        opened = []
        for offset, loaded in enumerate(await self._off(partial(self._load, places))):
            known = self._open.get(loaded.case.sample_id)
            if known is None:
                known = _Open(number=first + offset, case=loaded.case, place=loaded.place)
                known.remaining = outlook(loaded.case, self._keys).remaining
            else:
                known.case = replace(loaded.case, tried=known.case.tried)
                self._recount(known)
            known.contended = False
            self._open[loaded.case.sample_id] = known
            opened.append((known, loaded.adopted))
        fresh = [item for known, _ in opened for item in self._fresh(known)]
        adopted = [place for _, place in opened if place is not None]
        if fresh or adopted:
            self._queue(fresh, await self._off(partial(self._ledger.claim, fresh, adopted)))
        for known, _ in opened:
            self._close_if_empty(known)

    def _fresh(self, known: _Open) -> list[Item]:
        """Return a case's ready items that aren't queued yet, and note that they are now."""
        ready = outlook(known.case, self._keys).ready
        fresh = [item for item in ready if item.key not in known.scheduled]
        known.scheduled.update(item.key for item in fresh)
        return fresh

    def _queue(self, items: Sequence[Item], mine: set[str]) -> None:
        """Queue the items that were claimed; those of another runner are looked at again later."""
        for item in items:
            known = self._open[item.sample_id]
            if item.key not in mine:
                known.scheduled.discard(item.key)
                known.contended = True
                continue
            self._pending += 1
            self._order += 1
            self._lane(item).queue.put_nowait((known.number, self._order, item))

    def _lane(self, item: Item) -> _Lane:
        if item.stage == "answer":
            return self._lanes[self._members.asked[item.candidate_id].name]
        assert self._members.judge_endpoint is not None
        return self._lanes[self._members.judge_endpoint.name]

    def _recount(self, known: _Open) -> None:
        now = outlook(known.case, self._keys).remaining
        self._left += now - known.remaining
        known.remaining = now

    def _close_if_empty(self, known: _Open) -> None:
        if not known.scheduled and not known.contended:
            self._open.pop(known.case.sample_id, None)

    # Working

    async def _work(self, lane: _Lane) -> None:
        while True:
            _, _, item = await lane.queue.get()
            if item is None or self._stopping is not None:
                return
            try:
                brought = await self._perform(lane, item)
            except SpendCapReached as reached:
                self.stop("stopped", f"{reached.message} Resume with a larger budget.")
                return
            await self._finish(item, brought)

    async def _perform(self, lane: _Lane, item: Item) -> steps.Brought:
        """Do an item; here, and nowhere else, an exception becomes a failed record.

        Raises:
            SpendCapReached: nothing was sent; the item stays missing.
            StoreError: the store can't be read.
        """
        known = self._open[item.sample_id]
        subject = fetch_subject(self._store, known.case, item, known.kept)
        try:
            brought = await perform(
                lane.client.ask, self._store, item, subject, self._keys, self._members.tree
            )
        except (SpendCapReached, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 - the one place that accounts for every failure
            text = (
                str(error) if isinstance(error, AtomError) else f"{type(error).__name__}: {error}"
            )
            self._faults[text] += 1
            call = failed_call(error)
            call_id = call.id if call else None
            brought = steps.Brought(
                records=failed_records(text, call_id, item, self._keys, subject), call=call
            )
            lane.failures += 1
            if lane.failures >= BREAKER:
                self.stop(
                    "stopped",
                    f"{lane.failures} items in a row failed at {lane.endpoint.name!r}; the last: "
                    f"{text} When it's mended, resume with --retry-failed.",
                )
        else:
            lane.failures = 0
        return brought

    async def _finish(self, item: Item, brought: steps.Brought) -> None:
        """Account for an item, write it, and queue what became ready by it."""
        known = self._open[item.sample_id]
        known.case = finished(known.case, item, brought.records)
        known.kept.update((r.id, r) for r in brought.records if isinstance(r, KEPT))
        known.scheduled.discard(item.key)
        self._recount(known)
        state = state_of(brought.records)
        self._done += 1
        self._unscored += state == "unscored"
        self._failed += state == "failed"
        follow = self._fresh(known)
        commit = partial(
            self._ledger.commit,
            item,
            brought,
            follow=follow,
            total=self.total,
            cost=self._spend.spent,
        )
        mine = await self._off(commit)
        self._queue(follow, mine)
        self._pending -= 1
        self._close_if_empty(known)
        if not self._pending or self._hungry():
            self._wake.set()

    async def _off(self, job: Callable[[], T]) -> T:
        """Do a piece of store work in the one writing thread, in the order of the calls."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, job)

    # Signs of life

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            moment = stamp(self._clock())
            state = await self._off(partial(self._ledger.beat, moment, self.total))
            if state != "running":
                self.stop("stopped", "stopped on request")
            self._report()

    def _report(self) -> None:
        self._recent.append((time.monotonic(), self._done))
        if self._on_progress is None:
            return
        (then, before), (now, after) = self._recent[0], self._recent[-1]
        self._on_progress(
            Progress(
                run_id=self._run.id,
                done=self._done,
                total=self.total,
                unscored=self._unscored,
                failed=self._failed,
                cost=self._spend.spent,
                rate=(after - before) / (now - then) if now > then else 0.0,
            )
        )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception of a group, one of ours before others."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves.append(_first(error) if isinstance(error, BaseExceptionGroup) else error)
    return next((error for error in leaves if isinstance(error, AtomError)), leaves[0])
