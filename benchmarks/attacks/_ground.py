"""Where victims work: a store in a folder, or on a PostgreSQL server of this attack's own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.attacks._afterwards import Seen, harm_of, seen_in, seen_on
from benchmarks.attacks._tried import CannotTryError

_MASTER, _WORK = "kills_master", "kills_work"
_PATIENCE = 20.0
"""Seconds until a server has noticed that whoever it worked for is dead."""


@dataclass(frozen=True)
class Ground:
    """A store in a folder, of which each victim gets a copy.

    Args:
        folder: where all of it lies.
    """

    folder: Path

    @property
    def work(self) -> Path:
        """The folder that a victim works in."""
        return self.folder / "work"

    @property
    def location(self) -> str:
        """What the victim calls its store."""
        return str(self.work / "store")

    def fresh(self) -> Path:
        """Make a copy; return the folder that holds it."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.folder / "store", self.work / "store")
        (self.work / "out").mkdir()
        return self.work

    def seen(self) -> Seen:
        """Look at what is there."""
        return seen_in(self.work)

    def harm(self) -> str:
        """Say what is wrong with the store, after its next start."""
        return harm_of(self.work)


@dataclass(frozen=True)
class ServerGround(Ground):
    """The same on a server: each copy is made of a database that nobody writes.

    Args:
        server: address of the server's own database, `postgres`.
    """

    server: str

    @property
    def location(self) -> str:
        """What the victim calls its store."""
        return self._at(_WORK)

    @property
    def master(self) -> str:
        """The store of which copies are made."""
        return self._at(_MASTER)

    def make(self) -> None:
        """Make the empty database that copies are made of."""
        self._do(f"CREATE DATABASE {_MASTER}")

    def fresh(self) -> Path:
        """Make a copy; return the folder that holds its files."""
        self.end_sessions()
        self._do(f"DROP DATABASE IF EXISTS {_WORK}", f"CREATE DATABASE {_WORK} TEMPLATE {_MASTER}")
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.folder / "files", self.work / "files")
        (self.work / "out").mkdir()
        return self.work

    def seen(self) -> Seen:
        """Look at what is there, when the server is done with whom it worked for."""
        self.end_sessions()
        return seen_on(self.location, self.work)

    def harm(self) -> str:
        """Say what is wrong with the store."""
        return harm_of(self.work, self.location)

    def end_sessions(self) -> None:
        """Wait until nobody is at the copy any more; what stays on is ended."""
        others = f"FROM pg_stat_activity WHERE datname IN ('{_WORK}', '{_MASTER}')"
        end = time.monotonic() + _PATIENCE
        while self._do(f"SELECT count(*) {others}")[0][0]:
            if time.monotonic() > end:
                self._do(f"SELECT pg_terminate_backend(pid) {others}")
            time.sleep(0.02)

    def _at(self, name: str) -> str:
        return self.server.replace("/postgres?", f"/{name}?")

    def _do(self, *statements: str) -> list[Any]:
        import psycopg

        with psycopg.connect(self.server, autocommit=True) as connection:
            for statement in statements:
                found = connection.execute(statement.encode())
            return found.fetchall() if found.description else []


@contextmanager
def server_ground(folder: Path) -> Iterator[ServerGround]:
    """Start a PostgreSQL server of its own; pictures lie where the environment says meanwhile.

    Raises:
        CannotTryError: there is no PostgreSQL here.
    """
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise CannotTryError(f"{error}: install requirements-postgresql.txt") from error
    from benchmarks.many_processes import BINARIES, postgres

    if not BINARIES.exists():
        raise CannotTryError(f"there is no PostgreSQL in {BINARIES}")
    (folder / "server").mkdir()
    folder.chmod(0o755)  # the server is another user's
    variables = {"ATOM_FILES": str(folder / "work" / "files")}
    with postgres(folder / "server") as (address, _), patch.dict(os.environ, variables):
        yield ServerGround(folder, address)
