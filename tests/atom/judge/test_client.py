"""The client against a real server that does everything wrong: one test for each known fault."""

from __future__ import annotations

import asyncio
import json
import pickle
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from atom.errors import (
    AtomError,
    PermanentError,
    SettingsError,
    SpendCapReached,
    TransientError,
)
from atom.judge import (
    CallGaveUp,
    CallRefused,
    JudgeClient,
    Reply,
    SpendLedger,
    TextPart,
    Timing,
    call_id,
    failed_call,
    request_hash,
)
from atom.records import Prices, Sampling


async def collect(client, request):
    return [piece async for piece in client.stream(request)]


# A clean answer.


async def test_a_clean_answer_is_read_checked_and_recorded(server, make_client, scoring):
    server.plan(server.completion('{"score": 4}'))
    reply = await make_client().ask(scoring)
    assert reply.ok
    assert reply.data == {"score": 4}
    assert reply.reason == ""
    call = reply.call
    assert call.request_hash == request_hash(scoring, "some-model")
    assert call.id == call_id(call.request_hash, 0)
    assert (call.task, call.prompt, call.model) == ("scoring", "scoring/1", "some-model")
    assert call.reply == '{"score": 4}'
    assert (call.form, call.finish, call.attempts) == ("json_schema", "stop", 1)
    assert (call.usage.prompt_tokens, call.usage.completion_tokens) == (100, 10)
    assert call.error is None
    assert datetime.fromisoformat(call.created).tzinfo == UTC


async def test_what_is_sent(server, make_client, scoring):
    server.plan(server.completion())
    await make_client().ask(scoring)
    seen = server.seen[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["x-atomscope-attempt"] == "1"
    assert "authorization" not in seen.headers
    assert seen.body["model"] == "some-model"
    assert seen.body["temperature"] == 0.0
    assert seen.body["max_tokens"] == 100
    assert "seed" not in seen.body
    assert seen.body["messages"] == [
        {"role": "system", "content": "Atomscope task: scoring/1"},
        {"role": "user", "content": "How good is it?"},
    ]
    assert seen.body["response_format"]["json_schema"]["name"] == "atomscope_scoring"
    assert seen.body["response_format"]["json_schema"]["strict"] is True


async def test_pictures_go_as_data_urls_in_their_place(server, make_client, with_picture):
    server.plan(server.completion())
    reply = await make_client().ask(with_picture)
    assert reply.ok
    content = server.seen[0].body["messages"][1]["content"]
    assert content[0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert content[1] == {"type": "text", "text": "How good?"}


async def test_free_text_is_not_parsed(server, make_client, free_text):
    server.plan(server.completion("It is a cat. {not json}"))
    reply = await make_client().ask(free_text)
    assert (reply.state, reply.data, reply.text) == ("ok", None, "It is a cat. {not json}")
    assert "response_format" not in server.seen[0].body


async def test_text_parts_in_a_list_are_joined(server, make_client, free_text):
    server.plan(
        server.completion([{"type": "text", "text": "a "}, {"type": "text", "text": "cat"}])
    )
    assert (await make_client().ask(free_text)).text == "a cat"


# Statuses that are tried again.


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_passing_status_is_tried_again(server, make_client, scoring, status):
    server.plan(server.error(status), server.error(status), server.completion())
    reply = await make_client().ask(scoring)
    assert reply.ok
    assert reply.call.attempts == 3
    assert [seen.headers["x-atomscope-attempt"] for seen in server.seen] == ["1", "2", "3"]


@pytest.mark.parametrize("status", [429, 500, 502])
async def test_a_lasting_status_ends_after_the_last_try(server, make_client, scoring, status):
    server.plan(server.error(status, "very busy"))
    with pytest.raises(CallGaveUp, match=r"very busy.*3 tries") as caught:
        await make_client().ask(scoring)
    assert server.n == 3
    assert isinstance(caught.value, TransientError)
    call = failed_call(caught.value)
    assert call is not None
    assert (call.attempts, call.reply, call.cost) == (3, None, None)
    assert f"HTTP {status}" in (call.error or "")


async def test_an_html_error_page_is_not_quoted(server, make_client, scoring):
    server.plan(server.http(502, "<html><head><title>502 Bad Gateway</title></head>" + "x" * 9000))
    with pytest.raises(CallGaveUp, match="an HTML page titled '502 Bad Gateway'"):
        await make_client().ask(scoring)


async def test_an_error_without_a_body(server, make_client, scoring):
    server.plan(server.http(500, b""), server.completion())
    assert (await make_client().ask(scoring)).ok


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"retry_after_ms": "300"}, 0.3),
        ({"Retry_After": "2.5"}, 2.5),
    ],
)
async def test_the_servers_wait_is_kept(server, make_client, scoring, patience, headers, seconds):
    server.plan(server.error(429, **headers), server.completion())
    reply = await make_client().ask(scoring)
    assert reply.call.attempts == 2
    assert patience.slept == [pytest.approx(seconds, abs=0.1)]


async def test_a_retry_after_date_is_kept(server, make_client, scoring, patience):
    now = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
    timing = Timing(clock=patience.clock, sleep=patience.sleep, random=lambda: 0.0, now=lambda: now)
    date = format_datetime(now + timedelta(seconds=9), usegmt=True)
    server.plan(server.error(503, Retry_After=date), server.completion())
    assert (await make_client(options={"timing": timing}).ask(scoring)).ok
    assert patience.slept == [pytest.approx(9.0, abs=0.1)]


async def test_jitter_keeps_callers_apart(server, make_client, scoring, patience):
    patience.chance = 1.0
    server.plan(server.error(429, Retry_After="4"), server.completion())
    await make_client().ask(scoring)
    assert sum(patience.slept) >= 5.0


async def test_a_wait_beyond_the_time_allowed_gives_up_at_once(server, make_client, scoring):
    server.plan(server.error(429, Retry_After="3600"))
    with pytest.raises(CallGaveUp, match="asks to wait 3600 s"):
        await make_client(max_seconds=60.0).ask(scoring)
    assert server.n == 1


async def test_a_crowd_halves_the_limit_and_clean_answers_grow_it(server, make_client, scoring):
    server.plan(server.error(429), server.completion())
    client = make_client(concurrency=8)
    await client.ask(scoring)
    assert client.limiter.limit == 4
    for _ in range(5):
        await client.ask(scoring)
    assert client.limiter.limit == 5
    assert client.limiter.in_flight == 0


# Statuses that are final.


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422])
async def test_a_refused_request_is_sent_once(server, make_client, scoring, status):
    server.plan(server.error(status, "no way"))
    with pytest.raises(CallRefused, match=f"HTTP {status}: no way") as caught:
        await make_client().ask(scoring)
    assert server.n == 1
    assert isinstance(caught.value, PermanentError)


@pytest.mark.parametrize(
    "action",
    [
        lambda s: s.error(429, "You exceeded your current quota", "insufficient_quota"),
        lambda s: s.error(402, "pay first"),
        lambda s: s.http(200, {"error": {"message": "out", "code": "insufficient_quota"}}),
    ],
)
async def test_a_used_up_quota_is_final(server, make_client, scoring, action):
    server.plan(action(server))
    with pytest.raises(CallRefused, match="Top the account up"):
        await make_client().ask(scoring)
    assert server.n == 1


async def test_x_should_retry_is_obeyed(server, make_client, scoring):
    server.plan(server.error(500, x_should_retry="false"))
    with pytest.raises(CallRefused):
        await make_client().ask(scoring)
    assert server.n == 1
    server.plan(server.completion(), server.error(400, x_should_retry="true"), server.completion())
    assert (await make_client().ask(scoring)).call.attempts == 2


async def test_redirects_are_not_followed(server, make_client, scoring):
    server.plan(server.http(302, b"", Location="http://127.0.0.1:9/v1"))
    with pytest.raises(CallRefused, match="redirects"):
        await make_client().ask(scoring)
    assert server.n == 1


async def test_no_picture_input_is_asked_once_then_remembered(
    server, make_client, with_picture, scoring
):
    message = "image input is not supported - hint: you may need to provide the mmproj"
    server.plan(server.error(500, message), server.completion())
    client = make_client()
    with pytest.raises(CallRefused, match="takes no pictures") as first:
        await client.ask(with_picture)
    with pytest.raises(CallRefused, match="takes no pictures") as second:
        await client.ask(with_picture)
    assert server.n == 1
    assert str(first.value) == str(second.value)
    assert failed_call(second.value) is None
    assert (await client.ask(scoring)).ok


async def test_too_many_pictures_are_refused_unsent(server, make_client, with_picture):
    with pytest.raises(CallRefused, match="takes at most 0"):
        await make_client(pictures={"max_count": 0}).ask(with_picture)
    assert server.n == 0


# Transport faults.


@pytest.mark.parametrize("fault", ["reset", "close", "short_body", "garbage"])
async def test_a_broken_connection_is_tried_again(server, make_client, scoring, fault):
    server.plan(getattr(server, fault)(), server.completion())
    reply = await make_client().ask(scoring)
    assert (reply.ok, reply.call.attempts) == (True, 2)


@pytest.mark.parametrize("fault", ["reset", "close", "short_body", "garbage"])
async def test_a_lasting_broken_connection_is_a_failure(server, make_client, scoring, fault):
    server.plan(getattr(server, fault)())
    with pytest.raises(CallGaveUp, match="No usable connection"):
        await make_client(max_tries=2).ask(scoring)
    assert server.n == 2


@pytest.mark.parametrize("fault", ["hang", "stall", "trickle"])
async def test_an_answer_without_end_is_cut_off_by_the_deadline(
    server, make_client, scoring, fault
):
    server.plan(getattr(server, fault)(), server.completion())
    client = make_client(timeout=0.25)
    reply = await client.ask(scoring)
    assert (reply.ok, reply.call.attempts) == (True, 2)
    assert client.limiter.in_flight == 0


async def test_all_tries_together_are_bounded(server, make_client, scoring):
    server.plan(server.trickle())
    started = asyncio.get_running_loop().time()
    with pytest.raises(CallGaveUp):
        await make_client(
            timeout=0.3, max_seconds=0.5, max_tries=10, options={"timing": Timing()}
        ).ask(scoring)
    assert asyncio.get_running_loop().time() - started < 2.0


async def test_nobody_listens(make_client, scoring):
    with pytest.raises(CallGaveUp, match="Check that the server is up"):
        await make_client(base_url="http://127.0.0.1:1/v1", max_tries=2).ask(scoring)


# Unusable 200s.

UNUSABLE = {
    "truncated JSON": b'{"choices": [{"message": {"content": "abc',
    "empty body": b"",
    "HTML": b"<!doctype html><html><title>Login</title></html>",
    "array": b"[1, 2]",
    "number": b"17",
    "error": b'{"error": {"message": "overloaded"}}',
    "error text": b'{"error": "overloaded"}',
    "other JSON": b'{"hello": "world"}',
    "choices null": b'{"choices": null}',
    "choices empty": b'{"choices": []}',
    "choice without message": b'{"choices": [{"finish_reason": "stop"}]}',
    "not UTF-8": b"\xff\xfe\x00",
    "too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_an_unusable_200_is_tried_again(server, make_client, scoring, name):
    server.plan(server.http(200, UNUSABLE[name]), server.completion())
    reply = await make_client().ask(scoring)
    assert (reply.ok, reply.call.attempts) == (True, 2)


@pytest.mark.parametrize("name", UNUSABLE)
async def test_a_lasting_unusable_200_is_a_failure(server, make_client, scoring, name):
    server.plan(server.http(200, UNUSABLE[name]))
    with pytest.raises(CallGaveUp, match="200"):
        await make_client(max_tries=2).ask(scoring)


# Outcomes that are no errors.


async def test_null_content_is_empty(server, make_client, scoring):
    server.plan(server.completion(None))
    reply = await make_client().ask(scoring)
    assert (reply.state, reply.data) == ("empty", None)
    assert reply.reason
    assert server.n == 1


async def test_a_refusal_is_an_outcome(server, make_client, scoring):
    server.plan(server.completion(None, refusal="I can't judge people."))
    reply = await make_client().ask(scoring)
    assert reply.state == "refused"
    assert "I can't judge people." in reply.reason
    assert reply.call.reply == "I can't judge people."
    assert server.n == 1


async def test_a_content_filter_is_an_outcome(server, make_client, scoring):
    server.plan(server.completion("", finish="content_filter"))
    reply = await make_client().ask(scoring)
    assert (reply.state, reply.call.finish) == ("filtered", "content_filter")
    assert server.n == 1


async def test_a_cut_reply_is_asked_for_once_more_with_more_tokens(server, make_client, scoring):
    server.plan(server.completion('{"sco', finish="length"), server.completion())
    reply = await make_client().ask(scoring)
    assert reply.ok
    assert [seen.body["max_tokens"] for seen in server.seen] == [100, 1024]
    assert reply.call.attempts == 2
    assert reply.call.usage.completion_tokens == 20
    assert any("cut by the token limit" in note for note in reply.notes)


async def test_a_reply_cut_twice_is_recorded_as_cut(server, make_client, scoring, free_text):
    server.plan(server.completion('{"sco', finish="length"))
    client = make_client()
    for request in (scoring, free_text):
        reply = await client.ask(request)
        assert (reply.state, reply.call.finish, reply.call.attempts) == ("cut", "length", 2)


async def test_a_whole_object_before_the_cut_counts(server, make_client, scoring):
    server.plan(server.completion('{"score": 2}' + " " * 50, finish="length"))
    reply = await make_client().ask(scoring)
    assert (reply.ok, reply.data, server.n) == (True, {"score": 2}, 1)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"score": 3}\n```',
        '<think>{"score": 1} no, better</think>\n{"score": 3}',
        'Here it is: {"score": 3}. Good luck!',
        '{"score": 1}\nOn second thoughts:\n{"score": 3}',
    ],
)
async def test_wrapped_json_needs_no_repair(server, make_client, scoring, text):
    server.plan(server.completion(text))
    reply = await make_client().ask(scoring)
    assert (reply.data, reply.call.repaired, server.n) == ({"score": 3}, False, 1)
    assert reply.text == text


@pytest.mark.parametrize("text", ['{"score": "four"}', '{"sco', "Four, I'd say.", '{"score": NaN}'])
async def test_an_unreadable_reply_gets_one_repair_turn(server, make_client, scoring, text):
    server.plan(server.completion(text), server.completion('{"score": 4}'))
    reply = await make_client().ask(scoring)
    assert (reply.ok, reply.data) == (True, {"score": 4})
    assert (reply.call.repaired, reply.call.attempts) == (True, 2)
    assert (reply.call.usage.prompt_tokens, reply.call.usage.completion_tokens) == (200, 20)
    messages = server.seen[1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == text


async def test_the_repair_turn_names_the_problem(server, make_client, scoring):
    server.plan(server.completion('{"score": "four"}'), server.completion())
    await make_client().ask(scoring)
    assert "'four' is not of type 'integer'" in server.seen[1].body["messages"][3]["content"]


async def test_twice_unreadable_is_an_outcome_not_a_score(server, make_client, scoring):
    server.plan(server.completion("no JSON here"))
    reply = await make_client().ask(scoring)
    assert (reply.state, reply.data) == ("unreadable", None)
    assert (reply.call.repaired, reply.call.attempts, server.n) == (True, 2, 2)
    assert reply.call.reply == "no JSON here"


async def test_odd_but_usable_replies(server, make_client, scoring):
    server.plan(server.completion(finish=None, reasoning_content="hm"))
    assert (await make_client().ask(scoring)).ok
    server.plan(server.completion(finish="eos"))
    assert (await make_client().ask(scoring)).call.finish == "eos"


# Reply forms.


async def test_the_form_ladder_steps_down_and_remembers(server, make_client, scoring):
    refuse = server.error(400, "response_format json_schema is not supported")
    server.plan(refuse, refuse, server.completion())
    client = make_client()
    first = await client.ask(scoring)
    assert (first.ok, first.form, first.call.form) == (True, "text", "text")
    assert first.call.adapted == (
        "structured replies were asked for as text: the server said "
        '"response_format json_schema is not supported"',
    )
    second = await client.ask(scoring)
    assert (second.form, second.call.attempts) == ("text", 1)
    formats = [seen.body.get("response_format", {}).get("type") for seen in server.seen]
    assert formats == ["json_schema", "json_object", None, None]


async def test_where_the_server_gets_no_schema_the_model_does(server, make_client, scoring):
    server.plan(server.completion())
    await make_client(structured="json_object").ask(scoring)
    body = server.seen[0].body
    assert body["response_format"] == {"type": "json_object"}
    system = body["messages"][0]["content"]
    assert system.startswith("Atomscope task: scoring/1\n")
    assert json.dumps(scoring.schema) in system


async def test_a_fixed_form_is_not_given_up(server, make_client, scoring):
    server.plan(server.error(400, "response_format is not supported"))
    with pytest.raises(CallRefused, match="structured mode to 'auto'"):
        await make_client(structured="json_schema").ask(scoring)
    assert server.n == 1


async def test_the_other_name_of_the_token_limit_is_learned(server, make_client, scoring):
    server.plan(
        server.error(
            400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        ),
        server.completion(),
    )
    client = make_client()
    assert (await client.ask(scoring)).ok
    assert (await client.ask(scoring)).call.attempts == 1
    assert server.seen[1].body["max_completion_tokens"] == 100
    assert "max_tokens" not in server.seen[1].body


# Money.

PRICES = {"input": 10.0, "output": 20.0}


async def test_cost_comes_from_the_counted_tokens(server, make_client, scoring):
    server.plan(server.completion())
    ledger = SpendLedger(1.0)
    reply = await make_client(prices=PRICES, options={"spend": ledger}).ask(scoring)
    # 100 * 10 + 10 * 20 = 1200 for a million tokens.
    assert reply.call.cost == pytest.approx(0.0012)
    assert ledger.spent == pytest.approx(0.0012)
    assert (ledger.estimated, ledger.reserved) == (0.0, 0.0)


async def test_a_reply_without_usage_has_an_unknown_cost(server, make_client, scoring):
    server.plan(server.completion(usage=None))
    ledger = SpendLedger(1.0)
    reply = await make_client(prices=PRICES, options={"spend": ledger}).ask(scoring)
    assert reply.ok
    assert reply.call.cost is None
    assert reply.call.usage.prompt_tokens is None
    assert reply.estimated_cost is not None
    assert ledger.spent == ledger.estimated == pytest.approx(reply.estimated_cost)


async def test_the_cap_stops_before_the_call(server, make_client, scoring):
    server.plan(server.completion())
    ledger = SpendLedger(0.004)
    client = make_client(prices=PRICES, options={"spend": ledger})
    await client.ask(scoring)
    with pytest.raises(SpendCapReached, match="Raise the cap and resume"):
        for _ in range(10):
            await client.ask(scoring)
    assert server.n < 10
    assert ledger.spent <= 0.004
    assert ledger.reserved == 0.0


async def test_calls_in_flight_count_against_the_cap(server, make_client, scoring):
    server.plan(server.completion())
    ledger = SpendLedger(0.006)
    client = make_client(prices=PRICES, options={"spend": ledger})
    results = await asyncio.gather(
        *(client.ask(scoring) for _ in range(20)), return_exceptions=True
    )
    kinds = {type(result) for result in results}
    assert kinds == {Reply, SpendCapReached}
    assert ledger.spent <= 0.006


async def test_a_failed_call_frees_its_money(server, make_client, scoring):
    server.plan(server.error(400))
    ledger = SpendLedger(1.0)
    with pytest.raises(CallRefused):
        await make_client(prices=PRICES, options={"spend": ledger}).ask(scoring)
    assert (ledger.spent, ledger.reserved) == (0.0, 0.0)


async def test_a_cap_needs_prices(server, make_client, scoring):
    with pytest.raises(SettingsError, match="no prices"):
        await make_client(options={"spend": SpendLedger(1.0)}).ask(scoring)
    assert server.n == 0


async def test_the_repair_turn_is_left_out_when_the_cap_forbids_it(server, make_client, scoring):
    server.plan(server.completion("no JSON", usage={"prompt_tokens": 390, "completion_tokens": 1}))
    client = make_client(prices=PRICES, options={"spend": SpendLedger(0.0045)})
    reply = await client.ask(scoring)
    assert (reply.state, reply.call.repaired, server.n) == ("unreadable", False, 1)
    assert any("spend cap" in note for note in reply.notes)


# Keys.

KEY = "sk-very-secret-1234"


async def test_the_key_goes_into_the_header_and_nowhere_else(server, make_client, scoring):
    server.plan(server.error(401, f"Incorrect API key provided: {KEY}."))
    client = make_client(key_env="MY_KEY", options={"environ": {"MY_KEY": KEY}})
    with pytest.raises(CallRefused) as caught:
        await client.ask(scoring)
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    error = caught.value
    assert "[key]" in str(error)
    assert "'MY_KEY'" in str(error)
    call = failed_call(error)
    assert call is not None
    texts = (str(error), repr(error), call.model_dump_json(), repr(client))
    assert all(KEY not in text for text in texts)
    assert KEY.encode() not in pickle.dumps(error)
    assert error.__cause__ is None


async def test_a_key_echoed_in_a_reply_is_not_kept(server, make_client, free_text):
    """Fall 9 of design/074."""
    server.plan(server.completion(f"your key is {KEY}"))
    reply = await make_client(key_env="MY_KEY", options={"environ": {"MY_KEY": KEY}}).ask(free_text)
    assert reply.text == reply.call.reply == "your key is [key]"


async def test_a_key_that_is_not_set_is_told_before_any_call(server, make_client, scoring):
    with pytest.raises(SettingsError, match="'MY_KEY', which isn't set"):
        await make_client(key_env="MY_KEY").ask(scoring)
    assert server.n == 0


async def test_the_librarys_own_variables_go_to_no_other_host(
    server, make_client, scoring, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-x")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-x")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Company: comp-x")
    server.plan(server.completion())
    await make_client().ask(scoring)
    sent = " ".join(f"{name}={value}" for name, value in server.seen[0].headers.items())
    assert KEY not in sent
    assert "org-x" not in sent
    assert "proj-x" not in sent
    assert "comp-x" not in sent
    assert "x-stainless-os" not in sent


async def test_errors_pickle_with_their_call(server, make_client, scoring):
    server.plan(server.error(404))
    with pytest.raises(CallRefused) as caught:
        await make_client().ask(scoring)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (CallRefused, str(caught.value))
    assert failed_call(copy) == failed_call(caught.value)


# Streams.


def delta(text=None, finish=None, **more):
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


USAGE = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


async def test_a_stream_yields_pieces_then_the_reply(server, make_client, scoring):
    server.plan(server.events(delta('{"sco'), delta('re": 5}'), delta(finish="stop"), USAGE))
    *pieces, reply = await collect(make_client(prices=PRICES), scoring)
    assert pieces == ['{"sco', 're": 5}']
    assert isinstance(reply, Reply)
    assert (reply.data, reply.call.finish) == ({"score": 5}, "stop")
    assert reply.call.cost == pytest.approx(0.0012)
    assert server.seen[0].body["stream"] is True
    assert server.seen[0].body["stream_options"] == {"include_usage": True}


async def test_a_stream_is_tried_again_before_its_first_piece(server, make_client, scoring):
    server.plan(
        server.error(500),
        server.events("oops"),
        server.events(delta('{"score": 5}'), delta(finish="stop")),
    )
    *pieces, reply = await collect(make_client(), scoring)
    assert (pieces, reply.call.attempts) == (['{"score": 5}'], 3)


async def test_a_stream_that_breaks_off_is_a_failure(server, make_client, scoring):
    server.plan(server.events(delta('{"sco'), done=False))
    client = make_client()
    pieces = []
    with pytest.raises(CallGaveUp, match="ended early"):
        async for piece in client.stream(scoring):
            pieces.append(piece)
    assert pieces == ['{"sco']
    assert client.limiter.in_flight == 0


async def test_a_stream_is_bounded_in_time(server, make_client, scoring):
    server.plan(server.events(*[delta(" ") for _ in range(1000)], pause=0.05))
    with pytest.raises(CallGaveUp, match="no whole answer"):
        await collect(make_client(timeout=0.3, max_tries=1), scoring)


async def test_a_server_that_does_not_stream_is_read_whole(server, make_client, scoring):
    server.plan(server.completion('{"score": 2}'))
    assert (await collect(make_client(), scoring))[-1].data == {"score": 2}


async def test_a_server_without_stream_options(server, make_client, scoring):
    server.plan(
        server.error(400, "Unrecognized request argument: stream_options"),
        server.events(delta('{"score": 5}'), delta(finish="stop")),
    )
    client = make_client()
    assert (await collect(client, scoring))[-1].data == {"score": 5}
    assert "stream_options" not in server.seen[1].body


async def test_a_streamed_refusal_and_an_unreadable_stream(server, make_client, scoring):
    server.plan(server.events(delta(refusal="No."), delta(finish="stop")))
    assert (await collect(make_client(), scoring))[-1].state == "refused"
    server.plan(
        server.completion(),
        server.events(delta("nothing"), delta(finish="stop")),
        server.completion('{"score": 1}'),
    )
    reply = (await collect(make_client(), scoring))[-1]
    assert (reply.data, reply.call.repaired) == ({"score": 1}, True)


async def test_a_stream_in_another_encoding_is_a_failure_in_words(server, make_client, scoring):
    """It was UTF-16, and ended in a traceback (of fall 24)."""
    said = 'data: {"choices": []}\n\ndata: [DONE]\n\n'.encode("utf-16")
    server.plan(*[server.http(200, said, Content_Type="text/event-stream")] * 9)
    with pytest.raises(AtomError) as told:
        await collect(make_client(), scoring)
    assert told.value.message


async def test_a_stream_that_nobody_reads_on_frees_everything(server, make_client, scoring):
    server.plan(server.events(*[delta("x") for _ in range(500)], pause=0.01))
    ledger = SpendLedger(1.0)
    client = make_client(prices=PRICES, options={"spend": ledger})
    stream = client.stream(scoring)
    assert await anext(stream) == "x"
    await stream.aclose()
    assert client.limiter.in_flight == 0
    assert ledger.reserved == 0.0


# Many at once.


async def test_cancelling_frees_the_slot(server, make_client, scoring):
    server.plan(server.hang())
    client = make_client()
    task = asyncio.create_task(client.ask(scoring))
    while not server.n:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert client.limiter.in_flight == 0


async def test_no_more_in_flight_than_the_concurrency(server, make_client, scoring):
    now = most = 0

    def busy():
        inner = server.completion()

        async def act(script, writer):
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.02)
            now -= 1
            await inner(script, writer)

        return act

    server.plan(busy())
    client = make_client(concurrency=3)
    replies = await asyncio.gather(*(client.ask(scoring) for _ in range(12)))
    assert all(reply.ok for reply in replies)
    assert most == 3


async def test_a_client_opens_again_after_close(server, make_endpoint, scoring):
    server.plan(server.completion())
    async with JudgeClient(make_endpoint()) as client:
        assert (await client.ask(scoring)).ok
        await client.close()
        assert (await client.ask(scoring)).ok


async def test_estimates_learn_from_replies(server, make_client, scoring):
    server.plan(server.completion(usage={"prompt_tokens": 5, "completion_tokens": 50}))
    client = make_client(prices=PRICES)
    request = scoring
    assert client.estimate(request).completion_tokens == 100
    await client.ask(request)
    assert client.estimate(request).completion_tokens == 50


async def test_requests_are_named_by_content_not_by_repeat(scoring):
    from dataclasses import replace

    same = replace(scoring, repeat=3)
    other = replace(scoring, parts=(TextPart(text="Other?"),))
    warm = replace(scoring, sampling=Sampling(temperature=1.0))
    name = request_hash(scoring, "m")
    assert request_hash(same, "m") == name
    assert len({name, request_hash(other, "m"), request_hash(warm, "m")}) == 3
    assert request_hash(scoring, "n") != name
    assert Prices() == Prices()
