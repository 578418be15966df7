from __future__ import annotations

import asyncio
import base64
import json
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from atom.engine.batch.files import list_parcels, read_index, requests_file
from atom.engine.batch.sending import (
    cancel_batch,
    drop_batch,
    fetch_batches,
    open_batch_run,
    run_batches,
    send_batches,
    write_batch,
)
from atom.engine.batch.taking import take_replies
from atom.engine.bench.judging import BenchSpec
from atom.engine.bench.sets import make_probe_set
from atom.engine.consent import ConsentNeeded, give_consent
from atom.engine.study.spec import RunSpec
from atom.engine.work import carry_out, open_work, run
from atom.errors import SettingsError, UsageError
from atom.judge import CallRefused
from atom.judge.batches import BatchService
from atom.judge.servers.endpoints import builtin_endpoints
from atom.judge.timing import Timing
from atom.probes.chunk import read_program
from atom.probes.serving.batches import BatchEndpoint, jsonl
from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.server import serving
from atom.records import (
    Call,
    Checkpoint,
    Endpoint,
    Outcome,
    Prices,
    Replay,
    Response,
    Run,
    Study,
    Verdict,
)
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
    return (
        points
        | answers
        | {f"{o.response_id}/{o.how}": (o.state, o.value) for o in store.select(Outcome)}
    )


async def no_wait(_: float) -> None:
    return


@dataclass
class Rough(BatchEndpoint):
    """Spoils each request's first answer in one of several ways."""

    spoiled: Counter = field(default_factory=Counter)
    expire: int = 1

    def __post_init__(self) -> None:
        super().__init__(states=("validating", "in_progress", "completed"))
        self.met: set[str] = set()

    def answer(self, line):
        answer = super().answer(line)
        # A second turn is named after the first.
        name = line["custom_id"].partition("-")[0]
        if name in self.met:
            return answer
        self.met.add(name)
        way = ("fine", "error", "drop", "unreadable", "cut", "fine")[int(name[:8], 16) % 6]
        if way in ("unreadable", "cut") and "response_format" not in line["body"]:
            way = "error"
        self.spoiled[way] += 1
        choice = answer["response"]["body"]["choices"][0]
        if way == "error":
            told = {"error": {"message": "the server had an error"}}
            answer["response"] = {"status_code": 500, "body": told}
        elif way == "unreadable":
            choice["message"]["content"] = "Certainly! I would rather talk."
        elif way == "cut":
            choice["message"]["content"] = choice["message"]["content"][:20]
            choice["finish_reason"] = "length"
        return {} if way == "drop" else answer

    def finish(self, batch, answers, end):
        if self.expire:
            self.expire, end = self.expire - 1, "expired"
        super().finish(batch, [answer for answer in answers if answer], end)


TIMING = Timing(sleep=no_wait, random=lambda: 0.0)


def by_batch(store, spec, service, **more):
    with serving(service) as base_url:
        known = served(base_url)
        row = open_batch_run(store, spec, known)
        return asyncio.run(run_batches(store, row.id, known, timing=TIMING, **more))


@pytest.fixture(scope="module")
def live(probe_folder, tmp_path_factory):
    """Judge the probes live, once: what a run by batches must come to as well."""
    place = tmp_path_factory.mktemp("live") / "store"
    shutil.copytree(probe_folder, place)
    endpoints = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(place) as store:
        (study,) = store.select(Study)
        row = asyncio.run(run(store, spec_for(study), endpoints))
        calls = {c.id: (c.reply, c.finish, c.form, c.usage) for c in store.select(Call)}
        return row, contents(store), calls


def spec_for(study) -> RunSpec:
    return RunSpec(study_id=study.id, judge="probe-judge", candidates=CANDIDATES)


@pytest.mark.slow
def test_a_study_judged_by_batch_equals_the_study_judged_live(store, study, live):
    told: list[str] = []
    service = BatchEndpoint()
    ended = by_batch(store, spec_for(study), service, tell=told.append)
    row, expected, calls = live
    assert (ended.state, ended.message, ended.failed) == ("done", "", 0)
    assert ended.done == row.done
    assert contents(store) == expected
    assert {c.id: (c.reply, c.finish, c.form, c.usage) for c in store.select(Call)} == calls
    # Answers and replays, then criteria and outcomes, then mapping and scoring.
    parcels = list_parcels(store)
    assert set(parcels[-1].tasks) == {"mapping", "scoring"}
    assert len({parcel.created for parcel in parcels}) == 3
    assert any("being answered" in words for words in told)
    # Half of what the tokens cost at 2 and 8 USD a million.
    usage = [call.usage for call in store.select(Call)]
    whole = sum(2.0 * u.prompt_tokens + 8.0 * u.completion_tokens for u in usage) / 1_000_000
    assert ended.cost == pytest.approx(whole / 2)
    assert len(service.batches) == len(parcels)


@pytest.mark.slow
def test_errors_missing_lines_cut_and_unreadable_replies_are_asked_again(store, study, live):
    service = Rough()
    ended = by_batch(store, spec_for(study), service)
    assert {"error", "drop", "unreadable", "cut"} <= set(service.spoiled)
    assert (ended.state, ended.failed) == ("done", 0)
    assert contents(store) == live[1]
    repaired = [call for call in store.select(Call) if call.repaired]
    assert len(repaired) == service.spoiled["unreadable"]
    assert all(call.attempts == 2 for call in repaired)
    # Both turns are paid for: the tokens of a spoiled reply and of the one after it.
    plain = {name: usage for name, (_, _, _, usage) in live[2].items()}
    assert all(c.usage.prompt_tokens > plain[c.id].prompt_tokens for c in repaired)


@pytest.mark.slow
def test_a_kill_after_the_upload_or_after_the_batch_began_sends_nothing_twice(store, study):
    class Killed(BaseException):
        pass

    service = BatchEndpoint()
    fatal = ["upload", "create"]

    class Fatal(BatchService):
        async def upload(self, file):
            file_id = await super().upload(file)
            return self.die("upload", file_id)

        async def create(self, file_id, ours):
            return self.die("create", await super().create(file_id, ours))

        def die(self, step, value):
            if step in fatal:
                fatal.remove(step)
                raise Killed
            return value

    with serving(service) as base_url:
        known = served(base_url)
        spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
        row = open_batch_run(store, spec, known)
        for _ in range(2):
            with pytest.raises(Killed):
                asyncio.run(run_batches(store, row.id, known, make=Fatal, timing=TIMING))
            assert open_batch_run(store, spec, known).id == row.id
        ended = asyncio.run(run_batches(store, row.id, known, make=Fatal, timing=TIMING))
    assert (ended.state, ended.done, ended.failed) == ("done", 6, 0)
    assert len(service.batches) == 1
    assert [file.name for file in service.files.values() if file.purpose == "batch"] == [
        f"atomscope-{row.id}-001.jsonl"
    ]


def test_what_waits_in_a_file_is_not_written_twice(store, study, endpoints):
    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
    row = open_batch_run(store, spec, endpoints)
    first = asyncio.run(write_batch(store, row.id, endpoints, most_requests=4))
    assert [parcel.requests for parcel in first.parcels] == [4, 2]
    assert (first.run.state, first.run.done, first.run.failed) == ("stopped", 0, 0)
    assert "6 items wait for a batch" in first.run.message
    assert store.select(Call) == []
    again = asyncio.run(write_batch(store, row.id, endpoints))
    assert (again.parcels, again.waiting) == ((), 6)
    drop_batch(store, first.parcels[0].name)
    anew = asyncio.run(write_batch(store, row.id, endpoints))
    assert ([parcel.requests for parcel in anew.parcels], anew.waiting) == ([4], 2)
    with pytest.raises(UsageError, match="no batch service"):
        asyncio.run(send_batches(store, endpoints))


def test_a_run_finishes_without_a_call_what_files_brought(store, study, endpoints, counted):
    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
    row = open_batch_run(store, spec, endpoints)
    (parcel,) = asyncio.run(write_batch(store, row.id, endpoints)).parcels
    lines = [json.loads(line) for line in requests_file(store, parcel).read_bytes().splitlines()]
    replies = store.folder / "replies.jsonl"
    replies.write_bytes(jsonl([BatchEndpoint().answer(line) for line in lines]))
    taken = take_replies(store, [replies])
    assert (taken.replies, taken.missing) == (6, 0)
    ended = asyncio.run(run(store, spec, endpoints, make=counted.make))
    assert (ended.state, ended.done, counted.total) == ("done", 6, 0)
    assert take_replies(store, [replies]).known == 6


def test_consent_comes_before_a_file_and_the_program_stays_here(store, study):
    endpoint = Endpoint(
        name="far", base_url="https://api.openai.com/v1", model="m", key_env="NO_SUCH_KEY"
    )
    known = {"far": endpoint}
    spec = RunSpec(study_id=study.id, judge="far", stages=("replay",))
    with pytest.raises(ConsentNeeded, match=r"api\.openai\.com"):
        open_batch_run(store, spec, known)
    assert store.select(Run) == []
    give_consent(store, study.id, ["api.openai.com"])
    row = open_batch_run(store, spec, known)
    (parcel,) = asyncio.run(write_batch(store, row.id, known)).parcels
    body = json.loads(requests_file(store, parcel).read_bytes().splitlines()[0])["body"]
    picture = next(p for p in body["messages"][1]["content"] if p["type"] == "image_url")
    data = base64.b64decode(picture["image_url"]["url"].partition(",")[2])
    assert read_program(data) is None
    newer = {entry.sent(endpoint, None).dialect.token_name for entry in read_index(store, parcel)}
    assert newer == {"max_completion_tokens"}
    with pytest.raises(SettingsError, match="NO_SUCH_KEY"):
        asyncio.run(send_batches(store, known))


def test_a_refused_reply_form_is_learned_and_asked_in_another_way(store, study):
    class Plain(BatchEndpoint):
        def answer(self, line):
            if line["body"].get("response_format", {}).get("type") != "json_schema":
                return super().answer(line)
            told = {"error": {"message": "response_format json_schema is not supported"}}
            return {"custom_id": line["custom_id"], "response": {"status_code": 400, "body": told}}

    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",), limit=2)
    ended = by_batch(store, spec, Plain())
    assert (ended.state, ended.done, ended.failed) == ("done", 2, 0)
    assert {call.form for call in store.select(Call)} == {"json_object"}


@pytest.mark.slow
def test_a_refusal_for_good_fails_and_is_asked_again_on_demand(store, study):
    class Refusing(BatchEndpoint):
        good = False

        def answer(self, line):
            if self.good:
                return super().answer(line)
            told = {"error": {"message": "your request is of no use"}}
            return {"custom_id": line["custom_id"], "response": {"status_code": 400, "body": told}}

    service = Refusing()
    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",), limit=3)
    stopped = by_batch(store, spec, service)
    assert stopped.state == "stopped"
    assert "your request is of no use" in stopped.message
    failed = by_batch(store, spec, service)
    assert (failed.state, failed.failed, len(service.batches)) == ("done", 3, 1)
    service.good = True
    again = by_batch(store, replace(spec, retry_failed=True), service, retry_failed=True)
    assert again.state == "done"
    assert all(call.reply for call in store.select(Call))
    assert {replay.state for replay in store.select(Replay)} == {"scored"}


@pytest.mark.parametrize("end", ["failed", "expired", "cancelled"])
def test_a_batch_that_brings_nothing_stops_the_run_with_a_sentence(store, study, end):
    class Ending(BatchEndpoint):
        def _step(self, batch):
            batch.status = end
            batch.problems = ["the token limit is reached"] if end == "failed" else []

    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
    ended = by_batch(store, spec, Ending())
    assert ended.state == "stopped"
    assert ("token limit" if end == "failed" else "brought no reply") in ended.message
    (parcel,) = list_parcels(store)
    assert (parcel.state, parcel.missing) == ("taken", 6)
    assert parcel.message


def test_a_batch_at_the_service_is_cancelled_not_dropped(store, study):
    service = BatchEndpoint()
    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",), limit=2)
    with serving(service) as base_url:
        known = served(base_url)
        row = open_batch_run(store, spec, known)
        asyncio.run(write_batch(store, row.id, known))
        (parcel,) = asyncio.run(send_batches(store, known))
        with pytest.raises(UsageError, match="run batch cancel"):
            drop_batch(store, parcel.name)
        assert asyncio.run(cancel_batch(store, parcel.name, known)).status == "cancelled"
        _, taken = asyncio.run(fetch_batches(store, known))
        assert taken.lines == 0
        written = asyncio.run(write_batch(store, row.id, known))
        assert written.requests == 2
        other = {"probe-judge": known["probe-judge"].model_copy(update={"model": "other"})}
        with pytest.raises(SettingsError, match="another one now"):
            asyncio.run(send_batches(store, other))


def test_a_server_without_a_batch_service_says_so(store, study):
    spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
    with pytest.raises(CallRefused, match="no batch service"):
        by_batch(store, spec, ProbeEndpoint())
    assert [parcel.state for parcel in list_parcels(store)] == ["written"]


@pytest.mark.slow
def test_a_benchmark_goes_by_batch_too(tmp_path):
    def verdicts(place, work):
        with Store.open(tmp_path / place) as store:
            record = make_probe_set(store, "vl_rewardbench", 4)
            with serving(BatchEndpoint()) as base_url:
                known = served(base_url)
                spec = BenchSpec(set_id=record.id, judge="probe-judge")
                row = open_work(store, spec, known)
                ended = asyncio.run(work(store, row.id, known))
            assert (ended.state, ended.failed) == ("done", 0)
            return {v.key: (v.state, v.value, v.label) for v in store.select(Verdict)}

    by_call = verdicts("live", carry_out)
    assert len(by_call) >= 4
    assert verdicts("batch", partial(run_batches, timing=TIMING)) == by_call
