import json

import pytest

from atom.probes.serving.protocol import RequestError, decode_picture, fit_schema, parse_request


def payload(**more):
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}


def test_task_and_data_are_found():
    text = 'Do.\nBEGIN DATA\n{"a": "BEGIN DATA\\nEND DATA"}\nEND DATA\nThanks.'
    request = parse_request(
        payload(
            messages=[
                {"role": "system", "content": "Atomscope task: scoring/2b\nBe exact."},
                {"role": "user", "content": [{"type": "text", "text": text}]},
            ],
            seed=4,
            temperature=0.5,
        )
    )
    assert (request.task, request.prompt, request.repeat) == ("scoring", "scoring/2b", "4/0.5")
    assert request.data == {"a": "BEGIN DATA\nEND DATA"}


def test_a_repair_turn_keeps_data_and_pictures():
    request = parse_request(
        payload(
            messages=[
                {"role": "user", "content": "BEGIN DATA\n{}\nEND DATA"},
                {"role": "assistant", "content": "oops"},
                {"role": "user", "content": "That was no JSON: try again."},
            ]
        )
    )
    assert request.data == {}
    assert request.feedback == "That was no JSON: try again."
    assert request.replied == "oops"


@pytest.mark.parametrize(
    "body",
    [
        None, [], "x", {}, {"model": 1}, {"model": "m"}, payload(messages=[]),
        payload(messages=["x"]), payload(messages=[{"role": "tool", "content": "x"}]),
        payload(messages=[{"role": "user", "content": 3}]),
        payload(messages=[{"role": "user", "content": [{"type": "audio"}]}]),
        payload(messages=[{"role": "user", "content": [3]}]),
        payload(messages=[{"role": "user", "content": "BEGIN DATA\n{\nEND DATA"}]),
        payload(messages=[{"role": "user", "content": "BEGIN DATA\n[1]\nEND DATA"}]),
        payload(n=2), payload(seed="x"), payload(temperature=True),
        payload(response_format={"type": "xml"}), payload(response_format="json"),
        payload(response_format={"type": "json_schema"}),
    ],
)  # fmt: skip
def test_bad_requests_are_refused(body):
    with pytest.raises(RequestError) as caught:
        parse_request(body)
    assert caught.value.status == 400
    assert caught.value.message


@pytest.mark.parametrize(
    "url",
    ["http://example.org/a.png", "data:image/png;base64,!!!", "data:text/plain,x", "", "None"],
)
def test_bad_pictures_are_refused(url):
    with pytest.raises(RequestError, match="picture"):
        decode_picture(url)


def test_a_strict_schema_drops_unknown_keys():
    item = {"type": "object", "properties": {"id": {}}, "additionalProperties": False}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": item}}}
    value = {"rows": [{"id": 1, "reason": "x"}], "more": 1}
    assert fit_schema(value, schema) == {"rows": [{"id": 1}], "more": 1}
    assert fit_schema(value, None) == value


def test_a_schemas_limits_are_kept():
    text = {"type": "string", "maxLength": 3}
    assert fit_schema(["abcd", "ef", "g"], {"maxItems": 2, "items": text}) == ["abc", "ef"]


def test_schema_of_a_request():
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    assert parse_request(payload(response_format=form)).schema == {"type": "object"}
    for kind in ("text", "json_object"):
        assert json.dumps(parse_request(payload(response_format={"type": kind})).schema) == "null"
