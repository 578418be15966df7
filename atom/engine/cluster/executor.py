"""Where a run's processes start: on this computer, or on a cluster.

What they do there is the same: they open the store, lease samples, and give them back. So nothing
that matters is held by an executor, and losing one costs the calls in flight and nothing else.

Reference: design/067-a-cluster.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from atom.engine.detached import detach
from atom.engine.ledger import helper_claim, helper_name, run_claim
from atom.records import Run
from atom.settings import Settings
from atom.store import Store


@dataclass(frozen=True, kw_only=True)
class Order:
    """How a run is done.

    Attributes:
        processes: how many work at it.
        retry_failed: ask again for items that failed.
    """

    processes: int = 1
    retry_failed: bool = False

    def words(self, run_id: str) -> list[str]:
        """Return the command, after `atom`, of the process that opens and ends the run."""
        words = ["run", "start", "--resume-id", run_id]
        words += ["--processes", str(self.processes)] if self.processes > 1 else []
        return words + (["--retry-failed"] if self.retry_failed else [])

    def helper_words(self, run_id: str, number: int) -> list[str]:
        """Return the command, after `atom`, of one of the others."""
        return [*self.words(run_id), "--helper", str(number)]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine of a cluster.

    Attributes:
        name: how the cluster names it.
        alive: whether it answers.
        cores: processors that runs may use.
        head: whether it leads the cluster.
    """

    name: str
    alive: bool
    cores: float
    head: bool


@dataclass(frozen=True, kw_only=True)
class Health:
    """How an executor is.

    Attributes:
        version: of what runs it.
        nodes: its machines.
    """

    version: str
    nodes: tuple[Machine, ...]

    @property
    def cores(self) -> float:
        """Processors that runs may use now."""
        return sum(node.cores for node in self.nodes if node.alive)


class Executor(Protocol):
    """Starts a run's first process."""

    def start(self, store: Store, run: Run, order: Order) -> None:
        """Start it; returns at once. The run is held in its name from the first moment.

        Raises:
            AtomError: it can't be started; the run stays as it was.
        """


class HelperPool(Protocol):
    """Starts the processes that help a run's first one."""

    def start(self, store: Store, run: Run, order: Order) -> None:
        """Start them; whoever of them is lost is started again while the run goes on."""


@dataclass(frozen=True, kw_only=True)
class LocalExecutor:
    """This computer: a process of its own, which goes on when the browser closes."""

    settings: Settings

    def start(self, store: Store, run: Run, order: Order) -> None:
        """Start the run's first process."""
        detach(
            store,
            self.settings,
            order.words(run.id),
            name=run.id,
            claim=run_claim(run.id),
            log=store.folder / "runs" / f"{run.id}.log",
        )


@dataclass(frozen=True, kw_only=True)
class LocalPool:
    """Processes on this computer."""

    settings: Settings

    def start(self, store: Store, run: Run, order: Order) -> None:
        """Start the run's helpers."""
        for number in range(1, order.processes):
            name = helper_name(run.id, number)
            detach(
                store,
                self.settings,
                order.helper_words(run.id, number),
                name=name,
                claim=helper_claim(run.id, number),
                log=store.folder / "runs" / f"{name}.log",
            )
