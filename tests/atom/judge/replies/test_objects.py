"""Awkward replies, each with what has to come of it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.judge.replies.objects import (
    MAX_REPLY,
    check_schema,
    clean_text,
    extract_object,
)

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": ["integer", "null"]}, "note": {"type": "string"}},
    "required": ["score"],
}

READABLE = {
    "bare": ('{"score": 3}', 3),
    "space around": ('\n\n  {"score": 3}\n ', 3),
    "byte order mark": ('\ufeff{"score": 3}', 3),
    "fenced": ('```json\n{"score": 3}\n```', 3),
    "fenced without a name": ('```\n{"score": 3}\n```', 3),
    "fence never closed": ('```json\n{"score": 3}', 3),
    "text before": ('Sure! Here is my verdict: {"score": 3}', 3),
    "text after": ('{"score": 3}\nHope that helps {friend}!', 3),
    "formula before": (r'As $\frac{1}{2} = {x}$, so {"score": 3}', 3),
    "think block": ('<think>maybe {"score": 1}</think>{"score": 3}', 3),
    "thinking block": ('<thinking>{"score": 1}</thinking>\n\n{"score": 3}', 3),
    "think block opened in the prompt": ('{"score": 1} hm</think>{"score": 3}', 3),
    "think block with a loose bracket": ('<think>a { b</think>{"score": 3}', 3),
    "tag inside a text": ('{"score": 3, "note": "he wrote </think> here"}', 3),
    "tag inside a text, fenced": ('```\n{"score": 3, "note": "a </think> b"}\n```', 3),
    "two objects, last counts": ('{"score": 1} no: {"score": 3}', 3),
    "last fitting object counts": ('{"score": 3} {"remark": "done"}', 3),
    "broken one before": ('{"score": oops} {"score": 3}', 3),
    "trailing comma": ('{"score": 3,}', 3),
    "trailing comma in a list": ('{"score": 3, "more": [1, 2, ], }', 3),
    "comma and bracket in a text": ('{"score": 3, "note": "a,} b,]",}', 3),
    "brackets in a text": ('{"score": 3, "note": "}{ \\" }"}', 3),
    "null is a value": ('{"score": null}', None),
    "equal twice": ('{"score": 3, "score": 3}', 3),
    "in a list": ('[{"score": 3}]', 3),
    "whole float": ('{"score": 3.0}', 3),
    "single quotes": ("{'score': 3}", 3),
    "comment": ('{"score": 3 // fine\n}', 3),
    "number in quotes": ('{"score": "3"}', 3),
    "later words with brackets": ('{"score": 3} for the set {x: x > 0} and {"remark": oops}', 3),
    "a later object in other quotes counts": ("{\"score\": 1} no: {'score': 3}", 3),
    "lines": ("note: fine\nscore: 3", 3),
    "another model's think marks": ('◁think▷{"score": 1}◁/think▷{"score": 3}', 3),
}


@pytest.mark.parametrize("name", READABLE)
def test_readable_replies(name):
    text, score = READABLE[name]
    found = extract_object(text, SCHEMA)
    assert found.problem == ""
    assert found.data is not None
    assert found.data["score"] == score


UNREADABLE = {
    "nothing": ("", "no JSON object"),
    "prose": ("Three, I would say.", "no JSON object"),
    "number": ("3", "no JSON object"),
    "cut in a text": ('{"score": 3, "note": "and th', "cut short"),
    "cut before the end": ('{"score": 3', "cut short"),
    "cut after a draft": ('{"score": 1} better: {"score": 3', "cut short"),
    "inner object of a cut one": ('{"list": [{"score": 3}', "cut short"),
    "NaN": ('{"score": NaN}', "NaN"),
    "infinity": ('{"score": -Infinity}', "Infinity"),
    "number out of range": ('{"score": 1e999}', "out of range"),
    "a draft before an answer that can't be read": ('{"score": 1} no: {"score": 3-4}', "At score"),
    "a draft before a wreck": ('{"score": 1} no: {"score": 3 "x": , }', "Not valid JSON"),
    "lines with a key twice": ("score: 3\nscore: 4", "no JSON object"),
    "two numbers": ('{"score": 3 or 4}', "At score"),
    "two values for a key": ('{"score": 3, "score": 5}', "twice"),
    "wrong type": ('{"score": "three"}', "At score"),
    "yes is no number": ('{"score": true}', "At score"),
    "missing": ('{"note": "x"}', "'score' is a required property"),
    "think never closed": ('<think>{"score": 3}', "think block"),
    "too deep": ('{"a":' * 20_000 + "1" + "}" * 20_000, "too deeply"),
    "too long": ("x" * (MAX_REPLY + 1), "longer than"),
    "huge integer": ('{"score": ' + "9" * 5000 + "}", "Not valid JSON"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_replies(name):
    text, words = UNREADABLE[name]
    found = extract_object(text, SCHEMA)
    assert found.data is None
    assert words in found.problem


def test_what_was_overlooked_is_noted():
    assert extract_object('{"score": 3}', SCHEMA).notes == ()
    assert "comma" in extract_object('{"score": 3,}', SCHEMA).notes[0]
    assert "2 objects" in extract_object('{"score": 1} {"score": 3}', SCHEMA).notes[0]


def test_without_a_schema_any_object_will_do():
    assert extract_object('x {"a": [1]} y').data == {"a": [1]}
    assert check_schema("anything", None) == ""


def test_texts_that_no_store_takes_are_cleaned():
    found = extract_object('{"score": 1, "note": "a\\u0000b\\ud800c \\\\u0000 \\ud83d\\ude00"}')
    assert found.data is not None
    assert found.data["note"] == "a\ufffdb\ufffdc \\u0000 😀"
    assert clean_text("a\x00\ud800") == "a\ufffd\ufffd"
    assert clean_text("plain") == "plain"


HOSTILE = {
    "escaped quotes": '{"' + '\\"' * 60_000,
    "open brackets": "{" * 150_000,
    "open objects": '{"a":' * 30_000,
    "quotes": '"' * 150_000,
    "many objects": '{"a":1}' * 20_000,
    "wide space": '{"a":' + " " * 150_000 + ",}",
    "think tags": "<think>" * 40_000,
    "objects in single quotes": "{'a': " * 30_000,
    "bare keys": "{a: " * 40_000,
    "bare keys that are asked for": "{score: " * 40_000,
    "comments": "{/*" * 50_000,
    "parentheses": '{"a": ' + "(" * 100_000,
    "lists in single quotes": "[{'a': 1}, " * 15_000,
    "many wrecks": "{'score': x or 'y}" * 10_000,
    "a long wreck": "{'score': '" + "x' " * 50_000 + "}",
    "spaced brackets": "{ " * 80_000,
    "commas": '{"a":1' + "," * 150_000 + "}",
    "backslashes": '{"a":"' + "\\" * 150_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_cost_linear_time(name):
    started = time.process_time()
    assert extract_object(HOSTILE[name], SCHEMA).data is None
    assert time.process_time() - started < 5.0  # quadratic work would take minutes


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    value=st.dictionaries(st.text(), VALUES, max_size=4), before=st.text("abc .:\n`", max_size=20)
)
def test_any_object_comes_back_whole(value, before):
    text = json.dumps(value)
    wanted = json.loads(text.replace("\\u0000", "\\ufffd"))
    found = extract_object(f"{before}{text}\n```\nthat's all")
    assert found.data == wanted


@given(text=st.text())
def test_no_text_raises(text):
    extract_object(text, SCHEMA)
