"""`run start|status|resume|stop`; `run batch ...` is in `run_batch`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from typing import TypeVar

from atom.cli.parts.options import common, names_of, settings_of
from atom.cli.parts.output import Output, ProgressLine, bar, duration, table
from atom.cli.parts.processes import executor_of, help_along, pool_of, process_option
from atom.cli.parts.sampling import sampling_from, sampling_options
from atom.engine.cluster.executor import LocalPool, Order, Pool
from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.control import (
    RunStatus,
    list_runs,
    must_suit,
    prepare_resume,
    resume_run,
    run_status,
    start_helpers,
    start_work,
    stop_run,
    wait_for_end,
)
from atom.engine.endpoints.configured import built_in, known_endpoints
from atom.engine.execution import Progress
from atom.engine.forecast import forecast
from atom.engine.members import judge_of
from atom.engine.notices import run_notices
from atom.engine.plan import JUDGE_STAGES, STAGES, RunSpec
from atom.engine.studies.remark import to_remark
from atom.engine.work import Spec, carry_out, open_work
from atom.errors import SettingsError, UsageError
from atom.records import Endpoint, Look, Run, StageName, Study
from atom.settings import Settings
from atom.store import Store, find_study
from atom.views.runs.page import money, spent_words, unpriced
from atom.views.runs.together import sharing_now

T = TypeVar("T")
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


def what_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what a run of stages does."""
    parser.add_argument(
        "--judge", metavar="ENDPOINT", help="the judge; the study's own when left out"
    )
    parser.add_argument(
        "--candidates", metavar="A,B", help="endpoints that answer; none: judge only"
    )
    parser.add_argument(
        "--stages", metavar="S,T", help=f"of {','.join(STAGES)}; all that apply when left out"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many samples")
    parser.add_argument(
        "--at-random",
        action="store_true",
        help="draw the samples of --limit at random, the same ones whoever judges",
    )
    parser.add_argument(
        "--repeat", "--repeats", type=int, default=1, metavar="N", help="scorings of each answer"
    )
    parser.add_argument(
        "--answer-repeats", type=int, default=1, metavar="N", help="answers of each candidate"
    )
    parser.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    retry_options(parser)
    parser.add_argument(
        "--show-reference",
        action="store_true",
        help="tell the judge the reference answer when it solves a sample",
    )
    parser.add_argument(
        "--score-without-pictures",
        action="store_true",
        help="let the judge score by the criteria alone, without seeing the pictures",
    )
    parser.add_argument(
        "--settle",
        choices=("leader", "weaknesses", "nodes"),
        help="mark only the answers of the next look at this question (see `run settle`)",
    )
    settle_options(parser)
    sampling_options(parser)


def settle_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say how far looks go."""
    parser.add_argument(
        "--calls", type=int, metavar="N", help="looks: answers that all of them together may mark"
    )
    parser.add_argument(
        "--within", type=float, default=5.0, metavar="POINTS",
        help="looks at nodes: half of the widest interval that is let pass, in points of 0-100",
    )  # fmt: skip


def retry_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what is asked again."""
    parser.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    parser.add_argument(
        "--retry-unscored",
        action="store_true",
        help="ask again that, and what ended unscored through the server's fault",
    )


def spec_from(args: argparse.Namespace, store: Store) -> RunSpec:
    """Say what those options ask for.

    Raises:
        UsageError: there is no such study, or a name isn't a stage.
    """
    candidates = names_of(args.candidates)
    study = find_study(store, args.study)
    return RunSpec(
        study_id=study.id,
        look=_look_from(args, store, study),
        stages=stages_of(args.stages, with_answers=bool(candidates)),
        judge=args.judge,
        candidates=candidates,
        limit=args.limit,
        at_random=args.at_random,
        repeats=args.repeat,
        answer_repeats=args.answer_repeats,
        budget=args.budget,
        retry_failed=args.retry_failed,
        retry_unscored=args.retry_unscored,
        show_reference=args.show_reference,
        score_pictures=not args.score_without_pictures,
        judge_sampling=sampling_from(args, "judge", study.judge_sampling),
        answer_sampling=sampling_from(args, "answer", study.answer_sampling),
    )


def _look_from(args: argparse.Namespace, store: Store, study: Study) -> Look | None:
    if args.settle is None:
        return None
    from atom.engine.looks.planning import SettleSpec, plan_look

    if args.candidates or args.limit is not None:
        raise UsageError("a look marks answers that are there and draws them itself: leave "
                         "--candidates and --limit")  # fmt: skip
    wanted = SettleSpec(
        study_id=study.id, goal=args.settle, within=args.within, calls=args.calls, judge=args.judge
    )
    found = plan_look(store, wanted, known_endpoints(settings_of(args)))
    if found.spec is None:
        raise UsageError(f"there is no next look: {found.why}")
    return found.spec.look


def stages_of(text: str | None, *, with_answers: bool) -> tuple[StageName, ...]:
    """Read a list of stages; all that apply when it's left out.

    Raises:
        UsageError: a name isn't a stage.
    """
    names = names_of(text)
    wrong = [name for name in names if name not in STAGES]
    if wrong:
        raise UsageError(f"{wrong[0]!r} isn't a stage; stages are {', '.join(STAGES)}")
    if not names:
        return tuple(stage for stage in STAGES if with_answers or stage in JUDGE_STAGES)
    return tuple(stage for stage in STAGES if stage in names)


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
    cost = "a price isn't known" if found.cost is None else f"about {found.cost:.2f} USD"
    out.problem(f"The whole run: {found.calls:,} calls, {cost}.")
    if not args.yes and not out.ask("Mark them again?"):
        raise UsageError(
            "nothing was sent: agree with --yes, or leave scoring out of --stages to keep the "
            "older marks"
        )


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
    pool: Pool | None = None,
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


def _here(
    store: Store,
    settings: Settings,
    run_id: str,
    out: Output,
    *,
    retry_failed: bool,
    processes: int = 1,
    pool: Pool | None = None,
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


def show_progress(line: ProgressLine, progress: Progress) -> None:
    """Show how far a run is."""
    left = progress.total - progress.done
    ahead = f", {duration(left / progress.rate)} left" if progress.rate > 0 and left else ""
    odd = f", {progress.unscored:,} unscored" if progress.unscored else ""
    odd += f", {progress.failed:,} failed" if progress.failed else ""
    price = f", {money(progress.cost)}" if progress.cost else ""
    phase = f"{progress.phase} " if progress.phase else ""
    line.show(
        f"{phase}{bar(progress.done, progress.total)} {progress.done}/{progress.total}"
        f" {progress.rate:.1f}/s{price}{odd}{ahead}"
    )


def spent(run: Run, settings: Settings) -> str:
    """Say what a run has cost; where an endpoint has no prices, that it isn't known."""
    missing = unpriced(run, _endpoints(settings)) if run.done else ()
    return spent_words(run.cost, missing)


def _endpoints(settings: Settings) -> dict[str, Endpoint]:
    try:
        return known_endpoints(settings)
    except SettingsError:  # a broken file says so wherever an endpoint is asked for
        return {one.name: one for one in built_in()}


def run_lines(status: RunStatus, settings: Settings, store: Store | None = None) -> list[str]:
    """Say in words how a run is, and where it works what it shares with others."""
    row = status.run
    lines = [
        f"run {row.id}: {row.state}, {row.done:,} of {row.total:,} items, "
        f"{row.unscored:,} unscored, {row.failed:,} failed, {spent(row, settings)}"
    ]
    if row.message:
        lines.append(row.message)
    if store is not None and status.alive:
        lines += sharing_now(store, row, _endpoints(settings))
    if status.resumable and row.state != "done":
        lines.append(f"go on with: run resume {row.id}")
    return lines


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
    rows = [
        [s.run.id, s.run.state, s.run.done, s.run.total, s.run.unscored, s.run.failed,
         spent(s.run, settings), s.run.created, s.run.message]
        for s in found
    ]  # fmt: skip
    head = ("run", "state", "done", "total", "unscored", "failed", "cost", "created", "message")
    out.result([_data(s, settings) for s in found], table(head, rows) if rows else ["no runs yet"])
    return 0


def _data(status: RunStatus, settings: Settings) -> dict[str, object]:
    """Return a run as JSON: `unpriced` names the endpoints whose share of `cost` isn't known."""
    row = status.run
    missing = unpriced(row, _endpoints(settings)) if row.done else ()
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
