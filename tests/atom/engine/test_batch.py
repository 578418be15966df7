from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from atom.engine.batch import (
    cancel_batch,
    drop_batch,
    fetch_batches,
    open_batch_run,
    run_batches,
    send_batches,
    write_batch,
)
from atom.engine.batch_files import list_parcels, read_index, requests_file
from atom.engine.batch_take import take_replies
from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.plan import RunSpec
from atom.engine.runner import run
from atom.errors import SettingsError, UsageError
from atom.judge import CallRefused
from atom.judge.timing import Timing
from atom.probes.batches import BatchEndpoint, jsonl
from atom.probes.faults import FaultPlan
from atom.probes.config import ProbeConfig
from atom.probes.server import serving
from atom.records import Call, Checkpoint, Endpoint, Outcome, Prices, Response, Run
from atom.store import Store

CANDIDATES = ("model-a", "model-h")
PRICES = Prices(input=2.0, output=8.0, batch_share=0.5)


def served(base_url: str) -> dict[str, Endpoint]:
    """Name the served probe endpoint's models as the built-in ones are."""
    shared = {"base_url": f"probe:{base_url}", "timeout": 20.0, "prices": PRICES, "max_tries": 2}
    judge = Endpoint(name="probe-judge", model="probe-judge", roles=("judge",), **shared)
    others = [Endpoint(name=n, model=n, roles=("candidate",), **shared) for n in CANDIDATES]
    return {endpoint.name: endpoint for endpoint in (judge, *others)}


def contents(store: Store) -> dict[str, tuple]:
    points = {
        p.key: (p.state, p.score, p.quote, p.reason, p.detail) for p in store.select(Checkpoint)
    }
    answers = {r.id: (r.state, r.text, r.detail) for r in store.select(Response)}
    return points | answers | {f"{o.response_id}/{o.how}": (o.state, o.value) for o in store.select(Outcome)}


async def no_wait(_: float) -> None:
    return


TIMING = Timing(sleep=no_wait, random=lambda: 0.0)


def test_a_study_judged_by_batch_equals_the_study_judged_live(store, study, twin_place, endpoints):
    spec = RunSpec(study_id=study.id, judge="probe-judge", candidates=CANDIDATES)
    with Store.open(twin_place) as twin:
        live = asyncio.run(run(twin, spec, endpoints))
        assert (live.state, live.failed) == ("done", 0)
        expected = contents(twin)
        calls = {c.id: (c.reply, c.finish, c.form, c.usage) for c in twin.select(Call)}
    told: list[str] = []
    service = BatchEndpoint()
    with serving(service) as base_url:
        known = served(base_url)
        row = open_batch_run(store, spec, known)
        ended = asyncio.run(run_batches(store, row.id, known, timing=TIMING, tell=told.append))
    assert (ended.state, ended.message, ended.failed) == ("done", "", 0)
    assert ended.done == live.done
    assert contents(store) == expected
    assert {c.id: (c.reply, c.finish, c.form, c.usage) for c in store.select(Call)} == calls
    # Answers and replays, then criteria, then mapping and scoring: the fewest waves there can be.
    tasks = [set(parcel.tasks) for parcel in list_parcels(store)]
    assert tasks[-1] == {"mapping", "scoring"}
    assert {"replay"} in tasks
    assert any("being answered" in words for words in told)
    # Half of what the tokens cost at 2 and 8 USD a million.
    usage = [call.usage for call in store.select(Call)]
    whole = sum(2.0 * u.prompt_tokens + 8.0 * u.completion_tokens for u in usage) / 1_000_000
    assert ended.cost == pytest.approx(whole / 2)
    assert len(service.batches) == len(tasks)
