"""What asks twice goes by batches, too: the second question waits for the next batch."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from atom.engine.batch.files import list_parcels
from atom.engine.batch.sending import open_batch_run, run_batches
from atom.engine.study.spec import RunSpec
from atom.judge.timing import Timing
from atom.probes.serving.batches import BatchEndpoint
from atom.probes.serving.server import serving
from atom.records import Call, CriteriaSet, Replay, Sample
from atom.stages import criteria
from atom.store import study_places
from tests.atom.engine.batch.test_sending import no_wait, served

TIMING = Timing(sleep=no_wait, random=lambda: 0.0)
FREE = {"reference": "Something that nobody would say in these words.", "choices": ()}


@pytest.mark.slow
def test_second_questions_go_into_the_next_batch(store, study, monkeypatch):
    monkeypatch.setattr(criteria, "broken_rules", lambda *_, **__: ("criterion 1 is odd",))
    first = store.get(Sample, study_places(store, study.id)[0].sample_id)
    store.replace([first.model_copy(update=FREE)])
    asked = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay", "criteria"), limit=2)
    service = BatchEndpoint()
    with serving(service) as base_url:
        known = served(base_url)
        row = open_batch_run(store, asked, known)
        ended = asyncio.run(run_batches(store, row.id, known, timing=TIMING))
    assert (ended.state, ended.done, ended.failed) == ("done", 4, 0)
    # The first sample's replay is compared, and its criteria say that the two conflict; the
    # second one's criteria go back.
    assert [sorted(parcel.tasks) for parcel in list_parcels(store)] == [
        ["replay"], ["criteria", "outcome"], ["criteria"],
    ]  # fmt: skip
    assert Counter(call.task for call in store.select(Call)) == {
        "replay": 2, "outcome": 1, "criteria": 3,
    }  # fmt: skip
    compared = [one for one in store.select(Replay) if "compared by the judge" in one.detail]
    assert [(one.sample_id, one.agrees) for one in compared] == [(first.id, False)]
    found = {one.sample_id: one.detail for one in store.select(CriteriaSet)}
    assert "contradicts the judge's own solution" in found.pop(first.id)
    (detail,) = found.values()
    assert detail.count("criterion 1 is odd") == 2
