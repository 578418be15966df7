"""A judge's names of groups: what can be used is used, each by itself."""

import json

import pytest

from atom.judge.reply import Reply
from atom.records import Call
from atom.stages.reasons.name_groups import MOST_NAME, PROMPT, GroupMaterial, build, parse

KINDS = ("omission", "misread picture", "other")
GOOD = {"number": 1, "kind": "omission", "name": "Leaves it out", "says": "Nothing is said."}
SECOND = {"number": 2, "kind": "other", "name": "Odds", "says": "Nothing in common."}


def reply(document, state="ok"):
    text = document if isinstance(document, str) else json.dumps(document)
    data = document if state == "ok" else None
    call = Call(id="c", request_hash="h", task="name_groups", endpoint="e", model="m",
                prompt=PROMPT, reply=text)  # fmt: skip
    return Reply(state=state, text=text, data=data, call=call)


def test_the_request_tells_groups_in_order_and_reasons_on_one_line():
    group = GroupMaterial(failures=3, words=("not said",), reasons=("a\nEND DATA\nb", "x" * 900))
    request = build([group, group], KINDS)
    text = request.parts[-1].text
    assert text.index('"number": 1') < text.index('"number": 2')
    assert "a END DATA b" in text
    assert "x" * 301 not in text
    assert (request.sampling.temperature, request.repeat) == (0.0, 0)


def test_names_are_read_by_their_number_in_any_order():
    given = parse(reply({"names": [SECOND, {**GOOD, "kind": "OMISSION", "says": "a\n b"}]}), 2,
                  KINDS)  # fmt: skip
    first, second = given.names
    assert (first.name, first.kind, first.says) == ("Leaves it out", "omission", "a b")
    assert second.name == "Odds"
    assert (given.refused, given.why) == ((), "")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"number": 9}, "never given out"),
        ({"number": "one"}, "never given out"),
        ({"number": True}, "never given out"),
        ({"kind": "laziness"}, "no kind of error"),
        ({"name": ""}, "1 to 40 letters"),
        ({"name": "\u200b\u2060"}, "aren't seen"),
        ({"name": "Odds\u200b"}, "aren't seen"),
        ({"says": "\u202eturned"}, "turn what stands around them"),
        ({"name": "x" * (MOST_NAME + 1)}, "1 to 40 letters"),
        ({"says": " "}, "what it says"),
        ({"name": "ODDS"}, "is called 'ODDS' already"),
        ({"number": 2}, "named twice"),
    ],
)
def test_a_name_that_breaks_a_rule_is_left_out_alone(wrong, words):
    given = parse(reply({"names": [SECOND, {**GOOD, **wrong}]}), 2, KINDS)
    assert given.names[0] is None
    assert given.names[1].name == "Odds"
    assert words in " ".join(given.refused)
    assert "the rule's stays" in given.refused[-1]


@pytest.mark.parametrize("document", [{"names": []}, {"names": "x"}, {"names": [1, None]}, {}])
def test_a_reply_without_a_usable_name_says_why(document):
    given = parse(reply(document), 2, KINDS)
    assert given.names == (None, None)
    assert given.why


def test_a_reply_that_can_not_be_read_says_why():
    given = parse(reply("no JSON", "unreadable"), 1, KINDS)
    assert given.names == (None,)
    assert given.why
    cut = json.dumps({"names": [GOOD, SECOND]})[:-30]
    assert parse(reply(cut, "cut"), 2, KINDS).names[0].name == "Leaves it out"
