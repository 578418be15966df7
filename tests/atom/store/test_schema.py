"""A reply's packed text has a limit, both ways."""

from __future__ import annotations

import zlib

import pytest

from atom.errors import CorruptError, DataError
from atom.records import Call
from atom.store import schema
from atom.store.schema import KINDS


def row(reply: bytes) -> dict[str, object]:
    call = Call(
        id="a", request_hash="h", task="scoring", endpoint="e", model="m", prompt="scoring/1",
        reply="short",
    )  # fmt: skip
    return KINDS[Call].to_row(call) | {"reply": reply}


def test_a_reply_comes_back(monkeypatch):
    text = "as it was: \ud800 " * 9
    packed = zlib.compress(text.encode("utf-8", "surrogatepass"))
    assert KINDS[Call].from_row(row(packed)).reply == text
    monkeypatch.setattr(schema, "MOST_REPLY", len(text.encode("utf-8", "surrogatepass")))
    assert KINDS[Call].from_row(row(packed)).reply == text


def test_no_more_is_unpacked_than_a_reply_may_have(monkeypatch):
    monkeypatch.setattr(schema, "MOST_REPLY", 1_000)
    with pytest.raises(CorruptError, match="more than 1,000 bytes"):
        KINDS[Call].from_row(row(zlib.compress(b"x" * 1_001)))
    call = KINDS[Call].from_row(row(zlib.compress(b"x" * 1_000)))
    with pytest.raises(DataError, match="1,001 bytes; at most 1,000"):
        KINDS[Call].to_row(call.model_copy(update={"reply": "x" * 1_001}))


def test_a_cut_reply_is_damage():
    with pytest.raises(CorruptError, match="can't be unpacked"):
        KINDS[Call].from_row(row(zlib.compress(b"x" * 1_000)[:-3]))
