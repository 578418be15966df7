"""Judge benchmarks: take data in, have a judge work through it, take in replies from elsewhere.

Reference: VL-RewardBench, Multi-Crit, MM-CRITIC, CriticBench.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import ClassVar, Final

from atom.display.facts import Facts
from atom.display.numbers import count
from atom.engine.bench.sets import NewSet, find_set, items_of
from atom.engine.clock import stamp
from atom.engine.code.runs import run_programs
from atom.engine.code.sandbox import find_sandbox
from atom.engine.consent import ConsentQuestion, questions_of
from atom.engine.endpoints.price import cost_words
from atom.engine.execution import Execution, RunContext
from atom.engine.members import check_endpoint, judge_of, pick_endpoint
from atom.engine.work import Work
from atom.engine.worklist import WorklistExecution, load_verdicts, open_asks, price_of
from atom.errors import PictureError, UsageError
from atom.judge import PicturePart
from atom.judgebench.base import (
    Bench,
    BenchPlan,
    without_picture_words,
)
from atom.judgebench.critic_bench.code import RUN_CODE
from atom.judgebench.registry import find_bench
from atom.records import (
    BenchItem,
    BenchSet,
    BenchTask,
    Endpoint,
    Judge,
    Run,
    RunKind,
    Sampling,
    content_id,
)
from atom.stages.verdicts import RespondentName, Worklist
from atom.store import Store, Writer

WARM = 0.7
"""Temperature where a judge is asked more than once: at 0 it would say the same again."""


@dataclass(frozen=True, kw_only=True)
class BenchSpec:
    """What a judge is to be asked.

    Args:
        set_id: the benchmark's data.
        judge: name of the judge's endpoint.
        scorer: name of the endpoint that scores what the judge wrote; None = nobody does.
        votes: how often each question is put; None = as often as the benchmark does.
        parts: which of its parts; empty = the usual ones.
        limit: only the first so many items.
        budget: spend cap in USD.
        sampling: how they're asked; None = cold for one vote, warm for several.
        retry_failed: ask again for what failed earlier.
    """

    kind: ClassVar[RunKind] = "bench"

    set_id: str
    judge: str
    scorer: str | None = None
    votes: int | None = None
    parts: tuple[str, ...] = ()
    limit: int | None = None
    budget: float | None = None
    sampling: Sampling | None = None
    retry_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class JudgingParts:
    """A run's parts, found and checked.

    Args:
        scorer: the scorer's record, or None.
        plan: what the benchmark is given; items without their pictures aren't in it.
        without_picture: how many such items there are.
    """

    bench: Bench
    bench_set: BenchSet
    judge: Judge
    scorer: Judge | None
    asked: Mapping[RespondentName, Endpoint]
    plan: BenchPlan
    without_picture: int = 0

    @property
    def worklist(self) -> Worklist:
        """What there is to ask."""
        return self.bench.worklist(self.plan)


_NOTHING = "Nothing is left to ask: every verdict that can be asked now is there already."
_LATER = "What it writes is then scored, which comes on top."
_SCORING_LEFT = "All first questions are answered; what they need scored is left."


@dataclass(frozen=True, kw_only=True)
class BenchForecast:
    """What a run would ask at once; what builds on the answers comes on top.

    Args:
        items: items of the set that are looked at.
        calls: requests by the name of the endpoint.
        cost: USD, about; None where a price is unknown.
        later: whether later questions build on the answers.
        without_picture: further items, which can't be asked since a picture isn't there.
    """

    items: int
    calls: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = 0.0
    later: bool = False
    without_picture: int = 0

    def facts(self, endpoints: Mapping[str, Endpoint]) -> Facts:
        """Say what would be asked, and what it would cost.

        Args:
            endpoints: endpoints by name.
        """
        calls = {name: n for name, n in self.calls.items() if n}
        more = [_LATER] if self.later and calls else []
        if self.without_picture:
            more.append(f"{without_picture_words(self.without_picture)}.")
        if not calls:
            return Facts(head=_SCORING_LEFT if self.later else _NOTHING, more=tuple(more))
        asked = [endpoints[name] for name in calls if name in endpoints]
        todo = ", ".join(f"{count(n, 'call')} to {name}" for name, n in calls.items())
        price = cost_words(None, self.cost, asked)
        return Facts(head=f"{count(self.items, 'item')}: {todo}, {price}.", more=tuple(more))


def prepare_bench(
    store: Store,
    spec: BenchSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    new: NewSet | None = None,
) -> JudgingParts:
    """Find and check all that a run needs.

    Args:
        endpoints: endpoints by name.
        new: a set that isn't kept, in place of the one that `spec` names.

    Raises:
        UsageError: it asks for something that isn't there.
        SettingsError: a key isn't set, or a budget is given and an endpoint has no prices.
    """
    record = find_set(store, spec.set_id) if new is None else new.record
    bench = find_bench(record.benchmark)
    parts = spec.parts or bench.usual
    if unknown := [part for part in parts if part not in bench.parts]:
        raise UsageError(
            f"{bench.title} has no part {unknown[0]!r}; there are {', '.join(bench.parts)}"
        )
    votes = bench.votes if spec.votes is None else spec.votes
    if not 1 <= votes <= 99:
        raise UsageError(f"{votes} votes: 1 to 99 can be asked for")
    asked: dict[RespondentName, Endpoint] = {"judge": pick_endpoint(endpoints, spec.judge, "judge")}
    if spec.scorer is not None:
        asked["scorer"] = pick_endpoint(endpoints, spec.scorer, "judge")
    for endpoint in asked.values():
        check_endpoint(endpoint, spec.budget)
    every = items_of(store, record.id) if new is None else new.loaded.items
    wanted = every[: spec.limit]
    items = [item for item in wanted if not bench.lacks_picture(item)]
    held = {} if new is None else {one.id: one.data for one in new.loaded.pictures}
    scorer = judge_of(asked["scorer"]) if "scorer" in asked else None
    judge = judge_of(asked["judge"])
    sampling = spec.sampling or Sampling(temperature=0.0 if votes == 1 else WARM)
    plan = BenchPlan(
        set_id=record.id,
        items=items,
        pictures=partial(_pictures, store, held),
        judge=judge.id,
        scorer=scorer.id if scorer else None,
        sampling=sampling,
        votes=votes,
        parts=parts,
    )
    return JudgingParts(
        bench=bench,
        bench_set=record,
        judge=judge,
        scorer=scorer,
        asked=asked,
        plan=plan,
        without_picture=len(wanted) - len(items),
    )


def _pictures(store: Store, held: Mapping[str, bytes], item: BenchItem) -> tuple[PicturePart, ...]:
    """Return an item's pictures: those at hand that aren't kept, else the store's."""
    parts = []
    for number, slot in enumerate(item.pictures, start=1):
        if slot.picture_id is None:
            raise PictureError(
                f"picture {number} ({slot.name or 'without a name'}) of this item isn't there: "
                "take the set in again with --pictures FOLDER"
            )
        here = slot.picture_id in held
        load = partial(held.__getitem__ if here else store.pictures.read, slot.picture_id)
        parts.append(PicturePart(sha256=slot.picture_id, load=load))
    return tuple(parts)


def forecast_bench(
    store: Store,
    spec: BenchSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    new: NewSet | None = None,
) -> BenchForecast:
    """Say what a run would ask, and what about it would cost; nothing is written.

    Args:
        endpoints: endpoints by name.
        new: a set that isn't kept, in place of the one that `spec` names.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ready = prepare_bench(store, spec, endpoints, new=new)
    have = load_verdicts(store, ready.bench_set.id)
    asks = open_asks(ready.worklist, have, retry_failed=spec.retry_failed)
    calls: dict[str, int] = {}
    cost: float | None = 0.0
    for by, endpoint in ready.asked.items():
        mine = [ask for ask in asks if ask.by == by]
        if not mine:
            continue
        later = ready.bench.later(ready.plan, have) if ready.bench.later and by == "judge" else 0
        calls[endpoint.name] = len(mine) + later
        price = price_of(endpoint, mine, calls[endpoint.name])
        cost = None if cost is None or price is None else cost + price
    return BenchForecast(
        items=len(ready.plan.items),
        calls=calls,
        cost=cost,
        later=ready.scorer is not None and bool(ready.bench.scored & set(ready.plan.parts)),
        without_picture=ready.without_picture,
    )


class _BenchWork(Work[BenchSpec, JudgingParts]):
    """Has a judge work through a benchmark's data; the same again goes on with its run."""

    sealed = "this store is sealed: name one of your own with --store"

    def prepare(
        self, store: Store, spec: BenchSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> JudgingParts:
        return prepare_bench(store, spec, endpoints)

    def forecast(
        self, store: Store, spec: BenchSpec, endpoints: Mapping[str, Endpoint]
    ) -> BenchForecast:
        return forecast_bench(store, spec, endpoints)

    def check(self, store: Store, ground: JudgingParts) -> None:
        if not ground.plan.items and ground.without_picture:
            raise UsageError(without_picture_words(ground.without_picture))
        if RUN_CODE in ground.plan.parts:
            find_sandbox()

    def questions(self, store: Store, ground: JudgingParts) -> tuple[ConsentQuestion, ...]:
        return questions_of(
            ground.asked.values(),
            ground.bench_set.consent,
            lambda: [item.pictures for item in ground.plan.items],
        )

    def row(self, spec: BenchSpec, ground: JudgingParts, moment: datetime) -> Run:
        plan, created = ground.plan, stamp(moment)
        judge = ground.asked["judge"].name
        scorer = ground.asked["scorer"].name if "scorer" in ground.asked else None
        told = (judge, scorer, plan.votes, plan.parts, spec.limit, plan.sampling.key)
        return Run(
            id=content_id("bench run", ground.bench_set.id, *told)[:12],
            study_id=ground.bench_set.id,
            judge=judge,
            task=BenchTask(
                kind="bench",
                parts=plan.parts,
                votes=plan.votes,
                scorer=scorer,
                sampling=plan.sampling,
            ),
            limit=spec.limit,
            budget=spec.budget,
            created=created,
            heartbeat=created,
        )

    def begin(self, writer: Writer, ground: JudgingParts, moment: str) -> None:
        writer.put([ground.judge, *([ground.scorer] if ground.scorer else [])])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> BenchSpec:
        task = run.task
        assert isinstance(task, BenchTask)
        return BenchSpec(
            set_id=run.study_id,
            judge=run.judge or "",
            scorer=task.scorer,
            votes=task.votes,
            parts=task.parts,
            limit=run.limit,
            budget=run.budget,
            sampling=task.sampling,
            retry_failed=retry_failed,
        )

    def execution(self, context: RunContext, spec: BenchSpec, ground: JudgingParts) -> Execution:
        return WorklistExecution(
            context,
            ground.worklist,
            ground.bench_set.id,
            ground.asked,
            retry_failed=spec.retry_failed,
        )

    async def carry_out(
        self, context: RunContext, ground: JudgingParts, execution: Execution
    ) -> Run:
        """Ask, then run the programs that judges corrected; say what stayed out."""
        store, ended = context.store, await execution.run()
        if ground.without_picture:
            words = without_picture_words(ground.without_picture)
            ended = ended.model_copy(update={"message": f"{ended.message}; {words}".lstrip("; ")})
            store.replace([ended])
        if RUN_CODE not in ground.plan.parts or ended.state != "done":
            return ended
        ran = await asyncio.to_thread(
            run_programs,
            store,
            ground.bench_set.id,
            ground.judge.id,
            stopped=lambda: bool(execution.signal),
        )
        ended = ended.model_copy(update={"message": f"{ended.message} {ran.sentence}.".strip()})
        store.replace([ended])
        return ended


WORK: Final = _BenchWork()
