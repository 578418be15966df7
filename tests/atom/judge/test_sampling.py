"""What a request asks of the sampling, from the study and the endpoint together."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.errors import SettingsError
from atom.judge import (
    CallRefused,
    Request,
    TextPart,
    asked_request,
    asked_sampling,
    failed_call,
    request_hash,
)
from atom.judge.sampling import extra_fields, extra_text
from atom.records import Endpoint, Sampling


def endpoint(**fields):
    return Endpoint(name="e", base_url="http://127.0.0.1:1/v1", model="m", **fields)


FULL = endpoint(
    temperature=0.3,
    top_p=0.9,
    seed=7,
    max_tokens=500,
    reasoning_effort="low",
    image_detail="high",
    extra_body={"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}},
)

numbers = st.none() | st.floats(0, 2, allow_nan=False)
words = st.none() | st.sampled_from(["low", "high"])
samplings = st.builds(
    Sampling,
    temperature=numbers,
    top_p=numbers,
    max_tokens=st.none() | st.integers(1, 9000),
    seed=st.none() | st.integers(),
    reasoning_effort=words,
    image_detail=words,
    extra=st.none() | st.sampled_from(['{"top_k":3}', '{"min_p":0.1}']),
)


def test_the_endpoint_fills_what_the_study_leaves_open():
    asked = asked_sampling(FULL, Sampling(temperature=0.0, extra='{"top_k":3}'))
    assert asked == Sampling(
        temperature=0.0,
        top_p=0.9,
        seed=7,
        max_tokens=500,
        reasoning_effort="low",
        image_detail="high",
        extra='{"chat_template_kwargs":{"enable_thinking":false},"top_k":3}',
    )


@given(samplings)
def test_an_endpoint_that_sets_nothing_changes_nothing(study):
    assert asked_sampling(endpoint(), study) == study
    assert asked_sampling(endpoint(), study).key == study.key


@given(samplings)
def test_filling_in_twice_is_filling_in_once(study):
    once = asked_sampling(FULL, study)
    assert asked_sampling(FULL, once) == once


@given(samplings)
def test_what_the_study_sets_goes_first(study):
    asked = asked_sampling(FULL, study)
    for name, value in study.model_dump(exclude={"extra"}).items():
        assert value is None or getattr(asked, name) == value
    assert extra_fields(asked).items() >= extra_fields(study).items()


def test_what_is_asked_for_is_part_of_the_requests_name():
    request = Request(task="t", prompt_id="t/1", system="s", parts=(TextPart(text="q"),))
    plain = request_hash(asked_request(endpoint(), request), "m")
    assert plain == request_hash(request, "m")
    others = [
        endpoint(**{name: getattr(FULL, name)})
        for name in ("temperature", "top_p", "seed", "max_tokens", "reasoning_effort",
                     "image_detail", "extra_body")
    ]  # fmt: skip
    names = {request_hash(asked_request(one, request), "m") for one in others}
    assert len(names | {plain}) == len(others) + 1


def test_the_order_of_further_fields_is_no_matter():
    first, second = {"a": 1, "b": {"x": 1, "y": 2}}, {"b": {"y": 2, "x": 1}, "a": 1}
    assert extra_text(first) == extra_text(second)
    assert json.loads(extra_text(first) or "") == first
    assert extra_text({}) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"temperature": 1}, "'temperature' of the endpoint"),
        ({"max_completion_tokens": 1}, "'max_tokens' of the endpoint"),
        ({"messages": []}, "'messages' is written by the client itself; take it out"),
        ({"a": float("nan")}, "can't be sent as JSON"),
    ],
)
def test_further_fields_that_cannot_be_sent(fields, words):
    with pytest.raises(SettingsError, match=words):
        extra_text(fields)


async def test_everything_that_is_asked_for_is_sent(server, make_client, with_picture):
    server.plan(server.completion())
    settings = {
        name: getattr(FULL, name)
        for name in ("temperature", "top_p", "seed", "max_tokens", "reasoning_effort",
                     "image_detail", "extra_body")
    }  # fmt: skip
    client = make_client(**settings, thinking_tokens=1500)
    await client.ask(with_picture)
    body = server.seen[0].body
    picture = body["messages"][1]["content"][0]["image_url"]
    assert picture["detail"] == "high"
    assert body["max_tokens"] == 500 + 1500
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    sent = {name: body[name] for name in ("temperature", "top_p", "seed", "reasoning_effort")}
    assert sent == {"temperature": 0.3, "top_p": 0.9, "seed": 7, "reasoning_effort": "low"}
    assert body["top_k"] == 20


async def test_a_model_without_a_system_role(server, make_client, with_picture, free_text):
    server.plan(server.completion("words"), server.completion())
    client = make_client(system=False)
    await client.ask(free_text)
    await client.ask(with_picture)
    plain, pictured = (seen.body["messages"] for seen in server.seen)
    assert plain == [
        {"role": "user", "content": "Atomscope task: answer/1\n\nWhat is it?"},
    ]
    assert [message["role"] for message in pictured] == ["user"]
    kinds = [part["type"] for part in pictured[0]["content"]]
    assert kinds == ["text", "image_url", "text"]
    assert pictured[0]["content"][0]["text"] == "Atomscope task: scoring/1"


async def test_headers_and_query_are_sent_and_their_secrets_never_shown(
    server, make_client, free_text
):
    server.plan(server.error(400, "no s3cret-value here, nor qu3ry-value"))
    client = make_client(
        extra_headers={"api-key": "${HIDDEN_KEY}", "X-Title": "plain"},
        query={"api-version": "2024-10-21", "code": "${QUERY_KEY}"},
        options={"environ": {"HIDDEN_KEY": "s3cret-value", "QUERY_KEY": "qu3ry-value"}},
    )
    with pytest.raises(CallRefused) as caught:
        await client.ask(free_text)
    seen = server.seen[0]
    assert seen.headers["api-key"] == "s3cret-value"
    assert seen.headers["x-title"] == "plain"
    assert "authorization" not in seen.headers
    assert seen.path == "/v1/chat/completions?api-version=2024-10-21&code=qu3ry-value"
    call = failed_call(caught.value)
    assert call is not None
    assert "no [key] here, nor [key]" in str(caught.value)
    assert "s3cret" not in f"{caught.value} {call.error}"


async def test_a_header_may_take_the_place_of_the_key(server, make_client, free_text):
    server.plan(server.completion("words"))
    client = make_client(
        extra_headers={"authorization": "Basic ${WHO}"},
        options={"environ": {"WHO": "abc=", "ATOM_KEYS": "WHO"}},
    )
    await client.ask(free_text)
    assert server.seen[0].headers["authorization"] == "Basic abc="


async def test_a_variable_that_a_header_names_has_to_be_set(make_client, free_text):
    client = make_client(extra_headers={"api-key": "${HIDDEN_KEY}"})
    with pytest.raises(SettingsError, match=r"'HIDDEN_KEY' in extra_headers \(api-key\)"):
        await client.ask(free_text)
