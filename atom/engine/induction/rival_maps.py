"""Rivals of a study's tree, mapped by the judge that mapped the tree: like is held against like.

What is stored are mappings and the rivals' trees; the study's own tree stays what it is. The same
again asks only for what is missing.

Reference: ATOM Table 3 and F.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from atom.display.facts import Facts
from atom.display.numbers import count, money
from atom.display.table import Column, Table
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import ConsentNeeded, consent_questions
from atom.engine.endpoints.price import cost_words
from atom.engine.execution import ClientMaker, make_client
from atom.engine.induction.ground import load_cuts
from atom.engine.induction.mapper import (
    SHORTLIST,
    SHORTLIST_FROM,
    Asker,
    Mapper,
    MappingHaltedError,
    unmapped,
)
from atom.engine.items import read_material
from atom.engine.members import Members, gather
from atom.engine.replies import PaidOnce
from atom.engine.study.spec import RunSpec
from atom.errors import JudgeError, PictureError, SpendCapReached, UsageError
from atom.judge import PictureCache, SpendLedger
from atom.judge.usage import estimate_request
from atom.records import Call, Endpoint, Record, total_cost
from atom.stages import mapping
from atom.stages.growing.induction import SampleCriteria
from atom.store import Store, find_study
from atom.store.reading.rivals import RivalTree, rival_trees
from taxonomy.grow import GrownTree, only_leaves

PLACE_TOKENS = 30
TRIED = 4
"""Requests of a rival that are built to see how long they are."""


@dataclass(frozen=True, kw_only=True)
class RivalSpec:
    """What is asked.

    Args:
        judge: the judge's endpoint name; None = the study's own.
        budget: spend cap in USD.
    """

    study_id: str
    judge: str | None = None
    budget: float | None = None


@dataclass(frozen=True, kw_only=True)
class RivalShare:
    """How far a rival is mapped, or what mapping it would cost.

    Args:
        left: criteria that no judge has put into it yet.
        calls: requests for them, about.
        tokens: tokens in and out, about.
        cost: USD, about; None where the endpoint has no prices.
    """

    rival: RivalTree
    left: int
    calls: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class RivalForecast:
    """What mapping the rivals would ask and cost.

    Args:
        judge: the judge's endpoint.
        criteria: criteria of the study.
        rivals: what is left of each.
    """

    judge: Endpoint
    criteria: int
    rivals: tuple[RivalShare, ...]

    @property
    def calls(self) -> int:
        """Requests in all."""
        return sum(one.calls for one in self.rivals)

    @property
    def tokens(self) -> int:
        """Tokens in all."""
        return sum(one.tokens for one in self.rivals)

    @property
    def cost(self) -> float | None:
        """USD in all; None where the endpoint has no prices."""
        return total_cost(one.cost for one in self.rivals)

    @property
    def facts(self) -> Facts:
        """Say what mapping the rivals would ask and cost."""
        price = cost_words(self.tokens, self.cost, [self.judge])
        left = ", ".join(f"{one.left:,} into {one.rival.name}" for one in self.rivals if one.left)
        return Facts(
            head=f"About {count(self.calls, 'call')} to {self.judge.name}, {price}.",
            more=(f"Criteria are hung: {left}." if left else "Every criterion hangs in each.",),
            table=Table(
                label="By rival",
                columns=(
                    Column(title="Rival", of=lambda one: one.rival.name),
                    Column(title="Leaves", of=lambda one: len(one.rival.tree.leaves), number=True),
                    Column(title="Criteria left", of=lambda one: one.left, number=True),
                    Column(title="Calls", of=lambda one: one.calls, number=True),
                    Column(title="Tokens, about", of=lambda one: one.tokens, number=True),
                    Column(title="Price, about", of=lambda one: money(one.cost), number=True),
                ),
                rows=self.rivals,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class RivalProgress:
    """How far the mapping of the rivals is.

    Args:
        rival: name of the rival that is being mapped.
        done: calls done.
        total: calls in all, as far as known.
        cost: USD spent.
    """

    rival: str
    done: int
    total: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class RivalsMapped:
    """What came of it.

    Args:
        rivals: name of each rival, with how many criteria hang in it now.
        stopped: why it ended early; empty where all are mapped.
        done: calls done.
        cost: USD spent.
    """

    rivals: tuple[tuple[str, int], ...]
    stopped: str
    done: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class _RivalParts:
    members: Members
    cuts: tuple[SampleCriteria, ...]
    rivals: tuple[RivalTree, ...]

    @property
    def judge(self) -> Endpoint:
        assert self.members.judge_endpoint is not None
        return self.members.judge_endpoint


def _prepare(
    store: Store, spec: RivalSpec, endpoints: Mapping[str, Endpoint], created: str
) -> _RivalParts:
    study = find_study(store, spec.study_id)
    if study.tree_version is None:
        raise UsageError(
            f"the study {study.name!r} has no tree yet to hold rivals against: "
            "grow one with `tree induce`, or run the stage 'mapping'"
        )
    run = RunSpec(study_id=study.id, stages=("mapping",), judge=spec.judge, budget=spec.budget)
    members = gather(store, run, endpoints, created)
    cuts = load_cuts(store, study.id)
    if not cuts:
        raise UsageError(
            f"the study {study.name!r} has no criteria yet: run the stages 'replay' and 'criteria' "
            "first"
        )
    return _RivalParts(members=members, cuts=cuts, rivals=rival_trees(store, study))


def forecast_rivals(
    store: Store, spec: RivalSpec, endpoints: Mapping[str, Endpoint]
) -> RivalForecast:
    """Say what mapping the rivals would ask and cost.

    Raises:
        UsageError: the study has no tree or no criteria, or the judge isn't there.
    """
    ground = _prepare(store, spec, endpoints, stamp(utc_now()))
    return RivalForecast(
        judge=ground.judge,
        criteria=sum(len(cut.criteria) for cut in ground.cuts),
        rivals=tuple(_share(store, ground, rival) for rival in ground.rivals),
    )


def _share(store: Store, ground: _RivalParts, rival: RivalTree) -> RivalShare:
    left = unmapped(store, ground.cuts, rival.version)
    tree = rival.tree
    if len(tree.leaves) > SHORTLIST_FROM:
        tree = only_leaves(tree, tree.leaves[: 2 * SHORTLIST])
    tokens: list[int] = []
    costs: list[float] = []
    for cut in left[:: max(1, len(left) // TRIED)][:TRIED]:
        try:
            pictures = read_material(store, cut.sample).pictures
        except PictureError:
            pictures = ()
        request = mapping.build(
            cut.sample, pictures, cut.criteria, tree, ground.members.judge_sampling
        )
        price = estimate_request(
            request,
            ground.judge.prices,
            ground.judge.pictures,
            typical_completion=PLACE_TOKENS * len(cut.criteria),
        )
        tokens.append(price.prompt_tokens + price.completion_tokens)
        costs += [] if price.cost is None else [price.cost]
    n = max(len(tokens), 1)
    return RivalShare(
        rival=rival,
        left=sum(len(cut.criteria) for cut in left),
        calls=len(left),
        tokens=round(len(left) * sum(tokens) / n),
        cost=len(left) * sum(costs) / n if len(costs) == len(tokens) else None,
    )


async def map_rivals(
    store: Store,
    spec: RivalSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_progress: Callable[[RivalProgress], None] | None = None,
    halt: asyncio.Event | None = None,
) -> RivalsMapped:
    """Let a judge put every criterion of a study into each rival tree.

    Args:
        spec: what to do; the same again asks for the rest.
        endpoints: endpoints by name.
        make: opens the judge's client.
        clock: UTC time, for records.
        on_progress: told after every call.
        halt: when set, calls in flight end and nothing more is asked.

    Raises:
        UsageError: the study has no tree or no criteria, or the judge isn't there.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
        StoreError: the store can't be written.
    """
    ground = _prepare(store, spec, endpoints, stamp(clock()))
    questions = consent_questions(store, ground.members)
    if questions:
        raise ConsentNeeded(questions)
    desk = _Desk(store=store, clock=clock, halt=halt or asyncio.Event(), on_progress=on_progress)
    return await desk.work(ground, spec, make)


@dataclass(kw_only=True)
class _Desk:
    """One mapping of rivals in this process."""

    store: Store
    clock: Clock
    halt: asyncio.Event
    on_progress: Callable[[RivalProgress], None] | None
    now: RivalProgress = RivalProgress(rival="", done=0, total=0, cost=0.0)
    found: list[tuple[str, int]] = field(default_factory=list)
    writer: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="atom-rivals")
    )

    async def work(self, ground: _RivalParts, spec: RivalSpec, make: ClientMaker) -> RivalsMapped:
        """Map one rival after the other; whatever stops it, what came is kept."""
        stopped = ""
        left = [unmapped(self.store, ground.cuts, one.version) for one in ground.rivals]
        self._tell(total=sum(map(len, left)))
        try:
            await self._map_all(ground, SpendLedger(spec.budget), make)
        except MappingHaltedError:
            stopped = "stopped on request; the same again goes on"
        except SpendCapReached as reached:
            stopped = f"{reached.message} Go on with a larger budget."
        except JudgeError as error:
            stopped = f"{error.message} The same again goes on."
        finally:
            self.writer.shutdown()
        return RivalsMapped(
            rivals=tuple(self.found), stopped=stopped, done=self.now.done, cost=self.now.cost
        )

    async def _map_all(self, ground: _RivalParts, spend: SpendLedger, make: ClientMaker) -> None:
        judge = ground.members.judge
        assert judge is not None
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(make(ground.judge, spend, PictureCache()))
            await self.write([judge])
            mapper = Mapper(
                asker=Asker(
                    desk=self,
                    client=PaidOnce(self.store, client),
                    spend=spend,
                    lanes=asyncio.Semaphore(ground.judge.concurrency),
                ),
                cuts=ground.cuts,
                judge_id=judge.id,
                sampling=ground.members.judge_sampling,
            )
            for rival in ground.rivals:
                self._tell(rival=rival.name)
                made = await mapper.map_all(GrownTree(tree=rival.tree))
                hung = sum(one.leaf is not None for one in made.values())
                self.found.append((rival.name, hung))

    def planned(self, phase: str, calls: int) -> None:
        """All rivals' calls were counted at the beginning."""

    def counted(self, cost: float) -> None:
        """Note that a call is done, and what was spent so far."""
        done = self.now.done + 1
        self._tell(done=done, total=max(self.now.total, done), cost=cost)

    def _tell(self, **news: object) -> None:
        self.now = replace(self.now, **news)  # type: ignore[arg-type]
        if self.on_progress is not None:
            self.on_progress(self.now)

    async def write(self, records: Sequence[Record]) -> None:
        """Write records in one transaction."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.writer, partial(self._write, tuple(records)))

    def _write(self, records: Sequence[Record]) -> None:
        with self.store.write() as writer:
            kept = [r for r in records if isinstance(r, Call) and r.reply is None]
            writer.put(kept)
            writer.replace([r for r in records if r not in kept])
