"""`store check`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from atom.cli.parts.options import common, settings_of
from atom.cli.parts.output import Output
from atom.store import Store, check_store


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser(
        "check", parents=[common()], help="whether the store is whole: file, links, pictures"
    )
    one.add_argument("--no-pictures", action="store_true", help="don't read the pictures")
    one.add_argument("--read-only", action="store_true", help="open it without writing")
    one.set_defaults(call=check)


def check(args: argparse.Namespace, out: Output) -> int:
    """Check the store; exit code 1 when something is wrong."""
    with Store.open(settings_of(args).store, read_only=args.read_only) as store:
        report = check_store(store, pictures=not args.no_pictures)
    lines = [f"{name:<16}{count:>10}" for name, count in report.counts.items() if count]
    if report.states:
        states = ", ".join(f"{count} {state}" for state, count in sorted(report.states.items()))
        lines.append(f"checkpoints: {states}")
    lines += [f"problem: {problem}" for problem in report.problems]
    lines.append("the store is whole" if not report.problems else "the store is NOT whole")
    out.result(asdict(report), lines)
    return 1 if report.problems else 0
