"""Several processes at one run."""

from __future__ import annotations

import argparse
import asyncio

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
