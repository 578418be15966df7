"""Work in a process of its own: it goes on when the browser closes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from atom.engine.ledger import LEASE
from atom.engine.process import owner_name
from atom.errors import StoreError
from atom.settings import PROJECT_ROOT, Settings, child_environment
from atom.store import Store
from atom.store.holds import drop_hold, holder_now


def detach(
    store: Store, settings: Settings, arguments: Sequence[str], *, name: str, claim: str, log: Path
) -> None:
    """Start a command that nobody waits for, and hold its work in its name from the first moment.

    Args:
        store: the store that `settings` names.
        settings: where the store and the endpoints are.
        arguments: the command, after `python -m atom`.
        name: the work's id.
        claim: what the process holds while it works.
        log: where what it prints is kept.

    Raises:
        StoreError: the process can't be started.
    """
    process = spawn(settings, arguments, log)
    with store.write() as writer:
        if holder_now(writer, claim) == owner_name(name):
            # Held until now by this process, which wrote the row.
            drop_hold(writer, claim)
        writer.claim([claim], owner_name(name, process.pid), LEASE)
    threading.Thread(target=process.wait, daemon=True, name=f"wait-{name}").start()


def spawn(settings: Settings, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a command of ours that goes on by itself, on the store that `settings` names.

    Args:
        settings: where the store and the endpoints are.
        arguments: the command, after `python -m atom`.
        log: where what it prints is kept.

    Raises:
        StoreError: the process can't be started.
    """
    where = ["--endpoints", str(settings.endpoints.resolve())]
    if "://" not in settings.store:
        where += ["--store", str(Path(settings.store).resolve())]
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("ab") as out:
            return subprocess.Popen(
                [sys.executable, "-m", "atom", *arguments, *where],
                cwd=PROJECT_ROOT,
                env=child_environment(settings),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise StoreError(f"the process can't be started: {error}") from error
