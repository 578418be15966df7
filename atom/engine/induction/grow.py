"""Induction: a study's tree grows from its own criteria, and every criterion is mapped to it.

Nothing about the work in progress is stored but the calls: the same criteria, settings and replies
give the same tree, so an induction that was killed is simply done again, and whatever was answered
before costs nothing. The study gets its new tree in one transaction at the very end.

Reference: ATOM 3.2 and E.1; `design/005`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import ConsentQuestion
from atom.engine.execution import BEAT, ClientMaker, Execution, OnProgress, RunContext, make_client
from atom.engine.induction.forecast import InductionForecast, forecast_induction
from atom.engine.induction.ground import InductionParts, InductionSpec, prepare, questions, spec_of
from atom.engine.induction.growing import Answer, Growth, grow, prune_leaves
from atom.engine.induction.growth_log import GrowthLog, growth_file
from atom.engine.induction.mapper import Asker, Mapper, MappingHaltedError, together
from atom.engine.induction.result import InductionResult, grown_already, induced_by
from atom.engine.work import Work, carry_out, open_work
from atom.errors import JudgeError, PermanentError, SpendCapReached, UsageError
from atom.judge import Request
from atom.judge.embedding import MOST_TEXTS, EmbeddingClient
from atom.records import Call, Endpoint, Induction, Record, Run, RunState, TreeTask, TreeVersion
from atom.records import Mapping as LeafMapping
from atom.records.vectors import Vector, embedding_id, unpack
from atom.store import Store, TreeDraft, Writer, add_version, begin_history, carried, use_version
from atom.store.holds import lend_judge, update_run
from taxonomy import tree_version
from taxonomy.edits import compose, replay
from taxonomy.grow import GrownTree

MOST_REFUSED = 200
"""Lines about refusals that are kept."""
EmbedderMaker = Callable[[Endpoint], EmbeddingClient]


async def induce(
    store: Store,
    spec: InductionSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    make: ClientMaker = make_client,
    make_embedder: EmbedderMaker = EmbeddingClient,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
) -> InductionResult:
    """Grow a study's tree and map every criterion to it, or do the rest of that.

    Args:
        spec: what to do; the same again goes on where it was stopped.
        endpoints: endpoints by name.
        make: opens the judge's client.
        make_embedder: opens the embedding client.
        clock: UTC time, for records.
        on_progress: called twice a second at most.

    Returns:
        The tree and its version; the run says `stopped` and why where it didn't get that far.

    Raises:
        UsageError: it can't begin.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
        StoreError: the store can't be written.
    """
    there = grown_already(store, prepare(store, spec, endpoints, stamp(clock())))
    if there is not None:
        return there
    run = open_work(store, spec, endpoints, clock=clock)
    ended = await carry_out(
        store,
        run.id,
        endpoints,
        make=make,
        clock=clock,
        on_progress=on_progress,
        work=_TreeWork(make_embedder=make_embedder),
    )
    return induced_by(store, ended)


@dataclass(frozen=True, kw_only=True)
class _TreeWork(Work[InductionSpec, InductionParts]):
    """Grows a study's tree and maps every criterion to it; the same again goes on.

    Args:
        make_embedder: opens the embedding client.
    """

    make_embedder: EmbedderMaker = EmbeddingClient
    live_only: ClassVar[str] = (
        "a tree grows proposal by proposal, each on what came of the one before, and can't be "
        "written as a batch: grow it live"
    )
    anew: ClassVar[tuple[str, ...]] = ("done", "total")

    def prepare(
        self, store: Store, spec: InductionSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> InductionParts:
        return prepare(store, spec, endpoints, moment)

    def forecast(
        self, store: Store, spec: InductionSpec, endpoints: Mapping[str, Endpoint]
    ) -> InductionForecast:
        return forecast_induction(store, spec, endpoints)

    def check(self, store: Store, ground: InductionParts) -> None:
        if grown_already(store, ground) is not None:
            raise UsageError(
                "the study has the tree that these settings grow: choose another judge, other "
                "samples or another begin"
            )

    def questions(self, store: Store, ground: InductionParts) -> tuple[ConsentQuestion, ...]:
        return questions(store, ground)

    def row(self, spec: InductionSpec, ground: InductionParts, moment: datetime) -> Run:
        created = stamp(moment)
        return Run(
            id=ground.row.id,
            study_id=ground.members.study.id,
            judge=ground.judge.name,
            budget=spec.budget,
            created=created,
            heartbeat=created,
            task=TreeTask(kind="tree"),
        )

    def begin(self, writer: Writer, ground: InductionParts, moment: str) -> None:
        writer.replace([ground.row])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> InductionSpec:
        return spec_of(store, run.id)

    def execution(
        self, context: RunContext, spec: InductionSpec, ground: InductionParts
    ) -> Execution:
        return _Growth(context, spec, ground, self.make_embedder)


WORK: Final = _TreeWork()


class _Growth(Execution):
    """One part of an induction: its calls, its writes, its account."""

    def __init__(
        self,
        context: RunContext,
        spec: InductionSpec,
        ground: InductionParts,
        make_embedder: EmbedderMaker,
    ) -> None:
        super().__init__(context, [ground.judge])
        row = context.store.get(Induction, context.run.id)
        assert row is not None
        self.store, self.clock, self.row = context.store, context.clock, row
        self.halt = asyncio.Event()
        self._noted = ""
        self._spec, self._ground = spec, ground
        self._make_embedder = make_embedder
        self._growth = GrowthLog(growth_file(context.store, context.run.id))

    def stop(self, state: RunState, message: str) -> None:
        """Let calls in flight end, and ask nothing more."""
        super().stop(state, message)
        self.halt.set()

    def _count(self) -> int:
        return 0  # The judge's replies say how much there is to ask.

    async def _labour(self, group: asyncio.TaskGroup) -> Sequence[asyncio.Task[None]]:
        if grown_already(self.store, self._ground) is not None:
            return []
        work = group.create_task(self._work())
        while self._stopping is None and not work.done():
            await asyncio.wait([work], timeout=BEAT)
        return [work]

    async def _work(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                embedder = None
                if self._ground.embedding is not None:
                    opened = self._make_embedder(self._ground.embedding)
                    embedder = await stack.enter_async_context(opened)
                asker = _Asker(
                    desk=self,
                    client=self._lanes[self._ground.judge.name].client,
                    spend=self._spend,
                    lanes=asyncio.Semaphore(self._ground.judge.concurrency),
                    embedder=embedder,
                )
                await _grow_and_map(asker, self._ground, self._spec)
                self._stopping = None  # The study has its tree: a stop came too late.
        except MappingHaltedError:
            pass
        except SpendCapReached as reached:
            self.stop("stopped", f"{reached.message} Go on with a larger budget.")
        except JudgeError as error:
            self.stop("stopped", f"{error.message} Resuming it goes on.")
        await self.write(())

    def tell(self, **news: object) -> None:
        """Note what there is to say of the tree."""
        self.row = self.row.model_copy(update=news)
        self._phase = self.row.phase

    def planned(self, phase: str, calls: int) -> None:
        """Note that so many calls are left, and for what."""
        self.tell(phase=phase)
        self._left = calls

    def more(self, phase: str, calls: int) -> None:
        """Note that so many calls come on top, and for what."""
        self.tell(phase=phase)
        self._left += calls

    def counted(self, cost: float) -> None:
        """Note that a call is done."""
        self._done += 1
        self._left = max(self._left - 1, 0)

    def note(self, words: str) -> None:
        """Note what is to be told at the end."""
        self._noted = words

    def _summary(self) -> str:
        return self._noted or super()._summary()

    async def grown(self, grown: GrownTree) -> None:
        """Let those who watch see the tree as it is now."""
        await self._off(partial(self._growth.take, grown))

    async def write(self, records: Sequence[Record]) -> None:
        """Write records, and how far it is, in one transaction."""
        for call in (record for record in records if isinstance(record, Call)):
            self._end.enter(call, "scored")
        account = {"done": self._done, "total": self.total, "cost": self._spend.spent}
        await self._off(partial(self._write, tuple(records), self.row, account))

    def _write(
        self, records: Sequence[Record], row: Induction, account: Mapping[str, float]
    ) -> None:
        kept = [r for r in records if isinstance(r, Call) and r.reply is None]

        def write(writer: Writer) -> None:
            writer.put(kept)
            writer.replace([*(r for r in records if r not in kept), row])
            update_run(writer, row.id, only=None, **account)

        self._ledger.fenced(write)

    async def publish(
        self, final: GrownTree, mappings: Mapping[str, LeafMapping], unplaced: int
    ) -> TreeVersion:
        """Give the study its tree: version, log and pointer, all or nothing."""
        version = await self._off(partial(self._publish, final, mappings, unplaced))
        self.tell(position=version.position, phase="")
        return version

    def _publish(
        self, final: GrownTree, mappings: Mapping[str, LeafMapping], unplaced: int
    ) -> TreeVersion:
        ground, study = self._ground, self._ground.members.study
        created = stamp(self.clock())
        mapped = sum(m.leaf is not None for m in mappings.values())
        criteria = sum(len(cut.criteria) for cut in ground.subset)
        note = (
            f"Grown from {criteria:,} criteria of {len(ground.subset):,} samples by "
            f"{ground.judge.model}; {unplaced:,} found no place. {mapped:,} of {len(mappings):,} "
            "criteria are mapped to it."
        )
        draft = TreeDraft(
            tree=final.tree, origin="induced", parent=ground.start, entries=final.log, note=note
        )
        grown = self.row

        def publish(writer: Writer) -> TreeVersion:
            old = ground.members.tree if study.tree_version is not None else None
            begin_history(writer, study, old, created)
            version = add_version(writer, study.id, draft, created)
            use_version(writer, study.id, version.version)
            judge = ground.members.judge
            if judge is not None:
                writer.put([judge])
                lend_judge(writer, study.id, judge.id)
            writer.replace([grown.model_copy(update={"position": version.position})])
            writer.touch(study.id)
            return version

        return self._ledger.fenced(publish)


@dataclass(kw_only=True)
class _Asker(Asker):
    """Asks the judge for proposals and opinions, too, and an embedding endpoint for vectors."""

    desk: _Growth
    embedder: EmbeddingClient | None = None

    async def all(self, phase: str, requests: Sequence[Request]) -> list[Answer]:
        """Ask several requests at once; see `growing.AskAll`."""
        self.desk.more(phase, len(requests))
        return await together([self._counted(request) for request in requests])

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Turn texts into vectors; None when the endpoint can't, and letters alone decide."""
        if self.embedder is None:
            return None
        rows: list[Vector] = []
        for start in range(0, len(texts), MOST_TEXTS):
            part = texts[start : start + MOST_TEXTS]
            stored = self.desk.store.get(Call, embedding_id(self.embedder.endpoint.model, part))
            if stored is not None and stored.reply is not None:
                rows += unpack(stored.reply)
                continue
            if self.desk.halt.is_set():
                raise MappingHaltedError
            try:
                embedded = await self.embedder.embed(part)
            except PermanentError as error:
                self.desk.note(f"{error.message} Letters alone decide what is alike.")
                self.embedder = None
                return None
            self.desk.more(self.desk.row.phase, 1)
            self.desk.counted(self.spend.spent)
            await self.desk.write([embedded.call])
            rows += embedded.vectors
        if len(rows) != len(texts) or len({len(row) for row in rows}) > 1:
            self.desk.note(
                "Stored vectors aren't of one model. Letters alone decide what is alike."
            )
            self.embedder = None
            return None
        return np.array(rows, dtype=np.float32)

    async def _counted(self, request: Request) -> Answer:
        asked = await self.one(request)
        await self.done(asked)
        return asked.answer


async def _grow_and_map(asker: _Asker, ground: InductionParts, spec: InductionSpec) -> None:
    growth = await grow(
        asker.all,
        ground.subset,
        ground.start,
        spec.grow,
        judge=ground.judge.model,
        sampling=ground.members.judge_sampling,
        embed=asker.embed if asker.embedder is not None else None,
        told=asker.desk.grown,
    )
    if not growth.grown.tree.leaves:
        raise UsageError(
            "no leaf has enough support: take more samples, or lower --min-criteria and "
            f"--min-samples. The gate refused {len(growth.refused):,} places; the first: "
            f"{growth.refused[0][1] if growth.refused else 'none'}"
        )
    shown = [f"{name}: {why}" for name, why in growth.refused[:MOST_REFUSED]]
    asker.desk.tell(refused=tuple(shown), unplaced=len(growth.unplaced))
    assert ground.members.judge is not None
    mapper = Mapper(
        asker=asker,
        cuts=ground.cuts,
        judge_id=ground.members.judge.id,
        sampling=ground.members.judge_sampling,
    )
    first = await mapper.map_all(growth.grown)
    final, mappings = await _settle(asker.desk, mapper, growth, first, spec)
    await asker.desk.publish(final, mappings, len(growth.unplaced))


async def _settle(
    desk: _Growth,
    mapper: Mapper,
    growth: Growth,
    first: Mapping[str, LeafMapping],
    spec: InductionSpec,
) -> tuple[GrownTree, Mapping[str, LeafMapping]]:
    """Prune by the support that the definitive mapping gives, until all leaves have enough.

    Few leaves fall here: those that the subset spoke for and the judge, seeing all of the tree,
    doesn't. Their criteria go with them; what hung on a dropped leaf is mapped again.
    """
    grown, mappings = growth.grown, first
    round_ = spec.grow.rounds + 5
    while True:
        leaf_of = {c: m.leaf for c, m in mappings.items() if m.leaf is not None}
        mapped = GrownTree(tree=grown.tree, log=grown.log, leaf_of=leaf_of)
        pruned = prune_leaves(mapped, mapper.questions, mapper.sample_of, spec.grow, round_=round_)
        await desk.grown(pruned)
        added = pruned.log[len(grown.log) :]
        if not added:
            return pruned, mappings
        moves = compose([a.moves for a in replay(grown.tree, added)], grown.tree.leaves)
        version = tree_version(pruned.tree)
        taken = carried(list(mappings.values()), moves, version, with_unscored=True)
        await desk.write(taken)
        grown = pruned
        mappings = await mapper.map_all(grown)
