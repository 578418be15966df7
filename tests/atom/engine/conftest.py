"""A small study of drawn probes, and endpoints that count what they are asked."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from atom.engine.demo import add_probes
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.judge import JudgeClient
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.faults import FaultPlan
from atom.probes.serving.transport import ProbeTransport
from atom.probes.worlds.make import make_probes
from atom.records import Study
from atom.store import Store

SEED = 11
SAMPLES = 6


@pytest.fixture(scope="session")
def probe_folder(tmp_path_factory) -> Path:
    """Draw six probes into a store, once."""
    folder = tmp_path_factory.mktemp("probes") / "store"
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Small"), name="Small", synthetic=True)
        store.put([study])
        probes = make_probes(SAMPLES, SEED, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, SEED, total=SAMPLES, tell=lambda *_: None)
    return folder


@pytest.fixture
def place(probe_folder, tmp_path) -> Path:
    """Give each test its own copy."""
    folder = tmp_path / "store"
    shutil.copytree(probe_folder, folder)
    return folder


@pytest.fixture
def twin_place(probe_folder, tmp_path) -> Path:
    """Give a second copy."""
    folder = tmp_path / "twin"
    shutil.copytree(probe_folder, folder)
    return folder


@pytest.fixture
def store(place):
    with Store.open(place) as opened:
        yield opened


@pytest.fixture
def study(store) -> Study:
    (only,) = store.select(Study)
    return only


JUDGED = ("model-h", "model-d", "model-b")
"""Candidates of the judged study; model-h is the weakest, the others may write hints."""


@pytest.fixture(scope="session")
def judged_folder(tmp_path_factory) -> Path:
    """Answer and judge ten probes, once; model-h gets several wrong."""
    folder = tmp_path_factory.mktemp("judged") / "store"
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Judged"), name="Judged", synthetic=True)
        store.put([study])
        probes = make_probes(10, SEED, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, SEED, total=10, tell=lambda *_: None)
        asyncio.run(
            run(store, RunSpec(study_id=study.id, judge="probe-judge", candidates=JUDGED), known)
        )
    return folder


@pytest.fixture
def judged(judged_folder, tmp_path):
    """Give each test its own copy of the judged study."""
    folder = tmp_path / "judged"
    shutil.copytree(judged_folder, folder)
    with Store.open(folder) as opened:
        yield opened


@dataclass
class Counted:
    """Makes clients of the probe endpoint that count and may spoil requests."""

    faults: FaultPlan = field(default_factory=FaultPlan)
    latency: float = 0.0
    asked: Counter = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def total(self) -> int:
        return sum(self.asked.values())

    def make(self, endpoint, spend, pictures) -> JudgeClient:
        config = ProbeConfig(faults=self.faults, latency=self.latency)
        transport = _Counting(self, ProbeEndpoint(config))
        return JudgeClient(endpoint, spend=spend, pictures=pictures, transport=transport)


class _Counting(ProbeTransport):
    def __init__(self, counted: Counted, endpoint: ProbeEndpoint) -> None:
        super().__init__(endpoint)
        self._counted = counted

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        counted = self._counted
        counted.asked[await request.aread()] += 1
        counted.in_flight += 1
        counted.most_in_flight = max(counted.most_in_flight, counted.in_flight)
        try:
            return await super().handle_async_request(request)
        finally:
            counted.in_flight -= 1


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
def endpoints():
    return {endpoint.name: endpoint for endpoint in builtin_endpoints()}
