"""Embeddings from a server that answers well, oddly, late or not at all."""

import json

import httpx2
import pytest

from atom.judge import CallGaveUp, CallRefused, Timing
from atom.judge.embedding import MOST_CHARACTERS, EmbeddingClient, each_alone
from atom.records import Endpoint, Prices
from atom.records.vectors import embedding_id, pack, unpack

ENDPOINT = Endpoint(
    name="vectors",
    base_url="http://127.0.0.1:1/v1",
    model="small",
    roles=("embedding",),
    prices=Prices(input=1.0, output=0.0),
    max_tries=2,
)


class Server(httpx2.AsyncBaseTransport):
    def __init__(self, *replies):
        self.replies = list(replies)
        self.bodies = []

    async def handle_async_request(self, request):
        self.bodies.append(json.loads(await request.aread()))
        self.headers = request.headers
        status, body = self.replies.pop(0)
        return httpx2.Response(status, json=body, request=request)


def rows(*vectors, usage=True):
    data = [
        {"object": "embedding", "index": number, "embedding": list(vector)}
        for number, vector in enumerate(vectors)
    ]
    told = {"prompt_tokens": 7, "total_tokens": 7}
    return {"object": "list", "data": data, "model": "small", **({"usage": told} if usage else {})}


async def no_wait(_seconds):
    return None


async def embed(server, texts):
    timing = Timing(sleep=no_wait)
    async with EmbeddingClient(ENDPOINT, transport=server, timing=timing, environ={}) as client:
        return await client.embed(texts)


async def test_vectors_come_in_the_order_of_the_texts():
    reply = rows((1, 0), (0, 0.5))
    reply["data"].reverse()
    server = Server((200, reply))
    made = await embed(server, ["one", "x" * 5000])
    assert made.vectors == ((1.0, 0.0), (0.0, 0.5))
    assert unpack(made.call.reply) == list(made.vectors)
    assert made.call.id == embedding_id("small", ["one", "x" * 5000])
    assert (made.call.task, made.call.cost) == ("embedding", 7 / 1_000_000)
    assert len(server.bodies[0]["input"][1]) == MOST_CHARACTERS
    assert "authorization" not in server.headers


async def test_a_server_that_does_not_count_has_no_cost():
    made = await embed(Server((200, rows((1,), usage=False))), ["one"])
    assert made.call.cost is None


async def test_another_try_helps():
    server = Server((503, {"error": {"message": "busy"}}), (200, rows((1, 2))))
    assert len((await embed(server, ["one"])).vectors) == 1


@pytest.mark.parametrize(
    "reply",
    [
        rows(),
        rows((1, 2), (1, 2)),
        rows(()),
        {"object": "list", "data": None, "model": "small"},
        {"unexpected": True},
    ],
)
async def test_odd_replies_are_given_up_in_words(reply):
    with pytest.raises(CallGaveUp, match="'vectors' gave no embeddings"):
        await embed(Server((200, reply), (200, reply)), ["one"])


async def test_a_server_without_embeddings_is_known_for_good():
    server = Server((501, {"error": {"message": "This server does not support embeddings."}}))
    with pytest.raises((CallRefused, CallGaveUp)):
        await embed(Server(*server.replies * 2), ["one"])
    with pytest.raises(CallRefused, match="Check base_url"):
        await embed(Server((404, {"error": {"message": "no such route"}})), ["one"])


def test_names_and_packing():
    assert embedding_id("a", ["x"]) != embedding_id("b", ["x"]) != embedding_id("b", ["x", "y"])
    assert unpack(pack([])) == []


async def test_each_text_is_kept_alone_and_the_parts_add_up():
    texts = ["one", "and another", "x" * 5000]
    made = await embed(Server((200, rows((1, 0), (0, 1), (1, 1)))), texts)
    calls = each_alone(made, "small", texts)
    assert [call.id for call in calls] == [embedding_id("small", [text]) for text in texts]
    assert [unpack(call.reply) for call in calls] == [[vector] for vector in made.vectors]
    # 7 tokens by 3, 11 and 2,000 letters: nearly all are the last one's.
    assert [call.usage.prompt_tokens for call in calls] == [0, 0, 7]
    assert sum(call.cost for call in calls) == pytest.approx(made.call.cost)
    uncounted = await embed(Server((200, rows((1,), usage=False))), ["one"])
    assert each_alone(uncounted, "small", ["one"])[0].cost is None
