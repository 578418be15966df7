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


def test_what_was_packed_before_can_be_read_for_good():
    """These bytes stand in stores: whoever changes the words loses them."""
    text = '{"reason": "A coin was flipped.", "verdict": "second"}'
    kept = bytes.fromhex("78f9ef1c8604232f230300e3b711a5")
    assert KINDS[Call].to_row(KINDS[Call].from_row(row(kept)))["reply"] == kept
    assert KINDS[Call].from_row(row(kept)).reply == text
    # Alone the same text takes three times the room, and is read as well.
    alone = zlib.compress(text.encode(), 9)
    assert len(alone) > 3 * len(kept)
    assert KINDS[Call].from_row(row(alone)).reply == text


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
