"""Runs a plan: bounded queues of items, a fixed pool of workers for each endpoint.

Each worker takes an item, asks and parses; what ended within `GROUP` is written in one transaction,
and then the items that became ready by it are queued. So a stop at any moment loses at most the
calls in flight and those of the last moment, and a resumed run finds by the content keys what is
still missing. A sample is leased from its first item to its last: no other run asks about it.

Every item ends `scored`, `unscored` (the reply was unusable, with the reason) or `failed` (with
the error); `StudyExecution._perform` is the one place where an exception becomes a failed record.
Samples whose replay disagrees with the reference are judged like all others; the views leave them
out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import mean

from atom.engine.execution import BEAT, Execution, HaltedError, Lane, RunContext
from atom.engine.items import KEPT, fetch_subject, perform, points, setting_of
from atom.engine.ledger import FinishedItem
from atom.engine.members import Members
from atom.engine.plan import Item, Outlook, PlanKeys, SampleState, finished, outlook, state_of
from atom.engine.sample_states import CHUNK, LoadedSample, load_states
from atom.engine.study.spec import RunSpec
from atom.engine.together.parts import in_order
from atom.errors import AwayError, SpendCapReached, StoreError
from atom.judge import Reply, Request, failed_call
from atom.judge.noting import LeftForLater
from atom.pipeline import BY_NAME
from atom.records import Call, Endpoint, Record, Sample, StudySample
from atom.stages.sight import SightContext
from atom.stages.stage import StageResult


@dataclass(kw_only=True)
class _OpenSample:
    """A sample that is being worked on."""

    number: int
    have: SampleState
    remaining: int = 0
    scheduled: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    kept: dict[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Group:
    """What ended within a moment."""

    write: Callable[[], None]
    follow: list[Item]
    n_ended: int
    n_free: int


COUNTED = 128
"""Of so many chunks of samples, spread evenly, a run's missing items are counted before its first
call, if not of all; of the others when it comes to them. So it begins within seconds at any size.
"""
GROUP, LONGEST_GROUP = 0.1, 0.4
"""Seconds for which what ended waits for more, to be written with it: of each of several processes
in turn, so that the store is written to as often as by one; and at most."""
BEHIND = 2
"""Workers wait where so many times as many items as there are workers aren't written yet."""

_Queue = asyncio.PriorityQueue[tuple[int, int, Item | None]]


class StudyExecution(Execution):
    """One part of a run that does a study's stages.

    Args:
        context: the run, and what it works with.
        spec: what it does.
        members: who takes part.
    """

    def __init__(self, context: RunContext, spec: RunSpec, members: Members) -> None:
        super().__init__(context, members.endpoints)
        self._members = members
        self._keys: PlanKeys = members.keys(spec)
        self._queues: dict[str, _Queue] = {}
        self._places = in_order(members.places, self._number, self._processes)
        self._expected: Sequence[int] = ()
        self._open: dict[str, _OpenSample] = {}
        self._contended: dict[int, StudySample] = {}
        self._pending = 0
        self._order = 0
        self._pointed = False
        self._ended: list[tuple[FinishedItem, list[Item]]] = []
        self._free: list[str] = []
        self._came = asyncio.Event()
        self._written = asyncio.Event()
        self._workers = 0
        self._counted_cost = self._spend.spent

    def _summary(self) -> str:
        """Add, once, that nobody knows how the judge writes the boxes that this part brought."""
        judge = self._members.judge_endpoint
        unchecked = self._sight(judge).unchecked if judge is not None and self._pointed else ""
        return "; ".join(words for words in (super()._summary(), unchecked) if words)

    def _sight(self, endpoint: Endpoint) -> SightContext:
        return SightContext(endpoint=endpoint, cache=self._pictures)

    async def _labour(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        self._queues = {name: asyncio.PriorityQueue() for name in self._lanes}
        workers = [
            group.create_task(self._work(lane))
            for lane in self._lanes.values()
            for _ in range(lane.endpoint.concurrency)
        ]
        self._workers = len(workers)
        workers.append(group.create_task(self._write_groups()))
        await self._feed()
        for name, lane in self._lanes.items():
            for _ in range(lane.endpoint.concurrency):
                self._queues[name].put_nowait((-1, 0, None))
        return workers

    # Planning

    def _count(self) -> int:
        """Count what is missing, for each sample; of a large study's most, by a part of them."""
        starts = range(0, len(self._places), CHUNK)
        counted = {
            start: [
                outlook(loaded.have, self._keys).remaining
                for loaded in self._load(self._places[start : start + CHUNK])
            ]
            for start in starts[:: 1 + len(starts) // COUNTED]
        }
        usual = round(mean(n for one in counted.values() for n in one))
        self._expected = [n for start in starts for n in counted.get(start, [usual] * CHUNK)][
            : len(self._places)
        ]
        return sum(self._expected)

    def _load(self, places: Sequence[StudySample]) -> list[LoadedSample]:
        return load_states(self._store, self._keys, places, self._members.candidate_ids)

    async def _feed(self) -> None:
        """Open samples while the queues run low; return when nothing is left or a stop is due."""
        places = self._places
        at = 0
        while self._stopping is None:
            self._wake.clear()
            if at < len(places) and self._hungry():
                await self._admit(dict(enumerate(places[at : at + CHUNK], at)))
                at += CHUNK
            elif self._pending:
                await self._wait(BEAT)
            elif self._contended:
                await self._wait(BEAT)
                again = [self._contended.popitem() for _ in range(min(CHUNK, len(self._contended)))]
                await self._admit(dict(again))
            elif at >= len(places):
                return

    def _hungry(self) -> bool:
        return any(
            self._queues[name].qsize() < 2 * lane.endpoint.concurrency
            for name, lane in self._lanes.items()
        )

    async def _admit(self, places: Mapping[int, StudySample]) -> None:
        """Lease samples, load the states of those that nobody else has, and queue what is ready."""
        opened = await self._off(partial(self._take, places))
        mine = {known.number for known, _ in opened}
        others = {number: place for number, place in places.items() if number not in mine}
        self._contended = {**others, **self._contended}
        for known, ahead in opened:
            known.remaining = ahead.remaining
            if self._expected and not self._shared:
                self._left += known.remaining - self._expected[known.number]
            self._open[known.have.sample_id] = known
            self._queue(self._fresh(known, ahead))
        done = [known.have.sample_id for known, _ in opened if self._close_if_empty(known)]
        if done:
            await self._off(partial(self._ledger.free, done))

    def _take(self, places: Mapping[int, StudySample]) -> list[tuple[_OpenSample, Outlook]]:
        """Lease samples, then look what is there of them; another run may just have brought it."""
        mine = self._ledger.lease([place.sample_id for place in places.values()])
        numbers = {p.sample_id: number for number, p in places.items() if p.sample_id in mine}
        states = self._load([places[number] for number in numbers.values()])
        adopted = [loaded.adopted for loaded in states if loaded.adopted is not None]
        if adopted:
            self._ledger.adopt(adopted)
        ahead = {loaded.have.sample_id: outlook(loaded.have, self._keys) for loaded in states}
        wanted = [name for name, one in ahead.items() if one.ready]
        kept: dict[str, dict[str, Record]] = {
            sample.id: {sample.id: sample} for sample in self._store.get_many(Sample, wanted)
        }
        return [
            (
                _OpenSample(number=numbers[name], have=loaded.have, kept=kept.get(name, {})),
                ahead[name],
            )
            for loaded in states
            for name in (loaded.have.sample_id,)
        ]

    def _fresh(self, known: _OpenSample, ahead: Outlook) -> list[Item]:
        """Return a sample's ready items that aren't queued yet, and note that they are now."""
        taken = known.scheduled | known.later
        fresh = [item for item in ahead.ready if item.key not in taken]
        known.scheduled.update(item.key for item in fresh)
        return fresh

    def _queue(self, items: Sequence[Item]) -> None:
        for item in items:
            known = self._open[item.sample_id]
            self._pending += 1
            self._order += 1
            self._queues[self._lane(item).endpoint.name].put_nowait(
                (known.number, self._order, item)
            )

    def _lane(self, item: Item) -> Lane:
        if BY_NAME[item.stage].by_candidate:
            return self._lanes[self._members.asked[item.candidate_id].name]
        assert self._members.judge_endpoint is not None
        return self._lanes[self._members.judge_endpoint.name]

    def _close_if_empty(self, known: _OpenSample) -> bool:
        """Forget a sample in which nothing is left to do; return whether it is so."""
        empty = not known.scheduled
        if empty:
            self._open.pop(known.have.sample_id, None)
        return empty

    # Working

    async def _work(self, lane: Lane) -> None:
        try:
            await self._work_off(lane)
        finally:
            self._workers -= 1
            self._came.set()

    async def _work_off(self, lane: Lane) -> None:
        while True:
            _, _, item = await self._queues[lane.endpoint.name].get()
            if item is None or self._stopping is not None:
                return
            try:
                brought = await self._perform(lane, item)
            except SpendCapReached as reached:
                self.stop("stopped", f"{reached.message} Resume with a larger budget.")
                return
            except HaltedError:
                return
            except LeftForLater:
                self._leave(item)
            else:
                self._finish(item, brought)
            while len(self._ended) > BEHIND * self._workers:
                self._written.clear()
                await self._written.wait()

    def _leave(self, item: Item) -> None:
        """Let an item stay missing: what it asks waits for a batch."""
        known = self._open[item.sample_id]
        known.scheduled.discard(item.key)
        known.later.add(item.key)
        self._later += 1
        self._pending -= 1
        if self._close_if_empty(known):
            self._free.append(item.sample_id)
            self._came.set()
        if not self._pending or self._hungry():
            self._wake.set()

    async def _perform(self, lane: Lane, item: Item) -> StageResult:
        """Do an item; here, and nowhere else, an exception becomes a failed record.

        Raises:
            SpendCapReached: nothing was sent; the item stays missing.
            LeftForLater: the question waits for a batch; the item stays missing.
            StoreError: the store can't be read.
        """
        said: dict[Request, Reply] = {}
        while True:
            try:
                return await self._attempt(lane, item, said)
            except AwayError:
                await self._off(self._ledger.check)  # returns when the server is back

    async def _attempt(self, lane: Lane, item: Item, said: dict[Request, Reply]) -> StageResult:
        """Do an item; `said` keeps the replies that came, should it have to be done again."""
        known = self._open[item.sample_id]
        subject = fetch_subject(self._store, known.have, item, known.kept)
        setting = setting_of(item, self._keys, self._members.tree)
        calls: list[Call] = []

        # The stored reply to what is to be asked again is the one that couldn't be used.
        send = lane.client.send if item.spoiled else lane.client.ask

        async def ask(request: Request) -> Reply:
            await self._stay()
            if self._stopping is not None:
                raise HaltedError
            reply = said.get(request) or await send(request)
            said[request] = reply
            calls.append(reply.call)
            return reply

        try:
            sight = self._sight(lane.endpoint)
            brought = await perform(ask, self._store, item, subject, setting, sight)
        except AwayError:
            raise
        except (SpendCapReached, LeftForLater, HaltedError, StoreError):
            if calls:
                await self._off(partial(self._ledger.keep, calls))
            raise
        except Exception as error:  # noqa: BLE001 - the one place that accounts for every failure
            text = self._trouble(lane, error)
            call = failed_call(error)
            call_id = call.id if call else None
            records = BY_NAME[item.stage].failed(text, call_id, subject, setting)
            return StageResult(records=records, call=call, earlier=tuple(calls))
        lane.failures = 0
        main = brought.call.id if brought.call else ""
        return replace(brought, earlier=tuple(call for call in calls if call.id != main))

    def _finish(self, item: Item, brought: StageResult) -> None:
        """Account for an item; it is written, and what became ready by it queued, in a moment."""
        known = self._open[item.sample_id]
        known.have = finished(known.have, item, brought.records)
        known.kept.update((r.id, r) for r in brought.records if isinstance(r, KEPT))
        self._pointed = self._pointed or points(brought.records)
        known.scheduled.discard(item.key)
        ahead = outlook(known.have, self._keys)
        self._left += ahead.remaining - known.remaining
        known.remaining = ahead.remaining
        self._account(state_of(brought.records), brought.call)
        self._ended.append((FinishedItem(item=item, brought=brought), self._fresh(known, ahead)))
        self._came.set()

    async def _write_groups(self) -> None:
        """Write what ends, until the last worker has ended."""
        try:
            while self._workers or self._ended or self._free:
                await self._came.wait()
                self._came.clear()
                if self._workers:
                    await asyncio.sleep(min(GROUP * self._processes, LONGEST_GROUP))
                await self._write_group()
        except asyncio.CancelledError:
            # What is paid for is written before the run falls.
            with suppress(StoreError):
                self._writer.submit(self._group().write).result()
            raise

    def _group(self) -> _Group:
        """Take what ended so far."""
        taken, self._ended = self._ended, []
        free, self._free = self._free, []
        for sample_id in dict.fromkeys(ended.item.sample_id for ended, _ in taken):
            known = self._open.get(sample_id)
            if known is not None and self._close_if_empty(known):
                free.append(sample_id)
        cost, self._counted_cost = self._spend.spent - self._counted_cost, self._spend.spent
        ended = [one for one, _ in taken]
        write = partial(self._ledger.commit, ended, free=free, total=self.total, cost=cost)
        return _Group(
            write=write,
            follow=[item for _, follow in taken for item in follow],
            n_ended=len(ended),
            n_free=len(free),
        )

    async def _write_group(self) -> None:
        """Write what ended so far, and queue what became ready by it."""
        group = self._group()
        if group.n_ended or group.n_free:
            await self._off(group.write)
        self._queue(group.follow)
        self._pending -= group.n_ended
        self._written.set()
        if not self._pending or self._hungry():
            self._wake.set()
