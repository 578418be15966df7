"""The run's writes: every finished item in one transaction, with its account and its follow-ups."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from atom.engine.plan import Item, state_of
from atom.engine.process import owner_name, process_gone
from atom.engine.together.slots import SLOT_LEASE
from atom.errors import FencedError
from atom.records import Call, CriteriaSet, Record, Replay, RunState, State, StudySample
from atom.stages.stage import StageResult
from atom.store import Store, Writer
from atom.store.holds import (
    RunAccount,
    count_item,
    count_items,
    drop_hold,
    hold_of,
    holder_now,
    holders_of,
    owners,
    point_places,
    renew_holds,
    run_account,
    run_state,
    update_run,
)
from atom.store.together.quotas import (
    MoneyAsked,
    SlotsAsked,
    keep_money,
    renew_quotas,
    take_money,
    take_slots,
)
from atom.store.together.server import clock_of

LEASE = 60.0
"""Seconds that a claim lasts unless it is renewed."""
_HELPER = "+"
_ENDED = ("done", "stopped", "failed")
T = TypeVar("T")


def run_claim(run_id: str) -> str:
    """Name the claim by which one process holds a run."""
    return f"run:{run_id}"


def helper_name(run_id: str, number: int) -> str:
    """Name one of the processes at a run; the first is named as the run."""
    return f"{run_id}{_HELPER}{number}" if number else run_id


def helper_claim(run_id: str, number: int) -> str:
    """Name what one of the processes at a run holds."""
    return run_claim(helper_name(run_id, number))


def holder(store: Store, claim: str) -> str | None:
    """Return the process that holds a claim, by its name; None when none that lives does."""
    held = hold_of(store, claim)
    if held is None or held.is_over or process_gone(held.owner):
        return None
    return held.owner


def run_holder(store: Store, run_id: str) -> str | None:
    """Return the other process that works on a run, by its name; None when none does.

    A run that this process has opened and not handed on is nobody else's: it may open it again.
    """
    found = holder(store, run_claim(run_id))
    return None if found == owner_name(run_id) else found


def take_hold(writer: Writer, run_id: str, claim: str | None = None) -> None:
    """Claim work whose row is written in the same transaction, for this process or its child.

    So it is never without somebody who holds it: work that is killed at its very start is known to
    be gone, and whoever held it before finds itself fenced.

    Args:
        run_id: the work's id.
        claim: what is held; a run's claim if left out.
    """
    claim = run_claim(run_id) if claim is None else claim
    drop_hold(writer, claim)
    writer.claim([claim], owner_name(run_id), LEASE)


def sample_lease(sample_id: str) -> str:
    """Name the lease by which one process works on a sample."""
    return f"sample:{sample_id}"


def release_gone(writer: Writer, me: str) -> None:
    """Free whatever processes of this computer hold that are gone."""
    for owner in owners(writer):
        if owner != me and process_gone(owner):
            writer.release(owner)


@dataclass(frozen=True, kw_only=True)
class FinishedItem:
    """An item that is done, and what it brought.

    Args:
        brought: its calls and records.
    """

    item: Item
    brought: StageResult

    @property
    def state(self) -> State:
        """How it ended."""
        return state_of(self.brought.records)

    @property
    def calls(self) -> tuple[Call, ...]:
        """Its calls, in order."""
        last = self.brought.call
        return (*self.brought.earlier, *(() if last is None else (last,)))

    @property
    def _better(self) -> bool:
        # What is unscored stays where asking again brought nothing at all.
        return self.item.again and not (self.item.spoiled and self.state == "failed")

    @property
    def kept(self) -> tuple[Record, ...]:
        """Records that don't take the place of what is there already."""
        return () if self._better else tuple(self.brought.records)

    @property
    def replaced(self) -> tuple[Record, ...]:
        """Records that do."""
        return tuple(self.brought.records) if self._better else ()


@dataclass(frozen=True, kw_only=True)
class Beat:
    """What a sign of life was answered with.

    Args:
        account: the run as all who work at it have made it; None when it was deleted.
        led: whether the process lives that opened the run and ends it.
        granted: calls at once that may be used, by endpoint.
    """

    account: RunAccount | None
    led: bool
    granted: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class RunPurse:
    """A run's money, of which a process takes pieces.

    Args:
        cap: USD that the run may spend in all.
    """

    ledger: RunLedger
    cap: float

    def take(self, least: float, held: float) -> float:
        """Return USD that were got beyond what is held: at least so many, or none."""
        wanted = MoneyAsked(least=least, held=held, cap=self.cap)
        run_id, owner = self.ledger.run_id, self.ledger.owner
        return self.ledger.store.transact(
            lambda writer: take_money(writer, run_id, owner, wanted, LEASE), action=None
        )

    def give(self, held: float) -> bool:
        """Keep so many USD and give back the rest; return whether nobody else will give any."""
        run_id, owner = self.ledger.run_id, self.ledger.owner
        return self.ledger.store.transact(
            lambda writer: keep_money(writer, run_id, owner, held, LEASE), action=None
        )


@dataclass(frozen=True, kw_only=True)
class RunLedger:
    """Writes one run's results, claims and progress.

    Args:
        owner: the process that runs it (see `owner_name`).
        number: which of the processes at the run it is; 0 is the one that opens and ends it.
    """

    store: Store
    run_id: str
    study_id: str
    owner: str
    number: int = 0

    @property
    def claim(self) -> str:
        """What the process holds while it works."""
        return helper_claim(self.run_id, self.number)

    def take_over(self) -> str | None:
        """Claim the run for this process, and free what processes that are gone had claimed.

        Returns:
            None, or the name of the live process that holds the run.
        """
        name = self.claim

        def take(writer: Writer) -> str | None:
            # Whoever started this process holds the run for it.
            parent = owner_name(helper_name(self.run_id, self.number), os.getppid())
            if holder_now(writer, name) == parent != self.owner:
                drop_hold(writer, name)
            release_gone(writer, self.owner)
            if writer.claim([name], self.owner, LEASE):
                return None
            return holder_now(writer, name)

        return self.store.transact(take, alone=True, action=None)

    def lease(self, sample_ids: Sequence[str]) -> set[str]:
        """Take samples, so that no other run asks about them; work of processes that are gone, too.

        Returns:
            The samples that are this process's now, until it gives them back.
        """
        names = {sample_lease(sample_id): sample_id for sample_id in sample_ids}

        def lease(writer: Writer) -> set[str]:
            got = writer.claim(list(names), self.owner, LEASE)
            if len(got) < len(names):
                release_gone(writer, self.owner)
                got |= writer.claim(list(names), self.owner, LEASE)
            return {names[name] for name in got}

        return self.fenced(lease)

    def adopt(self, places: Sequence[StudySample]) -> None:
        """Point the study at records of others that can stand for its samples."""

        def adopt(writer: Writer) -> None:
            replays = {one.sample_id: one.replay_id for one in places if one.replay_id}
            sets = {one.sample_id: one.criteria_set_id for one in places if one.criteria_set_id}
            point_places(writer, self.study_id, replays=replays, sets=sets)
            writer.touch(self.study_id, results=len(places))

        self.fenced(adopt)

    def commit(
        self,
        ended: Sequence[FinishedItem],
        *,
        free: Sequence[str],
        total: int,
        cost: float,
    ) -> None:
        """Write what items brought: calls, records, pointers and account, all or nothing.

        Args:
            ended: the items with what they brought, in the order in which they ended.
            free: samples that are given back.
            total: items of the whole run, as known now.
            cost: USD spent since the last commit.
        """

        def commit(writer: Writer) -> None:
            records = [one for item in ended for one in item.kept]
            calls = [call for item in ended for call in item.calls]
            writer.put([*(call for call in calls if call.reply is None), *records])
            better = [one for item in ended for one in item.replaced]
            writer.replace([*(call for call in calls if call.reply is not None), *better])
            made = (*records, *better)
            point_places(
                writer,
                self.study_id,
                replays={one.sample_id: one.id for one in made if isinstance(one, Replay)},
                sets={one.sample_id: one.id for one in made if isinstance(one, CriteriaSet)},
            )
            if ended:
                states = Counter(item.state for item in ended)
                known = None if self.number else total
                count_items(writer, self.run_id, states, total=known, cost=cost)
                samples = {item.item.sample_id for item in ended}
                writer.touch(self.study_id, samples, results=len(ended))
            writer.release(self.owner, [sample_lease(sample_id) for sample_id in free])

        self.fenced(commit)

    def free(self, sample_ids: Sequence[str]) -> None:
        """Give samples back."""
        names = [sample_lease(sample_id) for sample_id in sample_ids]
        self.fenced(lambda writer: writer.release(self.owner, names))

    def keep(self, calls: Sequence[Call]) -> None:
        """Write calls whose item didn't come to its end, so that they aren't paid for again."""

        def keep(writer: Writer) -> None:
            for call in calls:
                self._call(writer, call)

        self.fenced(keep)

    def hold(self, name: str) -> bool:
        """Claim something by its name; False while another process holds it."""
        return bool(self.fenced(lambda writer: writer.claim([name], self.owner, LEASE)))

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
            kept: records that don't take the place of one that is there already.
            replaced: records that do.
            state: how it ended; None for a step that asked nobody and doesn't count.
            total: items of the whole run, as known now.
            cost: USD spent by the whole run so far.
            held: names that are given back.
        """

        def record(writer: Writer) -> None:
            self._call(writer, call)
            writer.put(kept)
            writer.replace(replaced)
            if state is not None:
                count_item(writer, self.run_id, state, total=total, cost=cost)
            if held:
                writer.release(self.owner, held)
            samples = {str(getattr(one, "sample_id", "")) for one in (*kept, *replaced)}
            writer.touch(self.study_id, samples, results=len(kept) + len(replaced))

        self.fenced(record)

    @staticmethod
    def _call(writer: Writer, call: Call | None) -> None:
        """Keep a call; one that failed never takes the place of one with a reply."""
        if call is not None:
            (writer.put if call.reply is None else writer.replace)([call])

    def beat(
        self, stamp: str, total: int, asked: Sequence[SlotsAsked] = (), *, renew: bool = True
    ) -> Beat:
        """Show a sign of life, renew the claims, and say what is wanted of the endpoints.

        Args:
            stamp: UTC time.
            total: items of the whole run, as known now.
            asked: calls at once that are wanted.
            renew: let the claims last for `LEASE` from now on; they are many rows.

        Returns:
            The run as it is now, and calls at once that may be used from now on.
        """

        def beat(writer: Writer) -> Beat:
            if not self.number:
                update_run(writer, self.run_id, heartbeat=stamp, total=total)
            if renew:
                renew_holds(writer, self.owner, LEASE)
                renew_quotas(writer, self.owner, LEASE)
            granted = take_slots(writer, self.owner, asked, SLOT_LEASE)
            # The first process holds the run itself, or it wouldn't come so far.
            leader = holder_now(writer, run_claim(self.run_id)) if self.number else self.owner
            return Beat(
                account=run_account(writer, self.run_id),
                led=leader is not None and not process_gone(leader),
                granted=granted,
            )

        return self.fenced(beat)

    def stop_all(self) -> None:
        """Let the other processes at the run stop, too."""
        self.fenced(
            lambda writer: update_run(writer, self.run_id, only="running", state="stopping")
        )

    def helpers(self) -> list[str]:
        """Return the processes that help with the run and live, by their names."""
        with self.store.read() as connection:
            writer = Writer(connection, clock_of(connection))
            found = holders_of(writer, f"{run_claim(self.run_id)}{_HELPER}")
        return [name for name in found if not process_gone(name)]

    def end(self, state: RunState, message: str, stamp: str, total: int) -> None:
        """Close the account and give every claim back; a run that others took over is theirs."""

        def end(writer: Writer) -> None:
            if self._other(writer) is None and not self.number:
                update_run(
                    writer, self.run_id, state=state, message=message, heartbeat=stamp, total=total
                )
                writer.touch(self.study_id)
            writer.release(self.owner)

        self.store.transact(end, alone=True, action=None)
        self.store.settle()

    def check(self) -> None:
        """Look whether the run is still this process's.

        Raises:
            FencedError: another one took it over.
        """
        with self.store.read() as connection:
            self._check(Writer(connection, clock_of(connection)))

    def fenced(self, job: Callable[[Writer], T]) -> T:
        """Write, unless another process took the run over while this one was asleep.

        Raises:
            FencedError: so it is; nothing is written.
        """

        def fenced(writer: Writer) -> T:
            self._check(writer)
            return job(writer)

        return self.store.transact(fenced, action=None)

    def _check(self, writer: Writer) -> None:
        holder = self._other(writer)
        if holder is not None:
            raise FencedError(
                f"run {self.run_id} was taken over by process {holder} while this one stood still; "
                "this one changes nothing more"
            )

    def _other(self, writer: Writer) -> str | None:
        """Name who took the run over; None where it is still this process's."""
        holder = holder_now(writer, self.claim)
        if holder is None and run_state(writer, self.run_id) in _ENDED:
            return "that brought it to its end"  # and gave it back, while this one stood still
        return None if holder == self.owner else holder
