from __future__ import annotations

import asyncio
import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.engine.batch.files import list_parcels, load_ledger, requests_file
from atom.engine.batch.lines import parse_line, read_lines, read_outcome
from atom.engine.batch.sending import open_batch_run, write_batch
from atom.engine.batch.taking import RANK, batch_priced, take_replies
from atom.engine.study.spec import RunSpec
from atom.errors import CorruptError, UsageError
from atom.judge.replies.completion import Completion
from atom.judge.retry import Fault
from atom.judge.servers.endpoints import builtin_endpoints
from atom.probes.serving.batches import BatchEndpoint, jsonl
from atom.records import Call, Endpoint, Prices, Study, Usage
from atom.store import Store


@pytest.fixture(scope="module")
def written(probe_folder, tmp_path_factory):
    """Write the replays of six probes as a batch, once, and answer them."""
    place = tmp_path_factory.mktemp("written") / "store"
    shutil.copytree(probe_folder, place)
    endpoints = {endpoint.name: endpoint for endpoint in builtin_endpoints()}
    with Store.open(place) as store:
        (study,) = store.select(Study)
        spec = RunSpec(study_id=study.id, judge="probe-judge", stages=("replay",))
        row = open_batch_run(store, spec, endpoints)
        (parcel,) = asyncio.run(write_batch(store, row.id, endpoints)).parcels
        requests = requests_file(store, parcel).read_bytes().splitlines()
    service = BatchEndpoint()
    return place, [service.answer(json.loads(line)) for line in requests]


@pytest.fixture
def mine(written, tmp_path):
    """Give each test its own copy, with the answers."""
    place, answers = written
    shutil.copytree(place, tmp_path / "mine")
    with Store.open(tmp_path / "mine") as store:
        yield store, answers


def error_line(answer, message="boom", status=500):
    told = {"error": {"message": message}}
    return {
        "custom_id": answer["custom_id"],
        "response": {"status_code": status, "body": told},
        "error": None,
    }


def file_of(store, *lines: bytes | dict) -> list:
    path = store.folder / "given.jsonl"
    path.write_bytes(b"".join(x if isinstance(x, bytes) else jsonl([x]) for x in lines))
    return [path]


def test_every_kind_of_line_is_counted(mine):
    store, answers = mine
    refused = json.loads(json.dumps(answers[2]))
    refused["response"]["body"]["choices"][0]["message"] = {"content": None, "refusal": "No."}
    taken = take_replies(
        store,
        file_of(
            store,
            b"\xef\xbb\xbf",
            answers[0],
            error_line(answers[0]),  # a good reply is there already
            answers[0],
            error_line(answers[1]),
            refused,
            {"custom_id": answers[3]["custom_id"], "response": None,
             "error": {"code": "batch_expired", "message": "This request could not be executed"}},
            b"\n",
            {**answers[4], "custom_id": "somebody else's"},
            {"custom_id": answers[5]["custom_id"], "method": "POST", "body": {}},
            b"[1, 2]\n",
            b'{"custom_id": 7, "response": {}}\n',
            b"[" * 5000 + b"\n",
            jsonl([answers[4]])[:200],
        ),
    )  # fmt: skip
    assert (taken.lines, taken.replies, taken.unusable, taken.failed) == (12, 1, 1, 2)
    assert (taken.repeated, taken.foreign, taken.broken, taken.missing) == (2, 1, 5, 2)
    calls = {call.id: call for call in store.select(Call)}
    assert calls[answers[0]["custom_id"]].reply
    assert "boom" in calls[answers[1]["custom_id"]].error
    assert calls[answers[2]["custom_id"]].finish == "refusal"
    assert "could not be executed" in calls[answers[3]["custom_id"]].error
    assert any("belong to no batch" in words for words in taken.words)
    (parcel,) = list_parcels(store)
    assert (parcel.state, parcel.replies, parcel.failures, parcel.missing) == ("taken", 2, 2, 2)
    # The other file, later: what was missing comes, what failed is mended, the rest stays.
    later = take_replies(store, file_of(store, *answers))
    assert (later.known, later.replies, later.missing) == (2, 4, 0)
    assert load_ledger(store).failures == {}


KINDS = st.sampled_from(["good", "error", "half", "foreign", "none"])


@pytest.mark.slow
@settings(max_examples=12)
@given(data=st.data())
def test_shuffled_repeated_and_truncated_files_bring_what_is_in_them(
    written, tmp_path_factory, data
):
    place, answers = written
    own = tmp_path_factory.mktemp("drawn") / "store"
    shutil.copytree(place, own)
    lines, good, failed = [], set(), set()
    for answer in answers:
        for kind in data.draw(st.lists(KINDS, max_size=3)):
            whole = jsonl([answer])
            if kind == "good":
                good.add(answer["custom_id"])
                lines.append(whole)
            elif kind == "error":
                failed.add(answer["custom_id"])
                lines.append(jsonl([error_line(answer)]))
            elif kind == "half":
                cut = data.draw(st.integers(1, len(whole) - 3))
                lines.append(whole[:cut] + b"\n")
            elif kind == "foreign":
                lines.append(jsonl([{**answer, "custom_id": "x"}]))
    lines = data.draw(st.permutations(lines))
    middle = data.draw(st.integers(0, len(lines)))
    with Store.open(own) as store:
        halves = []
        for number, part in enumerate((lines[:middle], lines[middle:])):
            halves.append(own / f"{number}.jsonl")
            halves[-1].write_bytes(b"".join(part))
        if data.draw(st.booleans()):
            counts = [take_replies(store, halves)]
        else:
            counts = [take_replies(store, [half]) for half in halves]
        calls = {call.id: call for call in store.select(Call)}
        left = load_ledger(store).failures
    assert {name for name, call in calls.items() if call.reply is not None} == good
    assert {name for name, call in calls.items() if call.reply is None} == failed - good
    assert set(left) == failed - good
    assert sum(one.lines for one in counts) == len(lines)
    assert sum(one.replies for one in counts) == len(good)
    if len(counts) == 1 and good | failed:
        assert counts[0].missing == len(answers) - len(good | failed)


@pytest.mark.parametrize(
    "response",
    [
        {"status_code": 200, "body": None},
        {"status_code": 200, "body": {}},
        {"status_code": 200, "body": "<html>"},
        {"status_code": 200, "body": {"choices": [None]}},
        {"status_code": 200, "body": {"error": {"message": "late"}}},
        {"status_code": 429, "body": {"error": "slow down"}},
        {"status_code": 400, "body": None},
    ],
)
def test_a_line_without_a_completion_is_a_fault(response):
    assert isinstance(read_outcome({"response": response}), Fault)


def test_odd_lines_are_read_or_left_out():
    body = {"choices": [{"message": {"content": "a\ud800"}}]}
    told = read_outcome({"response": {"status_code": 200, "body": body}})
    assert isinstance(told, Completion)
    assert told.content == "a�"
    as_text = {"response": {"status_code": 200, "body": json.dumps(body)}}
    assert isinstance(read_outcome(as_text), Completion)
    assert read_outcome({"response": {"status_code": "odd"}}) is None
    assert parse_line(b'{"custom_id": "a", "response": NaN, "error": null}') is not None
    assert parse_line(None) is None


def test_a_line_that_is_too_long_costs_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("atom.engine.batch.lines.LONGEST_LINE", 10)
    file = tmp_path / "long.jsonl"
    file.write_bytes(b"x" * 35 + b"\nshort\n" + b"y" * 40)
    assert list(read_lines(file)) == [None, b"short\n", None]


def test_a_batch_costs_its_share():
    prices = Prices(input=4.0, output=8.0, batch_share=0.25)
    endpoint = Endpoint(name="e", base_url="probe:", model="m", prices=prices)
    assert batch_priced(endpoint).prices == Prices(input=1.0, output=2.0)
    plain = endpoint.model_copy(update={"prices": Prices(input=4.0)})
    assert batch_priced(plain) == plain
    assert sorted(RANK, key=RANK.__getitem__)[-1] == "known"
    assert Usage().prompt_tokens is None


def test_what_cannot_be_taken_is_said(mine, store, tmp_path):
    own, answers = mine
    with pytest.raises(UsageError, match="no file"):
        take_replies(own, [tmp_path / "nowhere.jsonl"])
    with pytest.raises(UsageError, match="no batch was written"):
        take_replies(store, file_of(store, answers[0]))
    (parcel,) = list_parcels(own)
    index = own.folder / "batches" / f"{parcel.name}.index.jsonl"
    index.write_bytes(index.read_bytes()[:-30])
    with pytest.raises(CorruptError, match="run batch drop"):
        take_replies(own, file_of(own, answers[0]))
