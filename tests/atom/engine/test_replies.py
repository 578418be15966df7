from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from atom.engine.replies import PaidOnce, reread
from atom.errors import StoreError
from atom.judge import Request, TextPart, asked_request, call_id, request_hash
from atom.judge.limiter import Limiter
from atom.records import Call, Endpoint
from atom.store import Store

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


def read_again(reply: str, finish: str | None = "stop", *, schema=None):
    request = Request(
        task="t", prompt_id="t/1", system="s", parts=(TextPart(text="x"),), schema=schema
    )
    call = Call(
        id="c", request_hash="h", task="t", endpoint="e", model="m", prompt="t/1",
        reply=reply, finish=finish,
    )  # fmt: skip
    return reread(request, call)


@pytest.mark.parametrize(
    ("reply", "finish", "schema", "state"),
    [
        ("text", "stop", None, "ok"),
        ("text", None, None, "ok"),
        ("I won't.", "refusal", None, "refused"),
        ("I won't.", "refusal", SCHEMA, "refused"),
        ("", "content_filter", None, "filtered"),
        ("half", "length", None, "cut"),
        ("", "stop", None, "empty"),
        ('{"a": 1}', "stop", SCHEMA, "ok"),
        ('```json\n{"a": 1}\n```', "stop", SCHEMA, "ok"),
        ("no object", "stop", SCHEMA, "unreadable"),
    ],
)
def test_a_stored_reply_is_read_as_it_was_when_it_came(reply, finish, schema, state):
    again = read_again(reply, finish, schema=schema)
    assert again.state == state
    assert again.text == reply
    assert again.ok or again.reason


def test_its_object_comes_back():
    assert read_again('{"a": 1}', schema=SCHEMA).data == {"a": 1}


async def test_what_is_looked_for_together_is_one_statement(tmp_path, monkeypatch):
    endpoint = Endpoint(name="e", base_url="probe:", model="m", roles=("judge",))
    asked = [
        Request(task="t", prompt_id="t/1", system="s", parts=(TextPart(text=word),))
        for word in ("x", "y", "z")
    ]
    with Store.open(tmp_path) as store:
        client = PaidOnce(store, SimpleNamespace(endpoint=endpoint))
        hashes = [request_hash(asked_request(endpoint, one), "m") for one in asked]
        store.put(
            Call(id=call_id(one, 0), request_hash=one, task="t", endpoint="e", model="m",
                 prompt="t/1", reply=text, finish="stop")
            for one, text in zip(hashes, ("first", "second"), strict=False)
        )  # fmt: skip
        looks = []
        get_many = store.get_many
        monkeypatch.setattr(store, "get_many", lambda *which: looks.append(1) or get_many(*which))
        found = await asyncio.gather(*(client.found(one) for one in (*asked, asked[0])))
        assert [one and one.text for one in found] == ["first", "second", None, "first"]
        assert looks == [1]

        def lose(*which):
            raise StoreError("it is broken")

        monkeypatch.setattr(store, "get_many", lose)
        both = await asyncio.gather(*map(client.found, asked[:2]), return_exceptions=True)
        assert [str(one) for one in both] == ["it is broken"] * 2


@pytest.mark.parametrize(("waiting", "statements"), [(2, 1), (1, 2)])
async def test_a_look_waits_for_others_where_a_round_waits_for_places(
    tmp_path, monkeypatch, waiting, statements
):
    endpoint = Endpoint(name="e", base_url="probe:", model="m", roles=("judge",))
    x, y = (
        Request(task="t", prompt_id="t/1", system="s", parts=(TextPart(text=word),))
        for word in ("x", "y")
    )
    limiter = Limiter(1)
    with Store.open(tmp_path) as store:
        client = PaidOnce(store, SimpleNamespace(endpoint=endpoint, limiter=limiter))
        looks = []
        get_many = store.get_many
        monkeypatch.setattr(store, "get_many", lambda *which: looks.append(1) or get_many(*which))

        async def hold():
            async with limiter.slot():
                await asyncio.sleep(60)

        calls = [asyncio.create_task(hold()) for _ in range(waiting)]
        while limiter.wanted < waiting:
            await asyncio.sleep(0)
        first = asyncio.create_task(client.found(x))
        for _ in range(20):  # turns of the loop, which a look of its own doesn't take
            await asyncio.sleep(0)
        assert await asyncio.gather(first, client.found(y)) == [None, None]
        assert len(looks) == statements
        for call in calls:
            call.cancel()
