"""Budgets of a deployment, by person and month: what may be spent, was spent, and is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from atom.access import Person, actor, policy, require
from atom.errors import AccessError, UsageError
from atom.records import Endpoint, Run
from atom.store.schema import table
from atom.store.store import Store, Writer
from atom.store.team.guard import as_they_are, month_of
from atom.store.team.tables import budgets, events, people, spending
from atom.store.together.server import clock_of, insert_into

ALL = "deployment"
"""Whose budget is everybody's together."""
_SILENT = 600.0
"""Seconds."""
STARTED = "run"
"""The log's word for a run that began."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What somebody may spend in a month.

    Args:
        whose: a person's id, a role's name, or `deployment`.
        name: the same, as people call it.
        usd: USD a month; None = no limit.
        spent: USD spent this month; None for a role, where each person has the budget alone.
    """

    whose: str
    name: str
    usd: float | None
    spent: float | None


@dataclass(frozen=True, kw_only=True)
class RemainingBudget:
    """What is left of the budgets that hold for a person.

    Args:
        usd: USD that may still be spent this month, less what is promised to runs under way;
            None = no limit.
        of: USD a month of the budget that is nearest to its end.
        whose: whose budget that is, in words.
    """

    usd: float | None
    of: float | None = None
    whose: str = ""


def _limits(connection: sa.Connection) -> dict[str, float]:
    held = policy()
    found: Mapping[str, float] = (held.budgets if held is not None else None) or {}
    rows = connection.execute(sa.select(budgets.c.whose, budgets.c.usd))
    return {**found, **{str(whose): float(usd) for whose, usd in rows}}


def _spent(connection: sa.Connection) -> dict[str, float]:
    month = month_of(clock_of(connection))
    rows = connection.execute(
        sa.select(spending.c.person, spending.c.usd).where(spending.c.month == month)
    )
    return {str(person): float(usd) for person, usd in rows}


def _promised(connection: sa.Connection, but: str | None) -> dict[str, float]:
    """Return what runs under way may still spend, by who began them last.

    One that has shown no sign of life for `_SILENT` promises nothing: its process is gone.
    """
    runs = table(Run).c
    alive = datetime.fromtimestamp(clock_of(connection) - _SILENT, UTC).isoformat()
    under_way = sa.select(runs.id, runs.budget, runs.cost).where(
        runs.state.in_(("running", "stopping")),
        runs.budget.is_not(None),
        runs.id != (but or ""),
        runs.heartbeat > alive,
    )
    found: dict[str, float] = {}
    for run_id, budget, cost in connection.execute(under_way).all():
        began = sa.select(events.c.person).where(
            events.c.subject == run_id, events.c.action == STARTED
        )
        person = connection.execute(began.order_by(events.c.id.desc()).limit(1)).scalar()
        found[str(person)] = found.get(str(person), 0.0) + max(0.0, budget - cost)
    return found


def left_of(
    connection: sa.Connection, person: Person, *, but: str | None = None
) -> RemainingBudget:
    """Return what a person may still spend this month.

    Args:
        connection: to the deployment's store.
        person: who, with their role.
        but: a run whose own promise isn't counted.
    """
    limits = _limits(connection)
    own = limits.get(person.id, limits.get(person.role or ""))
    whole = limits.get(ALL)
    if own is None and whole is None:
        return RemainingBudget(usd=None)
    spent, promised = _spent(connection), _promised(connection, but)
    found = []
    if own is not None:
        gone = spent.get(person.id, 0.0) + promised.get(person.id, 0.0)
        found.append(RemainingBudget(usd=max(0.0, own - gone), of=own, whose="your"))
    if whole is not None:
        gone = sum(spent.values()) + sum(promised.values())
        found.append(RemainingBudget(usd=max(0.0, whole - gone), of=whole, whose="everybody's"))
    return min(found, key=lambda one: one.usd or 0.0)


def what_is_left(store: Store) -> RemainingBudget:
    """Return what whoever acts may still spend this month; no limit without a deployment."""
    if not store.guarded:
        return RemainingBudget(usd=None)
    with store.read() as connection:
        person = as_they_are(connection, actor())
        return RemainingBudget(usd=None) if person is None else left_of(connection, person)


def capped(writer: Writer, run: Run) -> Run:
    """Return a run whose budget is no more than what its person may still spend this month.

    Called in the transaction that writes its row, which nobody else writes beside: so runs that
    begin at one moment share what is left.

    Raises:
        AccessError: nothing is left.
    """
    if writer.person is None:
        return run
    left = left_of(writer.connection, writer.person, but=run.id)
    if left.usd is None:
        return run
    room = run.cost + left.usd
    if left.usd <= 0:
        raise AccessError(
            f"nothing is left of {left.whose} ${left.of:,.2f} this month: wait for the next, or "
            "ask an admin for more (`budget set`)"
        )
    capped_at = room if run.budget is None else min(run.budget, room)
    return run.model_copy(update={"budget": capped_at})


def may_ask(store: Store | None, endpoint: Endpoint) -> None:
    """Refuse a paid step, before it is paid, to whoever may take none or has nothing left.

    Args:
        store: where the step is accounted for.
        endpoint: what would be asked; one that is built in costs nothing.

    Raises:
        AccessError: so it is.
    """
    if policy() is None or not endpoint.url:
        return
    if store is None or not store.guarded:
        raise AccessError(
            "in this deployment models are asked about its own studies alone, where budgets hold: "
            "copy the study first"
        )
    with store.read() as connection:
        person = as_they_are(connection, actor())
        require(person, "run")
        assert person is not None
        left = left_of(connection, person)
    if left.usd is not None and left.usd <= 0:
        raise AccessError(
            f"nothing is left of {left.whose} ${left.of:,.2f} this month: wait for the next, or "
            "ask an admin for more (`budget set`)"
        )


def list_budgets(store: Store) -> list[Budget]:
    """List all budgets, and everybody who spent something this month."""
    with store.read() as connection:
        limits, spent = _limits(connection), _spent(connection)
        names = dict(connection.execute(sa.select(people.c.id, people.c.name)).all())
        roles = dict(connection.execute(sa.select(people.c.id, people.c.role)).all())
    whole = Budget(whose=ALL, name=ALL, usd=limits.get(ALL), spent=sum(spent.values()))
    by_role = [
        Budget(whose=one, name=f"each {one}", usd=usd, spent=None)
        for one, usd in limits.items()
        if one != ALL and one not in names
    ]
    each = sorted({*spent, *(one for one in limits if one in names)}, key=lambda i: names.get(i, i))
    own = [
        Budget(
            whose=one,
            name=names.get(one, one),
            usd=limits.get(one, limits.get(roles.get(one) or "")),
            spent=spent.get(one, 0.0),
        )
        for one in each
    ]
    return [whole, *by_role, *own]


def set_budget(store: Store, whose: str, usd: float | None) -> None:
    """Set what somebody may spend in a month.

    Args:
        whose: a person's id, a role's name, or `deployment`.
        usd: USD; None = the deployment's file says it again.

    Raises:
        AccessError: whoever acts isn't an admin.
        UsageError: it's no sum of money.
    """
    if usd is not None and not 0 <= usd < 1e9:
        raise UsageError(f"{usd} is no budget: 0 or more USD a month")
    with store.write(action="people") as writer:
        before = _limits(writer.connection).get(whose)
        held = writer.execute(sa.select(budgets.c.usd).where(budgets.c.whose == whose)).scalar()
        if held == usd:
            return  # as it is already: nothing is done, and the log says nothing
        writer.execute(sa.delete(budgets).where(budgets.c.whose == whose))
        if usd is not None:
            writer.execute(
                insert_into(writer.connection.dialect.name, budgets).values(whose=whose, usd=usd)
            )
        writer.tell(
            "budget",
            subject=whose,
            before="none" if before is None else f"{before:.2f}",
            after="as the file says" if usd is None else f"{usd:.2f}",
        )
