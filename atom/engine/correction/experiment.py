"""Self-correction experiments: start one, carry it out, take it up again.

Each trial (an answer in an arm) goes step by step; each finished step is written at once, with its
call and the run's account, in one transaction. A stop at any moment loses at most the calls in
flight, and a resumed experiment finds by the content keys what is still missing. An experiment is
named by what it asks for, so that asking for the same again takes it up instead of starting anew.

Reference: ATOM 3.5 and appendix G; METHODS B14.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import ClassVar, Final

from atom.engine.clock import stamp
from atom.engine.consent import ConsentQuestion, consent_questions
from atom.engine.correction.cohorts import Cohorts, find_subjects
from atom.engine.correction.forecast import CorrectionForecast, forecast_experiment
from atom.engine.correction.ground import CorrectionSpec, ExperimentParts, prepare
from atom.engine.correction.have import load_have
from atom.engine.correction.plan import next_step, outlook
from atom.engine.correction.steps import failed_records, perform
from atom.engine.correction.trials import Rules, Trial, TrialRecords, TrialStep, trials_of
from atom.engine.execution import BEAT, Execution, HaltedError, RunContext
from atom.engine.members import Members
from atom.engine.work import Work
from atom.errors import SpendCapReached, StoreError, UsageError
from atom.judge import failed_call
from atom.records import (
    Correction,
    Endpoint,
    Experiment,
    ExperimentTask,
    Record,
    Run,
    State,
    content_id,
)
from atom.stages.stage import StageResult
from atom.store import Store, Writer
from atom.store.holds import runs_of

OnText = Callable[[TrialStep, str], None]
"""Told each piece of text as it streams in, and the step that it belongs to."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What an experiment works with.

    Args:
        ground: who takes part.
        found: which answers do.
        members: who takes part as a run says it.
    """

    ground: ExperimentParts
    found: Cohorts
    members: Members


@dataclass(frozen=True, kw_only=True)
class _ExperimentWork(Work[CorrectionSpec, Setup]):
    """Carries out self-correction experiments; the same again goes on with what is there.

    Args:
        on_text: told what streams in; None = replies aren't streamed.
        one_at_a_time: one trial after the other, in the order of the arms.
    """

    on_text: OnText | None = None
    one_at_a_time: bool = False
    sealed: ClassVar[str] = (
        "this study is sealed, and an experiment adds to a study: copy it, and try the answers of "
        "your own copy again"
    )
    live_only: ClassVar[str] = (
        "a self-correction experiment asks by what was answered before, turn for turn, and can't "
        "be written as a batch: run it live"
    )

    def prepare(
        self, store: Store, spec: CorrectionSpec, endpoints: Mapping[str, Endpoint], moment: str
    ) -> Setup:
        ground = prepare(store, spec, endpoints)
        # What it is named by may have come from a spec with other words for the same things.
        there = store.get(Experiment, spec.experiment_id or ground.experiment.id)
        if there is not None:
            ground = replace(ground, experiment=there)
        found = find_subjects(store, ground)
        return Setup(ground=ground, found=found, members=ground.members(store, found.places))

    def forecast(
        self, store: Store, spec: CorrectionSpec, endpoints: Mapping[str, Endpoint]
    ) -> CorrectionForecast:
        return forecast_experiment(store, spec, endpoints)

    def check(self, store: Store, ground: Setup) -> None:
        if not ground.found.subjects:
            raise UsageError(_nobody(ground.found))

    def questions(self, store: Store, ground: Setup) -> tuple[ConsentQuestion, ...]:
        return consent_questions(store, ground.members)

    def row(self, spec: CorrectionSpec, ground: Setup, moment: datetime) -> Run:
        who, experiment, created = ground.ground, ground.ground.experiment, stamp(moment)
        peers = (endpoint.name for endpoint in who.peers.values())
        return Run(
            id=content_id("run", experiment.id, created)[:12],
            study_id=who.study.id,
            judge=who.judge_endpoint.name,
            candidates=tuple(dict.fromkeys((who.endpoint.name, *peers))),
            limit=spec.limit,
            budget=spec.budget,
            task=ExperimentTask(kind="experiment", experiment_id=experiment.id),
            created=created,
            heartbeat=created,
        )

    def known(self, store: Store, row: Run) -> Run | None:
        return next(iter(runs_of(store, row.study_id, row.task)), None)

    def begin(self, writer: Writer, ground: Setup, moment: str) -> None:
        made = ground.ground.experiment
        made = made if made.created else made.model_copy(update={"created": moment})
        writer.put([ground.ground.judge, made])

    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> CorrectionSpec:
        asked = store.get(Experiment, run.experiment_id or "")
        if asked is None:
            raise UsageError(
                f"there is no experiment with the run {run.id!r}; `correct list` lists them"
            )
        return CorrectionSpec(
            study_id=asked.study_id,
            candidate=asked.candidate_id,
            judge=run.judge,
            arms=asked.arms,
            failed_rule=asked.failed_rule,
            threshold=asked.threshold,
            rounds=asked.rounds,
            node=asked.node,
            sample_ids=asked.sample_ids,
            limit=asked.limit,
            right_answers=asked.right_answers,
            seed=asked.seed,
            budget=run.budget,
            peers=tuple(name for name in run.candidates[1:] if name in endpoints),
            retry_failed=retry_failed,
            experiment_id=asked.id,
        )

    def execution(self, context: RunContext, spec: CorrectionSpec, ground: Setup) -> Execution:
        return _Trials(
            context,
            ground.ground,
            Rules.of(ground.ground, retry_failed=spec.retry_failed),
            trials_of(ground.found.subjects, ground.ground.experiment.arms),
            on_text=self.on_text,
            one_at_a_time=self.one_at_a_time,
        )


WORK: Final = _ExperimentWork()


def watched(on_text: OnText | None) -> Work[CorrectionSpec, Setup]:
    """Return an experiment that is watched: one trial after the other, told as it streams in."""
    return _ExperimentWork(on_text=on_text, one_at_a_time=True)


def _nobody(found: Cohorts) -> str:
    reasons = "; ".join(f"{n}: {reason}" for reason, n in found.left_out.items())
    return (
        f"no answer takes part: of {found.answers:,} answers {found.failed:,} failed by "
        "this rule and "
        f"{found.right} didn't" + (f" ({reasons})" if reasons else "")
    )


class _Trials(Execution):
    """One part of a run that carries out an experiment."""

    def __init__(
        self,
        context: RunContext,
        ground: ExperimentParts,
        rules: Rules,
        trials: Sequence[Trial],
        *,
        on_text: OnText | None,
        one_at_a_time: bool,
    ) -> None:
        super().__init__(context, ground.endpoints)
        self._ground = ground
        self._rules = rules
        self._trials = deque(trials)
        self._have = TrialRecords()
        self._expected: dict[tuple[str, str], int] = {}
        self._on_text = on_text
        self._alone = one_at_a_time
        self._places: dict[str, asyncio.Semaphore] = {}
        self._hint_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def _count(self) -> int:
        trials = list(self._trials)
        self._have = load_have(self._store, self._rules, trials)
        for trial in trials:
            self._expected[trial.name] = outlook(trial, self._have, self._rules).remaining
        return sum(self._expected.values())

    async def _labour(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        self._places = {
            name: asyncio.Semaphore(lane.endpoint.concurrency) for name, lane in self._lanes.items()
        }
        at_once = sum(lane.endpoint.concurrency for lane in self._lanes.values())
        workers = [group.create_task(self._work()) for _ in range(1 if self._alone else at_once)]
        while self._stopping is None and not all(worker.done() for worker in workers):
            await asyncio.wait(workers, timeout=BEAT, return_when=asyncio.FIRST_EXCEPTION)
        return workers

    async def _work(self) -> None:
        while self._trials and self._stopping is None:
            await self._try(self._trials.popleft())

    async def _try(self, trial: Trial) -> None:
        """Take a trial as far as it goes."""
        while self._stopping is None:
            step = next_step(trial, self._have, self._rules)
            if step is None:
                self._recount(trial)
                return
            if step.kind != "hint":
                await self._do(step)
                continue
            # A hint is for all arms that want it: who comes second finds it there.
            async with self._hint_locks[step.key]:
                again = next_step(trial, self._have, self._rules)
                if again is not None and again.key == step.key:
                    await self._do(step)

    async def _do(self, step: TrialStep) -> None:
        """Do a step; here, and nowhere else, an exception becomes a failed record.

        Raises:
            StoreError: the store can't be read or written.
        """
        lane = self._lanes[step.asked(self._ground).name]
        held: list[str] = []
        async with self._places[lane.endpoint.name]:
            if self._stopping is not None:
                return
            try:
                tell = None if self._on_text is None else partial(self._tell, step)
                ask = partial(self._ask_once, lane, held, tell=tell)
                brought = await perform(ask, self._store, step, self._have, self._rules)
            except SpendCapReached as reached:
                self.stop("stopped", f"{reached.message} Resume with a larger budget.")
                return
            except (StoreError, asyncio.CancelledError):
                raise
            except HaltedError:
                return
            except Exception as error:  # noqa: BLE001 - the one place that accounts for failures
                text, call = self._trouble(lane, error), failed_call(error)
                records = failed_records(text, call, step, self._store, self._rules)
                brought = StageResult(records=records, call=call)
            else:
                lane.failures = 0
        await self._finish(step, brought, held)

    def _tell(self, step: TrialStep, text: str) -> None:
        if self._on_text is not None:
            self._on_text(step, text)

    async def _finish(self, step: TrialStep, brought: StageResult, held: Sequence[str]) -> None:
        """Account for a step, and write it."""
        self._have.tried.add(step.key)
        self._have.fold(brought.records)
        state = _state_of(step, brought)
        if state is not None:
            self._account(state, brought.call)
        self._recount(step.trial)
        good = [record for record in brought.records if _takes_the_place(record)]
        await self._off(
            partial(
                self._ledger.record,
                brought.call,
                [record for record in brought.records if record not in good],
                good,
                state=state,
                total=self.total,
                cost=self._spend.spent,
                held=held,
            )
        )

    def _recount(self, trial: Trial) -> None:
        now = outlook(trial, self._have, self._rules).remaining
        self._left += now - self._expected[trial.name]
        self._expected[trial.name] = now


def _takes_the_place(record: Record) -> bool:
    """Whether a record may stand in for one that is there: a failure never does."""
    return isinstance(record, Correction) or getattr(record, "state", "scored") != "failed"


def _state_of(step: TrialStep, brought: StageResult) -> State | None:
    """Account for a step; None for one that asked nobody, which doesn't count.

    A hint that leaks is no fault of the run: the gates' log counts it.
    """
    states = {getattr(record, "state", "scored") for record in brought.records}
    if "failed" in states and not step.problem:
        return "failed"
    if brought.call is None:
        return None
    return "unscored" if "unscored" in states and step.kind != "hint" else "scored"
