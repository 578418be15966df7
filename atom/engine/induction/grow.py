"""Induction: a study's tree grows from its own criteria, and every criterion is mapped to it.

Nothing about the work in progress is stored but the calls: the same criteria, settings and replies
give the same tree, so an induction that was killed is simply done again, and whatever was answered
before costs nothing. The study gets its new tree in one transaction at the very end.

Reference: ATOM 3.2 and E.1; `design/005`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import (
    ConsentNeeded,
    ConsentQuestion,
    consent_questions,
    is_remote,
)
from atom.engine.induction.first_tree import first_tree
from atom.engine.induction.growing import (
    Answer,
    GrowSettings,
    Growth,
    grow,
    prune_leaves,
)
from atom.engine.induction.growth_log import GrowthLog, growth_file
from atom.engine.induction.mapper import Asker, HaltedError, Mapper, together
from atom.engine.ledger import LEASE
from atom.engine.members import Members, gather, pick_endpoint
from atom.engine.plan import RunSpec
from atom.engine.process import owner_name, process_gone
from atom.engine.replies import PaidOnce
from atom.engine.shift import ClientMaker, make_client
from atom.errors import (
    AtomError,
    JudgeError,
    PermanentError,
    SpendCapReached,
    UsageError,
)
from atom.judge import PictureCache, Request, SpendLedger
from atom.judge.embedding import MOST_TEXTS, EmbeddingClient, Vector, embedding_id, unpack
from atom.records import (
    Call,
    Criterion,
    Endpoint,
    Induction,
    InductionState,
    Record,
    Replay,
    Sample,
    Study,
    Tag,
    TreeVersion,
)
from atom.records import Mapping as LeafMapping
from atom.stages.growing.induction import SUBSET, Cut, balanced_subset
from atom.store import (
    Draft,
    Store,
    Writer,
    add_version,
    begin_history,
    carried,
    leaf_mappings,
    load_tree,
    study_criteria,
    tree_log,
    tree_versions,
    use_version,
)
from atom.store.holds import induction_state, lend_judge, owners
from taxonomy import Tree, tree_version
from taxonomy.edits import Entry, compose, replay
from taxonomy.grow import Grown, roots_of

MOST_REFUSED = 200
"""Lines about refusals that are kept."""

BEAT = 5.0
"""Seconds between two signs of life."""
DEFAULTS = GrowSettings()

Start = Literal["roots", "current"]
OnProgress = Callable[[Induction], None]
EmbedderMaker = Callable[[Endpoint], EmbeddingClient]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class InductionSpec:
    """What an induction is asked to do.

    Args:
        study_id: the study whose criteria the tree grows from.
        judge: the judge's endpoint name; None = the study's own.
        samples: samples that proposals are made from; all when None.
        facet: the facet whose values are the sources to balance; the data set when None.
        start: grow from the bare roots, or extend the study's tree.
        grow: seed, rounds, batch sizes and thresholds.
        budget: spend cap in USD, resumptions included.
        embedding: endpoint that turns texts into vectors, to find likely duplicates; letters
            alone decide what is worth asking about when None.
    """

    study_id: str
    judge: str | None = None
    samples: int | None = SUBSET
    facet: str | None = None
    start: Start = "roots"
    grow: GrowSettings = DEFAULTS
    budget: float | None = None
    embedding: str | None = None

    @property
    def settings(self) -> str:
        """What the tree depends on, as JSON."""
        kept = {"samples": self.samples, "facet": self.facet, "start": self.start}
        kept["embedding"] = self.embedding
        return json.dumps({**kept, **asdict(self.grow)}, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What a tree grows from.

    Args:
        members: the study and its judge.
        cuts: every sample with criteria, in the study's order.
        subset: those that proposals are made from, in the order in which they are shown.
        start: the tree that the edits start from.
        induction_id: the induction's name: equal for equal study, judge, settings and criteria.
        embedding: who turns texts into vectors; None = nobody.
    """

    members: Members
    cuts: tuple[Cut, ...]
    subset: tuple[Cut, ...]
    start: Tree
    induction_id: str
    embedding: Endpoint | None = None

    @property
    def judge(self) -> Endpoint:
        """The judge's endpoint."""
        assert self.members.judge_endpoint is not None
        return self.members.judge_endpoint


@dataclass(frozen=True, kw_only=True)
class Induced:
    """What came of an induction.

    Args:
        row: the induction as it is stored.
        version: the study's new tree version; None when it was stopped.
        tree: the tree.
        log: every edit from `start` to the tree.
        mapped: criteria on a leaf.
        unmapped: criteria that the judge put on none, or whose call failed.
    """

    row: Induction
    version: TreeVersion | None = None
    tree: Tree | None = None
    log: tuple[Entry, ...] = ()
    mapped: int = 0
    unmapped: int = 0


def prepare(
    store: Store, spec: InductionSpec, endpoints: Mapping[str, Endpoint], created: str
) -> Ground:
    """Find what a tree would grow from.

    Raises:
        UsageError: a setting is out of range, or the study has no criteria yet.
    """
    settings = spec.grow
    if spec.samples is not None and spec.samples < 1:
        raise UsageError(f"{spec.samples} samples: at least 1 is needed")
    if min(settings.rounds, settings.seed) < 0 or settings.rounds > 20:
        raise UsageError("the seed is 0 or more, and 0 to 20 rounds are allowed")
    if min(settings.batch, settings.wave, settings.min_criteria, settings.min_samples) < 1:
        raise UsageError("batch, wave and the support thresholds are 1 or more")
    run = RunSpec(study_id=spec.study_id, stages=("mapping",), judge=spec.judge, budget=spec.budget)
    members = gather(store, run, endpoints, created)
    cuts = load_cuts(store, members.study.id)
    if not cuts:
        raise UsageError(
            f"the study {members.study.name!r} has no criteria yet: run the stages "
            "'replay' and 'criteria' first"
        )
    doubted = _quarantined(store, members)
    usable = [cut for cut in cuts if cut.sample.id not in doubted]
    source_of = _sources(store, spec.facet, [cut.sample.id for cut in usable])
    tree = members.tree if spec.start == "current" else roots_of(first_tree(store, members.study))
    assert members.judge_endpoint is not None
    subset = balanced_subset(usable, source_of, spec.samples, spec.grow.seed)
    embedding = (
        None if spec.embedding is None else pick_endpoint(endpoints, spec.embedding, "embedding")
    )
    return Ground(
        members=members,
        embedding=embedding,
        cuts=cuts,
        subset=subset,
        start=replace(tree, name=grown_name(members.study)),
        induction_id=Induction.make_id(
            members.study.id,
            members.judge_endpoint.model,
            f"{spec.settings}/{members.judge_sampling.key}/{tree_version(tree)}",
            [criterion.id for cut in cuts for criterion in cut.criteria],
        ),
    )


def grown_name(study: Study) -> str:
    """Return the name of a tree that grows from a study's criteria."""
    return f"Grown from {study.name}"


def load_cuts(store: Store, study_id: str) -> tuple[Cut, ...]:
    """Read a study's samples with their criteria, in the study's order."""
    sample_of = study_criteria(store, study_id)
    samples = {s.id: s for s in store.get_many(Sample, sample_of.values())}
    criteria = {c.id: c for c in store.get_many(Criterion, sample_of)}
    by_sample: dict[str, list[Criterion]] = {}
    for criterion_id, sample_id in sample_of.items():
        if criterion_id in criteria and sample_id in samples:
            by_sample.setdefault(sample_id, []).append(criteria[criterion_id])
    return tuple(
        Cut(sample=samples[sample_id], criteria=tuple(own)) for sample_id, own in by_sample.items()
    )


def _quarantined(store: Store, members: Members) -> set[str]:
    """Return samples whose replay disagrees with the reference: their criteria may be wrong."""
    ids = [place.replay_id for place in members.places if place.replay_id]
    return {r.sample_id for r in store.get_many(Replay, ids) if r.agrees is False}


def _sources(store: Store, facet: str | None, sample_ids: Sequence[str]) -> dict[str, str]:
    if facet is None:
        return {}
    tags = store.get_many(Tag, sample_ids, "subject_id")
    found = {t.subject_id: t.value for t in tags if t.subject == "sample" and t.facet == facet}
    if not found:
        known = sorted({t.facet for t in tags if t.subject == "sample"})
        raise UsageError(f"no sample has the facet {facet!r}; facets: {', '.join(known) or 'none'}")
    return found


def induction_claim(induction_id: str) -> str:
    """Name what the process that does an induction holds."""
    return f"induction:{induction_id}"


def _embedding_consent(ground: Ground) -> tuple[ConsentQuestion, ...]:
    """Say what would go to the embedding endpoint's host, if nobody has agreed to that yet."""
    endpoint = ground.embedding
    agreed = (*ground.members.study.consent, ground.judge.host)
    if endpoint is None or not is_remote(endpoint) or endpoint.host in agreed:
        return ()
    texts = len(ground.subset)
    return (
        ConsentQuestion(host=endpoint.host, endpoints=(endpoint.name,), pictures=0, texts=texts),
    )


async def induce(
    store: Store,
    spec: InductionSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    make: ClientMaker = make_client,
    make_embedder: EmbedderMaker = EmbeddingClient,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
    halt: asyncio.Event | None = None,
) -> Induced:
    """Grow a study's tree and map every criterion to it, or do the rest of that.

    Args:
        store: the store.
        spec: what to do; the same again goes on where it was stopped.
        endpoints: endpoints by name.
        make: opens the judge's client.
        make_embedder: opens the embedding client.
        clock: UTC time, for records.
        on_progress: told after every call.
        halt: when set, calls in flight end and nothing more is asked.

    Returns:
        The tree and its version; the row says `stopped` and why where it didn't get that far.

    Raises:
        UsageError: it can't begin.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
        StoreError: the store can't be written.
    """
    opened = open_induction(store, spec, endpoints, clock)
    if opened.there is not None:
        return opened.there
    desk = _Desk(
        store=store,
        row=opened.row,
        clock=clock,
        on_progress=on_progress,
        halt=halt or asyncio.Event(),
    )
    return await desk.work(opened.ground, spec, make, make_embedder)


@dataclass(frozen=True, kw_only=True)
class Opened:
    """An induction that may begin; nothing of it is written yet.

    Args:
        ground: what the tree would grow from.
        row: how it would stand in the store.
        there: what it brought earlier, where the study still has that tree.
    """

    ground: Ground
    row: Induction
    there: Induced | None


def open_induction(
    store: Store, spec: InductionSpec, endpoints: Mapping[str, Endpoint], clock: Clock = utc_now
) -> Opened:
    """See whether an induction may begin, and what is there of it.

    Raises:
        UsageError: it can't begin.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    created = stamp(clock())
    ground = prepare(store, spec, endpoints, created)
    questions = (*consent_questions(store, ground.members), *_embedding_consent(ground))
    if questions:
        raise ConsentNeeded(questions)
    old = store.get(Induction, ground.induction_id)
    row = Induction(
        id=ground.induction_id,
        study_id=ground.members.study.id,
        judge=ground.judge.name,
        settings=spec.settings,
        created=old.created if old else created,
        heartbeat=created,
        cost=old.cost if old else 0.0,
        budget=spec.budget,
    )
    there = _already(store, ground, old) if old is not None and old.state == "done" else None
    return Opened(ground=ground, row=row, there=there)


def _already(store: Store, ground: Ground, row: Induction) -> Induced | None:
    """Return what this induction brought earlier, if the study still has that tree."""
    study = ground.members.study
    for version in tree_versions(store, study.id):
        if version.position == row.position and version.version == study.tree_version:
            ids = [criterion.id for cut in ground.cuts for criterion in cut.criteria]
            found = leaf_mappings(store, version.version, ids).values()
            mapped = sum(m.leaf is not None for m in found)
            return Induced(
                row=row,
                version=version,
                tree=load_tree(store, version.version),
                log=tree_log(store, study.id, version.position),
                mapped=mapped,
                unmapped=len(ids) - mapped,
            )
    return None


@dataclass(kw_only=True)
class _Desk:
    """One induction in this process: its calls, its writes and its row."""

    store: Store
    row: Induction
    clock: Clock
    on_progress: OnProgress | None
    halt: asyncio.Event
    writer: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="atom-induce")
    )
    growth: GrowthLog = field(init=False)

    @property
    def owner(self) -> str:
        """The name under which this process holds the induction."""
        return owner_name(self.row.id)

    async def work(
        self,
        ground: Ground,
        spec: InductionSpec,
        make: ClientMaker,
        make_embedder: EmbedderMaker,
    ) -> Induced:
        """Do it all; whatever happens, the row says how it ended."""
        await self.off(self._take_over)
        ticker = asyncio.create_task(self.beat())
        state: InductionState = "failed"
        message = "it ended early: see the log"
        try:
            spend = SpendLedger(spec.budget, spent=self.row.cost)
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(make(ground.judge, spend, PictureCache()))
                embedder = None
                if ground.embedding is not None:
                    embedder = await stack.enter_async_context(make_embedder(ground.embedding))
                asker = _Asker(
                    desk=self,
                    client=PaidOnce(self.store, client),
                    spend=spend,
                    lanes=asyncio.Semaphore(ground.judge.concurrency),
                    embedder=embedder,
                )
                induced = await _grow_and_map(asker, ground, spec)
            state, message = "done", ""
        except HaltedError:
            state, message = "stopped", "stopped on request; the same command goes on"
        except SpendCapReached as reached:
            state, message = "stopped", f"{reached.message} Go on with a larger budget."
        except JudgeError as error:
            state, message = "stopped", f"{error.message} The same command goes on."
        except asyncio.CancelledError:
            state, message = "stopped", "it was cancelled; the same command goes on"
            raise
        except AtomError as error:
            message = error.message
            raise
        finally:
            ticker.cancel()
            self._tell(state=state, message=message)
            await asyncio.shield(self.off(self._close))
            self.writer.shutdown()
        if state != "done":
            return Induced(row=self.row)
        return Induced(**{**vars(induced), "row": self.row})

    def _take_over(self) -> None:
        name = induction_claim(self.row.id)
        with self.store.write() as writer:
            for owner in owners(writer):
                if owner != self.owner and process_gone(owner):
                    writer.release(owner)
            if not writer.claim([name], self.owner, LEASE):
                raise UsageError(
                    f"this induction ({self.row.id}) is being done by another process: wait for "
                    "it, or stop it"
                )
            writer.replace([self.row])
        self.growth = GrowthLog(growth_file(self.store, self.row.id))

    def _close(self) -> None:
        with self.store.write() as writer:
            writer.replace([self.row])
            writer.release(self.owner)

    async def beat(self) -> None:
        """Show signs of life while a call takes long."""
        while True:
            await asyncio.sleep(BEAT)
            self._tell()
            await self.write(())

    def tell(self, **news: object) -> None:
        """Note how far it is."""
        self._tell(**news)
        if self.on_progress is not None:
            self.on_progress(self.row)

    def planned(self, phase: str, calls: int) -> None:
        """Note that so many calls are left, and for what."""
        self.tell(phase=phase, total=self.row.done + calls)

    def counted(self, cost: float) -> None:
        """Note that a call is done, and what was spent so far."""
        self.tell(done=self.row.done + 1, cost=cost)

    def _tell(self, **news: object) -> None:
        self.row = self.row.model_copy(update={"heartbeat": stamp(self.clock()), **news})

    async def grown(self, grown: Grown) -> None:
        """Let those who watch see the tree as it is now."""
        await self.off(partial(self.growth.take, grown))

    async def write(self, records: Sequence[Record]) -> None:
        """Write records and the row, in one transaction; see whether somebody wants it stopped."""
        await self.off(partial(self._write, tuple(records), self.row))

    def _write(self, records: Sequence[Record], row: Induction) -> None:
        def write(writer: Writer) -> None:
            now = row
            if induction_state(writer, row.id) == "stopping":
                self.halt.set()
                now = row.model_copy(update={"state": "stopping"})
            kept = [r for r in records if isinstance(r, Call) and r.reply is None]
            writer.put(kept)
            writer.replace([*(r for r in records if r not in kept), now])
            writer.claim([induction_claim(row.id)], self.owner, LEASE)

        self.store.transact(write)

    async def off(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.writer, job)


@dataclass(kw_only=True)
class _Asker(Asker):
    """Asks the judge for proposals and opinions, too, and an embedding endpoint for vectors."""

    desk: _Desk
    embedder: EmbeddingClient | None = None

    async def all(self, phase: str, requests: Sequence[Request]) -> list[Answer]:
        """Ask several requests at once; see `growing.AskAll`."""
        self.desk.tell(phase=phase, total=self.desk.row.total + len(requests))
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
                raise HaltedError
            try:
                embedded = await self.embedder.embed(part)
            except PermanentError as error:
                self.desk.tell(message=f"{error.message} Letters alone decide what is alike.")
                self.embedder = None
                return None
            self.desk.tell(done=self.desk.row.done + 1, total=self.desk.row.total + 1)
            await self.desk.write([embedded.call])
            rows += embedded.vectors
        return np.array(rows, dtype=np.float32)

    async def _counted(self, request: Request) -> Answer:
        asked = await self.one(request)
        await self.done(asked)
        return asked.answer


async def _grow_and_map(asker: _Asker, ground: Ground, spec: InductionSpec) -> Induced:
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
            f"--min-samples. The gate refused {len(growth.refused)} places; the first: "
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
    leaf_of = {m.criterion_id: m.leaf for m in mappings.values() if m.leaf is not None}
    version = await asker.desk.off(
        partial(_publish, asker.desk, ground, final, mappings, len(growth.unplaced))
    )
    asker.desk.tell(position=version.position, phase="")
    return Induced(
        row=asker.desk.row,
        version=version,
        tree=final.tree,
        log=final.log,
        mapped=len(leaf_of),
        unmapped=len(mappings) - len(leaf_of),
    )


async def _settle(
    desk: _Desk,
    mapper: Mapper,
    growth: Growth,
    first: Mapping[str, LeafMapping],
    spec: InductionSpec,
) -> tuple[Grown, Mapping[str, LeafMapping]]:
    """Prune by the support that the definitive mapping gives, until all leaves have enough.

    Few leaves fall here: those that the subset spoke for and the judge, seeing all of the tree,
    doesn't. Their criteria go with them; what hung on a dropped leaf is mapped again.
    """
    grown, mappings = growth.grown, first
    round_ = spec.grow.rounds + 5
    while True:
        leaf_of = {c: m.leaf for c, m in mappings.items() if m.leaf is not None}
        mapped = Grown(tree=grown.tree, log=grown.log, leaf_of=leaf_of)
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


def _publish(
    desk: _Desk,
    ground: Ground,
    final: Grown,
    mappings: Mapping[str, LeafMapping],
    unplaced: int,
) -> TreeVersion:
    """Give the study its tree: version, log and pointer, all or nothing."""
    study = ground.members.study
    created = stamp(desk.clock())
    mapped = sum(m.leaf is not None for m in mappings.values())
    criteria = sum(len(cut.criteria) for cut in ground.subset)
    note = (
        f"Grown from {criteria} criteria of {len(ground.subset)} samples by "
        f"{ground.judge.model}; {unplaced} found no place. {mapped} of {len(mappings)} criteria "
        "are mapped to it."
    )
    draft = Draft(
        tree=final.tree, origin="induced", parent=ground.start, entries=final.log, note=note
    )
    with desk.store.write() as writer:
        old = ground.members.tree if study.tree_version is not None else None
        begin_history(writer, study, old, created)
        version = add_version(writer, study.id, draft, created)
        use_version(writer, study.id, version.version)
        judge = ground.members.judge
        if judge is not None:
            writer.put([judge])
            lend_judge(writer, study.id, judge.id)
        done = desk.row.model_copy(update={"position": version.position, "state": "done"})
        writer.replace([done])
    return version
