"""A run's helpers on a Ray cluster: an actor each, on whichever machine has a core free.

The one place that imports Ray, and only in a job on a cluster (requirements-cluster.txt).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

from atom.engine.cluster.executor import Order
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.ledger import LEASE
from atom.engine.work import carry_out
from atom.errors import SettingsError
from atom.records import Run
from atom.settings import load_settings
from atom.store import Store

TRIES = 8
"""Times that a helper is started anew after its machine was lost."""
PAUSE = LEASE / 3
"""Seconds between two tries: what a lost machine held is others' when its lease ends."""
_LOG = logging.getLogger(__name__)


class Helper:
    """Works at a run in its own process; an actor on the cluster."""

    def work(self, run_id: str, order: Order, number: int) -> None:
        """Help with a run until nothing is left to do, or it is stopped."""
        settings = load_settings()
        with Store.open(settings.store) as store:
            asyncio.run(
                carry_out(
                    store,
                    run_id,
                    known_endpoints(settings),
                    retry_failed=order.retry_failed,
                    processes=order.processes,
                    number=number,
                )
            )


@dataclass(frozen=True, kw_only=True)
class RayPool:
    """Helpers as actors of the cluster that this process is a job of."""

    def start(self, store: Store, run: Run, order: Order) -> None:
        """Start the run's helpers, and see to it that they stay.

        Raises:
            SettingsError: Ray isn't there.
        """
        try:
            import ray
        except ImportError as error:
            raise SettingsError(
                "Ray isn't installed here: `pip install -r requirements-cluster.txt`"
            ) from error
        ray.init(address="auto", log_to_driver=False, configure_logging=False)
        actor: Any = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Helper)
        for number in range(1, order.processes):
            threading.Thread(
                target=_keep,
                args=(ray, actor, (run.id, order, number)),
                daemon=True,
                name=f"helper-{number}",
            ).start()


def _keep(ray: Any, actor: Any, work: tuple[str, Order, int]) -> None:
    """Have a helper work on some machine; on another one where that is lost."""
    for _ in range(TRIES):
        helper = actor.remote()
        try:
            ray.get(helper.work.remote(*work))
        except ray.exceptions.RayActorError as error:
            _LOG.warning("a machine was lost, its part goes on elsewhere: %s", error)
        except ray.exceptions.RayError as error:
            _LOG.warning("a helper ended early: %s", error)
        else:
            return
        time.sleep(PAUSE)
