"""A run on a real Ray cluster on loopback, one of whose machines is killed in the middle."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

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
SLOW, QUICK = 6.0, 0.02
"""Seconds that a reply takes: until a machine was lost, and after it."""


@dataclass
class Watched(ProbeEndpoint):
    """A probe endpoint that notes what it is asked."""

    config: ProbeConfig
    delay: float = QUICK

    def __post_init__(self):
        super().__init__(self.config)
        self.asked = []

    def handle(self, method, path, headers, body):
        self.asked.append(body)
        return replace(super().handle(method, path, headers, body), delay=self.delay)


def ray_python():
    """Return Ray's Python: an environment of its own, which sees the app's packages."""
    place = Path(os.environ.get("ATOM_RAY", ROOT / ".ray")) / "bin" / "python"
    if not place.exists():
        pytest.skip("ATOM_RAY names no environment with requirements-cluster.txt")
    return place


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
        time.sleep(0.2)
    raise AssertionError(f"no {what} in {seconds} seconds")


def told(cluster, line):
    cluster.stdin.write(f"{line}\n")
    cluster.stdin.flush()
    return json.loads(cluster.stdout.readline())


def atom(*words, env):
    return subprocess.run(
        [sys.executable, "-m", "atom", *words], cwd=ROOT, env=env, timeout=120,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip


def marks_of(folder):
    """Return every mark of a store by its key."""
    with Store.open(folder) as store:
        return {one.key: (one.state, one.score, one.reason) for one in store.select(Checkpoint)}


@pytest.mark.attack
def test_a_machine_that_is_killed_costs_no_more_than_the_calls_in_flight(tmp_path):
    python, port = ray_python(), free_port()
    endpoint = Watched(ProbeConfig(), delay=SLOW)
    with serving(endpoint) as url:
        file = tmp_path / "endpoints.yaml"
        shared = {"base_url": f"probe:{url}", "concurrency": AT_ONCE, "timeout": 60.0}
        file.write_text(
            yaml.safe_dump([{"name": "judge", "model": "probe-judge", "roles": ["judge"], **shared},
                            {"name": "b", "model": "model-b", "roles": ["candidate"], **shared}]),
            "utf-8",
        )  # fmt: skip
        usual = {**os.environ, "ATOM_ENDPOINTS": str(file), "PYTHONPATH": str(ROOT),
                 "ATOM_CLUSTER": f"http://127.0.0.1:{port}"}  # fmt: skip
        here, there = ({**usual, "ATOM_STORE": str(tmp_path / name)} for name in ("h", "t"))
        drawn = atom("probe", "make", "--samples", "150", "--seed", "4", "--study", "s",
                     "--families", "charts", env=here)  # fmt: skip
        assert drawn.returncode == 0, drawn.stderr
        shutil.copytree(tmp_path / "h", tmp_path / "t")
        temp = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))  # sockets' paths are short
        env = {**there, "PATH": f"{python.parent}:{there['PATH']}", "RAY_TMPDIR": str(temp),
               "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0",
               "RAY_DEDUP_LOGS": "0"}  # fmt: skip
        script = Path(__file__).with_name("loopback.py")
        with (tmp_path / "ray.log").open("w") as log:
            cluster = subprocess.Popen(
                [python, script, str(port)], env=env, stdin=subprocess.PIPE, text=True,
                stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        try:
            assert json.loads(cluster.stdout.readline())["ready"]
            begun = atom("run", "start", "--study", "s", "--judge", "judge", "--candidates", "b",
                         "--processes", "2", "--cluster", "--yes", "--json", env=there)  # fmt: skip
            assert begun.returncode == 0, begun.stderr
            with Store.open(tmp_path / "t") as store:
                (row,) = store.select(Run)

                def holder(claim):
                    held = hold_of(store, claim)
                    found = None if held is None else held.owner
                    mine = found is not None and not found.startswith("ray-job/")
                    return found if mine and not process_gone(found) else None

                until(lambda: holder(run_claim(row.id)), 120, "driver")
                told(cluster, "add")
                helper = until(lambda: holder(helper_claim(row.id, 1)), 120, "helper")
                seen = len(endpoint.asked)
                until(lambda: len(endpoint.asked) > seen + AT_ONCE, 60, "call")
                pid = int(helper.partition("#")[0].rsplit("/", 2)[1])
                assert told(cluster, f"kill {pid}") == {"killed": 1}
                endpoint.delay = QUICK
                ended = until(
                    lambda: next(
                        (one for one in store.select(Run) if one.state not in ("running",)), None
                    ),
                    60,
                    "end",
                )
            assert (ended.state, ended.done, ended.failed) == ("done", ended.total, 0)
        finally:
            cluster.stdin.close()
            cluster.wait(60)
            shutil.rmtree(temp, ignore_errors=True)
        # What was in flight on the machine is asked again, and what it had not written yet.
        twice = len(endpoint.asked) - len(set(endpoint.asked))
        assert twice <= 4 * AT_ONCE
        alone = atom("run", "start", "--study", "s", "--judge", "judge", "--candidates", "b",
                     "--yes", env=here)  # fmt: skip
        assert alone.returncode == 0, alone.stderr
    marks = marks_of(tmp_path / "t")
    assert marks
    assert marks == marks_of(tmp_path / "h")
