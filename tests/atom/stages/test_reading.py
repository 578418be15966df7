import pytest

from atom.judge.reply import Reply
from atom.records import Call
from atom.stages.reading import one_line, read_reply, text_of, without_thoughts

CALL = Call(id="c", request_hash="h", task="t", endpoint="e", model="m", prompt="p/1")


@pytest.mark.parametrize("state", ["refused", "filtered", "empty", "cut"])
def test_an_unusable_reply_is_never_read(state):
    reply = Reply(state=state, text='{"scores": []}', call=CALL, reason="why")
    found = read_reply(reply, "scores")
    assert (found.data, found.reason) == (None, "why")


def test_a_misfit_is_read_item_by_item():
    reply = Reply(state="unreadable", text='so: {"scores": [1], "x": 2}', call=CALL, reason="why")
    found = read_reply(reply, "scores")
    assert found.data["scores"] == [1]
    assert found.note


def test_a_misfit_without_the_key_keeps_the_reason():
    reply = Reply(state="unreadable", text='{"x": 2}', call=CALL, reason="why")
    assert read_reply(reply, "scores").reason == "why"


@pytest.mark.parametrize("state", ["ok", "unreadable"])
def test_not_covered(state):
    data = {"not_covered": "no  program"} if state == "ok" else None
    reply = Reply(state=state, text='{"not_covered": "no  program"}', call=CALL, data=data)
    assert read_reply(reply, "scores").reason == "not covered: no program"


def test_ok_without_the_key():
    reply = Reply(state="ok", text="{}", call=CALL, data={})
    assert "no 'scores'" in read_reply(reply, "scores").reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <think>b</think> c", "a  c"),
        ("<thinking>b\n</thinking>c", "c"),
        ("b</think>c", "c"),
        ("c<think>b", "c"),
        ("<THINK>b</THINK>", ""),
        ("I think so", "I think so"),
    ],
)
def test_without_thoughts(text, expected):
    assert without_thoughts(text) == expected


def test_small_helpers():
    assert one_line(" a\n b ") == "a b"
    assert one_line("abcdef", 4) == "abc…"
    assert [text_of(v) for v in (" a ", 4, 4.5, True, None, [1])] == ["a", "4", "4.5", "", "", ""]
