"""People of a deployment: signed in, given a role, listed; and the log of what they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from atom.access import OPERATOR, ROLES, Person, Role, acting_as
from atom.errors import UsageError
from atom.store.store import Store
from atom.store.team.guard import as_they_are
from atom.store.team.tables import events, people
from atom.store.together.server import insert_into

_SIGN_IN = Person(id=f"{OPERATOR}sign-in", name="sign-in", role="admin")
_MOST_LISTED = 10_000
_LONGEST_NAME = 60


@dataclass(frozen=True, kw_only=True)
class PersonRow:
    """A person as the list shows them.

    Args:
        email: their address, where the identity provider tells it.
        role: what they may; None = nothing.
        by_hand: whether an admin gave the role, which then holds whatever the provider says.
        seen: UTC time of their last sign-in.
    """

    id: str
    name: str
    email: str
    role: Role | None
    by_hand: bool
    seen: str


@dataclass(frozen=True, kw_only=True)
class TeamEvent:
    """What somebody did.

    Args:
        at: UTC time.
        person: who, by id.
        name: who, by the name they had then.
        action: what, in a word or two.
        study: the study; empty where it is about none.
        subject: what it was about, by id.
        before: what was there before, where that is short.
        after: what is there now.
    """

    at: str
    person: str
    name: str
    action: str
    study: str
    subject: str
    before: str
    after: str


def role_of(groups: Sequence[str], roles: Mapping[Role, Sequence[str]]) -> Role | None:
    """Return the highest role that a person's groups give; `*` stands for everybody.

    Args:
        groups: what the identity provider's claim says.
        roles: the groups that give each role.
    """
    for role in reversed(ROLES):
        listed = roles.get(role, ())
        if "*" in listed or set(groups) & set(listed):
            return role
    return None


def sign_in(
    store: Store, person_id: str, name: str, email: str, *, role: Role | None, issued: float
) -> Person:
    """Note a person who signed in, with the role that their claim gives.

    A role given by hand stays. A sign-in that was issued before the last one that is known changes
    nothing: what an older cookie claims may no longer hold.

    Args:
        person_id: who, as the identity provider tells them apart.
        email: their address.
        issued: seconds since the epoch of the identity provider's word.

    Returns:
        The person with the role that holds.
    """
    held = _row(store, person_id)
    if held is not None and held["issued"] >= issued:
        return Person(id=person_id, name=held["name"], role=held["role"])
    with acting_as(_SIGN_IN), store.write(action=None) as writer:
        statement = insert_into(writer.connection.dialect.name, people)
        kept = sa.case((people.c.by_hand, people.c.role), else_=statement.excluded.role)
        statement = statement.on_conflict_do_update(
            index_elements=["id"],
            set_={
                "role": kept,
                **{one: statement.excluded[one] for one in ("name", "email", "issued", "seen")},
            },
            where=people.c.issued < statement.excluded.issued,
        )
        name = _free_name(writer.connection, person_id, name, email)
        row = {"id": person_id, "name": name, "email": email, "role": role, "by_hand": False}
        writer.connection.execute(statement, {**row, "issued": issued, "seen": writer.stamp})
        found = as_they_are(writer.connection, Person(id=person_id, name=name, role=None))
        assert found is not None
        before = "" if held is None else held["role"] or "none"
        if before != (found.role or "none"):
            with_name = {"subject": person_id, "before": before, "after": found.role or "none"}
            writer.tell("signed in", **with_name)
    return found


def _free_name(connection: sa.Connection, person_id: str, name: str, email: str) -> str:
    """Return a name that nobody else has: it stands on labels."""
    name = " ".join(name.split())[:_LONGEST_NAME] or email or person_id
    others = sa.select(people.c.name).where(people.c.id != person_id)
    taken = {str(one).casefold() for one in connection.execute(others).scalars()}
    for tail in ("", f" ({email})" if email else "", f" ({person_id[-6:]})"):
        found = f"{name[: _LONGEST_NAME - len(tail)]}{tail}"
        if found.casefold() not in taken:
            return found
    return person_id[-_LONGEST_NAME:]


def _row(store: Store, person_id: str) -> sa.RowMapping | None:
    with store.read() as connection:
        return (
            connection.execute(sa.select(people).where(people.c.id == person_id)).mappings().first()
        )


def who(store: Store, person: Person | None) -> Person | None:
    """Return a person with the role that they have now."""
    with store.read() as connection:
        return as_they_are(connection, person)


def list_people(store: Store) -> list[PersonRow]:
    """List the people who have signed in, by name."""
    columns = [people.c[name] for name in ("id", "name", "email", "role", "by_hand", "seen")]
    with store.read() as connection:
        rows = connection.execute(sa.select(*columns).order_by(people.c.name, people.c.id))
        return [PersonRow(**row) for row in rows.mappings()]


def find_person(store: Store, named: str) -> PersonRow:
    """Return the one person with this id, address or name.

    Raises:
        UsageError: there is none, or several.
    """
    listed = list_people(store)
    found = [one for one in listed if one.id == named] or [
        one for one in listed if named in (one.email, one.name)
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.email or one.name for one in listed[:20]) or "nobody has signed in yet"
    raise UsageError(
        f"{named!r} names {'nobody' if not found else 'several people: say the id'}; known: {known}"
    )


def give_role(store: Store, named: str, role: Role | None, *, by_claim: bool = False) -> PersonRow:
    """Give a person a role by hand; it holds whatever the identity provider says.

    Args:
        named: the person's id, address or name.
        role: the role; None = they may do nothing from now on.
        by_claim: the provider's word holds again, from their next sign-in on.

    Raises:
        AccessError: whoever acts isn't an admin.
        UsageError: there is no such person, or it would leave nobody who is an admin.
    """
    person = find_person(store, named)
    with store.write(action="people") as writer:
        columns = people.c
        others = sa.select(sa.func.count()).where(columns.role == "admin", columns.id != person.id)
        demoted = person.role == "admin" and role != "admin"
        if demoted and not writer.execute(others).scalar_one() and not by_claim:
            raise UsageError(f"{person.name} is the only admin: make somebody else one first")
        new = {"by_hand": not by_claim, **({} if by_claim else {"role": role})}
        if person.by_hand != by_claim and (by_claim or person.role == role):
            return person  # as it is already: nothing is done, and the log says nothing
        writer.execute(sa.update(people).where(columns.id == person.id).values(**new))
        after = "by claim" if by_claim else role or "none"
        writer.tell("role", subject=person.id, before=person.role or "none", after=after)
    return find_person(store, person.id)


def events_of(
    store: Store, *, study: str | None = None, person: str | None = None, most: int = 200
) -> list[TeamEvent]:
    """Return what was done, the latest first.

    Args:
        study: in this study alone, by id.
        person: by this person alone, by id or name.
        most: how many at most.
    """
    names = ("at", "person", "name", "action", "study", "subject", "before", "after")
    found = sa.select(*(events.c[name] for name in names)).order_by(events.c.id.desc())
    if study is not None:
        found = found.where(events.c.study == study)
    if person is not None:
        found = found.where(sa.or_(events.c.person == person, events.c.name == person))
    with store.read() as connection:
        rows = connection.execute(found.limit(min(most, _MOST_LISTED))).mappings().all()
    return [TeamEvent(**row) for row in rows]
