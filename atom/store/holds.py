"""Who works on what, and how far runs are: the store's side of leases and of runs' accounts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from atom.records import Call, CriteriaSet, Run, RunState, State, Study, StudySample, Task
from atom.store.schema import claims, table
from atom.store.standing.members import parts
from atom.store.store import Store, Writer
from atom.store.together.server import clock_of


class Lease(NamedTuple):
    """A lease on something.

    Args:
        until: when it ends, seconds since the epoch.
        now: the time when it was looked at, by the store's clock.
    """

    owner: str
    until: float
    now: float

    @property
    def is_over(self) -> bool:
        """Whether the lease has run out."""
        return self.until <= self.now


# What runs ask many times a second is made once: to make a statement costs more than to run it.
_HOLD: Final = sa.select(claims.c.owner, claims.c.until).where(
    claims.c.item == sa.bindparam("held")
)
_RENEW: Final = (
    sa.update(claims).where(claims.c.owner == sa.bindparam("mine")).values(until=sa.bindparam("to"))
)


def hold_of(store: Store, item: str) -> Lease | None:
    """Return who holds something, whether the lease has run out or not; None where nobody does."""
    with store.read() as connection:
        row = connection.execute(_HOLD, {"held": item}).first()
        now = clock_of(connection)
    return None if row is None else Lease(str(row.owner), float(row.until), now)


def holder_now(writer: Writer, item: str) -> str | None:
    """Return who holds something, as a transaction that may claim it sees it."""
    row = writer.execute(_HOLD, {"held": item}).first()
    return None if row is None else str(row.owner)


def holders_of(writer: Writer, beginning: str) -> list[str]:
    """Return who holds what begins with these words, by leases that last."""
    held = claims.c.item.startswith(beginning, autoescape=True)
    rows = writer.execute(sa.select(claims.c.owner).where(held, claims.c.until > writer.now))
    return [str(name) for name in rows.scalars()]


def owners(writer: Writer) -> list[str]:
    """Return everybody who holds anything."""
    return [str(name) for name in writer.execute(sa.select(claims.c.owner).distinct()).scalars()]


def drop_hold(writer: Writer, item: str) -> None:
    """Free something, whoever holds it."""
    writer.execute(sa.delete(claims).where(claims.c.item == item))


def renew_holds(writer: Writer, owner: str, seconds: float) -> None:
    """Let all leases of an owner last for so many seconds from now."""
    writer.execute(_RENEW, {"mine": owner, "to": writer.now + seconds})


# --- runs ---------------------------------------------------------------------------------------


def update_run(
    writer: Writer, run_id: str, *, only: RunState | None = None, **values: object
) -> None:
    """Change fields of a run's row.

    Args:
        only: change it in this state alone.
        values: the fields.
    """
    runs = table(Run)
    where = [runs.c.id == run_id, *([] if only is None else [runs.c.state == only])]
    writer.execute(sa.update(runs).where(*where).values(**values))


def count_item(writer: Writer, run_id: str, state: State, *, total: int, cost: float) -> None:
    """Count one more finished item of a run.

    Args:
        total: items of the whole run, as known now.
        cost: USD spent by the whole run so far.
    """
    runs = table(Run).c
    update_run(
        writer,
        run_id,
        done=runs.done + 1,
        unscored=runs.unscored + int(state == "unscored"),
        failed=runs.failed + int(state == "failed"),
        total=total,
        cost=cost,
    )


def count_items(
    writer: Writer, run_id: str, states: Mapping[State, int], *, total: int | None, cost: float
) -> None:
    """Count finished items of a run, which other processes may work at, too.

    Args:
        states: how many ended how.
        total: items of the whole run, as known now; None = it stays as it is.
        cost: USD that is spent since the last time.
    """
    counted = {
        "of": run_id,
        "more_done": sum(states.values()),
        "more_unscored": states.get("unscored", 0),
        "more_failed": states.get("failed", 0),
        "more_cost": cost,
    }
    known = {} if total is None else {"now_total": total}
    writer.execute(_count(with_total=total is not None), {**counted, **known})


@cache
def _count(*, with_total: bool) -> sa.Update:
    runs = table(Run)
    counts: dict[str, Any] = {
        name: runs.c[name] + sa.bindparam(f"more_{name}", type_=runs.c[name].type)
        for name in ("done", "unscored", "failed", "cost")
    }
    if with_total:
        counts["total"] = sa.bindparam("now_total")
    return sa.update(runs).where(runs.c.id == sa.bindparam("of")).values(counts)


def add_cost(writer: Writer, run_id: str, cost: float) -> None:
    """Add what something cost to a run."""
    update_run(writer, run_id, cost=table(Run).c.cost + cost)


def run_state(writer: Writer, run_id: str) -> RunState | None:
    """Return a run's state, which a user may have set; None when it was deleted."""
    runs = table(Run).c
    found: Any = writer.execute(sa.select(runs.state).where(runs.id == run_id)).scalar()
    return found  # type: ignore[no-any-return]


def runs_of(store: Store, study_id: str, task: Task) -> list[Run]:
    """Return a study's runs that are asked just this, the newest first."""
    runs = table(Run).c
    found = store.select(Run, runs.study_id == study_id, order_by=[runs.created.desc()])
    return [run for run in found if run.task == task]


class RunAccount(NamedTuple):
    """A run's row as all processes at it have made it."""

    state: RunState
    done: int
    total: int
    unscored: int
    failed: int
    cost: float


def run_account(writer: Writer, run_id: str) -> RunAccount | None:
    """Return how a run stands; None when it was deleted."""
    row = writer.execute(_account(), {"of": run_id}).first()
    return None if row is None else RunAccount._make(row)


@cache
def _account() -> sa.Select[Any]:
    runs = table(Run).c
    columns = [runs[name] for name in RunAccount._fields]
    return sa.select(*columns).where(runs.id == sa.bindparam("of"))


def is_at_work(store: Store, study_id: str) -> bool:
    """Whether a run of a study says of itself that it works."""
    runs = table(Run).c
    working = sa.select(runs.id).where(
        runs.study_id == study_id, runs.state.in_(("running", "stopping"))
    )
    with store.read() as connection:
        return connection.execute(working.limit(1)).first() is not None


# --- studies ------------------------------------------------------------------------------------


def update_study(writer: Writer, study_id: str, **values: object) -> None:
    """Change fields of a study."""
    studies = table(Study)
    writer.execute(sa.update(studies).where(studies.c.id == study_id).values(**values))


def lend_judge(writer: Writer, study_id: str, judge_id: str) -> None:
    """Give a study its own judge, where it has none."""
    studies = table(Study)
    writer.execute(
        sa.update(studies)
        .where(studies.c.id == study_id, studies.c.judge_id.is_(None))
        .values(judge_id=judge_id)
    )


def point_places(
    writer: Writer,
    study_id: str,
    *,
    replays: Mapping[str, str] | None = None,
    sets: Mapping[str, str] | None = None,
) -> None:
    """Set what stands for a study's samples; a set edited by hand is never replaced.

    Args:
        replays: sample -> its replay.
        sets: sample -> its criteria.
    """
    for column, found in (("replay_id", replays), ("criteria_set_id", sets)):
        # In one order everywhere, as leases are taken.
        rows = [
            {"here": study_id, "of": sample, "to": name}
            for sample, name in sorted((found or {}).items())
        ]
        if rows:
            writer.execute(_point(column), rows)


@cache
def _point(column: str) -> sa.Update:
    places, kept = table(StudySample), table(CriteriaSet)
    here = sa.and_(
        places.c.study_id == sa.bindparam("here"), places.c.sample_id == sa.bindparam("of")
    )
    if column == "criteria_set_id":
        by_hand = sa.select(kept.c.id).where(kept.c.source == "hand")
        is_free = places.c.criteria_set_id.is_(None)
        here = sa.and_(here, sa.or_(is_free, places.c.criteria_set_id.not_in(by_hand)))
    to = sa.bindparam("to", type_=places.c[column].type)
    return sa.update(places).where(here).values({column: to})


# --- calls --------------------------------------------------------------------------------------


def _replied(ids: Collection[str]) -> sa.Select[tuple[str]]:
    calls = table(Call).c
    return sa.select(calls.id).where(calls.id.in_(ids), calls.reply.is_not(None))


def replied_calls(store: Store, ids: Iterable[str]) -> set[str]:
    """Return which of some calls have their reply."""
    found: set[str] = set()
    with store.read() as connection:
        for part in parts(ids):
            found |= {str(name) for name in connection.execute(_replied(part)).scalars()}
    return found


def replied_now(writer: Writer, ids: Iterable[str]) -> set[str]:
    """Return which of some calls have their reply, as a transaction that writes some sees it."""
    found: set[str] = set()
    for part in parts(ids):
        found |= {str(name) for name in writer.execute(_replied(part)).scalars()}
    return found
