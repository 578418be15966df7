"""The blind control."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace

import pytest

from atom.engine.blind.ground import BlindSpec, draw, forecast_blind
from atom.engine.blind.labels import SOURCE
from atom.engine.consent import ConsentNeeded
from atom.engine.demo import add_probes
from atom.engine.study.spec import RunSpec
from atom.engine.work import carry_out, open_work, run
from atom.errors import UsageError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.serving.faults import FaultPlan
from atom.probes.worlds.make import make_probes
from atom.records import ANSWERABLE, Call, Checkpoint, Prices, Response, Study, Tag
from atom.store import Store, table
from atom.store.standing.answers import study_answers
from tests.atom.engine.conftest import Counted

MODELS = ("model-a", "model-b", "model-c", "model-d")
PROBES = 12


@pytest.fixture(scope="session")
def stated_folder(tmp_path_factory):
    """Answer and judge probes, some of whose questions state the answer, once."""
    folder = tmp_path_factory.mktemp("stated") / "store"
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Stated"), name="Stated", synthetic=True)
        store.put([study])
        probes = make_probes(PROBES, 5, mix={"charts": 1, "gauges": 1, "tables": 1})
        add_probes(store, study, probes, 5, total=PROBES, tell=lambda *_: None, stated=0.4)
        asyncio.run(
            run(store, RunSpec(study_id=study.id, judge="probe-judge", candidates=MODELS), known)
        )
    return folder


@pytest.fixture
def stated(stated_folder, tmp_path):
    """Give each test its own copy."""
    shutil.copytree(stated_folder, tmp_path / "stated")
    with Store.open(tmp_path / "stated") as opened:
        yield opened


def spec_for(store: Store, **told) -> BlindSpec:
    (study,) = store.select(Study)
    return BlindSpec(**{"study_id": study.id, "samples": 4, "candidates": MODELS, **told})


def labels(store: Store) -> dict[str, str]:
    tags = store.select(Tag, table(Tag).c.source == SOURCE)
    assert {tag.facet for tag in tags} <= {ANSWERABLE}
    return {tag.subject_id: tag.value for tag in tags}


@pytest.mark.slow
async def test_planted_questions_are_found_and_no_others(stated, endpoints, counted):
    (study,) = stated.select(Study)
    before = study_answers(stated, study)
    spec = spec_for(stated, samples=100)
    told = forecast_blind(stated, spec, endpoints)
    assert (told.answers, told.scorings) == (told.samples * 4, told.samples * 4)
    row = open_work(stated, spec, endpoints)
    ended = await carry_out(stated, row.id, endpoints, make=counted.make)
    assert (ended.state, ended.done, ended.total) == ("done", told.calls, told.calls)
    # Two models that say the same words are marked once.
    assert told.answers < counted.total <= told.calls
    asked = stated.select(Call, table(Call).c.task == "blind")
    assert len(asked) == told.answers
    planted = {tag.subject_id for tag in stated.select(Tag) if tag.facet == "planted"}
    found = labels(stated)
    assert len(found) == told.samples == told.eligible
    # Sensitivity and specificity of at least .95, of so few, allow for no miss.
    assert {name for name, value in found.items() if value == "yes"} == planted & set(found)
    assert len(planted & set(found)) >= 3
    # The study's own answers and their marks are what they were.
    assert study_answers(stated, study) == before


@pytest.mark.slow
async def test_the_same_again_costs_nothing_and_more_goes_on(stated, endpoints, counted):
    first = open_work(stated, spec_for(stated, samples=2), endpoints)
    await carry_out(stated, first.id, endpoints, make=counted.make)
    small = set(labels(stated))
    paid = counted.total
    assert 2 * 4 < paid <= 2 * 4 * 2
    again = open_work(stated, spec_for(stated, samples=3), endpoints)
    assert forecast_blind(stated, spec_for(stated, samples=3), endpoints).calls == 4 * 2
    await carry_out(stated, again.id, endpoints, make=counted.make)
    assert paid + 4 < counted.total <= paid + 4 * 2
    assert small < set(labels(stated))
    assert forecast_blind(stated, spec_for(stated, samples=3), endpoints).calls == 0


@pytest.mark.slow
async def test_trouble_is_accounted_for_and_made_good(stated, endpoints):
    quick = {n: e.model_copy(update={"max_tries": 1}) for n, e in endpoints.items()}
    down = Counted(faults=FaultPlan(rates={"reset": 1.0}, tries=100))
    row = open_work(stated, spec_for(stated, samples=1), quick)
    ended = await carry_out(stated, row.id, quick, make=down.make)
    assert (ended.failed, ended.done, ended.total) == (4, 4, 4)
    assert labels(stated) == {}
    up = Counted()
    ended = await carry_out(stated, row.id, quick, retry_failed=True, make=up.make)
    assert ended.state == "done"
    assert 4 < up.total <= 8
    assert len(labels(stated)) == 1
    blind = stated.select(Response, table(Response).c.arm == "blind")
    assert {one.state for one in blind} == {"scored"}
    marks = stated.get_many(Checkpoint, [one.id for one in blind], "response_id")
    assert marks


def test_a_larger_draw_holds_a_smaller_one():
    names = [f"s{at}" for at in range(30)]
    assert set(draw("study", names, 5)) < set(draw("study", names[::-1], 12))
    assert draw("study", names, 30) != draw("other", names, 30)


def test_what_cant_be_asked_is_refused_in_words(stated, endpoints):
    with pytest.raises(UsageError, match="at least 1 is needed"):
        open_work(stated, spec_for(stated, samples=0), endpoints)
    with pytest.raises(UsageError, match="no model is named"):
        open_work(stated, spec_for(stated, candidates=()), endpoints)
    with pytest.raises(UsageError, match="hasn't answered in this study yet"):
        open_work(stated, spec_for(stated, candidates=("model-h",)), endpoints)
    far = endpoints["model-a"].model_copy(
        update={"base_url": "https://models.example/v1", "prices": Prices()}
    )
    spec = spec_for(stated)
    there = {**endpoints, "model-a": far}
    with pytest.raises(ConsentNeeded, match=r"models\.example"):
        open_work(stated, spec, there)
    assert forecast_blind(stated, spec, there).cost is None
    assert forecast_blind(stated, replace(spec, candidates=MODELS[1:]), endpoints).cost == 0
