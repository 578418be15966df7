"""What processes share: calls at once at an endpoint, and a run's money.

Nobody holds more than is free. Slots are freed before others take them: whoever has to give some up
goes down first and says so in its next sign of life, so that a newcomer waits a second. Money is
taken in pieces; the piece of a process that died counts as spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import sqlalchemy as sa

from atom.store.schema import claims, quotas
from atom.store.store import Store
from atom.store.together.server import clock_of
from atom.store.together.writer import Writer

SLOTS: Final = "slots:"
MONEY: Final = "money:"
SILENT: Final = 12.0
"""Seconds without a sign of life, while others give theirs, after which a process is silent."""
PIECE: Final = 0.01
"""The part of a budget that is taken at once."""
_OTHERS = sa.select(quotas).where(
    quotas.c.name.in_(sa.bindparam("names", expanding=True)),
    quotas.c.owner != sa.bindparam("owner"),
    quotas.c.until > sa.bindparam("now"),
)


@dataclass(frozen=True, kw_only=True)
class SlotsAsked:
    """What a process says of an endpoint.

    Args:
        ceiling: calls at once that it allows, over all processes.
        wants: calls that are in flight or wait for a place.
        in_force: the most that may be in flight, or are, in this process until it hears more.
    """

    endpoint: str
    ceiling: int
    wants: int
    in_force: int


def fair_shares(ceiling: int, wants: Mapping[str, int]) -> dict[str, int]:
    """Divide places: who wants little gets it, the others get as much as each other.

    Args:
        ceiling: how many there are.

    Returns:
        What each gets; what nobody wants is divided, too. The sum is the ceiling.
    """
    shares: dict[str, int] = {}
    left = ceiling
    order = sorted(wants, key=lambda owner: (wants[owner], owner))
    for number, owner in enumerate(order):
        shares[owner] = min(wants[owner], left // (len(order) - number))
        left -= shares[owner]
    for number, owner in enumerate(order):
        more = left // (len(order) - number)
        shares[owner] += more
        left -= more
    return shares


def take_slots(
    writer: Writer, owner: str, asked: Sequence[SlotsAsked], seconds: float
) -> dict[str, int]:
    """Tell what a process wants of endpoints; learn what it may use of each from now on.

    Args:
        owner: the process.
        asked: what it says of each endpoint.
        seconds: how long its word holds.
    """
    names = {one.endpoint: f"{SLOTS}{one.endpoint}" for one in asked}
    writer.lock(SLOTS)
    said = {"names": list(names.values()), "owner": owner, "now": writer.now}
    others = writer.execute(_OTHERS, said).all() if names else []
    granted: dict[str, int] = {}
    mine: dict[str, tuple[int, float]] = {}
    for one in asked:
        rows = [row for row in others if row.name == names[one.endpoint]]
        wants = {str(row.owner): int(row.wants) for row in rows} | {owner: one.wants}
        free = one.ceiling - sum(int(row.holds) for row in rows)
        granted[one.endpoint] = max(0, min(fair_shares(one.ceiling, wants)[owner], free))
        mine[names[one.endpoint]] = one.wants, max(granted[one.endpoint], one.in_force)
    writer.set_quotas(owner, mine, seconds)
    return granted


def renew_quotas(writer: Writer, owner: str, seconds: float) -> None:
    """Show that a process still lives that holds a part of something."""
    writer.execute(
        sa.update(quotas)
        .where(quotas.c.owner == owner, quotas.c.name.startswith(MONEY))
        .values(until=writer.now + seconds)
    )


def open_purse(writer: Writer, run_id: str, spent: float) -> None:
    """Begin to share a run's money: what was spent or taken so far is gone.

    Args:
        spent: USD that it is known to have cost.
    """
    name = f"{MONEY}{run_id}"
    writer.lock(name)
    taken = _taken(writer, name)
    writer.execute(sa.delete(quotas).where(quotas.c.name == name))
    writer.set_quotas("", {name: (0, max(spent, taken))}, 0.0)


@dataclass(frozen=True, kw_only=True)
class MoneyAsked:
    """What a process says of a run's money.

    Args:
        least: USD that it needs beyond what it holds.
        held: USD that it holds: spent, or for calls in flight.
        cap: USD that the run may spend in all.
    """

    least: float
    held: float
    cap: float


def take_money(writer: Writer, run_id: str, owner: str, asked: MoneyAsked, seconds: float) -> float:
    """Take a piece of a run's money; done twice, it is taken once.

    Args:
        owner: the process.
        seconds: how long the process is known to live.

    Returns:
        USD that it has got: a piece, what it needs where that is more, or nothing.
    """
    name = f"{MONEY}{run_id}"
    writer.lock(name)
    free = asked.cap - _taken(writer, name, but=owner) - asked.held
    if free < asked.least:
        return 0.0
    piece = min(free, max(asked.least, PIECE * asked.cap))
    writer.set_quotas(owner, {name: (1, asked.held + piece)}, seconds)
    return piece


def keep_money(writer: Writer, run_id: str, owner: str, held: float, seconds: float) -> bool:
    """Give back what a process doesn't need; done twice, it is given once.

    Args:
        owner: the process.
        held: USD that it keeps, since they are spent.
        seconds: how long the process is known to live.

    Returns:
        Whether nobody else will give any back: no other process has calls that may cost less.
    """
    name = f"{MONEY}{run_id}"
    writer.lock(name)
    writer.set_quotas(owner, {name: (0, held)}, seconds)
    others = sa.select(quotas.c.owner).where(
        quotas.c.name == name,
        quotas.c.owner != owner,
        quotas.c.wants > 0,
        quotas.c.until > writer.now,
    )
    return writer.execute(others.limit(1)).first() is None


def _taken(writer: Writer, name: str, *, but: str | None = None) -> float:
    total = sa.select(sa.func.coalesce(sa.func.sum(quotas.c.holds), 0.0))
    mine = sa.true() if but is None else quotas.c.owner != but
    return float(writer.execute(total.where(quotas.c.name == name, mine)).scalar_one())


@dataclass(frozen=True, kw_only=True)
class QuotaShare:
    """How a run and others share what there is, as the store knows it now.

    Args:
        samples: samples in hand of each process at the run.
        silent: the same of those that gave no sign of life lately.
        slots: calls at once that the run may use, by endpoint, where it may use any.
        elsewhere: calls at once that other runs may use there.
        money: USD that the run's processes have taken; None where it isn't shared.
        machines: where those processes are, by the machines' names.
    """

    samples: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()
    slots: Mapping[str, int] = field(default_factory=dict)
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    money: float | None = None
    machines: tuple[str, ...] = ()


def shared_by(store: Store, run_id: str) -> QuotaShare:
    """Say how a run and others share what there is; four small reads."""
    with store.read() as connection:
        now = clock_of(connection)
        lasting = sa.select(claims.c.item, claims.c.owner, claims.c.until)
        held = connection.execute(lasting.where(claims.c.until > now)).all()
        rows = connection.execute(sa.select(quotas).where(quotas.c.name.startswith(SLOTS))).all()
        pieces = sa.select(sa.func.sum(quotas.c.holds)).where(quotas.c.name == f"{MONEY}{run_id}")
        money = connection.execute(pieces).scalar()
    held = [row for row in held if _works_at(row.owner, run_id)]
    ends: dict[str, float] = {}
    samples: dict[str, int] = {}
    for row in held:
        ends[row.owner] = max(ends.get(row.owner, 0.0), row.until)
        samples[row.owner] = samples.get(row.owner, 0) + row.item.startswith("sample:")
    # Leases are as long as each other, so that the one who renewed last tells how old others' are.
    lately = max(ends.values(), default=0.0) - SILENT
    heard = sorted(owner for owner, end in ends.items() if end >= lately)
    mine: dict[str, int] = {}
    others: dict[str, int] = {}
    for row in rows:
        if row.until > now:
            part = mine if _works_at(row.owner, run_id) else others
            name = row.name.removeprefix(SLOTS)
            part[name] = part.get(name, 0) + int(row.holds)
    return QuotaShare(
        samples=tuple(samples[owner] for owner in heard),
        silent=tuple(samples[owner] for owner in sorted(ends.keys() - set(heard))),
        machines=tuple(sorted({owner.partition("/")[0] for owner in heard})),
        slots=mine,
        elsewhere={name: others.get(name, 0) for name in mine},
        money=None if money is None else float(money),
    )


def slots_in_use(store: Store) -> dict[str, int]:
    """Return how many calls at once all runs in a store may use now, by endpoint."""
    with store.read() as connection:
        now = clock_of(connection)
        held = (
            sa.select(quotas.c.name, sa.func.sum(quotas.c.holds))
            .where(quotas.c.name.startswith(SLOTS), quotas.c.until > now)
            .group_by(quotas.c.name)
            .order_by(quotas.c.name)
        )
        rows = connection.execute(held).all()
    return {str(name).removeprefix(SLOTS): int(holds) for name, holds in rows}


def _works_at(owner: str, run_id: str) -> bool:
    return owner.rpartition("#")[2].partition("+")[0] == run_id
