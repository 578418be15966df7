"""Work: what every kind of run is, and the one way to open it, carry it out and take it up again.

A kind is a `Work`: what it is asked (its spec), what it needs (`prepare`), what it would ask
(`forecast`), its row, and the `Execution` that does its items and takes in what they bring. Whoever
has a spec or a run's row can do all that without knowing which kind it is. See `design/047`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from importlib import import_module
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from atom.engine.clock import Clock, stamp, utc_now
from atom.engine.consent import ConsentQuestion, refuse_unless_agreed
from atom.engine.execution import ClientMaker, Execution, OnProgress, RunContext, make_client
from atom.engine.ledger import run_holder, take_hold
from atom.engine.process import halted_by_signals
from atom.errors import UsageError
from atom.records import Endpoint, Run, RunKind
from atom.store import Store, Writer
from atom.store.team.budgets import STARTED, capped

_HOMES: Final[Mapping[RunKind, str]] = {
    "study": "atom.engine.study.runner",
    "experiment": "atom.engine.correction.experiment",
    "blind": "atom.engine.blind.control",
    "bench": "atom.engine.bench.judging",
    "methods": "atom.engine.bench.fidelity",
    "tree": "atom.engine.induction.grow",
    "pairs": "atom.engine.pairs.asking",
    "criteria": "atom.engine.people.matching",
    "sight": "atom.engine.blind.sight",
}
"""The module of each kind, which holds it as `WORK`; read when one is needed, since a benchmark's
figures need SciPy, which an ordinary run starts a second sooner without."""


class Spec(Protocol):
    """What a run is asked to do."""

    kind: ClassVar[RunKind]

    @property
    def retry_failed(self) -> bool:
        """Whether what failed earlier is asked again."""


S = TypeVar("S")
G = TypeVar("G")


class Work(ABC, Generic[S, G]):
    """One kind of run, by what it is asked (`S`) and what is found for that (`G`)."""

    sealed: ClassVar[str] = ""
    """Said at once where the store is sealed; empty = what can't be written says it."""
    live_only: ClassVar[str] = ""
    """Why its requests can't be written as a batch; empty = they can."""
    anew: ClassVar[tuple[str, ...]] = ()
    """What its row counts from nought in each part, since replies that are there count again."""

    @abstractmethod
    def prepare(self, store: Store, spec: S, endpoints: Mapping[str, Endpoint], moment: str) -> G:
        """Find and check all that a run needs; nothing is written.

        Raises:
            UsageError: it asks for something that isn't there.
            SettingsError: a key isn't set, or a budget is given and an endpoint has no prices.
        """

    @abstractmethod
    def forecast(self, store: Store, spec: S, endpoints: Mapping[str, Endpoint]) -> Any:
        """Say what a run would ask and cost; nothing is written."""

    @abstractmethod
    def questions(self, store: Store, ground: G) -> tuple[ConsentQuestion, ...]:
        """Say what would be sent to hosts that nobody has agreed to yet."""

    @abstractmethod
    def row(self, spec: S, ground: G, moment: datetime) -> Run:
        """Make the row of a new run."""

    @abstractmethod
    def spec_of(
        self, store: Store, run: Run, endpoints: Mapping[str, Endpoint], *, retry_failed: bool
    ) -> S:
        """Say what a stored run does, and whether what failed earlier is asked again.

        Raises:
            UsageError: what it is about is gone.
        """

    @abstractmethod
    def execution(self, context: RunContext, spec: S, ground: G) -> Execution:
        """Return what does the items that are missing."""

    def check(self, store: Store, ground: G) -> None:
        """Refuse a new run that would have nothing to do or can't be done here.

        Raises:
            UsageError: so it is.
        """

    def known(self, store: Store, row: Run) -> Run | None:
        """Return the run that is there already for what a new row asks for."""
        return store.get(Run, row.id)

    def begin(self, writer: Writer, ground: G, moment: str) -> None:
        """Write what belongs to a run, in the transaction that writes its row."""

    async def carry_out(self, context: RunContext, ground: G, execution: Execution) -> Run:
        """Do a run, or the rest of it; return its row at its end."""
        return await execution.run()


def kind_named(kind: RunKind) -> Work[Any, Any]:
    """Return a kind of run by its name."""
    found: Work[Any, Any] = import_module(_HOMES[kind]).WORK
    return found


def open_work(
    store: Store, spec: Spec, endpoints: Mapping[str, Endpoint], *, clock: Clock = utc_now
) -> Run:
    """Check what a run is asked to do, and write its row; what is there of it is taken up again.

    Raises:
        ReadOnlyError: the store is sealed; make the user's own copy first (see `own_copy`).
        UsageError: it asks for something that isn't there, or it is running already.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    work = kind_named(spec.kind)
    if work.sealed:
        store.must_be_open(work.sealed)
    moment = clock()
    ground = work.prepare(store, spec, endpoints, stamp(moment))
    work.check(store, ground)
    refuse_unless_agreed(work.questions(store, ground))
    row = work.row(spec, ground, moment)
    there = work.known(store, row)
    if there is not None:
        if run_holder(store, there.id) is not None:
            raise UsageError(
                f"this is being carried out already by run {there.id}: follow it with "
                f"`run status {there.id}`, or stop it first"
            )
        named = {"judge": row.judge, "candidates": row.candidates, "budget": row.budget}
        again = {"state": "running", "message": "", "heartbeat": row.heartbeat}
        row = there.model_copy(update={**again, **named})
    with store.write("run") as writer:
        row = capped(writer, row)
        work.begin(writer, ground, stamp(moment))
        writer.replace([row])
        take_hold(writer, row.id)
        tell_run(writer, row)
    return row


def tell_run(writer: Writer, run: Run) -> None:
    """Log that a run begins, or goes on; its person's budget pays for it from now on."""
    money = "" if run.budget is None else f", at most ${run.budget:,.2f}"
    words = f"{run.kind}{' by ' + run.judge if run.judge else ''}{money}"
    writer.tell(STARTED, study=run.study_id, subject=run.id, after=words)


async def carry_out(
    store: Store,
    run_id: str,
    endpoints: Mapping[str, Endpoint],
    *,
    retry_failed: bool = False,
    budget: float | None = None,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
    work: Work[Any, Any] | None = None,
    processes: int = 1,
    number: int = 0,
) -> Run:
    """Do a run of any kind, or the rest of it, in this process.

    Args:
        run_id: the run, as `open_work` made it.
        endpoints: endpoints by name.
        retry_failed: ask again for what failed earlier.
        budget: another spend cap for the whole run; None keeps the old one.
        make: opens clients; tests and the demo replace it.
        clock: UTC time, for records.
        on_progress: called twice a second at most.
        work: its kind with settings of its own, if it has any; the usual one when None.
        processes: how many work at it (see `start_helpers`).
        number: which of them this one is; 0 is the one that opens and ends it.

    Returns:
        The run's row at its end.

    Raises:
        AtomError: it can't begin, or the store can't be written.
    """
    found = store.get(Run, run_id)
    if found is None:
        raise UsageError(f"there is no run {run_id!r}; `run status` lists them")
    # Stop may have been asked for while this process was starting.
    state = "stopping" if found.state == "stopping" else "running"
    kept = found.budget if budget is None else budget
    work = work or kind_named(found.kind)
    anew = dict.fromkeys(work.anew, 0)
    row = found.model_copy(update={"state": state, "message": "", "budget": kept, **anew})
    if row != found and not number:
        store.replace([row])
    spec = work.spec_of(store, row, endpoints, retry_failed=retry_failed)
    ground = work.prepare(store, spec, endpoints, stamp(clock()))
    refuse_unless_agreed(work.questions(store, ground))
    context = RunContext(
        store=store,
        run=row,
        make=make,
        clock=clock,
        on_progress=on_progress,
        processes=processes,
        number=number,
    )
    execution = work.execution(context, spec, ground)
    with halted_by_signals(execution.signalled):
        return await work.carry_out(context, ground, execution)


async def run(
    store: Store,
    spec: Spec,
    endpoints: Mapping[str, Endpoint],
    *,
    make: ClientMaker = make_client,
    clock: Clock = utc_now,
    on_progress: OnProgress | None = None,
) -> Run:
    """Open a run and carry it out in this process; arguments and errors as of the two steps."""
    row = open_work(store, spec, endpoints, clock=clock)
    return await carry_out(
        store,
        row.id,
        endpoints,
        retry_failed=spec.retry_failed,
        make=make,
        clock=clock,
        on_progress=on_progress,
    )
