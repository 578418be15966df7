import pytest

from atom.judge.reply import Reply
from atom.records import Call
from atom.stages.reading import one_line, read_reply, text_of

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


CUT = '{"scores": [{"id": "a", "score": 4}, {"id": "b", "score": 1'


def test_whole_items_of_a_cut_list_are_read_where_they_are_of_use():
    reply = Reply(state="cut", text=CUT, call=CALL, reason="why")
    assert read_reply(reply, "scores").data is None
    found = read_reply(reply, "scores", partial=True)
    # The 1 may be the beginning of a 10.
    assert found.data == {"scores": [{"id": "a", "score": 4}]}
    assert found.cut
    assert "cut" in found.note


def test_lines_cannot_show_that_they_were_cut():
    text = "verdict: right\nreason: it fits"
    read = [
        read_reply(Reply(state=state, text=text, call=CALL, reason="why"), "verdict", partial=True)
        for state in ("unreadable", "cut")
    ]
    assert [one.data for one in read] == [{"verdict": "right", "reason": "it fits"}, None]


def test_small_helpers():
    assert one_line(" a\n b ") == "a b"
    assert one_line("abcdef", 4) == "abc…"
    assert [text_of(v) for v in (" a ", 4, 4.5, True, None, [1])] == ["a", "4", "4.5", "", "", ""]
