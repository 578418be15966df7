"""`log`: who did what in a deployment."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from atom.cli.parts.output import Output
from atom.display.writers import lines
from atom.engine.team import events_of, team_store
from atom.store import find_study
from atom.views.settings.team_tables import event_table


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
    fits = " that fits" if args.study or args.who else ""
    shown = lines(event_table(found, {})) if found else [f"nothing{fits} was done yet"]
    out.result([asdict(one) for one in found], shown)
    return 0
