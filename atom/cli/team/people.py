"""`people list`, `people role`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from atom.access import ROLES, Role
from atom.cli.parts.output import Output
from atom.display import writers
from atom.engine.team import give_role, list_people, team_store
from atom.views.settings.team_tables import NOBODY, people_table

CLAIM = "claim"


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("list", help="everybody who has signed in, with their role")
    one.add_argument("--json", action="store_true", help="write one JSON document")
    one.set_defaults(call=list_)
    two = verbs.add_parser("role", help="give a person a role by hand")
    two.add_argument("person", metavar="WHO", help="their address, name or id")
    two.add_argument(
        "role",
        choices=(*ROLES, NOBODY, CLAIM),
        help="none: they may do nothing from now on; claim: what the identity provider says holds "
        "again, from their next sign-in on",
    )
    two.add_argument("--json", action="store_true", help="write one JSON document")
    two.set_defaults(call=role)


def list_(args: argparse.Namespace, out: Output) -> int:
    """List everybody."""
    del args
    found = list_people(team_store())
    shown = people_table(found)
    out.result(shown.documents, writers.lines(shown) if found else ["nobody has signed in yet"])
    return 0


def role(args: argparse.Namespace, out: Output) -> int:
    """Give a role."""
    given: dict[str, Role] = {one: one for one in ROLES}
    done = give_role(team_store(), args.person, given.get(args.role), by_claim=args.role == CLAIM)
    what = f"{done.name} is {done.role or 'nobody'} here"
    how = "by hand" if done.by_hand else "until the next sign-in"
    out.result(asdict(done), [f"{what}, {how}"])
    return 0
