"""Puts pairs of a study's answers to weak judges, and what they fail at to a strong one.

Reference: METHODS T9; VL-RewardBench 2.2.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final

from atom.display.facts import Facts
from atom.display.numbers import count, money
from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, questions_of
from atom.engine.execution import Execution, RunContext
from atom.engine.items import read_material
from atom.engine.members import check_endpoint, judge_of, pick_endpoint
from atom.engine.work import Work
from atom.engine.worklist import WorklistExecution, load_verdicts, open_asks, price_of
from atom.errors import UsageError
from atom.judge import PicturePart
from atom.judgebench.base import BenchPlan
from atom.judgebench.vl_rewardbench.hard import HardWorklist, is_hard, read_votes
from atom.records import (
    BenchItem,
    Endpoint,
    Judge,
    KnownBy,
    KnownPair,
    PairsTask,
    Response,
    Run,
    RunKind,
    Sample,
    Sampling,
    Study,
    content_id,
)
from atom.stages.answer import lettered
from atom.stages.verdicts import RespondentName
from atom.store import Store, Writer, find_study
from atom.store.reading.pairs import GAP, KNOWN_BY, KnownPairs, known_pairs

WARM: Final = 0.7
"""Temperature of all judges: at 0 they would say the same again."""
MOST_VOTES: Final = 20
NO_PAIRS: Final = (
    "no two answers to one sample of {name!r} have a known order by {by}: import people's "
    "preferences (`fidelity rankings FILE`), or have answers marked or checked first (`run start`)"
)


@dataclass(frozen=True, kw_only=True)
class PairsSpec:
    """What is to be asked.

    Args:
        study_id: the study's id or name.
        weak: names of the weak judges' endpoints.
        strong: name of the endpoint that confirms; None = people do.
        votes: votes of each judge in each of the two orders.
        fail: so many weak judges must fail at a hard pair; None = all.
        by: what may say which answer is better.
        gap: least difference of two scores on [0, 1] that says it.
        limit: at most so many pairs, drawn at random; None = all.
        per_sample: at most so many pairs of one sample.
        budget: spend cap in USD.
        retry_failed: ask again for what failed earlier.
        pairs: the pairs themselves, of a run that goes on; None = they are drawn.
        sampling: how all are asked; None = warm.
    """

    kind: ClassVar[RunKind] = "pairs"

    study_id: str
    weak: tuple[str, ...]
    strong: str | None = None
    votes: int = 3
    fail: int | None = None
    by: tuple[KnownBy, ...] = KNOWN_BY
    gap: float = GAP
    limit: int | None = None
    per_sample: int = 1
    budget: float | None = None
    retry_failed: bool = False
    pairs: tuple[KnownPair, ...] | None = None
    sampling: Sampling | None = None


@dataclass(frozen=True, kw_only=True)
class PairRunParts:
    """A run's parts, found and checked.

    Attributes:
        known: all that the study gives; None where a run goes on with its own.
        judges: those who are asked by id, the strong one last.
        asked: their endpoints, by id.
        task: what they are asked.
        plan: the pairs as items.
    """

    study: Study
    known: KnownPairs | None
    judges: Mapping[str, Judge]
    asked: Mapping[RespondentName, Endpoint]
    task: PairsTask
    plan: BenchPlan

    @property
    def worklist(self) -> HardWorklist:
        """What there is to ask."""
        return HardWorklist(plan=self.plan, task=self.task)


BY_WORDS: Mapping[KnownBy, str] = {
    "people": "people’s preferences and rankings",
    "outcome": "a right final answer against a wrong one",
    "score": "a clear gap of scores",
}


@dataclass(frozen=True, kw_only=True)
class PairsForecast:
    """What a run would ask.

    Attributes:
        compared: pairs of answers that were looked at; 0 where a run goes on.
        against: pairs whose outcome and scores say opposite things.
        by: pairs of known order by what says it.
        pairs: pairs that are asked about.
        samples: of so many samples.
        calls: requests to weak judges that are still to be made.
        later: requests to the strong judge, at the most.
        cost: USD, about, of the weak judges; None where a price is unknown.
        later_cost: of the strong judge, at the most.
    """

    compared: int
    against: int
    by: Mapping[KnownBy, int] = field(default_factory=dict)
    pairs: int = 0
    samples: int = 0
    calls: int = 0
    later: int = 0
    cost: float | None = 0.0
    later_cost: float | None = 0.0

    @property
    def facts(self) -> Facts:
        """Say what a run would ask and cost."""
        by = ", ".join(f"{n:,} by {BY_WORDS[name]}" for name, n in self.by.items())
        later = ""
        if self.later:
            cost = money(self.later_cost)
            later = f"; then at most {count(self.later, 'call')} to the strong judge, {cost}"
        more = [
            f"Of {self.compared:,} pairs of answers {sum(self.by.values()):,} have a known order: "
            f"{by}."
        ]
        if self.against:
            aside = count(self.against, "pair")
            more.append(f"{aside} whose outcome and scores say opposite things stay out.")
        return Facts(
            head=f"{count(self.pairs, 'pair')} of {count(self.samples, 'sample')}: "
            f"{count(self.calls, 'call')} to weak judges, {money(self.cost)}{later}.",
            more=tuple(more),
        )


def draw(
    study_id: str, pairs: Sequence[KnownPair], limit: int | None, per_sample: int
) -> tuple[KnownPair, ...]:
    """Draw pairs at random: a larger draw holds a smaller one.

    Args:
        limit: at most so many.
        per_sample: at most so many of a sample.
    """
    order = sorted(pairs, key=lambda pair: content_id("hard pairs", study_id, pair.name))
    seen: Counter[str] = Counter()
    kept = []
    for pair in order:
        seen[pair.sample_id] += 1
        if seen[pair.sample_id] <= per_sample:
            kept.append(pair)
    return tuple(kept[:limit])


def lay_ground(store: Store, spec: PairsSpec, endpoints: Mapping[str, Endpoint]) -> PairRunParts:
    """Find and check all that a run needs.

    Raises:
        UsageError: it asks for something that isn't there.
        SettingsError: a key isn't set, or a budget is given and an endpoint has no prices.
    """
    study = find_study(store, spec.study_id)
    _check(spec)
    names = (*spec.weak, *((spec.strong,) if spec.strong else ()))
    picked = [pick_endpoint(endpoints, name, "judge") for name in names]
    for endpoint in picked:
        check_endpoint(endpoint, spec.budget)
    judges = [judge_of(endpoint) for endpoint in picked]
    if len({judge.id for judge in judges}) < len(judges):
        raise UsageError("two of these judges are the same model: each counts once")
    known = None
    pairs = spec.pairs
    if pairs is None:
        known = known_pairs(store, study, spec.by, gap=spec.gap)
        pairs = draw(study.id, known.pairs, spec.limit, spec.per_sample)
        if not pairs:
            raise UsageError(NO_PAIRS.format(name=study.name, by=", ".join(spec.by)))
    ids = [judge.id for judge in judges]
    task = PairsTask(
        kind="pairs",
        pairs=pairs,
        weak=spec.weak,
        weak_ids=tuple(ids[: len(spec.weak)]),
        strong=spec.strong,
        strong_id=ids[-1] if spec.strong else None,
        votes=spec.votes,
        fail=spec.fail or len(spec.weak),
        sampling=spec.sampling or Sampling(temperature=WARM),
    )
    return PairRunParts(
        study=study,
        known=known,
        judges={judge.id: judge for judge in judges},
        asked=dict(zip(ids, picked, strict=True)),
        task=task,
        plan=_plan(store, study, task),
    )


def _check(spec: PairsSpec) -> None:
    if not spec.weak:
        raise UsageError("name at least one weak judge: what it fails at is what is looked for")
    if spec.strong in spec.weak:
        raise UsageError(f"{spec.strong!r} can't confirm what it chose itself: name another judge")
    if not 1 <= spec.votes <= MOST_VOTES:
        raise UsageError(f"{spec.votes} votes in each order: 1 to {MOST_VOTES} can be asked for")
    if spec.fail is not None and not 1 <= spec.fail <= len(spec.weak):
        raise UsageError(
            f"{spec.fail:,} of {len(spec.weak):,} weak judges can't fail: 1 to {len(spec.weak)}"
        )
    if not 0 < spec.gap <= 1:
        raise UsageError(f"a gap of {spec.gap:g} is no gap of scores: more than 0, at most 1")
    if spec.per_sample < 1 or (spec.limit is not None and spec.limit < 1):
        raise UsageError("at least one pair is needed: raise the limit")
    if not spec.by:
        raise UsageError(f"say what tells the better answer: of {', '.join(KNOWN_BY)}")


def _plan(store: Store, study: Study, task: PairsTask) -> BenchPlan:
    samples = {one.id: one for one in store.get_many(Sample, {p.sample_id for p in task.pairs})}
    ids = {name for pair in task.pairs for name in (pair.a, pair.b)}
    texts = {one.id: one.text or "" for one in store.get_many(Response, ids)}
    items = [
        pair_item(study.id, place, pair, samples[pair.sample_id], texts)
        for place, pair in enumerate(task.pairs)
        if pair.sample_id in samples and pair.a in texts and pair.b in texts
    ]
    of_pair = {pair.name: pair.sample_id for pair in task.pairs}

    def pictures(item: BenchItem) -> tuple[PicturePart, ...]:
        return read_material(store, samples[of_pair[item.id]]).pictures

    return BenchPlan(
        set_id=study.id, items=items, pictures=pictures, judge="", sampling=task.sampling,
        votes=2 * task.votes,
    )  # fmt: skip


def pair_item(
    study_id: str, place: int, pair: KnownPair, sample: Sample, texts: Mapping[str, str]
) -> BenchItem:
    """Lay a pair out as an item of VL-RewardBench."""
    return BenchItem(
        set_id=study_id,
        id=pair.name,
        position=place,
        pictures=sample.pictures,
        data={"query": query_of(sample), "responses": [texts[pair.a], texts[pair.b]]},
    )


def query_of(sample: Sample) -> str:
    """Write a sample's question with its lettered choices, as candidates were asked."""
    return "\n".join(filter(None, (sample.question.strip(), lettered(sample.choices))))


def forecast_pairs(
    store: Store, spec: PairsSpec, endpoints: Mapping[str, Endpoint]
) -> PairsForecast:
    """Say what a run would ask and cost; nothing is written.

    Raises:
        UsageError: it asks for something that isn't there.
    """
    ground = lay_ground(store, spec, endpoints)
    have = load_verdicts(store, ground.study.id)
    asks = open_asks(ground.worklist, have, retry_failed=spec.retry_failed)
    strong, task = ground.task.strong_id, ground.task
    weak = [ask for ask in asks if ask.by != strong]
    cost: float | None = 0.0
    for name in task.weak_ids:
        mine = [ask for ask in weak if ask.by == name]
        price = price_of(ground.asked[name], mine, len(mine))
        cost = None if cost is None or price is None else cost + price
    later, later_cost = _later(
        ground, len(asks) - len(weak), {ask.blank.subject_id for ask in weak}
    )
    known = ground.known
    return PairsForecast(
        compared=known.compared if known else 0,
        against=known.against if known else 0,
        by=known.by if known else Counter(pair.by for pair in task.pairs),
        pairs=len(task.pairs),
        samples=len({pair.sample_id for pair in task.pairs}),
        calls=len(weak),
        later=later,
        cost=cost,
        later_cost=later_cost,
    )


def _later(ground: PairRunParts, sure: int, waiting: set[str]) -> tuple[int, float | None]:
    """Count and price what the strong judge may be asked: were every pair hard that isn't asked."""
    task = ground.task
    if task.strong_id is None:
        return 0, 0.0
    calls = sure + 2 * task.votes * len(waiting)
    items = [item for item in ground.plan.items if item.id in waiting] or ground.plan.items
    asks = ground.worklist.about(task.strong_id, items[:6])
    return calls, price_of(ground.asked[task.strong_id], asks, calls) if calls else 0.0


class _PairsWork(Work[PairsSpec, PairRunParts]):
    """Has weak judges vote on pairs of known order, and a strong one confirm what is hard."""

    sealed = (
        "this study is sealed: copy it (`study copy`), and look for hard pairs in your own copy"
    )

    def prepare(
        self, store: Store, spec: PairsSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> PairRunParts:
        return lay_ground(store, spec, endpoints)

    def forecast(
        self, store: Store, spec: PairsSpec, endpoints: Mapping[str, Endpoint]
    ) -> PairsForecast:
        return forecast_pairs(store, spec, endpoints)

    def questions(self, store: Store, ground: PairRunParts) -> tuple[ConsentQuestion, ...]:
        return questions_of(
            ground.asked.values(),
            ground.study.consent,
            lambda: [item.pictures for item in ground.plan.items],
        )

    def row(self, spec: PairsSpec, ground: PairRunParts, moment: datetime) -> Run:
        task, created = ground.task, stamp(moment)
        return Run(
            id=task.run_id(ground.study.id),
            study_id=ground.study.id,
            task=task,
            limit=spec.limit,
            budget=spec.budget,
            created=created,
            heartbeat=created,
        )

    def begin(self, writer: Writer, ground: PairRunParts, moment: str) -> None:
        writer.put(list(ground.judges.values()))

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> PairsSpec:
        task = run.task
        assert isinstance(task, PairsTask)
        return PairsSpec(
            study_id=run.study_id, weak=task.weak, strong=task.strong, votes=task.votes,
            fail=task.fail, limit=run.limit, budget=run.budget, retry_failed=retry_failed,
            pairs=task.pairs, sampling=task.sampling,
        )  # fmt: skip

    def execution(self, context: RunContext, spec: PairsSpec, ground: PairRunParts) -> Execution:
        return WorklistExecution(
            context, ground.worklist, ground.study.id, ground.asked, retry_failed=spec.retry_failed
        )

    async def carry_out(
        self, context: RunContext, ground: PairRunParts, execution: Execution
    ) -> Run:
        """Ask, and say in a sentence how many pairs turned out hard."""
        store, ended = context.store, await execution.run()
        votes = read_votes(ground.task, load_verdicts(store, ground.study.id).values())
        hard = int(is_hard(votes.weak, ground.task.fail).sum())
        words = f"{hard:,} of {len(ground.task.pairs):,} pairs are hard"
        ended = ended.model_copy(update={"message": f"{ended.message}; {words}".lstrip("; ")})
        store.replace([ended])
        return ended


WORK: Final = _PairsWork()
