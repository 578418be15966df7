"""A run whose PostgreSQL server goes away for a while: it waits, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import time

import pytest

from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import AwayError
from atom.records import Checkpoint, Run, Study
from atom.store import Store, check_store, copy_study
from atom.store import store as store_module


@pytest.fixture
def on_server(pg_url, store, study):
    """Return the small study, copied to a server."""
    with Store.open(pg_url) as opened:
        copy_study(store, opened, study.id, "Copy")
        yield opened


def spec(opened) -> RunSpec:
    (study,) = opened.select(Study)
    return RunSpec(study_id=study.id, judge="probe-judge", candidates=("model-h", "model-b"))


@pytest.mark.slow
async def test_two_seconds_without_a_server_cost_no_paid_call(
    on_server, pg_server, counted, endpoints
):
    counted.latency = 0.05
    working = asyncio.create_task(run(on_server, spec(on_server), endpoints, make=counted.make))
    while counted.total < 20:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(pg_server.stop)
    await asyncio.sleep(2)
    asked = counted.total
    await asyncio.to_thread(pg_server.start)
    row = await working
    assert row.state == "done", row.message
    assert counted.total > asked
    assert set(counted.asked.values()) == {1}
    assert (row.done, row.failed) == (row.total, 0)
    marks = on_server.select(Checkpoint)
    assert marks
    assert on_server.get(Run, row.id) == row
    assert check_store(on_server).problems == ()


@pytest.mark.slow
async def test_a_server_that_stays_away_ends_the_run_with_a_sentence(
    on_server, pg_server, counted, endpoints, monkeypatch
):
    monkeypatch.setattr(store_module, "AWAY_SECONDS", 0.5)
    working = asyncio.create_task(run(on_server, spec(on_server), endpoints, make=counted.make))
    while counted.total < 5:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(pg_server.stop)
    begun = time.monotonic()
    try:
        with pytest.raises(AwayError, match="is it running"):
            await working
        assert time.monotonic() - begun < 15
    finally:
        await asyncio.to_thread(pg_server.start)
