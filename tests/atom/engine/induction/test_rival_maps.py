"""Rivals of a study's tree are mapped by its judge: priced, stopped, gone on with, never twice."""

import asyncio
import shutil
from pathlib import Path

import pytest

from atom.engine.consent import ConsentNeeded
from atom.engine.demo import add_probes
from atom.engine.induction.rival_maps import RivalSpec, forecast_rivals, map_rivals
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.judge.servers.endpoints import load_endpoints
from atom.probes.worlds.make import make_probes
from atom.records import Endpoint, Prices, Study
from atom.store import Store, find_study, leaf_mappings, study_criteria
from atom.store.reading.rivals import rival_trees
from taxonomy import load_rival, tree_version

SAMPLES = 8


@pytest.fixture(scope="module")
def mapped_folder(tmp_path_factory):
    """A study of gauges and charts whose criteria a judge has cut and mapped to the seed tree."""
    folder = tmp_path_factory.mktemp("mapped") / "store"
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Rivals"), name="Rivals", synthetic=True)
        store.put([study])
        probes = make_probes(SAMPLES, 3, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, 3, total=SAMPLES, tell=lambda *_: None)
        spec = RunSpec(
            study_id=study.id, stages=("replay", "criteria", "mapping"), judge="probe-judge"
        )
        ended = asyncio.run(run(store, spec, load_endpoints(Path("nowhere"))))
        assert (ended.state, ended.failed) == ("done", 0)
    return folder


@pytest.fixture
def store(mapped_folder, tmp_path):
    shutil.copytree(mapped_folder, tmp_path / "store")
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def spec():
    return RivalSpec(study_id="Rivals", judge="probe-judge")


@pytest.mark.slow
def test_every_rival_is_mapped_once(store, spec, endpoints, counted):
    expected = forecast_rivals(store, spec, endpoints)
    # The seed tree is the study's own: two written ones are left, a request a sample each.
    assert [one.rival.kind for one in expected.rivals] == ["hand_made", "generalist"]
    assert [one.calls for one in expected.rivals] == [SAMPLES, SAMPLES]
    assert (expected.cost, expected.calls) == (0.0, 2 * SAMPLES)
    assert expected.tokens > 0
    told = []
    done = asyncio.run(
        map_rivals(store, spec, endpoints, make=counted.make, on_progress=told.append)
    )
    assert (done.stopped, done.done, counted.total) == ("", 2 * SAMPLES, 2 * SAMPLES)
    assert (told[-1].done, told[-1].total) == (2 * SAMPLES, 2 * SAMPLES)
    criteria = list(study_criteria(store, find_study(store, "Rivals").id))
    for name, hung in done.rivals:
        rival = next(one for one in rival_trees(store, find_study(store, "Rivals"))
                     if one.name == name)  # fmt: skip
        found = leaf_mappings(store, rival.version, criteria)
        assert len(found) == len(criteria)
        assert sum(one.leaf is not None for one in found.values()) == hung > 0
        assert {one.leaf for one in found.values()} - {None} <= set(rival.tree.leaves)
    # Nothing is left to ask, and nothing is asked again; the study's own tree is what it was.
    assert forecast_rivals(store, spec, endpoints).calls == 0
    again = asyncio.run(map_rivals(store, spec, endpoints, make=counted.make))
    assert (again.rivals, again.done, counted.total) == (done.rivals, 0, 2 * SAMPLES)


@pytest.mark.slow
def test_a_stop_keeps_what_came_and_the_same_again_goes_on(store, spec, endpoints, counted):
    halt = asyncio.Event()

    def stop(now):
        if now.done == 5:
            halt.set()

    first = asyncio.run(
        map_rivals(store, spec, endpoints, make=counted.make, halt=halt, on_progress=stop)
    )
    assert first.stopped == "stopped on request; the same again goes on"
    asked = counted.total
    assert 5 <= asked < 2 * SAMPLES
    assert forecast_rivals(store, spec, endpoints).calls == 2 * SAMPLES - asked
    second = asyncio.run(map_rivals(store, spec, endpoints, make=counted.make))
    assert (second.stopped, counted.total) == ("", 2 * SAMPLES)


def test_a_dear_judge_has_its_price_and_stops_at_the_cap(store, endpoints, counted):
    dear = Endpoint(name="dear", base_url="probe:", model="probe-judge",
                    prices=Prices(input=100, output=100))  # fmt: skip
    spec = RivalSpec(study_id="Rivals", judge="dear", budget=0.0)
    known = {**endpoints, "dear": dear}
    assert forecast_rivals(store, spec, known).cost > 0.1
    done = asyncio.run(map_rivals(store, spec, known, make=counted.make))
    assert "larger budget" in done.stopped
    assert done.done == 0


def test_it_says_what_is_missing_before_anybody_is_asked(store, spec, endpoints):
    far = Endpoint(name="far", base_url="https://judge.example/v1", model="m",
                   prices=Prices(input=1, output=1))  # fmt: skip
    with pytest.raises(ConsentNeeded, match=r"judge\.example"):
        asyncio.run(
            map_rivals(store, RivalSpec(study_id="Rivals", judge="far"), {**endpoints, "far": far})
        )
    with store.write() as writer:
        writer.put([Study(id="bare", name="Bare")])
    with pytest.raises(UsageError, match="has no tree yet"):
        forecast_rivals(store, RivalSpec(study_id="Bare", judge="probe-judge"), endpoints)


@pytest.mark.parametrize("name", ["hand_made", "generalist"])
def test_the_written_rivals_are_told_by_their_content(store, name):
    found = {one.kind: one for one in rival_trees(store, find_study(store, "Rivals"))}
    assert found[name].version == tree_version(load_rival(name))
    assert "seed" not in found
