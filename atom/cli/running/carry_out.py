"""Work begun: with consent, here or in a process of its own, and how far it is."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from typing import TypeVar

from atom.cli.parts.output import Output, ProgressLine, bar
from atom.cli.parts.processes import executor_of
from atom.display.numbers import money
from atom.engine.cluster.executor import HelperPool, LocalPool, Order
from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.control import RunStatus, start_helpers, start_work
from atom.engine.endpoints.configured import built_in, known_endpoints
from atom.engine.execution import Progress
from atom.engine.work import Spec, carry_out, open_work
from atom.errors import SettingsError, UsageError
from atom.records import Endpoint, Run
from atom.settings import Settings
from atom.store import Store
from atom.views.runs.page import lost, pace_words, run_view
from atom.views.runs.together import sharing_now

T = TypeVar("T")


def begin(
    store: Store,
    spec: Spec,
    settings: Settings,
    args: argparse.Namespace,
    out: Output,
    *,
    owner_id: str,
    processes: int = 1,
) -> Run | None:
    """Open a run, after asking whether data may go where it would; with --detach, start it.

    Args:
        settings: where the store and the endpoints are.
        args: the command's `--detach` and `--yes`.
        out: where it is asked, and said that it is on its way.
        owner_id: whose data are sent: a study's, or a benchmark set's.
        processes: how many work at it.

    Returns:
        The run, to be carried out here; None where a process of its own does.
    """
    executor = executor_of(args, settings)
    if not args.detach and executor is None:
        endpoints = known_endpoints(settings)
        return with_consent(
            store, owner_id, args.yes, out, lambda: open_work(store, spec, endpoints)
        )
    began = with_consent(
        store,
        owner_id,
        args.yes,
        out,
        lambda: start_work(store, spec, settings, processes=processes, executor=executor),
    )
    out.result(began, [f"run {began.id} is on its way: `run status {began.id}`"])
    return None


def do_here(
    store: Store,
    settings: Settings,
    run_id: str,
    out: Output,
    *,
    retry_failed: bool,
    processes: int = 1,
    pool: HelperPool | None = None,
) -> Run:
    """Carry a run out in this process, and those that it starts, with a progress line."""
    found = store.get(Run, run_id)
    if found is not None and processes > 1:
        order = Order(processes=processes, retry_failed=retry_failed)
        start_helpers(store, found, order, pool or LocalPool(settings=settings))
    line = out.progress()
    try:
        return asyncio.run(
            carry_out(
                store,
                run_id,
                known_endpoints(settings),
                retry_failed=retry_failed,
                on_progress=lambda progress: show_progress(line, progress),
                processes=processes,
            )
        )
    finally:
        line.end()


def begin_and_do(
    store: Store,
    spec: Spec,
    settings: Settings,
    args: argparse.Namespace,
    out: Output,
    *,
    owner_id: str,
) -> Run | None:
    """Open a run and carry it out here, saying how it ended beside the command's own result.

    Args:
        settings: where the store and the endpoints are.
        args: the command's `--detach` and `--yes`.
        out: where it is asked, and said how it ended.
        owner_id: whose data are sent: a study's, or a benchmark set's.

    Returns:
        The run as it ended; None where a process of its own does it.
    """
    row = begin(store, spec, settings, args, out, owner_id=owner_id)
    if row is None:
        return None
    ended = do_here(store, settings, row.id, out, retry_failed=spec.retry_failed)
    for text in run_lines(RunStatus(run=ended, alive=False), settings):
        out.problem(text)
    return ended


def with_consent(
    store: Store, owner_id: str, agreed: bool, out: Output, action: Callable[[], T]
) -> T:
    """Do something that may send data to new hosts: with --yes or after asking.

    Args:
        owner_id: whose data are sent: a study's, or a benchmark set's.
        agreed: whether --yes was given.
        action: what is done, and again once it was agreed.
    """
    try:
        return action()
    except ConsentNeeded as needed:
        hosts = [question.host for question in needed.questions]
        for question in needed.questions:
            out.problem(f"{question.sentence}.")
        if not agreed and not out.ask("Send them?"):
            raise UsageError("nothing was sent: agree with --yes, or leave the run") from None
        give_consent(store, owner_id, hosts)
    return action()


def show_progress(line: ProgressLine, progress: Progress) -> None:
    """Show how far a run is."""
    phase = f"{progress.phase} " if progress.phase else ""
    facts = [
        f"{phase}{bar(progress.done, progress.total)} {progress.done:,} of {progress.total:,}",
        *(words for _, words in lost(progress)),
        *pace_words(progress.rate, progress.total - progress.done),
        *([money(progress.cost)] if progress.cost else []),
    ]
    line.show(", ".join(facts))


def endpoints_of(settings: Settings) -> dict[str, Endpoint]:
    """Return the endpoints of a run."""
    try:
        return known_endpoints(settings)
    except SettingsError:  # a broken file says so wherever an endpoint is asked for
        return {one.name: one for one in built_in()}


def run_lines(status: RunStatus, settings: Settings, store: Store | None = None) -> list[str]:
    """Say in words how a run is, and where it works what it shares with others."""
    endpoints = endpoints_of(settings)
    view = run_view(status.run, alive=status.alive, endpoints=endpoints)
    facts = (view.words, *view.facts("items"), *(words for _, words in view.lost))
    lines = [f"run {view.run.id}: {', '.join(facts)}"]
    if view.run.message:
        lines.append(view.run.message)
    if store is not None and view.alive:
        lines += sharing_now(store, view.run, endpoints)
    if view.can_resume:
        lines.append(f"go on with: run resume {view.run.id}")
    return lines
