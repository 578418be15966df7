"""`budget list`, `budget set`."""

from __future__ import annotations

import argparse

from atom.access import ROLES
from atom.cli.parts.output import Output
from atom.display import writers
from atom.engine.team import find_person, list_budgets, set_budget, team_store
from atom.errors import UsageError
from atom.views.settings.team_tables import budget_table

_FILE = "file"


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("list", help="budgets a month, and what was spent of them this month")
    one.add_argument("--json", action="store_true", help="write one JSON document")
    one.set_defaults(call=list_)
    two = verbs.add_parser("set", help="set what somebody may spend in a month")
    two.add_argument("whose", metavar="WHOSE", help="a person, a role, or `deployment` for all")
    two.add_argument(
        "usd", metavar="USD", help="USD a month; `file`: as the deployment's file says"
    )
    two.add_argument("--json", action="store_true", help="write one JSON document")
    two.set_defaults(call=set_)


def list_(args: argparse.Namespace, out: Output) -> int:
    """List budgets."""
    del args
    shown = budget_table(list_budgets(team_store()))
    out.result(shown.documents, writers.lines(shown))
    return 0


def set_(args: argparse.Namespace, out: Output) -> int:
    """Set a budget."""
    store = team_store()
    named = args.whose in ("deployment", *ROLES)
    whose = args.whose if named else find_person(store, args.whose).id
    try:
        usd = None if args.usd == _FILE else float(args.usd.removeprefix("$"))
    except ValueError:
        raise UsageError(f"{args.usd!r} is no sum of money: write 200, or {_FILE}") from None
    set_budget(store, whose, usd)
    told = "as the deployment's file says" if usd is None else f"${usd:,.2f} a month"
    out.result({"whose": whose, "usd": usd}, [f"{args.whose}: {told}"])
    return 0
