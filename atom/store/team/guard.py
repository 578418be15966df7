"""What a deployment's store asks at each change: who makes it, and whether their role covers it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime

import sqlalchemy as sa

from atom.access import Action, Person, actor, require
from atom.records import Call, Record
from atom.store.schema import plain_cell
from atom.store.team.tables import events, people, spending
from atom.store.together.server import clock_of, insert_into

_LONGEST = 2_000
"""Characters of what was there before, or is now, that the log keeps."""


def as_they_are(connection: sa.Connection, person: Person | None) -> Person | None:
    """Return a person with the role that they have at this moment.

    Whoever works on the server itself needs none; whoever isn't known has none.
    """
    if person is None or person.is_operator:
        return person
    found = connection.execute(sa.select(people).where(people.c.id == person.id)).mappings().first()
    role = None if found is None else found["role"]
    return Person(id=person.id, name=person.name if found is None else found["name"], role=role)


def let_in(connection: sa.Connection, action: Action | None) -> Person | None:
    """Find out who changes the store, and refuse what they may not.

    Args:
        action: what they do; None = what was let in when it began goes on.

    Raises:
        AccessError: their role doesn't cover it.
    """
    person = as_they_are(connection, actor())
    if action is not None:
        require(person, action)
    return person


def tell(
    connection: sa.Connection,
    person: Person,
    action: str,
    *,
    study: str,
    subject: str,
    before: str,
    after: str,
) -> None:
    """Write into the log, in the transaction that makes the change."""
    now = clock_of(connection)
    connection.execute(
        sa.insert(events),
        {
            # In the order of time, and unique.
            "id": f"{int(now * 1e6):017d}-{secrets.token_hex(4)}",
            "at": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
            "person": person.id,
            "name": person.name,
            "action": action,
            "study": study,
            "subject": subject,
            "before": plain_cell(before)[:_LONGEST],
            "after": plain_cell(after)[:_LONGEST],
        },
    )


def month_of(now: float) -> str:
    """Return the month (UTC) of a moment: `2026-11`."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def count_spending(connection: sa.Connection, person: Person, records: Iterable[Record]) -> None:
    """Add what calls cost to what a person spent this month, in the transaction that keeps them."""
    usd = sum(one.cost or 0.0 for one in records if isinstance(one, Call))
    if not usd:
        return
    statement = insert_into(connection.dialect.name, spending)
    statement = statement.on_conflict_do_update(
        index_elements=["person", "month"],
        set_={"usd": spending.c.usd + statement.excluded.usd},
    )
    month = month_of(clock_of(connection))
    connection.execute(statement, {"person": person.id, "month": month, "usd": usd})
