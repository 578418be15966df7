"""Several processes at one run."""

from __future__ import annotations

import argparse
import asyncio

from atom.engine.cluster.executor import Executor, HelperPool
from atom.engine.cluster.ray_jobs import accept_job, ray_executor
from atom.engine.cluster.ray_pool import RayPool
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.work import carry_out
from atom.settings import Settings
from atom.store import Store


def process_option(parser: argparse.ArgumentParser) -> None:
    """Declare how many processes work at a run."""
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="so many work at it, each at its own samples, within one budget and one endpoint's "
        "limits",
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="work at it on the Ray cluster that ATOM_CLUSTER names, and return at once",
    )
    parser.add_argument("--pool", choices=["ray"], help=argparse.SUPPRESS)


def executor_of(args: argparse.Namespace, settings: Settings) -> Executor | None:
    """Return the cluster, where --cluster is given; None = this computer.

    Raises:
        SettingsError: no cluster is named.
    """
    return ray_executor(settings) if getattr(args, "cluster", False) else None


def pool_of(store: Store, args: argparse.Namespace) -> HelperPool | None:
    """Return where a run's helpers start, in the process that begins it; None = this computer."""
    if args.pool is None:
        return None
    accept_job(store, args.resume_id)
    return RayPool()


def help_along(store: Store, settings: Settings, args: argparse.Namespace) -> None:
    """Work at a run that another process has opened, and ends."""
    asyncio.run(
        carry_out(
            store,
            args.resume_id,
            known_endpoints(settings),
            retry_failed=args.retry_failed,
            processes=args.processes,
            number=args.helper,
        )
    )
