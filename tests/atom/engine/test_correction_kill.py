"""An experiment that is killed again and again ends as one that nobody touched."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from atom.engine.correction.ground import CorrectionSpec
from atom.engine.work import carry_out, open_work
from atom.judge.servers.endpoints import load_endpoints
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.server import serving
from atom.records import (
    Candidate,
    Checkpoint,
    Correction,
    Hint,
    Judge,
    Response,
    Run,
    Study,
)
from atom.store import Store, check_store
from tests.atom.engine.conftest import JUDGED
from tests.atom.engine.test_kill import CountingEndpoint

PROJECT = Path(__file__).resolve().parents[3]
ARMS = ("rejudge", "fresh", "peer")
KILLS, AT_ONCE = 2, 2


def write_endpoints(file: Path, base_url: str) -> None:
    shared = {"base_url": f"probe:{base_url}", "concurrency": AT_ONCE, "timeout": 20.0}
    rows = [{"name": f"http-{name}", "model": name, **shared} for name in ("probe-judge", *JUDGED)]
    file.write_text(yaml.safe_dump(rows), encoding="utf-8")


def served(place: Path) -> None:
    """Let everybody of the study be asked at the server."""
    with Store.open(place) as store:
        everybody = [*store.select(Candidate), *store.select(Judge)]
        store.replace([r.model_copy(update={"endpoint": f"http-{r.name}"}) for r in everybody])


def contents(store: Store) -> dict[str, tuple]:
    found = {p.key: (p.state, p.score, p.quote) for p in store.select(Checkpoint)}
    found |= {r.id: (r.state, r.text) for r in store.select(Response)}
    found |= {h.id: (h.state, h.text) for h in store.select(Hint)}
    return found | {
        f"{c.response_id}/{c.arm}/{c.round}": (c.state, c.value, c.feedback, c.result_id)
        for c in store.select(Correction)
    }


def done(store: Store) -> int:
    rows = [row for row in store.select(Run) if row.kind == "experiment"]
    return max((row.done for row in rows), default=0)


@pytest.mark.attack
def test_a_killed_experiment_ends_as_an_undisturbed_one(judged_folder, tmp_path):
    alone, hunted, file = tmp_path / "alone", tmp_path / "hunted", tmp_path / "e.yaml"
    shutil.copytree(judged_folder, alone)
    served(alone)
    shutil.copytree(alone, hunted)
    server = CountingEndpoint(ProbeConfig(latency=0.08, jitter=0.5))
    with serving(server) as base_url:
        write_endpoints(file, base_url)
        known = load_endpoints(file)
        with Store.open(alone) as store:
            (study,) = store.select(Study)
            row = open_work(store, spec_of(study), known)
            whole = asyncio.run(carry_out(store, row.id, known))
            assert (whole.state, whole.failed) == ("done", 0)
            expected, undisturbed = contents(store), len(server.asked)
        server.asked.clear()
        with Store.open(hunted) as store:
            killed = hunt(store, file, whole.done)
    assert killed == KILLS
    with Store.open(hunted) as store:
        (row,) = (row for row in store.select(Run) if row.kind == "experiment")
        assert (row.state, row.failed) == ("done", 0)
        assert contents(store) == expected
        assert check_store(store).problems == ()
    in_flight = AT_ONCE * (1 + len(JUDGED))
    assert undisturbed <= len(server.asked) <= undisturbed + KILLS * in_flight


def spec_of(study: Study) -> CorrectionSpec:
    return CorrectionSpec(study_id=study.id, candidate="model-h", arms=ARMS)


def hunt(store: Store, file: Path, items: int) -> int:
    """Kill and go on; return how many kills met a working process."""
    where = ["--store", str(store.folder), "--endpoints", str(file), "--json"]
    (study,) = store.select(Study)
    row = open_work(store, spec_of(study), load_endpoints(file))
    killed = 0
    for mark in (items // 4, items // 2, None):
        # As the app starts it, then by the command for any run.
        words = ["run", "resume"] if killed else ["run", "start", "--resume-id", row.id]
        process = subprocess.Popen(
            [sys.executable, "-m", "atom", *words, *where],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + 120
        while mark is not None and process.poll() is None and done(store) < mark:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if mark is not None and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        _, problems = process.communicate(timeout=120)
        assert mark is not None or process.returncode == 0, problems.decode()
    return killed
