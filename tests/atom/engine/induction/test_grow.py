"""A study's tree grows from its own criteria: end to end, stopped, killed and resumed."""

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from atom.engine.consent import ConsentNeeded
from atom.engine.control import stop_run
from atom.engine.demo import add_probes
from atom.engine.induction.forecast import forecast_induction
from atom.engine.induction.ground import InductionSpec, load_cuts, prepare
from atom.engine.induction.grow import induce
from atom.engine.induction.growing import GrowSettings
from atom.engine.ledger import run_claim
from atom.engine.study.spec import RunSpec
from atom.engine.work import open_work, run
from atom.errors import UsageError
from atom.judge import CallRefused
from atom.judge.embedding import EmbeddingClient, Embeddings
from atom.judge.servers.endpoints import load_endpoints
from atom.probes.naming import planted_leaf
from atom.probes.serving.config import ProbeConfig
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.faults import FaultPlan
from atom.probes.serving.judges import LOOSE_NAMER
from atom.probes.serving.server import serving
from atom.probes.worlds.make import make_probes
from atom.records import Call, Criterion, Endpoint, Induction, Mapping, Prices, Run, Sample, Study
from atom.records.vectors import embedding_id, pack
from atom.store import (
    Store,
    leaf_mappings,
    load_tree,
    study_criteria,
    table,
    tree_log,
    tree_versions,
)
from atom.store.holds import drop_hold
from atom.store.store import DATABASE
from taxonomy import load_anchors, to_json
from taxonomy.edits import replay
from taxonomy.grow import GrownTree, roots_of
from taxonomy.prune import support

PROJECT = Path(__file__).resolve().parents[4]
SAMPLES = 24
FREE = Prices(input=0.0, output=0.0)


@pytest.fixture(scope="module")
def cut_folder(tmp_path_factory):
    """Draw probes and let the judge cut criteria, once; nothing tells their leaves."""
    folder = tmp_path_factory.mktemp("cut") / "store"
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Hidden"), name="Hidden", synthetic=True)
        store.put([study])
        probes = make_probes(SAMPLES, 3, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, 3, total=SAMPLES, tell=lambda *_: None)
        spec = RunSpec(study_id=study.id, stages=("replay", "criteria"), judge="probe-judge")
        endpoints = load_endpoints(Path("nowhere"))
        ended = asyncio.run(run(store, spec, endpoints))
        assert (ended.state, ended.failed) == ("done", 0)
    return folder


@pytest.fixture
def place(cut_folder, tmp_path):
    shutil.copytree(cut_folder, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def store(place):
    with Store.open(place) as opened:
        yield opened


@pytest.fixture
def endpoints(endpoints):
    loose = Endpoint(name=LOOSE_NAMER, base_url="probe:", model=LOOSE_NAMER, prices=FREE)
    dear = Endpoint(
        name="dear", base_url="probe:", model="probe-judge", prices=Prices(input=100, output=100)
    )
    return {**endpoints, LOOSE_NAMER: loose, "dear": dear}


@pytest.fixture
def spec(store):
    (study,) = store.select(Study)
    settings = GrowSettings(rounds=2, min_criteria=3, min_samples=3)
    return InductionSpec(study_id=study.id, judge="probe-judge", grow=settings)


def do(store, spec, endpoints, counted, **options):
    return asyncio.run(induce(store, spec, endpoints, make=counted.make, **options))


@pytest.mark.slow
def test_the_planted_leaves_come_back(store, spec, endpoints, counted):
    told = []
    done = do(store, spec, endpoints, counted, on_progress=told.append)
    assert (done.run.state, done.unmapped, done.row.unplaced) == ("done", 0, 0)
    sample_of = study_criteria(store, spec.study_id)
    assert done.mapped == len(sample_of)
    assert done.run.done == done.run.total == counted.total == told[-1].done
    # The study has the tree, its history and its log.
    study = store.get(Study, spec.study_id)
    first, version = tree_versions(store, study.id)
    assert study.tree_version == version.version == done.version.version
    assert (first.origin, version.origin) == ("seed", "induced")
    log = tree_log(store, study.id, 1)
    assert log == done.log
    *_, last = replay(load_tree(store, version.parent_version), log)
    assert last.tree == load_tree(store, version.version) == done.tree
    assert load_tree(store, version.parent_version).roots == roots_of(load_anchors()).roots
    assert done.tree.name == "Grown from Hidden"
    # Every leaf is planted, lies in layer four and has enough support.
    questions = {s.id: s.question for s in store.select(Sample)}
    mapped = leaf_mappings(store, version.version, list(sample_of))
    leaf_of = {name: m.leaf for name, m in mapped.items()}
    planted = {
        c.id: planted_leaf(questions[c.sample_id], c.question) for c in store.select(Criterion)
    }
    counts = support(GrownTree(tree=done.tree, leaf_of=leaf_of), sample_of)
    assert all(s.enough(3, 3) for s in counts.values())
    same = sum(leaf_of[name] == planted[name] for name in leaf_of)
    assert same >= 0.9 * len(leaf_of)


@pytest.mark.slow
def test_the_same_again_asks_nothing(store, spec, endpoints, counted):
    first = do(store, spec, endpoints, counted)
    asked = counted.total
    again = do(store, spec, endpoints, counted)
    assert counted.total == asked
    assert (again.version, again.tree, again.log) == (first.version, first.tree, first.log)
    assert (again.mapped, again.unmapped) == (first.mapped, first.unmapped)
    assert len(tree_versions(store, spec.study_id)) == 2


@pytest.mark.slow
def test_another_seed_is_another_induction_with_a_version_of_its_own(
    store, spec, endpoints, counted
):
    do(store, spec, endpoints, counted)
    other = replace(spec, grow=replace(spec.grow, seed=1))
    do(store, other, endpoints, counted)
    assert [v.position for v in tree_versions(store, spec.study_id)] == [0, 1, 2]
    assert len(store.select(Induction)) == 2


@pytest.mark.slow
def test_a_study_s_tree_becomes_the_first_point_of_its_history(store, spec, endpoints, counted):
    """Walk A7: once a grown tree was still called "Seed tree"."""
    seed = load_anchors()
    mapping = RunSpec(study_id=spec.study_id, stages=("mapping",), judge="probe-judge")
    asyncio.run(run(store, mapping, endpoints, make=counted.make))
    before = store.get(Study, spec.study_id).tree_version
    extended = replace(spec, start="current")
    done = do(store, extended, endpoints, counted)
    points = tree_versions(store, spec.study_id)
    assert [(p.origin, p.version) for p in points] == [
        ("seed", before),
        ("induced", done.version.version),
    ]
    assert load_tree(store, before) == seed
    assert done.tree.name != seed.name
    assert points[1].parent_version == before
    # Leaves of the seed that no criterion speaks for are gone, by the rule and in the log.
    assert len(done.tree.leaves) < len(seed.leaves)
    assert {entry.by for entry in done.log} == {"rule: support"}


@pytest.mark.slow
def test_loose_names_are_united_and_all_is_logged(store, spec, endpoints, counted):
    done = do(store, replace(spec, judge=LOOSE_NAMER), endpoints, counted)
    assert done.version is not None
    *_, last = replay(roots_of(load_anchors()), done.log)
    assert last.tree.roots == done.tree.roots
    assert any("same/1" in entry.by for entry in done.log)
    assert all(entry.why for entry in done.log)
    assert {entry.round for entry in done.log} >= {1, 3}
    mapped = leaf_mappings(store, done.version.version, list(study_criteria(store, spec.study_id)))
    counts = support(
        GrownTree(tree=done.tree, leaf_of={n: m.leaf for n, m in mapped.items() if m.leaf}),
        study_criteria(store, spec.study_id),
    )
    assert all(s.enough(3, 3) for s in counts.values())


@pytest.mark.slow
def test_many_leaves_are_offered_in_shortlists(store, spec, endpoints, counted, monkeypatch):
    whole = do(store, spec, endpoints, counted)
    monkeypatch.setattr("atom.engine.induction.mapper.SHORTLIST_FROM", 2)
    monkeypatch.setattr("atom.engine.induction.mapper.SHORTLIST", 2)
    with store.write() as writer:
        writer.delete(Mapping, table(Mapping).c.judge_id != "")
        writer.delete(Induction, table(Induction).c.id != "")
    before = counted.total
    short = do(store, spec, endpoints, counted)
    assert (short.mapped, short.unmapped) == (whole.mapped, whole.unmapped)
    assert short.tree == whole.tree
    # New requests are those with shortlists, and a second one wherever the right leaf wasn't on it.
    assert SAMPLES <= counted.total - before <= 2 * SAMPLES
    offered = [len(body) for body in list(counted.asked)[-5:]]
    assert min(offered) > 0


@pytest.mark.slow
def test_a_spend_cap_stops_it_and_a_larger_one_goes_on(store, spec, endpoints, counted):
    capped = replace(spec, judge="dear", budget=1.0)
    stopped = do(store, capped, endpoints, counted)
    assert (stopped.version, stopped.run.state) == (None, "stopped")
    assert "larger budget" in stopped.run.message
    assert 0 < stopped.run.cost <= 1.0
    asked = counted.total
    done = do(store, replace(capped, budget=1000.0), endpoints, counted)
    assert done.run.state == "done"
    assert done.run.cost > stopped.run.cost
    assert counted.total == done.run.done > asked
    assert max(counted.asked.values()) == 1


@pytest.mark.slow
def test_a_stop_lets_calls_in_flight_end(store, spec, endpoints, counted, monkeypatch):
    # It looks at its row often and asks slowly, so that the stop meets it at work.
    monkeypatch.setattr("atom.engine.execution.BEAT", 0.02)
    counted.latency = 0.05
    before = len(store.select(Call))

    def stop(progress):
        if progress.done >= 5:
            stop_run(store, progress.run_id)

    stopped = do(store, spec, endpoints, counted, on_progress=stop)
    assert (stopped.version, stopped.run.state) == (None, "stopped")
    assert "stopped on request" in stopped.run.message
    assert len(store.select(Call)) - before == counted.total  # nothing that was asked is lost
    assert tree_versions(store, spec.study_id) == []
    done = do(store, spec, endpoints, counted)
    assert done.run.state == "done"
    assert max(counted.asked.values()) == 1


@pytest.mark.slow
def test_a_server_that_is_down_stops_it_and_nothing_is_lost(store, spec, endpoints, counted):
    counted.faults = FaultPlan(rates={"server_error": 1.0})
    quick = endpoints["probe-judge"].model_copy(update={"max_tries": 1})
    stopped = do(store, spec, {**endpoints, "probe-judge": quick}, counted)
    assert (stopped.run.state, stopped.version) == ("stopped", None)
    assert "goes on" in stopped.run.message
    counted.faults = FaultPlan()
    assert do(store, spec, endpoints, counted).run.state == "done"


@pytest.mark.slow
def test_one_process_at_a_time(store, spec, endpoints, counted):
    row = open_work(store, spec, endpoints)
    with store.write() as writer:
        drop_hold(writer, run_claim(row.id))
        writer.claim([run_claim(row.id)], "elsewhere/1/", 60, time.time())
    with pytest.raises(UsageError, match="carried out already by run"):
        do(store, spec, endpoints, counted)
    assert counted.total == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": 0}, "0 samples"),
        ({"grow": GrowSettings(seed=-1)}, "seed is 0 or more"),
        ({"grow": GrowSettings(rounds=21)}, "0 to 20 rounds"),
        ({"grow": GrowSettings(min_criteria=0)}, "1 or more"),
        ({"facet": "nothing"}, "no sample has the facet"),
        ({"judge": "nobody"}, "no endpoint"),
        ({"grow": GrowSettings(min_criteria=999)}, "no leaf has enough support"),
    ],
)
def test_what_can_not_be_done(store, spec, endpoints, counted, change, words):
    with pytest.raises(UsageError, match=words):
        do(store, replace(spec, **change), endpoints, counted)


def test_a_study_without_criteria(store, spec, endpoints, counted):
    store.put([Study(id="bare", name="Bare")])
    with pytest.raises(UsageError, match="no samples"):
        do(store, replace(spec, study_id="bare"), endpoints, counted)


def test_remote_hosts_are_asked_about(store, spec, endpoints, counted):
    remote = Endpoint(name="far", base_url="https://far.example/v1", model="m")
    with pytest.raises(ConsentNeeded, match=r"far\.example"):
        do(store, replace(spec, judge="far"), {**endpoints, "far": remote}, counted)


def test_balance_takes_a_facet(store, spec, endpoints):
    ground = prepare(store, replace(spec, facet="family", samples=6), endpoints, "")
    families = [cut.sample.source_id.split("/")[0] for cut in ground.subset]
    assert sorted(families) == ["charts"] * 3 + ["gauges"] * 3
    assert len(ground.cuts) == len(load_cuts(store, spec.study_id)) == SAMPLES


@pytest.mark.slow
def test_calls_and_price_are_known_before(store, spec, endpoints, counted):
    expected = forecast_induction(store, replace(spec, judge="dear"), endpoints)
    done = do(store, replace(spec, judge="dear"), endpoints, counted)
    assert [phase.phase for phase in expected.phases] == [
        "proposing",
        "uniting",
        "weeding",
        "mapping",
    ]
    assert 0.6 * done.run.done <= expected.calls <= 1.6 * done.run.done
    assert 0.4 * done.run.cost <= expected.cost <= 2.5 * done.run.cost
    free = forecast_induction(store, spec, endpoints)
    assert free.cost == 0
    unknown = endpoints["dear"].model_copy(update={"prices": Prices()})
    assert forecast_induction(store, replace(spec, judge="dear"), {"dear": unknown}).cost is None


class Embedder(EmbeddingClient):
    """Counts texts, and turns each into a vector of its length; or knows no embeddings."""

    texts = 0
    able = True

    async def embed(self, texts):
        if not Embedder.able:
            raise CallRefused("this server has no embeddings")
        Embedder.texts += len(texts)
        vectors = tuple((float(len(text)), 1.0) for text in texts)
        name = embedding_id(self.endpoint.model, texts)
        call = Call(
            id=name, request_hash=name, task="embedding", endpoint="vectors", model="m",
            prompt="embedding/1", reply=pack(vectors),
        )  # fmt: skip
        return Embeddings(vectors=vectors, call=call)


@pytest.fixture
def vectors(endpoints):
    Embedder.texts, Embedder.able = 0, True
    made = Endpoint(name="vectors", base_url="probe:", model="m", roles=("embedding",))
    return {**endpoints, "vectors": made}


@pytest.mark.slow
def test_embeddings_are_paid_once(store, spec, vectors, counted):
    with_vectors = replace(spec, embedding="vectors")
    first = do(store, with_vectors, vectors, counted, make_embedder=Embedder)
    asked = Embedder.texts
    assert asked > 0
    with store.write() as writer:
        writer.delete(Induction, table(Induction).c.id != "")
    again = do(store, with_vectors, vectors, counted, make_embedder=Embedder)
    assert Embedder.texts == asked
    assert again.log == first.log


@pytest.mark.slow
def test_without_embeddings_letters_decide(store, spec, vectors, counted):
    Embedder.able = False
    done = do(store, replace(spec, embedding="vectors"), vectors, counted, make_embedder=Embedder)
    assert done.run.state == "done"
    with pytest.raises(UsageError, match="roles"):
        do(store, replace(spec, embedding="probe-judge"), vectors, counted)


def test_a_remote_embedding_host_is_asked_about(store, spec, vectors, counted):
    far = vectors["vectors"].model_copy(update={"base_url": "https://far.example/v1"})
    with pytest.raises(ConsentNeeded, match=r"far\.example"):
        do(store, replace(spec, embedding="vectors"), {**vectors, "vectors": far}, counted)


KILLED = """
import asyncio, sys
from pathlib import Path
from atom.engine.induction.growing import GrowSettings
from atom.engine.induction.grow import induce
from atom.engine.induction.ground import InductionSpec
from atom.judge.servers.endpoints import load_endpoints
from atom.records import Study
from atom.store import Store

with Store.open(sys.argv[1]) as store:
    (study,) = store.select(Study)
    settings = GrowSettings(rounds=2, min_criteria=3, min_samples=3)
    spec = InductionSpec(study_id=study.id, judge="loose", grow=settings)
    asyncio.run(induce(store, spec, load_endpoints(Path(sys.argv[2]))))
"""


class CountingEndpoint(ProbeEndpoint):
    """Counts what it is asked."""

    def __init__(self, config):
        super().__init__(config)
        self.asked = []

    def handle(self, method, path, headers, body):
        self.asked.append(body)
        return super().handle(method, path, headers, body)


@pytest.mark.attack
def test_killed_and_resumed_it_is_the_same_tree(place, tmp_path):
    twin = tmp_path / "twin"
    shutil.copytree(place, twin)
    server = CountingEndpoint(ProbeConfig(latency=0.04))
    with serving(server) as url:
        file = tmp_path / "endpoints.yaml"
        row = {
            "name": "loose",
            "base_url": f"probe:{url}",
            "model": LOOSE_NAMER,
            "roles": ["judge"],
            "concurrency": 4,
        }
        file.write_text(yaml.safe_dump([row]), encoding="utf-8")
        words = [sys.executable, "-c", KILLED]
        subprocess.run([*words, str(twin), str(file)], cwd=PROJECT, check=True, timeout=120)
        unbroken = len(server.asked)
        kills = 0
        for mark in (4, 20):
            before = _calls(place)
            process = subprocess.Popen([*words, str(place), str(file)], cwd=PROJECT)
            deadline = time.monotonic() + 60
            while process.poll() is None and _calls(place) < mark and time.monotonic() < deadline:
                time.sleep(0.01)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait(10)
            assert _calls(place) >= before
        assert kills == 2
        subprocess.run([*words, str(place), str(file)], cwd=PROJECT, check=True, timeout=120)
    with Store.open(place) as one, Store.open(twin) as other:
        found, expected = _outcome(one), _outcome(other)
    assert found == expected
    # Each kill loses at most the four calls in flight.
    assert len(server.asked) - unbroken <= unbroken + 4 * kills


def _calls(place):
    with closing(sqlite3.connect(place / DATABASE)) as connection:
        tasks = "('propose', 'same', 'mapping')"
        (count,) = connection.execute(
            f"SELECT count(*) FROM calls WHERE task IN {tasks}"
        ).fetchone()
    return count


def _outcome(store):
    (study,) = store.select(Study)
    version = tree_versions(store, study.id)[-1]
    mapped = leaf_mappings(store, version.version, list(study_criteria(store, study.id)))
    return (
        version.version,
        to_json(load_tree(store, version.version)),
        tree_log(store, study.id, version.position),
        {name: m.leaf for name, m in mapped.items()},
        [run.state for run in store.select(Run)],
    )
