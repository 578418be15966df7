"""Processes: named, so that a lease of one that is gone can be taken over; ended by signals."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from atom.files import process_facts

_RUN = "#"
_STATE, _STARTED = 0, 19
"""Fields of `/proc/<pid>/stat` behind the command's name: state, start time in clock ticks."""
_OBJECTS = 100_000
"""New objects after which to look for cycles, where many are made and few are in cycles."""


def process_name(pid: int | None = None) -> str:
    """Name a process on this host so that no later one has the same name.

    Args:
        pid: the process; this one when None.

    Returns:
        `host/pid/start`; `start` is empty where the system doesn't tell it.
    """
    pid = os.getpid() if pid is None else pid
    fields = process_facts(pid)
    return f"{socket.gethostname()}/{pid}/{fields[_STARTED] if fields else ''}"


def owner_name(run_id: str, pid: int | None = None) -> str:
    """Name a run in a process: two runs in one process don't share their claims."""
    return f"{process_name(pid)}{_RUN}{run_id}"


def process_gone(name: str) -> bool:
    """Say whether a named process is surely gone; False also when nobody here can know.

    Args:
        name: as `process_name` or `owner_name` gave it.
    """
    host, digits, started = [*name.partition(_RUN)[0].rsplit("/", 2), "", ""][:3]
    if host != socket.gethostname() or not digits.isdigit():
        return False
    pid = int(digits)
    fields = process_facts(pid)
    if fields:
        return fields[_STATE] in "ZX" or (started != "" and fields[_STARTED] != started)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def halted_by_signals(halt: Callable[[str], None]) -> Iterator[None]:
    """Let Ctrl-C and a polite kill end the loop's work cleanly, where this thread may listen.

    Args:
        halt: told the signal's name.
    """
    loop = asyncio.get_running_loop()
    names = (signal.SIGINT, signal.SIGTERM)
    try:
        for name in names:
            loop.add_signal_handler(name, halt, signal.Signals(name).name)
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        for name in names:
            loop.remove_signal_handler(name)


class _Rarely:
    """How many ask that cycles among objects be looked for less often, and how often it was."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._many = 0
        self._before = gc.get_threshold()

    def more(self, step: int) -> None:
        """Count one more who asks for it, or one less."""
        with self._turn:
            if self._many == 0:
                self._before = gc.get_threshold()
            self._many += step
            first, *rest = self._before
            gc.set_threshold(max(first, _OBJECTS) if first and self._many else first, *rest)


_RARELY = _Rarely()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles among objects less often: imports and runs make many objects, no cycles."""
    _RARELY.more(1)
    try:
        yield
    finally:
        _RARELY.more(-1)
