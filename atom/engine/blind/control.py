"""Carries out a blind control: models answer without the pictures, the judge marks as ever.

Each finished step is written at once, with its call and the run's account; a stop loses at most the
calls in flight, and a resumed control finds by the content keys what is still missing.

Reference: METHODS T8.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from atom.engine.blind.ground import (
    BlindForecast,
    BlindSpec,
    ControlParts,
    ControlRecords,
    ModelQuestion,
    forecast_blind,
    lay_ground,
    load_have,
)
from atom.engine.blind.labels import label_questions
from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, consent_questions
from atom.engine.execution import BEAT, Execution, HaltedError, Lane, RunContext
from atom.engine.items import read_material
from atom.engine.work import Work
from atom.errors import SpendCapReached, StoreError
from atom.judge import failed_call
from atom.pipeline import SCORING
from atom.records import (
    BlindTask,
    Checkpoint,
    Criterion,
    Endpoint,
    Response,
    Run,
    State,
    content_id,
)
from atom.stages import blind
from atom.stages.stage import Setting, Stage, StageResult, Subject
from atom.store import Store, Writer


class _BlindWork(Work[BlindSpec, ControlParts]):
    """Puts a study's questions to its models without the pictures, and labels the questions."""

    sealed = (
        "this study is sealed, and a blind control adds to a study: copy it, and run the control "
        "in your own copy"
    )
    live_only = "a model's answer is marked as it comes, so that a control can't wait for a batch"

    def prepare(
        self, store: Store, spec: BlindSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> ControlParts:
        return lay_ground(store, spec, endpoints, moment)

    def forecast(
        self, store: Store, spec: BlindSpec, endpoints: Mapping[str, Endpoint]
    ) -> BlindForecast:
        return forecast_blind(store, spec, endpoints)

    def questions(self, store: Store, ground: ControlParts) -> tuple[ConsentQuestion, ...]:
        return consent_questions(store, ground.members)

    def row(self, spec: BlindSpec, ground: ControlParts, moment: datetime) -> Run:
        created, study = stamp(moment), ground.members.study
        judge = ground.members.judge_endpoint
        return Run(
            id=content_id("run", "blind", study.id, list(spec.candidates), created)[:12],
            study_id=study.id,
            judge=judge.name if judge else None,
            candidates=spec.candidates,
            budget=spec.budget,
            created=created,
            heartbeat=created,
            task=BlindTask(kind="blind", samples=spec.samples),
        )

    def known(self, store: Store, row: Run) -> Run | None:
        """Nothing: the same asked for again is a new run, which finds what is missing then."""
        return None

    def begin(self, writer: Writer, ground: ControlParts, moment: str) -> None:
        writer.put([ground.members.judge] if ground.members.judge else [])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> BlindSpec:
        assert isinstance(run.task, BlindTask)
        return BlindSpec(
            study_id=run.study_id,
            samples=run.task.samples,
            candidates=run.candidates,
            judge=run.judge,
            budget=run.budget,
            retry_failed=retry_failed,
        )

    def execution(self, context: RunContext, spec: BlindSpec, ground: ControlParts) -> Execution:
        return _Control(context, ground, retry_failed=spec.retry_failed)

    async def carry_out(
        self, context: RunContext, ground: ControlParts, execution: Execution
    ) -> Run:
        ended = await execution.run()
        if ground.members.judge is not None:
            label_questions(context.store, ground.members.study, ground.members.judge.id)
        return ended


WORK: Final = _BlindWork()


class _Control(Execution):
    """One part of a run that carries out a control."""

    def __init__(self, context: RunContext, ground: ControlParts, *, retry_failed: bool) -> None:
        super().__init__(context, ground.members.endpoints)
        self._ground = ground
        self._pairs = deque(ground.pairs)
        self._retry = retry_failed
        self._have = ControlRecords(answers={}, marks={})
        self._places: dict[str, asyncio.Semaphore] = {}

    def _missing(self, pair: ModelQuestion) -> tuple[bool, tuple[Criterion, ...]]:
        return self._have.missing(self._ground, pair, retry=self._retry)

    def _count(self) -> int:
        self._have = load_have(self._store, self._ground)
        return sum(_steps(self._missing(pair)) for pair in self._pairs)

    async def _labour(self, group: asyncio.TaskGroup) -> Sequence[asyncio.Task[None]]:
        self._places = {
            name: asyncio.Semaphore(lane.endpoint.concurrency) for name, lane in self._lanes.items()
        }
        at_once = sum(lane.endpoint.concurrency for lane in self._lanes.values())
        workers = [group.create_task(self._work()) for _ in range(at_once)]
        while self._stopping is None and not all(worker.done() for worker in workers):
            await asyncio.wait(workers, timeout=BEAT, return_when=asyncio.FIRST_EXCEPTION)
        return workers

    async def _work(self) -> None:
        while self._pairs and self._stopping is None:
            pair = self._pairs.popleft()
            unanswered, wanted = self._missing(pair)
            if unanswered:
                await self._answer(pair, scorings=bool(wanted))
            answer = self._have.answers.get(self._ground.response_id(pair))
            if answer is not None and answer.state == "scored" and wanted:
                await self._score(pair, answer, wanted)

    async def _answer(self, pair: ModelQuestion, *, scorings: int) -> None:
        """Let the model answer; what can't be marked leaves no scoring to do."""
        members, who = self._ground.members, pair.candidate_id
        setting = Setting(who=who, sampling=self._ground.sampling(who))
        lane = self._lanes[members.asked[who].name]
        held: list[str] = []
        about = Subject(sample=pair.sample)
        brought = await self._do(lane, blind.STAGE, about, setting, held)
        if brought is None:
            return
        (answer,) = brought.all(Response)
        self._have.answers[answer.id] = answer
        fewer = 1 if answer.state == "scored" else 1 + scorings
        await self._finish(brought, answer.state, held, fewer=fewer)

    async def _score(
        self, pair: ModelQuestion, answer: Response, wanted: tuple[Criterion, ...]
    ) -> None:
        """Let the judge mark the answer, the picture before it."""
        members = self._ground.members
        assert members.judge is not None
        assert members.judge_endpoint is not None
        about = Subject(
            sample=pair.sample, criteria_set=pair.criteria_set, wanted=wanted, response=answer
        )
        setting = Setting(who=members.judge.id, sampling=members.judge_sampling)
        lane = self._lanes[members.judge_endpoint.name]
        held: list[str] = []
        brought = await self._do(lane, SCORING, about, setting, held)
        if brought is None:
            return
        marks = brought.all(Checkpoint)
        self._have.marks.update({(answer.id, one.criterion_id): one.state for one in marks})
        states = {one.state for one in marks}
        worst: State = (
            "failed" if "failed" in states else "unscored" if "unscored" in states else "scored"
        )
        await self._finish(brought, worst, held, fewer=1)

    async def _do(
        self, lane: Lane, stage: Stage, about: Subject, setting: Setting, held: list[str]
    ) -> StageResult | None:
        """Do a step; here, and nowhere else, an exception becomes a failed record.

        Returns:
            What it brought; None where a stop is due and nothing was done.

        Raises:
            StoreError: the store can't be read or written.
        """
        async with self._places[lane.endpoint.name]:
            if self._stopping is not None:
                return None
            try:
                material = read_material(self._store, about.sample)
                ask = partial(self._ask_once, lane, held)
                brought = await stage.take(ask, material, about, setting)
            except SpendCapReached as reached:
                self.stop("stopped", f"{reached.message} Resume with a larger budget.")
                return None
            except (StoreError, asyncio.CancelledError):
                raise
            except HaltedError:
                return None
            except Exception as error:  # noqa: BLE001 - the one place that accounts for failures
                text, call = self._trouble(lane, error), failed_call(error)
                records = stage.failed(text, call.id if call else None, about, setting)
                return StageResult(records=records, call=call)
        lane.failures = 0
        return brought

    async def _finish(
        self, brought: StageResult, state: State, held: Sequence[str], *, fewer: int
    ) -> None:
        """Account for a step, and write it."""
        self._left -= fewer
        self._account(state, brought.call)
        good = state != "failed"
        await self._off(
            partial(
                self._ledger.record,
                brought.call,
                () if good else brought.records,
                brought.records if good else (),
                state=state,
                total=self.total,
                cost=self._spend.spent,
                held=held,
            )
        )


def _steps(missing: tuple[bool, tuple[Criterion, ...]]) -> int:
    unanswered, wanted = missing
    return unanswered + bool(wanted)
