"""`run batch run|write|send|fetch|take|status|cancel|drop`: runs by batches of requests."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output, table
from atom.cli.running.carry_out import run_lines, show_progress, with_consent
from atom.cli.running.options import spec_from, what_options
from atom.engine.batch.files import MOST_REQUESTS, Parcel, batch_folder, list_parcels, requests_file
from atom.engine.batch.sending import (
    WrittenBatches,
    cancel_batch,
    drop_batch,
    fetch_batches,
    open_batch_run,
    run_batches,
    send_batches,
    write_batch,
)
from atom.engine.batch.taking import BatchReplies, take_replies
from atom.engine.control import RunStatus, run_status
from atom.engine.endpoints.configured import known_endpoints
from atom.records import Run
from atom.store import Store

ABOUT = (
    "Ask by batches instead of one call at a time: about half the price, up to a day for each "
    "wave. A wave holds all that can be asked now; what builds on its replies (criteria on "
    "replays, scores on criteria) goes into the next. `run` does all of it where the endpoint has "
    "a batch service; with `write` and `take` the files go any other way."
)


def add_batch(verbs: Any) -> None:
    """Declare `run batch` and its verbs."""
    batch = verbs.add_parser(
        "batch", help="ask by batches: half the price, up to a day", description=ABOUT
    )
    steps = batch.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, call, words in (
        ("run", whole, "write, send, wait, take, and go on until nothing is left"),
        ("write", write, "write what is to be asked next into files; nothing is sent"),
    ):
        one = steps.add_parser(name, parents=[common()], help=words, description=words)
        which = one.add_mutually_exclusive_group(required=True)
        which.add_argument("--study", help="name or id")
        which.add_argument(
            "--run", metavar="RUN", help="a run that is there, a benchmark's or of methods, too"
        )
        what_options(one)
        one.add_argument(
            "--per-file", type=int, default=MOST_REQUESTS, metavar="N", help="requests in a file"
        )
        one.add_argument("--yes", action="store_true", help="agree that data goes to the hosts")
        one.set_defaults(call=call)

    one = steps.add_parser("take", parents=[common()], help="take files of replies and errors in")
    one.add_argument("files", nargs="+", metavar="FILE", help="output and error files, any order")
    one.set_defaults(call=take)

    for name, call, words in (
        ("send", send, "upload what is written and not sent yet"),
        ("fetch", fetch, "look once at what was sent; take in what is over"),
        ("status", status, "the batches of this store, without asking anybody"),
    ):
        one = steps.add_parser(name, parents=[common()], help=words)
        one.add_argument("run", nargs="?", help="only this run's")
        one.set_defaults(call=call)

    for name, call, words in (
        ("cancel", cancel, "cancel a batch at the service; what is answered still comes"),
        ("drop", drop, "forget a batch that was never sent: the next one asks it again"),
    ):
        one = steps.add_parser(name, parents=[common()], help=words)
        one.add_argument("batch", help="its name, as `run batch status` shows it")
        one.set_defaults(call=call)


def _chosen(store: Store, args: argparse.Namespace, out: Output) -> str:
    """Return the run that is meant, after asking whether data may go where it would."""
    if args.run is not None:
        return run_status(store, args.run).run.id
    spec = spec_from(args, store)
    endpoints = known_endpoints(settings_of(args))
    row = with_consent(
        store, spec.study_id, args.yes, out, lambda: open_batch_run(store, spec, endpoints)
    )
    return row.id


def _agreed(store: Store, run_id: str, agreed: bool, out: Output, action: Callable[[], Any]) -> Any:
    owner_id = run_status(store, run_id).run.study_id
    return with_consent(store, owner_id, agreed, out, action)


def write(args: argparse.Namespace, out: Output) -> int:
    """Write the next files of requests."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        run_id = _chosen(store, args, out)
        line = out.progress()

        def go() -> WrittenBatches:
            return asyncio.run(
                write_batch(
                    store,
                    run_id,
                    known_endpoints(settings),
                    retry_failed=args.retry_failed,
                    budget=args.budget,
                    most_requests=args.per_file,
                    on_progress=lambda progress: show_progress(line, progress),
                )
            )

        try:
            written: WrittenBatches = _agreed(store, run_id, args.yes, out, go)
        finally:
            line.end()
        files = [requests_file(store, parcel) for parcel in written.parcels]
    lines = [
        f"{file}: {parcel.requests:,} requests for {parcel.endpoint.name}, {_tasks(parcel)}, "
        f"{parcel.n_bytes / 1e6:.1f} MB"
        for file, parcel in zip(files, written.parcels, strict=True)
    ]
    if written.waiting:
        lines.append(
            f"{written.waiting:,} requests wait in batches that were written before: take their "
            "replies in, or `run batch drop` a batch that never went anywhere"
        )
    if not written.parcels and not written.waiting:
        lines += run_lines(RunStatus(run=written.run, alive=False), settings)
    elif written.parcels:
        lines.append("next: `run batch send`, or upload them yourself and `run batch take` replies")
    document = {
        "run": written.run.model_dump(mode="json"),
        "files": [str(file) for file in files],
        "requests": written.requests,
        "waiting": written.waiting,
    }
    out.result(document, lines)
    return 0


def _tasks(parcel: Parcel) -> str:
    return ", ".join(f"{count:,} {task}" for task, count in parcel.tasks.items())


def whole(args: argparse.Namespace, out: Output) -> int:
    """Do a run by batches, from its start or from where it stood."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        run_id = _chosen(store, args, out)
        line = out.progress()

        def go() -> Run:
            return asyncio.run(
                run_batches(
                    store,
                    run_id,
                    known_endpoints(settings),
                    retry_failed=args.retry_failed,
                    budget=args.budget,
                    most_requests=args.per_file,
                    on_progress=lambda progress: show_progress(line, progress),
                    tell=out.problem,
                )
            )

        try:
            ended: Run = _agreed(store, run_id, args.yes, out, go)
        finally:
            line.end()
    out.result(ended, run_lines(RunStatus(run=ended, alive=False), settings))
    return 0 if ended.state == "done" else 1


def take(args: argparse.Namespace, out: Output) -> int:
    """Take files of replies in."""
    with Store.open(settings_of(args).store) as store:
        taken = take_replies(store, [Path(name) for name in args.files])
    lines = taken.words
    if taken.parcels:
        lines.append("next: `run batch write` goes on with them")
    out.result(_taken(taken), lines)
    return 0 if taken.parcels else 1


def _taken(taken: BatchReplies) -> dict[str, object]:
    names = ("lines", "replies", "unusable", "again", "failed", "known", "repeated", "foreign",
             "broken", "missing", "cost")  # fmt: skip
    told: dict[str, object] = {name: getattr(taken, name) for name in names}
    return {**told, "errors": list(taken.errors), "batches": list(taken.parcels)}


def send(args: argparse.Namespace, out: Output) -> int:
    """Upload what is written."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        sent = asyncio.run(
            send_batches(store, known_endpoints(settings), run_id=args.run, tell=out.problem)
        )
        _list(store, sent, out, "nothing is written that isn't sent")
    return 0


def fetch(args: argparse.Namespace, out: Output) -> int:
    """Look at what was sent, and take in what is over."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        _, taken = asyncio.run(
            fetch_batches(store, known_endpoints(settings), run_id=args.run, tell=out.problem)
        )
        lines = taken.words if taken.lines else ["nothing is over yet"]
        if taken.lines:
            lines.append("next: `run batch write` goes on with them")
        out.result(_taken(taken), lines)
    return 0


def status(args: argparse.Namespace, out: Output) -> int:
    """List the batches."""
    with Store.open(settings_of(args).store) as store:
        _list(store, list_parcels(store, args.run), out, "no batch was written yet")
    return 0


def _list(store: Store, parcels: list[Parcel], out: Output, nothing: str) -> None:
    head = ("batch", "of", "asks", "requests", "state", "replies", "failed", "missing", "what")
    rows = [
        [p.name, p.about, p.endpoint.name, p.requests, p.state, p.replies, p.failures, p.missing,
         p.message]
        for p in parcels
    ]  # fmt: skip
    lines = table(head, rows) if rows else [nothing]
    if rows:
        lines.append(f"files are in {batch_folder(store)}")
    documents = [parcel.model_dump(mode="json", exclude={"schemas"}) for parcel in parcels]
    out.result(documents, lines)


def cancel(args: argparse.Namespace, out: Output) -> int:
    """Cancel a batch at the service."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        parcel = asyncio.run(cancel_batch(store, args.batch, known_endpoints(settings)))
        _list(store, [parcel], out, "")
    return 0


def drop(args: argparse.Namespace, out: Output) -> int:
    """Forget a batch."""
    with Store.open(settings_of(args).store) as store:
        _list(store, [drop_batch(store, args.batch)], out, "")
    return 0
