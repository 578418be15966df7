from __future__ import annotations

import pytest

from atom.engine.replies import reread
from atom.judge import Request, TextPart
from atom.records import Call

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
