"""`judge bench|list|show|delete`."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from atom.cli.options import common, names_of, settings_of
from atom.cli.output import Output, table
from atom.cli.run import run_lines, show_progress
from atom.engine.bench import (
    BenchForecast,
    BenchSpec,
    delete_set,
    find_set,
    forecast_bench,
    give_bench_consent,
    import_replies,
    import_set,
    make_probe_set,
    open_bench,
    run_bench,
)
from atom.engine.consent import ConsentNeeded
from atom.engine.control import RunStatus, start_bench
from atom.engine.endpoints import known_endpoints
from atom.errors import UsageError
from atom.formats import FolderPictures, ImportFile
from atom.judgebench.base import BenchResult, MetricRow
from atom.judgebench.registry import BENCHES, find_bench
from atom.records import BenchSet, Judge, Sampling
from atom.settings import Settings
from atom.store import Store
from atom.views.judge_lab import bench_result, bench_sets, standings

T = TypeVar("T")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_bench(
        verbs.add_parser(
            "bench", parents=[common()], help="have a judge work through a judge benchmark"
        )
    )
    one = verbs.add_parser("list", parents=[common()], help="the benchmarks, and the sets here")
    one.set_defaults(call=list_all)
    one = verbs.add_parser("show", parents=[common()], help="how judges did on a set")
    one.add_argument("set", metavar="SET", help="its name or id")
    one.add_argument("--judge", metavar="NAME", help="one judge's figures in full")
    one.set_defaults(call=show)
    one = verbs.add_parser("delete", parents=[common()], help="a set with all its verdicts")
    one.add_argument("set", metavar="SET", help="its name or id")
    one.set_defaults(call=delete)


def _add_bench(one: argparse.ArgumentParser) -> None:
    one.add_argument("name", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    one.add_argument("--set", metavar="SET", help="the data: the name of a set; a new one's, too")
    one.add_argument(
        "--files", nargs="+", type=Path, metavar="PATH", help="read a new set from these"
    )
    one.add_argument("--probes", type=int, metavar="N", help="make a new set of N items of probes")
    one.add_argument("--seed", type=int, default=0, metavar="N", help="of the probes (0)")
    one.add_argument("--columns", type=Path, metavar="FILE", help="JSON: our field → file's column")
    one.add_argument("--pictures", action="append", type=Path, metavar="DIR")
    one.add_argument("--judge", metavar="ENDPOINT", help="who is examined")
    one.add_argument("--scorer", metavar="ENDPOINT", help="who scores what the judge writes")
    one.add_argument("--votes", type=int, metavar="K", help="how often each question is put")
    one.add_argument("--parts", metavar="A,B", help="which parts; the usual ones if left out")
    one.add_argument("--temperature", type=float, metavar="T")
    one.add_argument("--limit", type=int, metavar="N", help="only the first so many items")
    one.add_argument("--budget", type=float, metavar="USD", help="stop before more is spent")
    one.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    one.add_argument("--replies", nargs="+", type=Path, metavar="PATH", help="score these instead")
    one.add_argument("--as", dest="name_of_judge", metavar="NAME", help="whose replies these are")
    one.add_argument("--dry-run", action="store_true", help="say what it would ask and cost")
    one.add_argument("--detach", action="store_true", help="run in a process of its own")
    one.add_argument("--yes", action="store_true", help="agree to sending data")
    one.set_defaults(call=bench)


def bench(args: argparse.Namespace, out: Output) -> int:
    """Take in what is new, ask what is missing, and say how the judge did."""
    settings = settings_of(args)
    with Store.open(settings.store) as store:
        record = _the_set(store, args)
        if args.replies:
            files = [ImportFile.from_path(path) for path in args.replies]
            replies = import_replies(store, record.id, files, args.name_of_judge or "")
            for line in (*replies.notes, *replies.skipped[:12]):
                out.problem(line)
            return _tell(store, record, args.name_of_judge, out)
        if args.judge is None:
            lines = [f"{record.name!r}: {record.n_items} items; name a judge with --judge"]
            out.result(record, [*lines, *record.notes, *record.skipped[:12]])
            return 0
        sampling = None if args.temperature is None else Sampling(temperature=args.temperature)
        spec = BenchSpec(
            set_id=record.id,
            judge=args.judge,
            scorer=args.scorer,
            votes=args.votes,
            parts=names_of(args.parts),
            limit=args.limit,
            budget=args.budget,
            sampling=sampling,
            retry_failed=args.retry_failed,
        )
        if args.dry_run:
            forecast = forecast_bench(store, spec, known_endpoints(settings))
            out.result(forecast, _forecast_lines(forecast))
            return 0
        if args.detach:
            began = _agreed(
                store, record, args.yes, out, lambda: start_bench(store, spec, settings)
            )
            out.result(began, [f"run {began.id} is on its way: `run status {began.id}`"])
            return 0
        return _agreed(
            store, record, args.yes, out, lambda: _here(store, record, settings, spec, out)
        )


def _the_set(store: Store, args: argparse.Namespace) -> BenchSet:
    """Return the set that is meant: a new one of files or probes, else one that is there."""
    find_bench(args.name)
    if args.files and args.probes:
        raise UsageError("a new set comes from --files or from --probes, not from both")
    if args.files:
        columns = json.loads(args.columns.read_text(encoding="utf-8")) if args.columns else {}
        return import_set(
            store,
            args.name,
            args.set or args.files[0].stem,
            [ImportFile.from_path(path) for path in args.files],
            columns=columns,
            pictures=FolderPictures(args.pictures or [path.parent for path in args.files]),
            limit=args.limit,
        )
    if args.probes:
        return make_probe_set(store, args.name, args.probes, args.seed, name=args.set)
    sets = bench_sets(store, args.name)
    if args.set:
        found = find_set(store, args.set)
        if found.benchmark != args.name:
            raise UsageError(f"the set {found.name!r} is of {found.benchmark}, not of {args.name}")
        return found
    if not sets:
        raise UsageError("there is no set yet: read one with --files, or make one with --probes 50")
    return sets[0]


def _agreed(
    store: Store, record: BenchSet, agreed: bool, out: Output, action: Callable[[], T]
) -> T:
    """Do something that may send data to new hosts: with --yes or after asking."""
    try:
        return action()
    except ConsentNeeded as needed:
        for question in needed.questions:
            out.problem(f"{question.sentence}.")
        if not agreed and not out.ask("Send them?"):
            raise UsageError("nothing was sent: agree with --yes, or leave it") from None
        give_bench_consent(store, record.id, [question.host for question in needed.questions])
    return action()


def _here(store: Store, record: BenchSet, settings: Settings, spec: BenchSpec, out: Output) -> int:
    """Run in this process, with a progress line, and say how the judge did."""
    endpoints = known_endpoints(settings)
    row = open_bench(store, spec, endpoints)
    line = out.progress()
    try:
        ended = asyncio.run(
            run_bench(
                store,
                row.id,
                endpoints,
                retry_failed=spec.retry_failed,
                on_progress=lambda progress: show_progress(line, progress),
            )
        )
    finally:
        line.end()
    for text in run_lines(RunStatus(run=ended, alive=False)):
        out.problem(text)
    judge = next(one for one in store.select(Judge) if one.name == endpoints[spec.judge].model)
    code = _tell(store, record, judge.id, out)
    return code if ended.state == "done" else 1


def _tell(store: Store, record: BenchSet, judge: str, out: Output) -> int:
    result = bench_result(store, record.id, judge)
    out.result(result, _result_lines(result))
    return 0


def _forecast_lines(forecast: BenchForecast) -> list[str]:
    calls = [f"{count} calls to {name}" for name, count in forecast.calls.items()]
    cost = "at a price that isn't known" if forecast.cost is None else f"about ${forecast.cost:.4f}"
    later = "; what is written is then scored, which comes on top" if forecast.later else ""
    return [f"{forecast.items} items: {', '.join(calls) or 'nothing is missing'}, {cost}{later}"]


def _result_lines(result: BenchResult) -> list[str]:
    lines = table(HEAD, [_cells(row) for row in result.headline])
    for part in result.tables:
        lines += ["", part.title, *table(HEAD, [_cells(row) for row in part.rows])]
        if part.note:
            lines.append(part.note)
    if result.missing:
        lines.append(f"{result.missing} of {result.items} items have no verdict yet")
    return lines


HEAD = ("figure", "group", "value", "95 % interval", "chance", "n", "unread", "counting")


def _cells(row: MetricRow) -> list[object]:
    interval = "" if math.isnan(row.lo) else f"{row.lo:.2f} to {row.hi:.2f}"
    chance = "" if math.isnan(row.chance) else f"{row.chance:.2f}"
    value = "-" if math.isnan(row.value) else f"{row.value:.2f}"
    return [row.label, row.group, value, interval, chance, row.n, row.invalid, row.rule]


def list_all(args: argparse.Namespace, out: Output) -> int:
    """List the benchmarks and the sets."""
    with Store.open(settings_of(args).store) as store:
        sets = bench_sets(store)
    lines = [f"{one.name}: {one.about}" for one in BENCHES.values()]
    rows = [[s.name, s.benchmark, s.n_items, "probes" if s.synthetic else ", ".join(s.sources)]
            for s in sets]  # fmt: skip
    lines += ["", *table(("set", "benchmark", "items", "from"), rows)] if rows else ["no sets yet"]
    out.result({"benchmarks": list(BENCHES), "sets": sets}, lines)
    return 0


def show(args: argparse.Namespace, out: Output) -> int:
    """Say how judges did on a set."""
    with Store.open(settings_of(args).store) as store:
        record = find_set(store, args.set)
        found = standings(store, record.id)
        if args.judge:
            wanted = [one for one in found if args.judge in (one.judge, one.name)]
            if not wanted:
                names = ", ".join(one.name for one in found) or "nobody yet"
                raise UsageError(f"{args.judge!r} judged nothing of this set; {names} did")
            return _tell(store, record, wanted[0].judge, out)
        rows = [
            [one.name, one.items, one.scored, one.unscored, one.failed,
             "; ".join(f"{row.label} {row.value:.1f}" for row in
                       bench_result(store, record.id, one.judge).headline[:3])]
            for one in found
        ]  # fmt: skip
    head = ("judge", "items", "read", "unread", "failed", "figures")
    out.result(found, table(head, rows) if rows else ["nobody judged this set yet"])
    return 0


def delete(args: argparse.Namespace, out: Output) -> int:
    """Delete a set with all its verdicts."""
    with Store.open(settings_of(args).store) as store:
        record = find_set(store, args.set)
        delete_set(store, record.id)
    out.result(record, [f"the set {record.name!r} is gone, with all its verdicts"])
    return 0
