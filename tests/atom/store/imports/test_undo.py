from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from atom.engine.imports.importing import import_reading
from atom.errors import UsageError
from atom.formats import ImportFile, read
from atom.records import (
    Candidate,
    Checkpoint,
    Import,
    Outcome,
    Preference,
    Response,
    Sample,
    StudyCandidate,
    StudySample,
    Tag,
)
from atom.store import Store, copy_study, undo_import
from atom.store.schema import import_links
from tests.votes import vote_files

KINDS = (
    Sample, Candidate, Response, Outcome, Preference, Tag, StudySample, StudyCandidate, Import,
)  # fmt: skip
ROWS = b"""id,question,answer,response,model,verdict,skill
1,How many?,3,3,m1,1,counting
2,Which?,red,blue,m1,0,colour
"""


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s") as opened:
        yield opened


def bring(store, day, *files, name="Mine", format="mllm-bench", dataset=None):
    moment = datetime(2026, 1, day, tzinfo=UTC)
    return import_reading(store, read(format, files, dataset=dataset), name, moment).record


def counts(store):
    return [len(store.select(kind)) for kind in KINDS]


def links(store):
    with store.read() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(import_links)).scalar_one()


@pytest.mark.parametrize("format", ["table", "mllm-bench"])
def test_undoing_the_only_import_leaves_nothing(store, format):
    files = [ImportFile.from_bytes("rows.csv", ROWS)] if format == "table" else vote_files(6)[0]
    record = bring(store, 1, *files, format=format)
    before = counts(store)
    assert before[0]
    undone = undo_import(store, record.id)
    assert counts(store) == [0] * len(KINDS)
    assert links(store) == 0
    assert (undone.samples, undone.responses) == (before[0], before[2])
    assert (undone.preferences, undone.kept) == (before[4], 0)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_two_imports_brought_goes_with_the_second(store, order):
    files, _ = vote_files(6)
    records = [bring(store, 1, *files), bring(store, 2, *files)]
    whole = counts(store)
    undo_import(store, records[order[0]].id)
    assert counts(store) == [*whole[:-1], 1]
    undo_import(store, records[order[1]].id)
    assert counts(store) == [0] * len(KINDS)


def test_votes_that_only_a_later_import_brought_go_with_it(store):
    questions, votes = vote_files(6)[0]
    bring(store, 1, questions)
    before = counts(store)
    undo_import(store, bring(store, 2, questions, votes).id)
    assert counts(store) == before


def test_what_another_study_holds_stays(store):
    record = bring(store, 1, *vote_files(6)[0])
    whole = counts(store)
    copy_study(store, store, record.study_id, "Copy")
    undone = undo_import(store, record.id)
    # The copy's places, seats and records stay; this study's are gone.
    assert counts(store) == [*whole[:-1], 0]
    assert (undone.samples, undone.responses, undone.preferences) == (6, 0, 0)
    assert undone.kept == 6 + 24


def test_what_a_run_scored_stays(store):
    record = bring(store, 1, *vote_files(6)[0])
    scored = store.select(Response)[0]
    store.put(
        [
            Checkpoint(
                key="k", criterion_id="c", response_id=scored.id, judge_id="j", prompt="p",
                state="scored", score=3,
            )
        ]
    )  # fmt: skip
    undone = undo_import(store, record.id)
    assert [response.id for response in store.select(Response)] == [scored.id]
    assert [sample.id for sample in store.select(Sample)] == [scored.sample_id]
    assert undone.kept == 2
    assert store.select(StudySample) == []


def test_an_import_that_is_not_there(store):
    with pytest.raises(UsageError, match="none yet"):
        undo_import(store, "no")
