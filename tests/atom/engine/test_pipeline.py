"""The method in a row brings what a run brings, and stops where nothing can follow."""

from __future__ import annotations

import pytest

from atom.engine.live_replay import Live
from atom.engine.members import study_tree
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.pipeline import BY_NAME, LOOP, known, usable
from atom.records import Checkpoint, CriteriaSet, Mapping, Outcome, Replay, Response
from atom.stages import criteria, replay
from atom.stages.stage import Subject
from atom.store import study_places

KINDS = (Response, Replay, CriteriaSet, Mapping, Checkpoint, Outcome)


def whole(live: Live, endpoints) -> object:
    """Take all steps in a row."""
    return live.whole(candidates=[endpoints["model-a"], endpoints["model-b"]])


@pytest.fixture
def live(store, study, endpoints, counted) -> Live:
    place = study_places(store, study.id)[0]
    tree, _ = study_tree(store, study, "")
    made = Live.of_study(store, place.sample_id, endpoints["probe-judge"], study, tree)
    return Live(**{**vars(made), "make": counted.make})


def bare(record):
    """A record without the call that it's of, which has a time."""
    return record.model_copy(update={"call_id": None})


async def test_a_run_brings_what_the_method_in_a_row_brings(live, store, study, endpoints, counted):
    loop = [r async for brought in whole(live, endpoints) for r in brought.records]
    spec = RunSpec(study_id=study.id, judge="probe-judge", candidates=("model-a", "model-b"))
    await run(store, spec, endpoints, make=counted.make)
    for kind in KINDS:
        mine = {bare(r).model_dump_json() for r in loop if isinstance(r, kind)}
        theirs = {bare(r).model_dump_json() for r in store.select(kind)}
        assert mine
        assert mine <= theirs


@pytest.mark.parametrize("stage", [replay, criteria], ids=["replay", "criteria"])
async def test_nothing_follows_from_what_cannot_be_used(live, endpoints, stage, monkeypatch):
    parse = stage.parse

    def unusable(*given, **more):
        found = parse(*given, **more)
        if isinstance(found, Replay):
            return found.model_copy(update={"state": "unscored"})
        cut = found.criteria_set.model_copy(update={"state": "unscored"})
        return criteria.CriteriaResult(criteria_set=cut)

    monkeypatch.setattr(stage, "parse", unusable)
    loop = [r async for brought in whole(live, endpoints) for r in brought.records]
    assert {type(r) for r in loop} == {Response, Replay, Outcome} | (
        {CriteriaSet} if stage is criteria else set()
    )


def test_every_stage_says_what_it_needs(live):
    assert [stage.name for stage in LOOP] == list(BY_NAME)
    about = live.about()
    fields = set(Subject.__dataclass_fields__)
    for stage in LOOP:
        assert stage.needs <= fields
        assert usable(about, stage) is (not stage.needs)
    assert known(about, [live.sample]) == about
