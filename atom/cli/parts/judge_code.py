"""`judge run-code`: run the programs that a judge wrote, in a sandbox."""

from __future__ import annotations

import argparse

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.engine.bench.sets import find_set
from atom.engine.code.runs import run_programs
from atom.engine.code.sandbox import find_sandbox
from atom.errors import UsageError
from atom.store import Store
from atom.views.lab.page import standings


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the verb."""
    one = verbs.add_parser(
        "run-code",
        parents=[common()],
        help="run the corrected programs of a CriticBench set, in a sandbox",
        description="Run the programs that a judge wrote as corrections, on this computer, in a "
        "sandbox without network, files and environment, and keep which of them pass. Nothing else "
        "runs them: this command, or the part run_code of `judge bench`.",
    )
    one.add_argument("set", metavar="SET", help="the set's name or id")
    one.add_argument("--judge", required=True, metavar="NAME", help="whose programs")
    one.add_argument("--dry-run", action="store_true", help="say what would keep them in")
    one.set_defaults(call=run_code)


def run_code(args: argparse.Namespace, out: Output) -> int:
    """Run the programs, and say how many pass."""
    with Store.open(settings_of(args).store) as store:
        record = find_set(store, args.set)
        wanted = [one for one in standings(store, record.id) if args.judge in (one.judge, one.name)]
        if not wanted:
            raise UsageError(f"{args.judge!r} judged nothing of the set {record.name!r}")
        if args.dry_run:
            sandbox = find_sandbox()
            out.result(sandbox, [f"programs would run with {sandbox.protection}"])
            return 0
        ran = run_programs(store, record.id, wanted[0].judge)
    out.result(ran, [f"{ran.sentence}."])
    return 0
