"""The run's writes: every finished item in one transaction, with its account and its follow-ups."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from atom.engine.plan import Item, state_of
from atom.engine.process import process_gone
from atom.engine.steps import Brought
from atom.records import (
    Call,
    CriteriaSet,
    Record,
    Replay,
    Run,
    RunState,
    State,
    StudySample,
)
from atom.store import Store, Writer, table
from atom.store.schema import claims

LEASE = 60.0
"""Seconds that a claim lasts unless it is renewed."""


def run_claim(run_id: str) -> str:
    """Name the claim by which one process holds a run."""
    return f"run:{run_id}"


def run_holder(store: Store, run_id: str) -> str | None:
    """Return the process that works on a run, by its name; None when none does."""
    with store.read() as connection:
        held = connection.execute(
            sa.select(claims.c.owner, claims.c.until).where(claims.c.item == run_claim(run_id))
        ).first()
    if held is None or held.until <= time.time() or process_gone(held.owner):
        return None
    return str(held.owner)


@dataclass(frozen=True, kw_only=True)
class RunLedger:
    """Writes one run's results, claims and progress.

    Args:
        store: the store.
        run_id: the run.
        study_id: its study.
        owner: the process that runs it (see `owner_name`).
        wall: seconds since the epoch.
    """

    store: Store
    run_id: str
    study_id: str
    owner: str
    wall: Callable[[], float] = time.time

    def take_over(self) -> str | None:
        """Claim the run for this process, and free what processes that are gone had claimed.

        Returns:
            None, or the name of the live process that holds the run.
        """
        name = run_claim(self.run_id)
        with self.store.write() as writer:
            owners = writer.execute(sa.select(claims.c.owner).distinct()).scalars().all()
            for owner in owners:
                if owner != self.owner and process_gone(owner):
                    writer.release(owner)
            if writer.claim([name], self.owner, LEASE, self.wall()):
                return None
            holder = writer.execute(sa.select(claims.c.owner).where(claims.c.item == name))
            return str(holder.scalar_one())

    def claim(self, items: Sequence[Item], adopted: Sequence[StudySample] = ()) -> set[str]:
        """Claim items, and point the study at records of others that can stand for it.

        Returns:
            Keys of the items that are this run's now.
        """
        with self.store.write() as writer:
            for place in adopted:
                self._point(writer, place.sample_id, place.replay_id, place.criteria_set_id)
            return writer.claim([i.key for i in items], self.owner, LEASE, self.wall())

    def commit(
        self,
        item: Item,
        brought: Brought,
        *,
        follow: Sequence[Item],
        total: int,
        cost: float,
    ) -> set[str]:
        """Write what an item brought: call, records, pointers and account, all or nothing.

        Args:
            item: the item.
            brought: its call and records.
            follow: items that became ready by it; they are claimed in the same transaction.
            total: items of the whole run, as known now.
            cost: USD spent by the whole run so far.

        Returns:
            Keys of the follow-ups that are this run's now.
        """
        with self.store.write() as writer:
            for call in (*brought.earlier, brought.call):
                self._call(writer, call)
            state = state_of(brought.records)
            # What is unscored stays where asking again brought nothing at all.
            better = item.again and not (item.spoiled and state == "failed")
            (writer.replace if better else writer.put)(brought.records)
            for record in brought.records:
                if isinstance(record, Replay):
                    self._point(writer, record.sample_id, record.id, None)
                elif isinstance(record, CriteriaSet):
                    self._point(writer, record.sample_id, None, record.id)
            self._account(writer, state, total, cost)
            writer.release(self.owner, [item.key])
            return writer.claim([i.key for i in follow], self.owner, LEASE, self.wall())

    def keep(self, calls: Sequence[Call]) -> None:
        """Write calls whose item didn't come to its end, so that they aren't paid for again."""
        with self.store.write() as writer:
            for call in calls:
                self._call(writer, call)

    def hold(self, name: str) -> bool:
        """Claim something by its name; False while another process holds it."""
        with self.store.write() as writer:
            return bool(writer.claim([name], self.owner, LEASE, self.wall()))

    def record(
        self,
        call: Call | None,
        kept: Sequence[Record],
        replaced: Sequence[Record],
        *,
        state: State | None,
        total: int,
        cost: float,
        held: Sequence[str] = (),
    ) -> None:
        """Write what a step brought, all or nothing, and account for it.

        Args:
            call: its call.
            kept: records that don't take the place of one that is there already.
            replaced: records that do.
            state: how it ended; None for a step that asked nobody and doesn't count.
            total: items of the whole run, as known now.
            cost: USD spent by the whole run so far.
            held: names that are given back.
        """
        with self.store.write() as writer:
            self._call(writer, call)
            writer.put(kept)
            writer.replace(replaced)
            if state is not None:
                self._account(writer, state, total, cost)
            if held:
                writer.release(self.owner, held)

    def _account(self, writer: Writer, state: State, total: int, cost: float) -> None:
        runs = table(Run)
        writer.execute(
            sa.update(runs)
            .where(runs.c.id == self.run_id)
            .values(
                done=runs.c.done + 1,
                unscored=runs.c.unscored + int(state == "unscored"),
                failed=runs.c.failed + int(state == "failed"),
                total=total,
                cost=cost,
            )
        )

    @staticmethod
    def _call(writer: Writer, call: Call | None) -> None:
        """Keep a call; one that failed never takes the place of one with a reply."""
        if call is not None:
            (writer.put if call.reply is None else writer.replace)([call])

    def _point(
        self, writer: Writer, sample_id: str, replay_id: str | None, set_id: str | None
    ) -> None:
        """Set the study's pointers for a sample; a set edited by hand is never replaced."""
        places, sets = table(StudySample), table(CriteriaSet)
        here = sa.and_(places.c.study_id == self.study_id, places.c.sample_id == sample_id)
        if replay_id is not None:
            writer.execute(sa.update(places).where(here).values(replay_id=replay_id))
        if set_id is not None:
            by_hand = sa.select(sets.c.id).where(sets.c.source == "hand")
            free = sa.or_(
                places.c.criteria_set_id.is_(None), places.c.criteria_set_id.not_in(by_hand)
            )
            writer.execute(sa.update(places).where(here, free).values(criteria_set_id=set_id))

    def beat(self, stamp: str, total: int) -> RunState | None:
        """Show a sign of life and renew the claims.

        Args:
            stamp: UTC time.
            total: items of the whole run, as known now.

        Returns:
            The run's state, which a user may have set to `stopping`; None when it was deleted.
        """
        runs = table(Run)
        with self.store.write() as writer:
            writer.execute(
                sa.update(runs).where(runs.c.id == self.run_id).values(heartbeat=stamp, total=total)
            )
            writer.execute(
                sa.update(claims)
                .where(claims.c.owner == self.owner)
                .values(until=self.wall() + LEASE)
            )
            state: RunState | None = writer.execute(
                sa.select(runs.c.state).where(runs.c.id == self.run_id)
            ).scalar()
            return state

    def end(self, state: RunState, message: str, stamp: str, total: int) -> None:
        """Close the account and give every claim back."""
        runs = table(Run)
        with self.store.write() as writer:
            writer.execute(
                sa.update(runs)
                .where(runs.c.id == self.run_id)
                .values(state=state, message=message, heartbeat=stamp, total=total)
            )
            writer.release(self.owner)
