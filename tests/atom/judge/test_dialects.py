"""The client against servers that refuse, think, fail in a 200 and filter."""

from __future__ import annotations

import asyncio
import json

import pytest

from atom.judge import (
    CallGaveUp,
    CallRefused,
    PicturePart,
    Request,
    SpendLedger,
    TextPart,
    failed_call,
    is_server_fault,
)
from atom.records import Sampling
from tests.atom.judge.conftest import Script


async def test_sixty_four_first_calls_that_are_refused_at_once_all_succeed(
    server, make_client, scoring
):
    """Fall 11 of design/074."""
    refused = asyncio.Event()

    async def answer(script, writer):
        body = script.seen[-1].body
        if script.n == 64:
            refused.set()
        if "temperature" in body:
            await refused.wait()
            error = {"error": {"message": "No.", "param": "temperature"}}
            return await Script.http(400, error)(script, writer)
        if "max_tokens" in body:
            error = {"error": {"message": "Use 'max_completion_tokens'.", "param": "max_tokens"}}
            return await Script.http(400, error)(script, writer)
        return await Script.completion()(script, writer)

    server.plan(answer)
    client = make_client(concurrency=64)
    replies = await asyncio.gather(
        *(client.ask(Request(**{**_fields(scoring), "repeat": n})) for n in range(64))
    )
    assert all(reply.ok for reply in replies)
    assert client.adaptations == (
        'max_tokens was sent as max_completion_tokens: the server said "Use '
        "'max_completion_tokens'\"",
        'temperature was left out: the server said "No"',
    )
    assert {reply.call.adapted for reply in replies} == {client.adaptations}
    assert {reply.call.sampled for reply in replies} == {Sampling(max_tokens=100)}
    later = await client.ask(scoring)
    assert later.call.attempts == 1


def _fields(request):
    return {name: getattr(request, name) for name in Request.__dataclass_fields__}


async def test_nothing_adapted_is_nothing_told(server, make_client, scoring):
    server.plan(server.completion())
    client = make_client()
    reply = await client.ask(scoring)
    assert (reply.call.adapted, reply.call.sampled, client.adaptations) == ((), None, ())


async def test_a_refusal_that_cannot_be_avoided_is_an_error_with_the_servers_words(
    server, make_client, scoring
):
    server.plan(server.error(400, "Unsupported value: this 'model' is not for you"))
    with pytest.raises(CallRefused, match="this 'model' is not for you"):
        await make_client().ask(scoring)
    assert server.n == 1


async def test_a_system_role_that_is_refused_moves_into_the_users_message(
    server, make_client, scoring
):
    server.plan(server.error(400, "System role not supported"), server.completion())
    reply = await make_client().ask(scoring)
    assert [m["role"] for m in server.seen[1].body["messages"]] == ["user"]
    assert reply.call.adapted[0].startswith("the system text opened the user's message")


async def test_a_stream_that_is_refused_is_not_streamed(server, make_client, free_text):
    server.plan(
        server.http(400, {"error": {"message": "must be verified to stream", "param": "stream"}}),
        server.completion("the words"),
    )
    *pieces, reply = [piece async for piece in make_client().stream(free_text)]
    assert "".join(pieces) == "the words"
    assert reply.ok
    assert "stream" not in server.seen[1].body


async def test_the_room_that_a_context_leaves_is_for_one_request(server, make_client, free_text):
    words = (
        "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum context "
        "length is 2048 tokens and your request has 1998 input tokens (100 > 2048 - 1998)."
    )
    server.plan(server.error(400, words), server.completion("a"), server.completion("b"))
    client = make_client()
    await client.ask(free_text)
    await client.ask(free_text)
    assert [seen.body["max_tokens"] for seen in server.seen] == [100, 50, 100]


async def test_a_schema_that_a_server_makes_nothing_of_is_told_in_words(
    server, make_client, scoring
):
    server.plan(server.completion("I think it's fine."), server.completion())
    client = make_client()
    assert (await client.ask(scoring)).ok
    await client.ask(scoring)
    first, repair, later = (seen.body["messages"][0]["content"] for seen in server.seen)
    assert json.dumps(scoring.schema) not in first
    assert json.dumps(scoring.schema) in repair
    assert json.dumps(scoring.schema) in later
    assert client.adaptations == ("the reply's form was told in words, too",)


# Thinking.


async def test_a_reply_cut_while_thinking_gets_twice_the_room_again_and_again(
    server, make_client, scoring
):
    def cut(n):
        usage = {"prompt_tokens": 9, "completion_tokens": n,
                 "completion_tokens_details": {"reasoning_tokens": n}}  # fmt: skip
        return server.completion("", finish="length", usage=usage)

    server.plan(cut(100), cut(1024), server.completion(), server.completion())
    client = make_client()
    reply = await client.ask(scoring)
    assert reply.ok
    await client.ask(scoring)
    # The next reply has the room at once that this one needed.
    assert [seen.body["max_tokens"] for seen in server.seen] == [100, 1024, 2048, 2048]
    # The last count doesn't say how many tokens were thoughts.
    assert reply.call.usage.thinking_tokens is None
    assert reply.call.attempts == 3


async def test_thinking_without_end_comes_to_an_end(server, make_client, free_text):
    server.plan(server.completion("<think>and then", finish="length"))
    reply = await make_client().ask(free_text)
    assert (reply.state, server.n) == ("cut", 4)
    assert "while the model was thinking" in reply.reason
    assert reply.thoughts == "and then"


THOUGHTS = {
    "reasoning_content": {"reasoning_content": "hm"},
    "reasoning": {"reasoning": "hm"},
    "details": {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
}


@pytest.mark.parametrize("name", THOUGHTS)
async def test_thoughts_reported_apart_are_kept_apart(server, make_client, free_text, name):
    server.plan(server.completion("words", **THOUGHTS[name]))
    reply = await make_client().ask(free_text)
    assert (reply.text, reply.thoughts) == ("words", "hm")


async def test_thoughts_among_the_content(server, make_client, free_text):
    chunks = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "wor"},
        {"type": "text", "text": "ds"},
    ]
    server.plan(server.completion(chunks), server.completion("<think>hm</think>words"))
    client = make_client()
    parted, tagged = [await client.ask(free_text) for _ in range(2)]
    assert (parted.text, parted.thoughts) == ("words", "hm")
    assert (tagged.text, tagged.thoughts) == ("<think>hm</think>words", "hm")


async def test_an_answer_that_was_filed_under_thoughts(server, make_client, scoring, free_text):
    filed = server.completion(None, reasoning_content='{"score": 3}')
    server.plan(filed, server.completion(None, reasoning_content="It is a bar."))
    client = make_client()
    reply = await client.ask(scoring)
    assert reply.data == {"score": 3}
    assert "the server filed the reply under the model's thoughts" in reply.notes
    words = await client.ask(free_text)
    assert (words.state, words.thoughts) == ("empty", "It is a bar.")
    assert is_server_fault(words.call)


async def test_words_only_in_the_thoughts_of_a_structured_reply_have_a_repair_turn(
    server, make_client, scoring
):
    server.plan(server.completion(None, reasoning="A four, I'd say."), server.completion())
    reply = await make_client().ask(scoring)
    assert (reply.ok, reply.call.repaired) == (True, True)
    assert all(message["content"] for message in server.seen[1].body["messages"])


# A 200 that is no success, an error that is no fault.


@pytest.mark.parametrize("counted", [None, {"prompt_tokens": 0, "completion_tokens": 0}])
async def test_an_empty_reply_that_nobody_counted_is_a_fault(server, make_client, scoring, counted):
    server.plan(server.completion(None, usage=counted), server.completion())
    reply = await make_client().ask(scoring)
    assert (reply.ok, reply.call.attempts) == (True, 2)


async def test_an_empty_reply_that_was_counted_is_an_outcome_the_server_is_to_blame_for(
    server, make_client, scoring
):
    server.plan(server.completion(""))
    reply = await make_client().ask(scoring)
    assert (reply.state, server.n) == ("empty", 1)
    assert is_server_fault(reply.call)


async def test_half_a_text_before_an_error_is_never_an_answer(server, make_client, free_text):
    server.plan(server.completion("The bar on", finish="error"), server.completion("All of it."))
    assert (await make_client().ask(free_text)).text == "All of it."


async def test_a_stream_that_ends_in_an_error_is_no_answer(server, make_client, free_text):
    halves = [
        {"choices": [{"delta": {"content": "The bar"}}]},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "gone"}}]},
    ]
    server.plan(server.events(*halves))
    with pytest.raises(CallGaveUp, match="gone"):
        async for _ in make_client().stream(free_text):
            pass


async def test_a_stream_that_nobody_asked_for_is_read(server, make_client, free_text):
    events = [
        {"choices": [{"delta": {"content": "All "}}]},
        {"choices": [{"delta": {"content": "of it."}, "finish_reason": "stop"}]},
    ]
    server.plan(server.events(*events))
    assert (await make_client().ask(free_text)).text == "All of it."


@pytest.mark.parametrize("finish", ["content_filter", "content_filter: SAFETY", "SAFETY"])
async def test_filters_are_one_outcome(server, make_client, free_text, finish):
    server.plan(server.completion("", finish=finish))
    reply = await make_client().ask(free_text)
    assert (reply.state, reply.call.finish) == ("filtered", "content_filter")
    assert not is_server_fault(reply.call)


async def test_a_filter_that_answers_400_is_an_outcome_in_its_own_words(
    server, make_client, scoring
):
    server.plan(server.error(400, "Blocked by the policy of this house", code="content_filter"))
    reply = await make_client().ask(scoring)
    assert (reply.state, server.n, reply.text) == ("filtered", 1, "")
    assert "Blocked by the policy of this house" in reply.reason
    assert reply.call.reply == ""
    assert not is_server_fault(reply.call)
    *pieces, last = [piece async for piece in make_client().stream(scoring)]
    assert (pieces, last.state) == ([], "filtered")


async def test_a_failed_call_is_the_servers_fault(server, make_client, scoring):
    server.plan(server.error(503))
    with pytest.raises(CallGaveUp) as caught:
        await make_client().ask(scoring)
    call = failed_call(caught.value)
    assert call is not None
    assert is_server_fault(call)


async def test_replies_of_no_use_are_booked_at_their_estimate(server, make_client, scoring):
    """Fall 13 of design/074."""
    prices = {"input": 10.0, "output": 20.0}
    server.plan(server.http(200, "<html>busy"), server.error(500), server.completion())
    ledger = SpendLedger(1.0)
    client = make_client(prices=prices, options={"spend": ledger})
    expected = client.estimate(scoring).cost
    await client.ask(scoring)
    # One reply of no use at its estimate, nothing for the 500, and 100 * 10 + 10 * 20 of a million.
    assert ledger.estimated == pytest.approx(expected)
    assert ledger.spent == pytest.approx(expected + 0.0012)


async def test_a_thin_picture_that_a_server_fails_on_is_padded_once_and_for_all(
    server, make_client
):
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (400, 9), "red").save(out, "PNG")
    thin = Request(
        task="answer",
        prompt_id="answer/1",
        system="s",
        parts=(PicturePart.from_bytes(out.getvalue()), TextPart(text="What is it?")),
    )
    server.plan(server.http(500, "Internal Server Error"), server.completion("A bar."))
    client = make_client()
    first, second = [await client.ask(thin) for _ in range(2)]
    assert [reply.call.attempts for reply in (first, second)] == [2, 1]
    for reply in (first, second):
        assert any("padded with white to 400x64 pixels" in note for note in reply.notes)
        assert reply.call.adapted[0].startswith("pictures thinner than 64 pixels were padded")


async def test_a_server_that_only_streams_is_asked_to(server, make_client, free_text):
    server.plan(
        server.error(400, "This model only support stream mode, please enable the stream field"),
        server.events({"choices": [{"delta": {"content": "words"}, "finish_reason": "stop"}]}),
    )
    client = make_client()
    reply = await client.ask(free_text)
    assert reply.text == "words"
    assert server.seen[1].body["stream"] is True
    assert reply.call.adapted[0].startswith("replies were asked for as a stream")


async def test_an_error_in_a_200_without_the_word_error_is_shown(server, make_client, free_text):
    server.plan(server.http(200, {"code": 1211, "msg": "no such model here"}))
    with pytest.raises(CallGaveUp, match="no such model here"):
        await make_client().ask(free_text)


async def test_a_key_that_a_model_repeats_is_kept_nowhere(server, make_client, scoring):
    server.plan(server.completion('{"score": 4, "why": "sk-very-secret"}', finish="sk-very-secret"))
    client = make_client(key_env="A_KEY", options={"environ": {"A_KEY": "sk-very-secret"}})
    loose = Request(**{**_fields(scoring), "schema": {"type": "object"}})
    reply = await client.ask(loose)
    assert reply.data == {"score": 4, "why": "[key]"}
    assert "sk-very-secret" not in reply.call.model_dump_json()


async def test_an_address_without_v1_is_told_of_it(server, make_client, free_text):
    server.plan(server.http(404, "404 page not found"))
    bare = make_client(base_url=server.base_url.removesuffix("/v1"))
    with pytest.raises(CallRefused, match="most servers want /v1 at its end"):
        await bare.ask(free_text)
