"""Looks: planned, carried out as runs, and read back by the screens."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace

import numpy as np
import pytest

from atom.engine.demo import add_probes
from atom.engine.looks.planning import GONE_ON, SettleSpec, plan_look
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.errors import UsageError
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.worlds.make import make_probes
from atom.records import Run, Study, StudyTask
from atom.store import Store
from atom.store.reading.eligible import read_looks, read_pool
from atom.views.filters import Filters
from atom.views.looks import early as early_views
from atom.views.overview.diagnosis import diagnosis_of
from atom.views.overview.page import overview
from atom.views.study_data import load_study

MODELS = ("model-a", "model-b", "model-c", "model-d")
PROBES = 10


@pytest.fixture(scope="module")
def answered_folder(tmp_path_factory):
    """Let four models answer ten probes whose criteria are cut; nothing is marked."""
    folder = tmp_path_factory.mktemp("answered") / "store"
    known = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(folder) as store:
        study = Study(id=Study.make_id("Looks"), name="Looks", synthetic=True)
        store.put([study])
        probes = make_probes(PROBES, 5, mix={"charts": 1, "gauges": 1})
        add_probes(store, study, probes, 5, total=PROBES, tell=lambda *_: None)
        spec = RunSpec(
            study_id=study.id,
            stages=("answer", "replay", "criteria", "mapping"),
            judge="probe-judge",
            candidates=MODELS,
        )
        asyncio.run(run(store, spec, known))
    return folder


@pytest.fixture
def answered(answered_folder, tmp_path):
    """Give each test its own copy."""
    shutil.copytree(answered_folder, tmp_path / "answered")
    with Store.open(tmp_path / "answered") as opened:
        yield opened


@pytest.mark.slow
async def test_looks_mark_what_they_name_and_the_pages_say_early(answered, endpoints, monkeypatch):
    (study,) = answered.select(Study)
    spec = SettleSpec(study_id=study.id, calls=20)
    first = plan_look(answered, spec, endpoints)
    there = first.pool.there
    assert (first.number, first.spent, first.settled, first.standing) == (1, 0, False, None)
    # A fifth of the answers, whole questions of four models.
    assert first.sizes[0] == round(0.2 * there.sum())
    asked = first.spec.look.asked
    assert {len(models) for models in asked.values()} <= set(there.sum(axis=0).tolist())
    assert sum(s.calls for s in first.forecast.stages if s.stage == "scoring") == sum(
        map(len, asked.values())
    )
    ended = await run(answered, first.spec, endpoints)
    assert (ended.state, ended.kind) == ("done", "study")
    data = load_study(answered, study.id)
    pool = read_pool(answered, data.study, data.study.judge_id)
    assert (pool.judged == pool.of(asked.items())).all()
    early = data.early
    assert (early.number, early.answers) == (1, int(pool.judged.sum()))
    # Under twenty samples a look claims nothing, and ranks are those of the look.
    seen = diagnosis_of(data, Filters(), "process", None)
    assert not np.isin(seen.label, (0, 1, 2)).any()
    rows = overview(data, Filters()).ranking
    assert [row.score.value for row in rows] == sorted(100 * early.standing.overall, reverse=True)
    second = plan_look(answered, spec, endpoints)
    assert (second.number, second.spent, second.open > 0) == (2, early.answers, True)
    assert not (pool.of(second.spec.look.asked.items()) & pool.judged).any()
    assert [look.number for look in read_looks(answered, study.id)] == [1]
    # What is left is judged in one go: that is the end, and nothing is early any more.
    await run(answered, RunSpec(study_id=study.id, judge="probe-judge"), endpoints)
    with monkeypatch.context() as patch:
        # Nobody asks again what could be judged: all of it is.
        patch.setattr(early_views, "read_pool", None)
        assert load_study(answered, study.id).early is None
    done = plan_look(answered, SettleSpec(study_id=study.id, calls=1000), endpoints)
    assert done.spec is None
    assert done.settled or "more samples" in done.why


def test_a_budget_that_is_spent_ends_it(answered, endpoints):
    (study,) = answered.select(Study)
    spec = SettleSpec(study_id=study.id, calls=4)
    asyncio.run(run(answered, plan_look(answered, spec, endpoints).spec, endpoints))
    found = plan_look(answered, spec, endpoints)
    assert found.spec is None
    assert not found.settled
    assert "budget of 4 answers is spent" in found.why


async def test_a_look_that_broke_off_is_gone_on_with(answered, endpoints):
    (study,) = answered.select(Study)
    spec = SettleSpec(study_id=study.id, judge="probe-judge", calls=20)
    first = plan_look(answered, spec, endpoints)
    killed = Run(
        id="killed", study_id=study.id, judge="probe-judge", state="running", created="2026-01-01",
        task=StudyTask(kind="study", stages=("scoring",), look=first.spec.look),
    )  # fmt: skip
    answered.put([killed])
    again = plan_look(answered, spec, endpoints)
    assert (again.number, again.standing, again.why) == (1, None, GONE_ON)
    assert again.spec.look == first.spec.look
    assert again.sizes == (first.sizes[0],)
    # It isn't paid for by whoever wants to pay for less than its rest.
    less = plan_look(answered, replace(spec, calls=2), endpoints)
    assert (less.spec, "too small" in less.why) == (None, True)
    await run(answered, again.spec, endpoints)
    assert [look.number for look in read_looks(answered, study.id)] == [1]
    assert plan_look(answered, spec, endpoints).number == 2


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"calls": 0}, "at least 1"),
        ({"goal": "nodes", "within": 0.0}, "above 0"),
        ({"models": ("nobody",)}, "no model of this study"),
        ({"nodes": (("Nowhere",),)}, "no capability"),
    ],
)
def test_what_cant_be_asked_is_said(answered, endpoints, told, words):
    (study,) = answered.select(Study)
    with pytest.raises(UsageError, match=words):
        plan_look(answered, SettleSpec(study_id=study.id, **told), endpoints)
