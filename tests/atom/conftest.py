"""A PostgreSQL server for tests, where one is installed; each test gets a database of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from atom.store import Store

_BINARIES = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class PostgresServer:
    """A server that listens on a socket in its own folder."""

    root: Path
    binaries: Path
    prefix: tuple[str, ...]

    def run(self, program: str, *words: str) -> None:
        """Run one of PostgreSQL's programs as the server's user."""
        command = [*self.prefix, str(self.binaries / program), *words]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def start(self) -> None:
        """Start it; return when it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self.root} -c fsync=off"
        data, log = str(self.root / "data"), str(self.root / "log")
        self.run("pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        """Stop it as a power cut would."""
        self.run("pg_ctl", "-D", str(self.root / "data"), "-w", "-m", "immediate", "stop")

    def url(self, database: str, *, password: str = "") -> str:
        """Return a database's address."""
        who = f"postgres:{password}" if password else "postgres"
        return f"postgresql://{who}@/{database}?host={self.root}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement by itself, outside any transaction."""
        import psycopg

        where = f"host={self.root} dbname={database} user=postgres"
        with psycopg.connect(where, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @property
    def answers(self) -> bool:
        """Whether it takes connections."""
        import psycopg

        try:
            self.sql("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


def _user_of_servers() -> tuple[str, ...]:
    if os.getuid() != 0:
        return ()
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("a server doesn't run as root, and there is no user postgres")
    return ("runuser", "-u", "postgres", "--")


@pytest.fixture(scope="session")
def pg_server() -> Iterator[PostgresServer]:
    """Start a PostgreSQL server, once for all tests that want it."""
    found = sorted(_BINARIES.glob("*/bin/initdb"))
    if not found:
        pytest.skip("no PostgreSQL server is installed")
    pytest.importorskip("psycopg", reason="psycopg isn't installed")
    # Not in pytest's own folder, which each session closes to other users, the server's too.
    root = Path(tempfile.mkdtemp(prefix="atom-pg-"))
    server = PostgresServer(root, found[-1].parent, _user_of_servers())
    if server.prefix:
        shutil.chown(root, "postgres")
    server.run("initdb", "-D", str(root / "data"), "-A", "trust", "-U", "postgres", "--no-sync")
    server.start()
    yield server
    if not server.answers:
        server.start()
    server.stop()
    shutil.rmtree(root, ignore_errors=True)


_NUMBERS = count(1)


@pytest.fixture
def pg_empty(pg_server) -> str:
    """Return the address of a database that holds nothing."""
    name = f"empty{next(_NUMBERS)}"
    pg_server.sql(f"CREATE DATABASE {name}")
    return pg_server.url(name)


@pytest.fixture(scope="session")
def _pg_template(pg_server, tmp_path_factory) -> str:
    pg_server.sql("CREATE DATABASE template_store")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("pg-template"))
        Store.open(pg_server.url("template_store")).close()
    return "template_store"


@pytest.fixture
def pg_url(pg_server, _pg_template, tmp_path, monkeypatch) -> str:
    """Return the address of an empty store on PostgreSQL; its pictures go into `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    name = f"store{next(_NUMBERS)}"
    pg_server.sql(f"CREATE DATABASE {name} TEMPLATE {_pg_template}")
    return pg_server.url(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request, tmp_path) -> str:
    """Return where an empty store is, on each kind of database in turn."""
    if request.param == "postgresql":
        return request.getfixturevalue("pg_url")
    return str(tmp_path / "both")


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.01)
