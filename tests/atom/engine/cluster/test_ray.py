"""A run on a real Ray cluster on loopback, whose machines are killed in the middle of it."""

import hashlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import yaml

from atom.cli.main import main
from atom.engine.control import run_status
from atom.engine.ledger import helper_claim, run_claim
from atom.engine.process import process_gone
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.server import serving
from atom.records import Checkpoint, Run
from atom.store import Store
from atom.store.holds import hold_of

ROOT = Path(__file__).resolve().parents[4]
AT_ONCE = 3
SLOW, QUICK = 2.0, 0.0
"""Seconds that a reply takes: until a machine was lost, and after it."""
SAMPLES = 130
"""A process leases 64 at a time, so that each of two has some of its own."""
FEW = 12


@dataclass
class Watched(ProbeEndpoint):
    """A probe endpoint that notes what it is asked, and when its answer is due."""

    config: ProbeConfig
    delay: float = SLOW
    asked: list = field(default_factory=list)

    def __post_init__(self):
        super().__init__(self.config)

    def handle(self, method, path, headers, body):
        reply = super().handle(method, path, headers, body)
        self.asked.append((hashlib.sha256(body).digest(), time.monotonic() + self.delay))
        return replace(reply, delay=self.delay)

    def in_flight(self, moment):
        """What had no answer at a moment, or had it so lately that it may not be written yet."""
        return {what for what, due in self.asked if due > moment - 0.5}

    def repeated(self, since=0):
        """What was asked again from a call on."""
        seen, twice = set(), set()
        for number, (what, _) in enumerate(self.asked):
            if what in seen and number >= since:
                twice.add(what)
            seen.add(what)
        return twice


def ray_python():
    """Return the Python that has Ray: this one, or that of an environment that ATOM_RAY names."""
    if importlib.util.find_spec("ray"):
        return Path(sys.executable)
    if "ATOM_RAY" not in os.environ:
        pytest.skip("Ray isn't installed: pip install -r requirements-cluster.txt")
    return Path(os.environ["ATOM_RAY"]) / "bin" / "python"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(true, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {what} in {seconds} seconds")


class Machines:
    """A cluster in a process of its own (see `loopback`)."""

    def __init__(self, process):
        self._process = process

    def told(self, line):
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self):
        return json.loads(self._process.stdout.readline())


@contextmanager
def cluster_on(port, env, log):
    python = ray_python()
    temp = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))  # sockets' paths are short
    env = {**env, "PATH": f"{python.parent}:{env['PATH']}", "RAY_TMPDIR": str(temp),
           "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}  # fmt: skip
    script = Path(__file__).with_name("loopback.py")
    with log.open("w") as out:
        process = subprocess.Popen(
            [python, script, str(port)], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out,
        )  # fmt: skip
    try:
        with process.stdout:
            yield Machines(process)
            process.stdin.close()
            process.wait(60)
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        shutil.rmtree(temp, ignore_errors=True)


def endpoints_at(file, url):
    shared = {"base_url": f"probe:{url}", "concurrency": AT_ONCE, "timeout": 60.0}
    rows = [{"name": "judge", "model": "probe-judge", "roles": ["judge"], **shared}]
    for name, model in (("b", "model-b"), ("h", "model-h")):
        rows.append({"name": name, "model": model, "roles": ["candidate"], **shared})
    file.write_text(yaml.safe_dump(rows), "utf-8")


def atom(*words, store):
    assert main([*words, "--store", str(store)]) == 0


def judged(store, *words):
    atom("run", "start", "--study", "s", "--judge", "judge", "--yes", *words, store=store)


def marks_of(folder):
    """Return every mark of a store by its key."""
    with Store.open(folder) as store:
        return {one.key: (one.state, one.score, one.reason) for one in store.select(Checkpoint)}


def holder_of(store, claim):
    """Return the number of the living process that holds a claim; a job in its stead is none."""
    held = hold_of(store, claim)
    if held is None or held.owner.startswith("ray-job/") or process_gone(held.owner):
        return None
    return int(held.owner.partition("#")[0].rsplit("/", 2)[1])


def begun(store, known=()):
    """Return a run that a cluster was told to do, and its driver's number."""
    (row,) = [one for one in store.select(Run) if one.id not in known]
    return row.id, until(lambda: holder_of(store, run_claim(row.id)), 120, "driver")


@pytest.mark.slow
def test_machines_that_are_killed_cost_no_more_than_the_calls_in_flight(tmp_path, monkeypatch):
    ray_python()
    here, there, port = tmp_path / "here", tmp_path / "there", free_port()
    endpoint, plain = Watched(ProbeConfig()), Watched(ProbeConfig(), delay=QUICK)
    file = tmp_path / "endpoints.yaml"
    for name, value in {
        "ATOM_ENDPOINTS": str(file), "ATOM_STORE": str(there), "PYTHONPATH": str(ROOT),
        "ATOM_CLUSTER": f"http://127.0.0.1:{port}",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with (
        serving(endpoint) as url,
        serving(plain) as plain_url,
        cluster_on(port, os.environ, tmp_path / "ray.log") as machines,
    ):
        # An unbroken run here, while the cluster starts.
        endpoints_at(file, plain_url)
        atom("probe", "make", "--samples", str(SAMPLES), "--seed", "4", "--study", "s",
             "--families", "charts", store=there)  # fmt: skip
        shutil.copytree(there, here)
        judged(here, "--candidates", "b")
        judged(here, "--candidates", "h", "--limit", str(FEW))
        endpoints_at(file, url)
        assert machines.answer()["ready"]

        # A machine is killed: the run goes on to its end.
        judged(there, "--candidates", "b", "--cluster", "--processes", "2")
        with Store.open(there) as store:
            first, _ = begun(store)
            machines.told("add")
            helper = until(lambda: holder_of(store, helper_claim(first, 1)), 120, "helper")
            seen = len(endpoint.asked)
            until(lambda: len(endpoint.asked) > seen + AT_ONCE, 60, "call")
            moment = time.monotonic()
            assert machines.told(f"kill {helper}") == {"killed": 1, "heads": 0}
            endpoint.delay = QUICK
            until(lambda: not run_status(store, first).alive, 90, "end")
            ended = run_status(store, first).run
            assert (ended.state, ended.done, ended.failed) == ("done", ended.total, 0)
            assert endpoint.repeated() <= endpoint.in_flight(moment)

            # The driver and the head are killed: it stops, and goes on here where it was.
            endpoint.delay = SLOW
            since = len(endpoint.asked)
            words = ("--candidates", "h", "--limit", str(FEW))
            judged(there, *words, "--cluster")
            second, driver = begun(store, {first})
            until(lambda: len(endpoint.asked) > since + AT_ONCE, 60, "call")
            moment = time.monotonic()
            assert machines.told(f"kill {driver}") == {"killed": 1, "heads": 1}
            status = run_status(store, second)
            assert (status.run.state, status.resumable) == ("stopped", True)
            assert status.run.done < status.run.total
            endpoint.delay = QUICK
            atom("run", "resume", second, store=there)
            ended = run_status(store, second).run
            assert (ended.state, ended.failed) == ("done", 0)
            assert endpoint.repeated(since) <= endpoint.in_flight(moment)
    marks = marks_of(there)
    assert len(marks) > SAMPLES
    assert marks == marks_of(here)
