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
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx2.Response(status, content=content, request=request)


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


def of(*pairs, **more):
    return {"data": [{"index": index, "embedding": vector} for index, vector in pairs], **more}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (rows(), "0 vectors came for 2 texts"),
        (rows((1, 2), (1, 2), (1, 2)), "3 vectors came for 2 texts"),
        (rows((), ()), "a list of 1 to 16,384 numbers"),
        (rows((1, 2), (1,)), "from 1 to 2 numbers"),
        (rows([0] * 20_000, [0] * 20_000), "a list of 1 to 16,384 numbers"),
        (rows((1e39, 0), (0, 1)), "a number that can't be"),
        (rows((int("9" * 400), 0), (0, 1)), "a number that can't be"),
        (rows((float("nan"), 0), (0, 1)), "a number that can't be"),
        (rows(("a", "b"), ("c", "d")), "isn't a number"),
        (rows((True, False), (False, True)), "isn't a number"),
        (of((0, None), (1, None)), "a list of"),
        (of((0, "AACAPw=="), (1, "AACAPw==")), "a list of"),
        (of((0, [1]), (0, [2])), "which text each is of"),
        (of((5, [1]), (9, [2])), "which text each is of"),
        (of(("a", [1]), (1, [2])), "which text each is of"),
        (of((None, [1]), (1, [2])), "which text each is of"),
        ({"object": "list", "data": None, "model": "small"}, "no list of vectors"),
        ({"data": ["a", "b"]}, "no list of vectors"),
        ({"unexpected": True}, "no list of vectors"),
        ([1, 2], "no list of vectors"),
        (None, "no list of vectors"),
        (b"[" * 100_000, "isn't JSON"),
        (b"<html>", "isn't JSON"),
    ],
)
async def test_odd_replies_are_given_up_in_words(reply, why):
    with pytest.raises(CallGaveUp, match=f"'vectors' gave no embeddings.*{why}"):
        await embed(Server((200, reply), (200, reply)), ["one", "two"])


async def test_vectors_without_places_are_taken_as_they_come():
    made = await embed(Server((200, of((None, [1]), (None, [2])))), ["one", "two"])
    assert made.vectors == ((1.0,), (2.0,))


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": 10**25}, {"prompt_tokens": -5}, {"prompt_tokens": "many"}, [1], "x"]
)
async def test_tokens_that_cannot_be_cost_nothing_known(usage):
    made = await embed(Server((200, of((0, [1]), usage=usage))), ["one"])
    assert (made.call.usage.prompt_tokens, made.call.cost) == (None, None)


async def test_vectors_of_another_length_are_another_models():
    server = Server((200, rows((1, 0))), (200, rows((1, 0, 0))))
    async with EmbeddingClient(ENDPOINT, transport=server, environ={}) as client:
        await client.embed(["one"])
        with pytest.raises(CallRefused, match="3 numbers now, and had 2: another model"):
            await client.embed(["two"])


@pytest.mark.parametrize("text", ["", "{", "[7]", '["?"]', '["AAA="]', '["AADAfw=="]', "[" * 9999])
def test_what_nobody_packed_holds_no_vectors(text):
    assert unpack(text) == []


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
