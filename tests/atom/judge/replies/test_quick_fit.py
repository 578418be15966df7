"""A quick yes is a yes of the whole check, too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from atom.judge.replies.quick_fit import quick_fit

SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "why": {"type": ["string", "null"], "minLength": 1, "maxLength": 4},
        "verdict": {"enum": ["yes", "no", 1, None]},
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
        },
    },
    "required": ["score"],
    "additionalProperties": False,
}
WORTH = st.one_of(
    st.none(), st.booleans(), st.integers(0, 6), st.floats(0, 6), st.text("ab", max_size=5),
    st.sampled_from(["yes", "no"]), st.lists(st.one_of(st.floats(0, 1), st.text(max_size=1)),
                                             max_size=3),
)  # fmt: skip
NAMES = st.sampled_from(["score", "why", "verdict", "steps", "other"])


@given(st.one_of(WORTH, st.dictionaries(NAMES, WORTH)))
def test_what_fits_quickly_fits(value):
    if quick_fit(SCHEMA)(value):
        assert Draft202012Validator(SCHEMA).is_valid(value)


@pytest.mark.parametrize(
    "value",
    [
        {"score": 3},
        {"score": 5, "why": None, "verdict": "no", "steps": [0.5, True]},
        {"score": 1, "why": "abcd", "verdict": None, "steps": [2]},
    ],
)
def test_usual_replies_need_no_closer_look(value):
    assert quick_fit(SCHEMA)(value)


@pytest.mark.parametrize(
    "value",
    [
        {}, {"score": 6}, {"score": True}, {"score": "3"}, {"score": 3, "other": 1},
        {"score": 3, "why": ""}, {"score": 3, "why": "abcde"}, {"score": 3, "verdict": True},
        {"score": 3, "steps": []}, {"score": 3, "steps": [1, 2, 3]}, {"score": 3, "steps": ["1"]},
    ],
)  # fmt: skip
def test_nothing_that_breaks_a_rule_fits_quickly(value):
    assert not quick_fit(SCHEMA)(value)


def test_a_rule_that_isnt_known_is_left_to_the_closer_look():
    assert not quick_fit({"type": "string", "pattern": "^a"})("a")
    assert not quick_fit({"type": "object", "properties": {"a": {"$ref": "#"}}})({"a": {}})
    assert quick_fit({"type": "object", "properties": {"a": {"$ref": "#"}}})({})
