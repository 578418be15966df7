"""Reply forms, and the client's own sentences."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from atom.judge.structured import (
    is_strict,
    repair_text,
    response_format,
    system_text,
    wording,
)


def test_without_a_schema_there_is_no_form(free_text):
    assert response_format(free_text, "json_schema") is None
    assert system_text(free_text, "text") == free_text.system


def test_a_schema_that_is_taken_may_have_to_be_told_all_the_same(scoring):
    assert system_text(scoring, "json_schema") == scoring.system
    told = system_text(scoring, "json_schema", told=True)
    assert told == system_text(scoring, "json_object")
    assert '"score"' in told


def test_keywords_that_a_server_refuses_are_left_out(scoring):
    sent = json.loads(response_format(scoring, "json_schema", frozenset({"additionalProperties"})))
    assert sent["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "required": ["score"],
    }
    assert sent["json_schema"]["strict"] is False


OBJECT = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({**OBJECT, "properties": {"a": {}}, "required": ["a"]}, True),
        ({**OBJECT, "properties": {"a": {}}, "required": []}, False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        (
            {
                **OBJECT,
                "properties": {"a": {"type": "array", "items": {"type": "object"}}},
                "required": ["a"],
            },
            False,
        ),
        ({"type": "string"}, True),
    ],
)
def test_strict_mode_only_where_the_schema_allows_it(schema, strict):
    assert is_strict(schema) is strict


def test_the_first_line_of_the_system_text_stays_first(scoring):
    for form in ("json_schema", "json_object", "text"):
        assert system_text(scoring, form).splitlines()[0] == "Atomscope task: scoring/1"


@pytest.mark.parametrize("problem", ["At score: 'x' isn't 1", "costs $5 and ${more}"])
def test_the_repair_sentence_takes_any_problem(problem):
    assert problem in repair_text(problem)


def test_a_missing_variable_stops():
    with pytest.raises(KeyError):
        wording("repair")


def test_a_schema_is_sent_with_its_keys_in_their_own_order(scoring):
    schema = {"type": "object", "properties": {"why": {}, "score": {}}}
    sent = response_format(replace(scoring, schema=schema), "json_schema")
    assert sent is not None
    assert list(json.loads(sent)["json_schema"]["schema"]["properties"]) == ["why", "score"]
