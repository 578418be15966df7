"""People who sign in, in the deployment's own store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from atom.access import Person, Role, policy
from atom.errors import UsageError
from atom.store import Store
from atom.store.team.budgets import Budget as Budget
from atom.store.team.budgets import RemainingBudget as RemainingBudget
from atom.store.team.budgets import list_budgets as list_budgets
from atom.store.team.budgets import set_budget as set_budget
from atom.store.team.budgets import what_is_left as what_is_left
from atom.store.team.people import PersonRow as PersonRow
from atom.store.team.people import TeamEvent as TeamEvent
from atom.store.team.people import events_of as events_of
from atom.store.team.people import find_person as find_person
from atom.store.team.people import give_role as give_role
from atom.store.team.people import list_people as list_people
from atom.store.team.people import role_of, sign_in, who


@lru_cache(maxsize=1)
def _open(place: str) -> Store:
    return Store.open(place)


def team_store() -> Store:
    """Return the deployment's store, opened once a process.

    Raises:
        UsageError: there is no deployment.
    """
    held = policy()
    if held is None:
        raise UsageError(
            "there are people, budgets and a log in a deployment alone: set ATOM_DEPLOYMENT to its "
            "file (docs/deploy.md)"
        )
    return _open(held.place)


def signed_in(
    person_id: str,
    name: str,
    email: str,
    *,
    groups: Sequence[str],
    roles: Mapping[Role, Sequence[str]],
    issued: float,
) -> Person:
    """Note a person who signed in; return them with the role that holds.

    Args:
        person_id: who, as the identity provider tells them apart.
        email: their address.
        groups: what the provider's claim says.
        roles: the groups that give each role.
        issued: seconds since the epoch of the provider's word.
    """
    role = role_of(groups, roles)
    return sign_in(team_store(), person_id, name, email, role=role, issued=issued)


def now_as(person: Person) -> Person:
    """Return a person with the role that they have now."""
    found = who(team_store(), person)
    assert found is not None
    return found
