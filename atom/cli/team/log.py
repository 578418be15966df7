"""`log`: who did what in a deployment."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from atom.cli.parts.output import Output, table
from atom.engine.team import Event, events_of, team_store
from atom.store import find_study


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--study", metavar="NAME", help="in this study alone")
    parser.add_argument("--who", metavar="NAME", help="by this person alone, by name or id")
    parser.add_argument("--most", type=int, default=100, help="lines at most (100)")
    parser.add_argument("--json", action="store_true", help="write one JSON document")
    parser.set_defaults(call=log)


def log(args: argparse.Namespace, out: Output) -> int:
    """Show the log, the latest first."""
    store = team_store()
    study = None if args.study is None else find_study(store, args.study).id
    found = events_of(store, study=study, person=args.who, most=max(1, args.most))
    rows = [(one.at, one.name, one.action, one.subject[:24], _change(one)) for one in found]
    head = ("at", "who", "what", "of", "change")
    fits = " that fits" if args.study or args.who else ""
    lines = table(head, rows) if rows else [f"nothing{fits} was done yet"]
    out.result([asdict(one) for one in found], lines)
    return 0


def _change(one: Event) -> str:
    before, after = one.before, one.after
    return f"{before} → {after}" if before and after else before or after
