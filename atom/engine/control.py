"""Runs as processes of their own: start, stop, resume, and see how they are.

A run goes on when the browser closes. Everything that is known about it is in the store, so the
commands and the screens see the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from atom.engine.clock import stamp, utc_now
from atom.engine.cluster.executor import Executor, HelperPool, LocalExecutor, Order
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.ledger import run_claim, take_hold
from atom.engine.process import process_gone
from atom.engine.work import Spec, open_work, tell_run
from atom.errors import UsageError
from atom.records import Run, RunKind, StudyTask
from atom.settings import Settings
from atom.store import Store, table
from atom.store.holds import hold_of, update_run
from atom.store.team.budgets import capped
from atom.store.together.quotas import open_purse

MOST_PROCESSES = 64
"""At one run."""
STARTING = 15.0
"""Seconds within which a run that nobody holds may still be starting."""
GONE = "the process that ran it ended; resume the run to go on"


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """A run as it is, not only as its row says.

    Args:
        run: the row; one whose process is gone shows `stopped`.
        alive: whether a process works on it.
    """

    run: Run
    alive: bool

    @property
    def resumable(self) -> bool:
        """Whether it can be taken up again."""
        return not self.alive


def start_work(
    store: Store,
    spec: Spec,
    settings: Settings,
    *,
    processes: int = 1,
    executor: Executor | None = None,
) -> Run:
    """Start a run of any kind in a process of its own; what is there of it goes on.

    Args:
        store: the store that `settings` names.
        settings: where the store and the endpoints are.
        processes: how many work at it.
        executor: where its process starts; this computer when None.

    Returns:
        The run's row; follow it with `run_status`.

    Raises:
        UsageError: it asks for something that isn't there, or it is running already.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    must_suit(spec.kind, processes)
    run = open_work(store, spec, known_endpoints(settings))
    order = Order(processes=processes, retry_failed=spec.retry_failed)
    (executor or LocalExecutor(settings=settings)).start(store, run, order)
    return run


def resume_run(
    store: Store,
    run_id: str,
    settings: Settings,
    *,
    retry_failed: bool = False,
    retry_unscored: bool = False,
    budget: float | None = None,
    processes: int = 1,
    executor: Executor | None = None,
) -> Run:
    """Take up a run again, in a process of its own.

    Args:
        store: the store that `settings` names.
        settings: where the store and the endpoints are.
        retry_failed: ask again for items that failed.
        retry_unscored: ask again for those, and for what ended unscored through a server's fault.
        budget: another spend cap for the whole run; None keeps the old one.
        processes: how many work at it.
        executor: where its process starts; this computer when None.

    Raises:
        UsageError: there is no such run, or it is running.
    """
    must_suit(run_status(store, run_id).run.kind, processes)
    run = prepare_resume(store, run_id, retry_unscored=retry_unscored, budget=budget)
    order = Order(processes=processes, retry_failed=retry_failed)
    (executor or LocalExecutor(settings=settings)).start(store, run, order)
    return run


def prepare_resume(
    store: Store, run_id: str, *, retry_unscored: bool = False, budget: float | None = None
) -> Run:
    """Mark a run as running again.

    Args:
        retry_unscored: ask again for what ended unscored through a server's fault.
        budget: another spend cap for the whole run; None keeps the old one.

    Raises:
        UsageError: there is no such run, or it is running.
    """
    status = run_status(store, run_id)
    if status.alive:
        raise UsageError(f"run {run_id!r} is running; stop it first, or wait for its end")
    if retry_unscored and status.run.kind != "study":
        raise UsageError(
            f"run {run_id!r} isn't one of stages: only what a study's own stages left unscored can "
            "be asked again; leave --retry-unscored"
        )
    run = status.run.model_copy(
        update={
            "state": "running",
            "message": "",
            "heartbeat": stamp(utc_now()),
            "budget": status.run.budget if budget is None else budget,
        }
    )
    task = run.task
    if isinstance(task, StudyTask):
        again = retry_unscored or (task.retry_unscored and status.run.state != "done")
        task = task.model_copy(update={"retry_unscored": again})
        run = run.model_copy(update={"task": task})
    with store.write("run") as writer:
        run = capped(writer, run)
        writer.replace([run])
        take_hold(writer, run_id)
        tell_run(writer, run)
    return run


def start_helpers(store: Store, run: Run, order: Order, pool: HelperPool) -> None:
    """Start the processes that work at a run beside this one; each is at its samples alone.

    Args:
        run: the run, held by this process.

    Raises:
        UsageError: that can't be done by several.
    """
    must_suit(run.kind, order.processes)
    store.transact(lambda writer: open_purse(writer, run.id, run.cost), alone=True)
    pool.start(store, run, order)


def must_suit(kind: RunKind, processes: int) -> None:
    """Refuse a number of processes that a kind of run can't have.

    Raises:
        UsageError: so it is.
    """
    if not 1 <= processes <= MOST_PROCESSES:
        raise UsageError(
            f"{processes:,} processes were asked for: 1 to {MOST_PROCESSES} can be had"
        )
    if processes > 1 and kind != "study":
        raise UsageError("only a study's own stages can be done by several processes: leave it out")


def stop_run(store: Store, run_id: str) -> RunStatus:
    """Ask a run to stop; it does so within a second, once the calls in flight have ended.

    Raises:
        UsageError: there is no such run.
    """
    status = run_status(store, run_id)
    with store.write("run") as writer:
        writer.tell("stop run", study=status.run.study_id, subject=run_id)
        if status.alive:
            update_run(writer, run_id, only="running", state="stopping")
        elif status.run.state == "stopped":
            update_run(writer, run_id, state="stopped", message=status.run.message)
    return run_status(store, run_id)


def run_status(store: Store, run_id: str) -> RunStatus:
    """Say how a run is.

    Raises:
        UsageError: there is no such run.
    """
    run = store.get(Run, run_id)
    if run is None:
        raise UsageError(f"there is no run {run_id!r}; `run status` lists them")
    return _status(store, run, time.time())


def list_runs(store: Store, study_id: str | None = None) -> list[RunStatus]:
    """Return all runs, the newest first."""
    runs = table(Run)
    where = [] if study_id is None else [runs.c.study_id == study_id]
    found = store.select(Run, *where, order_by=[runs.c.created.desc()])
    now = time.time()
    return [_status(store, run, now) for run in found]


def wait_for_end(
    store: Store,
    run_id: str,
    *,
    seconds: float,
    sleep: Callable[[float], None] = time.sleep,
) -> RunStatus:
    """Wait until a run has ended, or for so many seconds.

    Raises:
        UsageError: there is no such run.
    """
    deadline = time.monotonic() + seconds
    while True:
        status = run_status(store, run_id)
        if not status.alive or time.monotonic() > deadline:
            return status
        sleep(0.2)


def _status(store: Store, run: Run, now: float) -> RunStatus:
    if run.state not in ("running", "stopping"):
        return RunStatus(run=run, alive=False)
    held = hold_of(store, run_claim(run.id))
    if held is not None and not held.is_over and not process_gone(held.owner):
        return RunStatus(run=run, alive=True)
    if held is None and now - _seconds(run.heartbeat) < STARTING:
        return RunStatus(run=run, alive=True)
    gone = run.model_copy(update={"state": "stopped", "message": GONE})
    return RunStatus(run=gone, alive=False)


def _seconds(moment: str) -> float:
    try:
        return datetime.fromisoformat(moment).astimezone(UTC).timestamp()
    except ValueError:
        return 0.0
