"""People, budgets and activity of a deployment: on Settings, for its admins alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from atom.access import ROLES, Role, policy
from atom.engine.team import (
    Budget,
    PersonRow,
    TeamEvent,
    events_of,
    give_role,
    list_budgets,
    list_people,
    set_budget,
    team_store,
)
from atom.errors import AtomError
from atom.ui import kit
from atom.ui.html import Html, el, join
from atom.ui.plain import plain
from atom.ui.shell import team
from atom.views.settings.team_tables import NAME, NOBODY, budget_table, event_table, people_table

FAULT: Final = "people_fault"
_LATEST = 50
_CLAIM = "as their groups say"
_ROLES: Final[tuple[str, ...]] = (*ROLES, NOBODY, _CLAIM)


def draw() -> None:
    """Draw the three lists; nothing where there is no deployment, or for who isn't an admin."""
    if policy() is None or team.refused("people"):
        return
    fault = st.session_state.pop(FAULT, None)
    if fault:
        kit.show(kit.fault(str(fault)), key="people_said")
    people = list_people(team_store())
    _head("People", "Roles come from the identity provider's groups; one given here holds instead.")
    kit.show(_people(people), key="people_list")
    _give_role(people)
    budgets = list_budgets(team_store())
    _head("Budgets", "USD a month. A run gets at most what is left, less what others may spend.")
    kit.show(_budgets(budgets), key="budgets_list")
    _give_budget(people)
    _head("Activity", f"The last {_LATEST} changes; `log` on the server lists all.")
    kit.show(_events(events_of(team_store(), most=_LATEST), people), key="activity_list")


def _head(title: str, words: str) -> None:
    kit.show(
        join(
            el("h2", title, style="margin:6px 0 2px"),
            el("p", kit.told(words), class_="quiet small"),
        ),
        key=f"{title.lower()}_head",
    )


def _people(people: list[PersonRow]) -> Html:
    cells = {NAME: _name, "Address": _text}
    return kit.drawn(people_table(people), cells=cells, tight=False)


def _budgets(budgets: list[Budget]) -> Html:
    return kit.drawn(budget_table(budgets), cells={"Whose": _text}, tight=False)


def _name(_: PersonRow, name: str) -> Html:
    return el("span", name, class_="strong text")


def _text(_: object, words: str) -> Html:
    return el("span", words, class_="text")


def _events(events: list[TeamEvent], people: list[PersonRow]) -> Html:
    if not events:
        return el("p", "Nothing was changed yet.", class_="quiet")
    now_called = {one.id: one.name for one in people}
    return kit.drawn(event_table(events, now_called))


def _attempt(change: Callable[[], object]) -> None:
    try:
        change()
    except AtomError as error:
        st.session_state[FAULT] = error.message


def _give_role(people: list[PersonRow]) -> None:
    if not people:
        return
    names = {one.id: plain(one.name) for one in people}
    roles: dict[str, Role] = {one: one for one in ROLES}

    def give() -> None:
        whose, role = str(st.session_state["people_who"]), str(st.session_state["people_role"])
        given = roles.get(role)
        _attempt(lambda: give_role(team_store(), whose, given, by_claim=role == _CLAIM))

    with st.container(horizontal=True, vertical_alignment="bottom", key="people_form"):
        st.selectbox("Person", list(names), format_func=names.__getitem__, key="people_who")
        st.selectbox("Role", _ROLES, key="people_role")
        team.button("people", "Give this role", key="people_give", on_click=give)


def _give_budget(people: list[PersonRow]) -> None:
    whose: dict[str, str] = {"deployment": "everybody together"}
    whose |= {one: f"each {one}" for one in ROLES}
    whose |= {one.id: plain(one.name) for one in people}

    def give() -> None:
        held = st.session_state
        _attempt(
            lambda: set_budget(team_store(), str(held["budget_whose"]), float(held["budget_usd"]))
        )

    with st.container(horizontal=True, vertical_alignment="bottom", key="budget_form"):
        st.selectbox("Whose", list(whose), format_func=whose.__getitem__, key="budget_whose")
        st.number_input("USD a month", min_value=0.0, step=10.0, key="budget_usd")
        team.button("people", "Set this budget", key="budget_give", on_click=give)
