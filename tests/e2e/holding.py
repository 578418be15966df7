"""Lets work stand still, so that it can't end before somebody presses Stop."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from atom.records import Run
from atom.store import Store
from atom.store.store import DATABASE

PATIENCE = 60.0
"""Seconds until the work must have begun."""


@contextmanager
def held(store: Path, begun: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Hold the process that works at a run in a store, once it is there and has begun.

    It is not held while it writes: nobody else could write meanwhile.
    """
    until = time.monotonic() + PATIENCE
    while not (begun() and _at_work(store)):
        assert time.monotonic() < until, "nobody works in this store"
        time.sleep(0.02)
    pids = _at_work(store)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
        while _is_writing(store):
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.01)
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def wait_until_stopping(store: Path) -> None:
    """Wait until a run in a store is told to stop."""
    until = time.monotonic() + PATIENCE
    with Store.open(store) as opened:
        while all(run.state != "stopping" for run in opened.select(Run)):
            assert time.monotonic() < until, "nobody was told to stop"
            time.sleep(0.05)


def _at_work(store: Path) -> list[int]:
    return [
        int(place.name)
        for place in Path("/proc").glob("[0-9]*")
        if b"--resume-id" in (words := _words(place)) and str(store).encode() in words
    ]


def _words(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def _is_writing(store: Path) -> bool:
    with closing(sqlite3.connect(store / DATABASE, timeout=0)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False
