"""Marks of an older scale: counted, named with their price, made anew, and then out of the way."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from atom.engine.forecast import forecast
from atom.engine.studies.remark import remark_words, to_remark
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Checkpoint
from atom.stages import scoring
from atom.store import list_studies
from atom.store.standing.marks import OlderMarks, older_marks
from atom.store.store import DATABASE
from tests.atom.engine.conftest import SAMPLES

FREE = {endpoint.name: endpoint for endpoint in builtin_endpoints()}


@pytest.fixture
def judged(store, place):
    """Return the study after a run, its marks as if an older prompt had made them."""
    study = list_studies(store)[0]
    spec = RunSpec(study_id=study.id, judge="probe-judge", candidates=("model-a", "model-b"))
    asyncio.run(run(store, spec, FREE))
    marks = len(store.select(Checkpoint))
    with closing(sqlite3.connect(place / DATABASE)) as connection, connection:
        connection.execute("UPDATE checkpoints SET prompt = 'scoring/1', key = 'old ' || key, "
                           "addressed = NULL, carried = NULL")  # fmt: skip
    return list_studies(store)[0], spec, marks


@pytest.mark.slow
def test_a_run_names_what_it_marks_again_and_then_nothing_is_left(store, judged):
    study, spec, marks = judged
    found = forecast(store, spec, FREE)
    older = OlderMarks(answers=2 * SAMPLES, marks=marks, prompts=("scoring/1",))
    assert older_marks(store, study, study.judge_id) == older
    assert found.notices == (remark_words(older),)
    # Only the scoring is to do anew, once for each answer.
    assert {item.stage: item.calls for item in found.stages} == {"scoring": 2 * SAMPLES}
    ended = asyncio.run(run(store, spec, FREE))
    assert ended.failed == ended.unscored == 0
    assert older_marks(store, study, study.judge_id) == OlderMarks()
    assert forecast(store, spec, FREE).notices == ()
    # The older marks are kept beside the newer ones.
    prompts = [point.prompt for point in store.select(Checkpoint)]
    assert prompts.count("scoring/1") == prompts.count(scoring.PROMPT) == marks


def test_what_does_not_score_marks_nothing_again(store, judged):
    study, spec, _ = judged
    assert to_remark(store, spec, study.judge_id).answers == 2 * SAMPLES
    assert to_remark(store, spec, None) == OlderMarks()
    assert to_remark(store, spec, "another judge") == OlderMarks()
    quiet = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
    assert to_remark(store, quiet, study.judge_id) == OlderMarks()


@pytest.mark.parametrize(
    ("older", "words"),
    [
        (OlderMarks(), ""),
        (OlderMarks(answers=1, marks=1, prompts=("scoring/1",)), "1 answer holds 1 mark of"),
        (OlderMarks(answers=1200, marks=4800, prompts=("scoring/1",)),
         "1,200 answers hold 4,800 marks of this judge on the older scale (scoring/1)"),
    ],
)  # fmt: skip
def test_words(older, words):
    said = remark_words(older)
    assert said.startswith(words)
    assert bool(said) == bool(older.answers)
