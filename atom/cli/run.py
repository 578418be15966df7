"""`run start|status|resume|stop`; `run batch ...` is in `run_batch`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.cli.parts.processes import executor_of, help_along, pool_of, process_option
from atom.cli.running.carry_out import begin, do_here, endpoints_of, run_lines
from atom.cli.running.options import retry_options, spec_from, what_options
from atom.display.numbers import money
from atom.display.writers import lines
from atom.engine.cluster.executor import HelperPool
from atom.engine.control import (
    RunStatus,
    list_runs,
    must_suit,
    prepare_resume,
    resume_run,
    run_status,
    stop_run,
    wait_for_end,
)
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.forecast import forecast
from atom.engine.members import judge_of
from atom.engine.notices import run_notices
from atom.engine.studies.remark import to_remark
from atom.engine.study.spec import RunSpec
from atom.errors import UsageError
from atom.records import Run, Study
from atom.settings import Settings
from atom.store import Store, find_study
from atom.views.runs.page import run_labels, run_view, unpriced
from atom.views.runs.run_table import run_table

STOP_PATIENCE = 30.0
"""Seconds that `run stop` waits for the calls in flight."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    # It uses the helpers below.
    from atom.cli.parts.run_batch import add_batch
    from atom.cli.parts.run_blind import add_blind
    from atom.cli.parts.run_settle import add_settle

    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("start", parents=[common()], help="do what is still missing in a study")
    which = one.add_mutually_exclusive_group(required=True)
    which.add_argument("--study", help="name or id")
    which.add_argument("--resume-id", metavar="RUN", help=argparse.SUPPRESS)
    one.add_argument("--helper", type=int, default=0, help=argparse.SUPPRESS)
    what_options(one)
    one.add_argument(
        "--blind",
        type=int,
        metavar="N",
        help="put N questions, at random, to the candidates without their pictures",
    )
    one.add_argument(
        "--panel", metavar="B,C", help="further judges, which mark the same answers after --judge"
    )
    process_option(one)
    one.add_argument("--yes", action="store_true", help="agree that data goes to the hosts named")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.set_defaults(call=start)

    one = verbs.add_parser("status", parents=[common()], help="the runs, the newest first")
    one.add_argument("run", nargs="?", help="one run's id")
    one.add_argument("--study", help="only this study's")
    one.set_defaults(call=status)

    one = verbs.add_parser("resume", parents=[common()], help="take up a run that stopped")
    one.add_argument("run", nargs="?", help="the run's id; else the newest that can be resumed")
    one.add_argument("--study", help="name or id")
    one.add_argument("--budget", type=float, metavar="USD", help="another budget for the whole run")
    retry_options(one)
    process_option(one)
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.set_defaults(call=resume)

    one = verbs.add_parser("stop", parents=[common()], help="stop a run; calls in flight end first")
    one.add_argument("run", nargs="?", help="the run's id; else the newest that is running")
    one.add_argument("--study", help="name or id")
    one.set_defaults(call=stop)

    add_batch(verbs)
    add_blind(verbs)
    add_settle(verbs)


def start(args: argparse.Namespace, out: Output) -> int:
    """Start a run, here or in a process of its own."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        if args.helper:
            help_along(store, settings, args)
            return 0
        if args.resume_id:
            return _here(
                store,
                settings,
                args.resume_id,
                out,
                retry_failed=args.retry_failed,
                processes=args.processes,
                pool=pool_of(store, args),
            )
        must_suit("study" if args.blind is None else "blind", args.processes)
        if args.blind is not None:
            from atom.cli.parts.run_blind import blind_spec

            asked = blind_spec(args, store)
            row = begin(store, asked, settings, args, out, owner_id=asked.study_id)
            return 0 if row is None else _here(store, settings, row.id, out, retry_failed=False)
        spec = spec_from(args, store)
        for notice in run_notices(store, spec, known_endpoints(settings)):
            out.problem(notice)
        _offer_remark(store, settings, spec, args, out)
        if args.panel is not None:
            from atom.cli.parts.run_panel import start_panel

            return start_panel(store, settings, spec, args, out)
        row = begin(
            store, spec, settings, args, out, owner_id=spec.study_id, processes=args.processes
        )
        if row is None:
            return 0
        return _here(
            store,
            settings,
            row.id,
            out,
            retry_failed=spec.retry_failed,
            processes=args.processes,
        )


def _offer_remark(
    store: Store, settings: Settings, spec: RunSpec, args: argparse.Namespace, out: Output
) -> None:
    """Where a run would mark anew what an older scale holds: say what it costs, and ask.

    Raises:
        UsageError: nobody agreed.
    """
    study, endpoints = store.get(Study, spec.study_id), known_endpoints(settings)
    named = endpoints.get(spec.judge or "")
    judge_id = judge_of(named).id if named else study.judge_id if study else None
    if not to_remark(store, spec, judge_id).answers:
        return
    found = forecast(store, spec, endpoints)
    out.problem(f"The whole run: {found.calls:,} calls, {money(found.cost)}.")
    if not args.yes and not out.ask("Mark them again?"):
        raise UsageError(
            "nothing was sent: agree with --yes, or leave scoring out of --stages to keep the "
            "older marks"
        )


def _here(
    store: Store,
    settings: Settings,
    run_id: str,
    out: Output,
    *,
    retry_failed: bool,
    processes: int = 1,
    pool: HelperPool | None = None,
) -> int:
    ended = do_here(
        store, settings, run_id, out, retry_failed=retry_failed, processes=processes, pool=pool
    )
    _prepare(store, ended, out)
    out.result(ended, run_lines(RunStatus(run=ended, alive=False), settings))
    nothing_came = ended.failed == ended.done > 0
    return 0 if ended.state == "done" and not nothing_came else 1


def _prepare(store: Store, ended: Run, out: Output) -> None:
    """Read what the run added once now, so that the study opens at once when it is looked at."""
    if ended.done and store.get(Study, ended.study_id) is not None:
        # The screens' libraries take a second to load, which `run status` needn't wait for.
        from atom.views.snapshot import open_study

        line = out.progress()
        try:
            line.show("making the study ready to be looked at")
            open_study(store, ended.study_id)
        finally:
            line.end()


def status(args: argparse.Namespace, out: Output) -> int:
    """Say how runs are."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        if args.run:
            one = run_status(store, args.run)
            out.result(_data(one, settings), run_lines(one, settings, store))
            return 0
        study_id = find_study(store, args.study).id if args.study else None
        found = list_runs(store, study_id)
        labels = run_labels(store, [one.run for one in found])
    known = endpoints_of(settings)
    views = [
        run_view(one.run, alive=one.alive, label=labels.get(one.run.id, ""), endpoints=known)
        for one in found
    ]
    shown = lines(run_table(views)) if views else ["no runs yet"]
    out.result([_data(one, settings) for one in found], shown)
    return 0


def _data(status: RunStatus, settings: Settings) -> dict[str, object]:
    """Return a run as JSON: `unpriced` names the endpoints whose share of `cost` isn't known."""
    row = status.run
    missing = unpriced(row, endpoints_of(settings)) if row.done else ()
    return {**row.model_dump(mode="json"), "alive": status.alive, "unpriced": list(missing)}


def resume(args: argparse.Namespace, out: Output) -> int:
    """Take up a run that stopped."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        run_id = _choose(store, args, "can be resumed", lambda s: _unfinished(s, args))
        retry_unscored: bool = args.retry_unscored
        executor = executor_of(args, settings)
        if args.detach or executor is not None:
            began = resume_run(
                store,
                run_id,
                settings,
                retry_failed=args.retry_failed,
                retry_unscored=retry_unscored,
                budget=args.budget,
                processes=args.processes,
                executor=executor,
            )
            out.result(began, [f"run {began.id} goes on: `run status {began.id}`"])
            return 0
        must_suit(run_status(store, run_id).run.kind, args.processes)
        prepare_resume(store, run_id, retry_unscored=retry_unscored, budget=args.budget)
        return _here(
            store,
            settings,
            run_id,
            out,
            retry_failed=args.retry_failed,
            processes=args.processes,
        )


def _unfinished(status: RunStatus, args: argparse.Namespace) -> bool:
    run = status.run
    again = (args.retry_failed or args.retry_unscored) and run.failed > 0
    again = again or (args.retry_unscored and run.unscored > 0)
    return status.resumable and (run.state != "done" or again)


def stop(args: argparse.Namespace, out: Output) -> int:
    """Stop a run."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        run_id = _choose(store, args, "is running", lambda s: s.alive)
        stop_run(store, run_id)
        ended = wait_for_end(store, run_id, seconds=STOP_PATIENCE)
    out.result(_data(ended, settings), run_lines(ended, settings))
    return 0 if not ended.alive else 1


def _choose(
    store: Store, args: argparse.Namespace, what: str, fits: Callable[[RunStatus], bool]
) -> str:
    """Return the run that is meant: by id, else the newest that fits."""
    if args.run:
        return run_status(store, args.run).run.id
    study_id = find_study(store, args.study).id if args.study else None
    for status in list_runs(store, study_id):
        if fits(status):
            return status.run.id
    raise UsageError(f"no run {what}; `run status` lists them")
