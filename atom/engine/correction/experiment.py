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
from functools import partial

from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import ConsentNeeded, consent_questions
from atom.engine.correction.have import load_have
from atom.engine.correction.plan import (
    Have,
    Rules,
    Step,
    Trial,
    next_step,
    outlook,
    trials_of,
)
from atom.engine.correction.steps import failed_records, perform
from atom.engine.correction.subjects import CorrectionSpec, Found, Ground, find_subjects, prepare
from atom.engine.ledger import run_holder, take_hold
from atom.engine.process import halted_by_signals
from atom.engine.shift import (
    BEAT,
    ClientMaker,
    HaltedError,
    OnProgress,
    Shift,
    make_client,
)
from atom.errors import SpendCapReached, StoreError, UsageError
from atom.judge import failed_call
from atom.records import (
    Correction,
    Endpoint,
    Experiment,
    Record,
    Run,
    State,
    content_id,
)
from atom.stages.stage import Brought
from atom.store import Store, table

OnText = Callable[[Step, str], None]
"""Told each piece of text as it streams in, and the step that it belongs to."""


def open_experiment(
    store: Store,
    spec: CorrectionSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    clock: Clock = utc_now,
) -> tuple[Experiment, Run]:
    """Check what an experiment is asked to do, and write it and its run.

    The same asked for again gives the experiment that is there already, and its run, to be taken
    up again.

    Raises:
        ReadOnlyError: the study is sealed; make the user's own copy first (see `own_copy`).
        UsageError: it asks for something that isn't there, or it is running already.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    store.must_be_open(
        "this study is sealed, and an experiment adds to a study: copy it, and try the "
        "answers of your own copy again"
    )
    ground = prepare(store, spec, endpoints)
    found = find_subjects(store, ground)
    if not found.subjects:
        raise UsageError(_nobody(found))
    questions = consent_questions(store, ground.members(store, found.places))
    if questions:
        raise ConsentNeeded(questions)
    moment = stamp(clock())
    experiment = store.get(Experiment, ground.experiment.id)
    if experiment is None:
        experiment = ground.experiment.model_copy(update={"created": moment})
    run = _known_run(store, experiment.id)
    fresh = {"judge": ground.judge_endpoint.name, "candidates": _asked(ground)}
    if run is None:
        run = Run(
            id=content_id("run", experiment.id, moment)[:12],
            study_id=ground.study.id,
            stages=(),
            limit=spec.limit,
            budget=spec.budget,
            experiment_id=experiment.id,
            created=moment,
            heartbeat=moment,
            **fresh,
        )
    else:
        again = {"state": "running", "message": "", "heartbeat": moment, "budget": spec.budget}
        run = run.model_copy(update={**again, **fresh})
    with store.write() as writer:
        writer.put([ground.judge, experiment])
        writer.replace([run])
        take_hold(writer, run.id)
    return experiment, run


def _nobody(found: Found) -> str:
    reasons = "; ".join(f"{n}: {reason}" for reason, n in found.left_out.items())
    return (
        f"no answer takes part: of {found.answers} answers {found.failed} failed by this rule and "
        f"{found.right} didn't" + (f" ({reasons})" if reasons else "")
    )


def _asked(ground: Ground) -> tuple[str, ...]:
    """Name the endpoints of the model and of its peers, the model's own first."""
    names = [ground.endpoint.name, *(endpoint.name for endpoint in ground.peers.values())]
    return tuple(dict.fromkeys(names))


def _known_run(store: Store, experiment_id: str) -> Run | None:
    """Return the experiment's run, when it has one that no live process holds.

    Raises:
        UsageError: another process works on it.
    """
    columns = table(Run).c
    runs = store.select(
        Run, columns.experiment_id == experiment_id, order_by=[columns.created.desc()], limit=1
    )
    if not runs:
        return None
    if run_holder(store, runs[0].id) is not None:
        raise UsageError(
            f"this experiment is being carried out already by run {runs[0].id}: follow it with "
            f"`run status {runs[0].id}`, or stop it first"
        )
    return runs[0]


def spec_of_experiment(
    experiment: Experiment, run: Run, endpoints: Mapping[str, Endpoint]
) -> CorrectionSpec:
    """Say what a stored run of an experiment does."""
    spec = CorrectionSpec(
        study_id=experiment.study_id,
        candidate=experiment.candidate_id,
        judge=run.judge,
        arms=experiment.arms,
        failed_rule=experiment.failed_rule,
        threshold=experiment.threshold,
        rounds=experiment.rounds,
        node=experiment.node,
        sample_ids=experiment.sample_ids,
        limit=experiment.limit,
        right_answers=experiment.right_answers,
        seed=experiment.seed,
        budget=run.budget,
    )
    return CorrectionSpec(
        **{**vars(spec), "peers": tuple(name for name in run.candidates[1:] if name in endpoints)}
    )


async def run_experiment(
    store: Store,
    run_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    retry_failed: bool = False,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
    on_text: OnText | None = None,
    one_at_a_time: bool = False,
) -> Run:
    """Carry out an experiment, or the rest of it, in this process.

    Args:
        store: the store.
        run_id: its run, as `open_experiment` made it.
        endpoints: endpoints by name.
        retry_failed: ask again for what failed earlier.
        make: opens clients.
        clock: UTC time, for records.
        on_progress: called twice a second at most.
        on_text: told what streams in; None = replies aren't streamed.
        one_at_a_time: one trial after the other, in the order of the arms.

    Returns:
        The run's row at its end.

    Raises:
        AtomError: it can't begin, or the store can't be written.
    """
    row = store.get(Run, run_id)
    experiment = store.get(Experiment, (row.experiment_id if row else None) or "")
    if row is None or experiment is None:
        raise UsageError(
            f"there is no experiment with the run {run_id!r}; `correct list` lists them"
        )
    ground = prepare(store, spec_of_experiment(experiment, row, endpoints), endpoints)
    # What it is named by may have come from a spec with other words for the same things.
    ground = Ground(**{**vars(ground), "experiment": experiment})
    found = find_subjects(store, ground)
    questions = consent_questions(store, ground.members(store, found.places))
    if questions:
        raise ConsentNeeded(questions)
    rules = Rules.of(ground, retry_failed=retry_failed)
    shift = _Trials(
        store,
        row,
        ground,
        rules,
        trials_of(found.subjects, experiment.arms),
        make=make,
        clock=clock,
        on_progress=on_progress,
        on_text=on_text,
        one_at_a_time=one_at_a_time,
    )
    with halted_by_signals(shift.signalled):
        return await shift.run()


class _Trials(Shift):
    """One part of a run that carries out an experiment."""

    def __init__(
        self,
        store: Store,
        run: Run,
        ground: Ground,
        rules: Rules,
        trials: Sequence[Trial],
        *,
        make: ClientMaker,
        clock: Clock,
        on_progress: OnProgress | None,
        on_text: OnText | None,
        one_at_a_time: bool,
    ) -> None:
        super().__init__(
            store,
            run,
            ground.endpoints,
            run.budget,
            make=make,
            clock=clock,
            on_progress=on_progress,
        )
        self._ground = ground
        self._rules = rules
        self._trials = deque(trials)
        self._have = Have()
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

    async def _do(self, step: Step) -> None:
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
                brought = Brought(records=records, call=call)
            else:
                lane.failures = 0
        await self._finish(step, brought, held)

    def _tell(self, step: Step, text: str) -> None:
        if self._on_text is not None:
            self._on_text(step, text)

    async def _finish(self, step: Step, brought: Brought, held: Sequence[str]) -> None:
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


def _state_of(step: Step, brought: Brought) -> State | None:
    """Account for a step; None for one that asked nobody, which doesn't count.

    A hint that leaks is no fault of the run: the gates' log counts it.
    """
    states = {getattr(record, "state", "scored") for record in brought.records}
    if "failed" in states and not step.problem:
        return "failed"
    if brought.call is None:
        return None
    return "unscored" if "unscored" in states and step.kind != "hint" else "scored"
