"""An induction in a process of its own: stopped, taken up again, done."""

import asyncio
import time

import pytest

from atom.engine.control import resume_run, start_work, stop_run
from atom.engine.induction.control import newest_induction, start_of
from atom.engine.induction.ground import InductionSpec, spec_of
from atom.engine.induction.growing import GrowSettings
from atom.engine.induction.growth_log import read_growth
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.judge.servers.endpoints import load_endpoints
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.server import serving
from atom.records import Study
from atom.settings import load_settings
from atom.store import tree_versions
from tests.atom.engine.test_kill import write_endpoints


@pytest.fixture
def settings(place):
    with serving(ProbeEndpoint(ProbeConfig(latency=0.2))) as base_url:
        write_endpoints(place / "endpoints.yaml", base_url)
        yield load_settings({}, store=str(place))


@pytest.fixture
def spec(store, study, place):
    cut = RunSpec(study_id=study.id, stages=("replay", "criteria"), judge="probe-judge")
    asyncio.run(run(store, cut, load_endpoints(place / "none.yaml")))
    grow = GrowSettings(rounds=1, batch=2, wave=1, min_criteria=1, min_samples=1)
    return InductionSpec(study_id=study.id, judge="http-judge", samples=5, grow=grow)


def wait(store, study_id, wanted):
    deadline = time.monotonic() + 90
    while not wanted(newest_induction(store, study_id)):
        assert time.monotonic() < deadline, newest_induction(store, study_id)
        time.sleep(0.1)
    return newest_induction(store, study_id)


@pytest.mark.slow
def test_it_is_watched_stopped_and_taken_up_again(store, study, spec, settings):
    assert newest_induction(store, study.id) is None
    row = start_work(store, spec, settings)
    assert newest_induction(store, study.id).alive
    assert spec_of(store, row.id) == spec
    with pytest.raises(UsageError, match="carried out already by run"):
        start_work(store, spec, settings)
    wait(store, study.id, lambda now: now.run.done >= 2)
    stop_run(store, row.id)
    stopped = wait(store, study.id, lambda now: not now.alive)
    assert stopped.run.state == "stopped"
    assert read_growth(store, row.id).entries
    assert tree_versions(store, study.id) == []
    roots = start_of(store, stopped.row)
    assert [node.children for node in roots.roots] == [()] * 6

    again = resume_run(store, row.id, settings)
    assert again.id == row.id
    done = wait(store, study.id, lambda now: not now.alive)
    assert done.run.state == "done", done.run.message
    assert store.get(Study, study.id).tree_version == tree_versions(store, study.id)[-1].version
    assert start_of(store, done.row).roots == roots.roots


def test_what_is_not_there(store):
    with pytest.raises(UsageError, match="no induction 'x'"):
        spec_of(store, "x")
