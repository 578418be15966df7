"""People and budgets of a deployment, for Settings and for `people list` and `budget list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.display import numbers
from atom.display.table import Column, Table, data
from atom.store.team.budgets import Budget
from atom.store.team.people import PersonRow, TeamEvent

NAME: Final = "Name"
NOBODY: Final = "none"
"""What stands for the role of who may do nothing."""


def people_table(people: Sequence[PersonRow]) -> Table[PersonRow]:
    """Table everybody who has signed in, with their role."""
    columns = (
        *data("id"),
        Column[PersonRow](title=NAME, of=lambda one: one.name, name="name"),
        Column[PersonRow](title="Address", of=lambda one: one.email, name="email"),
        Column[PersonRow](title="Role", of=_role),
        *data("role", "by_hand"),
        Column[PersonRow](
            title="Last signed in (UTC)",
            of=lambda one: one.seen,
            name="seen",
            write=numbers.moment,
        ),
    )
    return Table(label="People", columns=columns, rows=people)


def budget_table(budgets: Sequence[Budget]) -> Table[Budget]:
    """Table what may be spent in a month, and what was."""
    columns = (
        *data("whose"),
        Column[Budget](title="Whose", of=lambda one: one.name, name="name"),
        Column[Budget](
            title="A month",
            of=lambda one: one.usd,
            name="usd",
            number=True,
            write=lambda usd: "no limit" if usd is None else _dollars(usd),
        ),
        Column[Budget](
            title="Spent this month",
            of=lambda one: one.spent,
            name="spent",
            number=True,
            write=lambda usd: "" if usd is None else _dollars(usd),
        ),
    )
    return Table(label="Budgets", columns=columns, rows=budgets)


def _role(one: PersonRow) -> str:
    return f"{one.role or NOBODY}{' (given here)' if one.by_hand else ''}"


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}"


def event_table(events: Sequence[TeamEvent], called: Mapping[str, str]) -> Table[TeamEvent]:
    """Table who did what, in the order given.

    Args:
        called: what people are called now, by id.
    """
    return Table(
        label="Activity",
        columns=(
            Column(title="When (UTC)", of=lambda one: one.at, write=numbers.moment),
            Column(title="Who", of=lambda one: called.get(one.person, one.name)),
            Column(title="What", of=lambda one: one.action),
            Column(title="Of", of=lambda one: one.subject[:24], seen="text", spare=True),
            Column(title="Before", of=lambda one: numbers.middle(one.before, 60), broad=True),
            Column(title="Now", of=lambda one: numbers.middle(one.after or one.subject, 60)),
        ),
        rows=events,
    )
