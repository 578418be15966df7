from __future__ import annotations

import os
import signal
import time

import pytest

from atom.engine.control import (
    GONE,
    list_runs,
    resume_run,
    run_status,
    start_work,
    stop_run,
    wait_for_end,
)
from atom.engine.study.spec import RunSpec
from atom.errors import UsageError
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.server import serving
from atom.records import Checkpoint, Criterion, Run
from atom.settings import load_settings
from atom.store.schema import claims
from tests.atom.engine.test_kill import write_endpoints

CANDIDATES = ("http-a", "http-b")


@pytest.fixture
def settings(place):
    with serving(ProbeEndpoint(ProbeConfig(latency=0.3))) as base_url:
        write_endpoints(place / "endpoints.yaml", base_url)
        yield load_settings({}, store=str(place))


def working(store, run_id: str) -> None:
    deadline = time.monotonic() + 60
    while run_status(store, run_id).run.done < 2:
        assert time.monotonic() < deadline, run_status(store, run_id)
        time.sleep(0.05)


@pytest.mark.slow
def test_a_run_of_its_own_is_stopped_killed_resumed_and_ends(store, study, settings):
    spec = RunSpec(study_id=study.id, judge="http-judge", candidates=CANDIDATES)
    began = start_work(store, spec, settings)
    assert run_status(store, began.id).alive
    working(store, began.id)
    with pytest.raises(UsageError, match="is running"):
        resume_run(store, began.id, settings)
    stop_run(store, began.id)
    stopped = wait_for_end(store, began.id, seconds=30)
    assert (stopped.alive, stopped.run.state) == (False, "stopped")
    assert stopped.run.message.startswith("stopped on request. What http-judge")

    resume_run(store, began.id, settings)
    while run_status(store, began.id).run.done <= stopped.run.done:
        time.sleep(0.05)
    with store.read() as connection:
        owner = (
            connection.execute(claims.select().where(claims.c.item == f"run:{began.id}"))
            .one()
            .owner
        )
    os.kill(int(owner.split("#")[0].rsplit("/", 2)[1]), signal.SIGKILL)
    gone = wait_for_end(store, began.id, seconds=30)
    assert (gone.run.state, gone.run.message) == ("stopped", GONE)
    assert store.get(Run, began.id).state == "running"
    assert stop_run(store, began.id).run.message == GONE
    assert store.get(Run, began.id).state == "stopped"

    resume_run(store, began.id, settings)
    ended = wait_for_end(store, began.id, seconds=60)
    assert (ended.run.state, ended.run.done) == ("done", ended.run.total)
    assert len(store.select(Checkpoint)) == 2 * len(store.select(Criterion))
    assert [status.run.id for status in list_runs(store, study.id)] == [began.id]


def test_a_row_that_nobody_holds_is_starting_and_then_gone(store, study):
    row = Run(id="r", study_id=study.id, stages=("replay",), heartbeat="2020-01-01T00:00:00+00:00")
    store.put([row])
    assert run_status(store, "r").run.message == GONE
    from atom.engine.clock import stamp, utc_now

    store.replace([row.model_copy(update={"heartbeat": stamp(utc_now())})])
    assert run_status(store, "r").alive


def test_an_unknown_run_is_told(store):
    with pytest.raises(UsageError, match="there is no run 'x'"):
        run_status(store, "x")


def test_what_is_wrong_with_a_run_is_told_before_a_process_starts(store, study, place):
    spec = RunSpec(study_id=study.id, judge="nobody")
    with pytest.raises(UsageError, match="nobody"):
        start_work(store, spec, load_settings({}, store=str(place)))
    assert store.select(Run) == []
