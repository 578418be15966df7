"""Runs: what one is asked to do, its row, and doing it in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from datetime import datetime
from typing import Protocol

from atom.engine.bench.fidelity import run_fidelity
from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import ConsentNeeded, consent_questions
from atom.engine.correction.experiment import run_experiment
from atom.engine.ledger import take_hold
from atom.engine.members import enrol, gather
from atom.engine.plan import RunSpec
from atom.engine.pool import Runner
from atom.engine.process import halted_by_signals
from atom.engine.shift import ClientMaker, OnProgress, make_client
from atom.errors import UsageError
from atom.records import Endpoint, Run, content_id
from atom.store import Store, set_sampling


class CarryOut(Protocol):
    """Does a run that is more than stages, or the rest of it."""

    def __call__(
        self,
        store: Store,
        run_id: str,
        endpoints: Mapping[str, Endpoint],
        *,
        retry_failed: bool,
        make: ClientMaker,
        clock: Clock,
        on_progress: OnProgress | None,
    ) -> Awaitable[Run]:
        """Return the run's row at its end."""


def new_run(spec: RunSpec, moment: datetime) -> Run:
    """Make the row of a new run."""
    created, study_id = stamp(moment), spec.study_id
    return Run(
        id=content_id("run", study_id, list(spec.stages), list(spec.candidates), created)[:12],
        study_id=study_id,
        stages=spec.stages,
        judge=spec.judge,
        candidates=spec.candidates,
        limit=spec.limit,
        repeats=spec.repeats,
        budget=spec.budget,
        show_reference=spec.show_reference,
        created=created,
        heartbeat=created,
        answer_repeats=spec.answer_repeats,
        score_pictures=spec.score_pictures,
        judge_sampling=spec.judge_sampling,
        answer_sampling=spec.answer_sampling,
        retry_unscored=spec.retry_unscored,
    )


def spec_of(run: Run, *, retry_failed: bool = False) -> RunSpec:
    """Say what a stored run does."""
    return RunSpec(
        study_id=run.study_id,
        stages=run.stages,
        judge=run.judge,
        candidates=run.candidates,
        limit=run.limit,
        repeats=run.repeats,
        answer_repeats=run.answer_repeats,
        budget=run.budget,
        retry_failed=retry_failed,
        retry_unscored=run.retry_unscored,
        show_reference=run.show_reference,
        score_pictures=run.score_pictures,
        judge_sampling=run.judge_sampling,
        answer_sampling=run.answer_sampling,
    )


def open_run(
    store: Store,
    spec: RunSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    clock: Clock = utc_now,
) -> Run:
    """Check what a run is asked to do, and write its row.

    Sampling settings that it sets are the study's from then on.

    Raises:
        UsageError: it asks for something that isn't there.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    moment = clock()
    members = gather(store, spec, endpoints, stamp(moment))
    questions = consent_questions(store, members)
    if questions:
        raise ConsentNeeded(questions)
    run = new_run(members.completed(spec), moment)
    with store.write() as writer:
        writer.put([run])
        take_hold(writer, run.id)
        set_sampling(writer, members.study)
    return run


def _special(row: Run) -> CarryOut | None:
    """Return what carries out a run that isn't one of stages."""
    if row.experiment_id is not None:
        return run_experiment
    if row.bench_set_id is not None:
        # Its figures need SciPy, which an ordinary run starts a second sooner without.
        from atom.engine.bench.judging import run_bench

        return run_bench
    if row.methods:
        return run_fidelity
    return None


async def run(
    store: Store,
    spec: RunSpec,
    endpoints: Mapping[str, Endpoint],
    *,
    run_id: str | None = None,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
) -> Run:
    """Do a run, or the rest of one, in this process.

    Args:
        store: the store.
        spec: what to do; with `run_id`, only `retry_failed` and `budget` of it may differ from
            the stored run.
        endpoints: endpoints by name.
        run_id: a run whose row is there already, one of a self-correction experiment too; a new
            one when None.
        make: opens clients.
        clock: UTC time, for records.
        on_progress: called twice a second at most.

    Returns:
        The run's row at its end.

    Raises:
        AtomError: the run can't begin, or the store can't be written.
    """
    moment = clock()
    if run_id is None:
        row = open_run(store, spec, endpoints, clock=clock)
    else:
        found = store.get(Run, run_id)
        if found is None:
            raise UsageError(f"there is no run {run_id!r}; `run status` lists them")
        # Stop may have been asked for while this process was starting.
        state = "stopping" if found.state == "stopping" else "running"
        row = found.model_copy(update={"state": state, "message": "", "budget": spec.budget})
        store.replace([row])
        carry_out = _special(row)
        if carry_out is not None:
            return await carry_out(
                store,
                row.id,
                endpoints,
                retry_failed=spec.retry_failed,
                make=make,
                clock=clock,
                on_progress=on_progress,
            )
    members = gather(store, spec, endpoints, stamp(moment))
    questions = consent_questions(store, members)
    if questions:
        raise ConsentNeeded(questions)
    enrol(store, members)
    runner = Runner(store, row, spec, members, make=make, clock=clock, on_progress=on_progress)
    with halted_by_signals(runner.signalled):
        return await runner.run()
