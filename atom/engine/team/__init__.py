"""A deployment's people, for screens and commands."""

from atom.engine.team.people import (
    Budget,
    PersonRow,
    TeamEvent,
    events_of,
    find_person,
    give_role,
    list_budgets,
    list_people,
    now_as,
    set_budget,
    signed_in,
    team_store,
)

__all__ = [
    "Budget",
    "PersonRow",
    "TeamEvent",
    "events_of",
    "find_person",
    "give_role",
    "list_budgets",
    "list_people",
    "now_as",
    "set_budget",
    "signed_in",
    "team_store",
]
