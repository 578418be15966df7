"""A run that is killed again and again ends as one that nobody touched."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from atom.engine.demo import add_probes
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.judge.servers.endpoints import load_endpoints
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.faults import ALL_FAULTS, FaultPlan
from atom.probes.serving.server import serving
from atom.probes.worlds.make import make_probes
from atom.records import Call, Checkpoint, Response, Run, Study
from atom.store import Store, check_store

PROJECT = Path(__file__).resolve().parents[3]
SAMPLES, KILLS = 22, 5
CANDIDATES = tuple(f"http-{letter}" for letter in "abcde")


class CountingEndpoint(ProbeEndpoint):
    """Counts each first try that it was sent, by body."""

    def __init__(self, config: ProbeConfig) -> None:
        super().__init__(config)
        self.asked: list[bytes] = []

    def handle(self, method, path, headers, body):
        self.asked.append(body)
        return super().handle(method, path, headers, body)


def write_endpoints(file: Path, base_url: str) -> None:
    shared = {"base_url": f"probe:{base_url}", "concurrency": 4, "timeout": 20.0}
    rows = [{"name": "http-judge", "model": "probe-judge", "roles": ["judge"], **shared}]
    rows += [
        {"name": name, "model": f"model-{name[-1]}", "roles": ["candidate"], **shared}
        for name in CANDIDATES
    ]
    file.write_text(yaml.safe_dump(rows), encoding="utf-8")


def contents(store: Store) -> dict[str, tuple]:
    points = {
        p.key: (p.state, p.score, p.quote, p.reason, p.detail) for p in store.select(Checkpoint)
    }
    return points | {r.id: (r.state, r.text, r.detail) for r in store.select(Response)}


def done(place: Path) -> int:
    with Store.open(place) as store:
        return max((row.done for row in store.select(Run)), default=0)


@pytest.mark.attack
def test_killed_runs_end_as_an_undisturbed_one(tmp_path):
    alone, hunted, endpoints = tmp_path / "alone", tmp_path / "hunted", tmp_path / "e.yaml"
    with Store.open(alone) as store:
        study = Study(id=Study.make_id("Kill"), name="Kill", synthetic=True)
        store.put([study])
        probes = make_probes(SAMPLES, 7, mix={"charts": 1})
        add_probes(store, study, probes, 7, total=SAMPLES, tell=lambda *_: None)
    shutil.copytree(alone, hunted)
    rates = dict.fromkeys(ALL_FAULTS, 0.1 / len(ALL_FAULTS))
    config = ProbeConfig(
        latency=0.05, jitter=0.5, faults=FaultPlan(rates=rates, retry_after=0.1, stall=0.1, seed=5)
    )
    server = CountingEndpoint(config)
    with serving(server) as base_url:
        write_endpoints(endpoints, base_url)
        spec = RunSpec(study_id=study.id, judge="http-judge", candidates=CANDIDATES)
        with Store.open(alone) as store:
            whole = asyncio.run(run(store, spec, load_endpoints(endpoints)))
            assert whole.state == "done"
            expected, undisturbed = contents(store), len(server.asked)
        assert whole.done > 250
        assert {state for state, *_ in expected.values()} >= {"scored", "unscored"}

        server.asked.clear()
        killed = hunt(hunted, endpoints, whole.done)
    assert killed == KILLS
    with Store.open(hunted) as store:
        assert {row.state for row in store.select(Run)} == {"done"}
        assert contents(store) == expected
        assert check_store(store).problems == ()
        in_flight = 4 * (1 + len(CANDIDATES))
        assert len(server.asked) <= undisturbed + KILLS * in_flight
        assert all(call.reply is not None or call.error for call in store.select(Call))


def hunt(place: Path, endpoints: Path, items: int) -> int:
    """Kill and resume; return how many kills met a working process."""
    where = ["--store", str(place), "--endpoints", str(endpoints), "--json"]
    start = ["run", "start", "--study", "Kill", "--judge", "http-judge",
             "--candidates", ",".join(CANDIDATES)]  # fmt: skip
    marks = sorted(random.Random(3).sample(range(1, items - 30), KILLS))
    killed = 0
    for number, mark in enumerate([*marks, None]):
        words = start if number == 0 else ["run", "resume"]
        process = subprocess.Popen(
            [sys.executable, "-m", "atom", *words, *where],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + 120
        while mark is not None and process.poll() is None and done(place) < mark:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if mark is not None and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        _, problems = process.communicate(timeout=120)
        assert mark is not None or process.returncode == 0, problems.decode()
    return killed
