"""A process that is really suspended, past its lease, finds itself fenced when it wakes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from atom.engine.demo import add_probes
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.server import serving
from atom.probes.worlds.make import make_probes
from atom.records import Checkpoint, Response, Run, Study
from atom.store import Store, check_store
from atom.store.store import DATABASE
from tests.atom.engine.test_kill import (
    CANDIDATES,
    PROJECT,
    CountingEndpoint,
    done,
    write_endpoints,
)

LEASE = 14.0
SAMPLES = 10
IN_FLIGHT = 4 * 3
"""Calls of three endpoints at a time, four each, as `write_endpoints` says."""
_BOOT = f"""
import sys
from atom.engine import detached, execution, induction, ledger
for module in (detached, execution, induction, ledger):
    module.LEASE = {LEASE}
execution.MARGIN = 4.0
from atom.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def start(*words: str) -> subprocess.Popen[bytes]:
    """Start a command whose leases are short."""
    return subprocess.Popen(
        [sys.executable, "-c", _BOOT, *words],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def suspend(pid: int, place: Path) -> None:
    """Suspend a process at a moment when it isn't writing: the lock would stay with it."""
    for _ in range(100):
        os.kill(pid, signal.SIGSTOP)
        with closing(sqlite3.connect(place / DATABASE, timeout=0.1, isolation_level=None)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
                other.execute("ROLLBACK")
            except sqlite3.OperationalError:
                os.kill(pid, signal.SIGCONT)
                time.sleep(0.05)
            else:
                return
    raise AssertionError("it writes all the time")


@pytest.mark.attack
def test_a_suspended_run_is_taken_over_and_pays_for_nothing_when_it_wakes(tmp_path):
    """Fall 14 of design/074."""
    place, endpoints = tmp_path / "store", tmp_path / "e.yaml"
    with Store.open(place) as store:
        study = Study(id=Study.make_id("Sleep"), name="Sleep", synthetic=True)
        store.put([study])
        probes = make_probes(SAMPLES, 7, mix={"charts": 1})
        add_probes(store, study, probes, 7, total=SAMPLES, tell=lambda *_: None)
    where = ["--store", str(place), "--endpoints", str(endpoints), "--json"]
    server = CountingEndpoint(ProbeConfig(latency=0.15, jitter=0.5))
    with serving(server) as base_url:
        write_endpoints(endpoints, base_url)
        sleeper = start("run", "start", "--study", "Sleep", "--judge", "http-judge",
                        "--candidates", ",".join(CANDIDATES[:2]), *where)  # fmt: skip
        try:
            deadline = time.monotonic() + 120
            while done(place) < 12:
                assert sleeper.poll() is None, sleeper.communicate()[0].decode()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            suspend(sleeper.pid, place)
            time.sleep(LEASE + 1)
            heir = start("run", "resume", *where)
            told, _ = heir.communicate(timeout=300)
            assert heir.returncode == 0, told.decode()
            asked = len(server.asked)
        finally:
            if sleeper.poll() is None:
                os.kill(sleeper.pid, signal.SIGCONT)
        sleeper.communicate(timeout=120)
        assert sleeper.returncode != 0
        # What was in flight when it fell asleep may be tried once more; it asks nothing else.
        assert len(server.asked) - asked <= IN_FLIGHT
    again = [n - 1 for n in Counter(server.asked).values() if n > 1]
    assert sum(again) <= 2 * IN_FLIGHT  # by whoever took over, and by itself
    with Store.open(place) as store:
        assert {row.state for row in store.select(Run)} == {"done"}
        assert {row.state for row in store.select(Checkpoint)} <= {"scored", "unscored"}
        assert len(store.select(Response)) == 2 * SAMPLES
        assert check_store(store).problems == ()
