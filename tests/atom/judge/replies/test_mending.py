"""What is mended, and what a repair library would have guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.judge.replies.mending import MAX_MENDED, mend

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab '\"{},:[]\\é\n", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), JSON, max_size=4)


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ("{'a': 'x'}", {"a": "x"}, "other quotes"),
        ("{a: 1}", {"a": 1}, "keys without quotes"),
        ('{"a": x}', {"a": "x"}, "text without quotes"),
        ('{"a": 4 - Good}', {"a": "4 - Good"}, "text without quotes"),
        ('{"a": 12:30}', {"a": "12:30"}, "text without quotes"),  # the library reads 12
        ('{"a": True, "b": None}', {"a": True, "b": None}, "as Python writes"),
        ('{"a": 1, /* why */ "b": 2}', {"a": 1, "b": 2}, "a comment"),
        ('{"a": 1 // why\n}', {"a": 1}, "a comment"),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "before a closing bracket"),
        ('{"a": 1 "b": 2}', None, ""),  # a bare value reaches to the next comma
        ('{"a": "x" "b": 2}', {"a": "x", "b": 2}, "a missing comma"),
        ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}, "a comma too many"),
        ('{"a": "say "x" now"}', {"a": 'say "x" now'}, "quotes inside a text"),
        ('{"a": "x\ny"}', {"a": "x\ny"}, "a line break"),
        (r'{"a": "\alpha"}', {"a": r"\alpha"}, "a backslash"),
        ("{“a”: “x”}", {"a": "x"}, "other quotes"),
        ("{'a': 1} and more words", {"a": 1}, "other quotes"),
    ],
)
def test_mended(text, value, note):
    found = mend(text)
    if value is None:
        assert found is None
        return
    assert (found.value, found.cut) == (value, False)
    assert note in "; ".join(found.notes)


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1, 'a': 2}",  # the library keeps the last
        '{"a": 4 or 5}}'.replace("4 or 5", '4 "or" 5'),
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a" 4}',
        '{"a": }',
        "{'a': 1, 'b'}",
        '{"a": "no end, "b": 4}',
        '{"a": 1}}}'.replace("1}", "[1}", 1),
        "words",
        "[1, 2]",
        "{'a': " * 20 + "1" + "}" * 20,
        "{'a': '" + "x" * MAX_MENDED + "'}",
    ],
)
def test_not_guessed(text):
    assert mend(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'l': [{'n': 1}, {'n': 2}", {"l": [{"n": 1}, {"n": 2}]}),
        ("{'l': [{'n': 1}, {'n': 2", {"l": [{"n": 1}]}),  # 2 may be the beginning of 20
        ("{'l': [{'n': 'one'}, {'n': 'tw", {"l": [{"n": "one"}]}),
        ('{"l": [{"n": 1}, {"n', {"l": [{"n": 1}]}),
        ('{"l": [{"n": 1}, {"n":', {"l": [{"n": 1}]}),
        ("{'l': [{'n': 1}, {", {"l": [{"n": 1}]}),
        ("{'l': [{'n': [1, 2", {"l": []}),  # an inner list that was cut is no item
        ("{'s': 'whole', 'n': 1", {"s": "whole"}),
        ("{'s': 'whole'", {"s": "whole"}),
        ("{'s': 'hal", {}),
    ],
)
def test_of_a_cut_text_what_was_whole_is_kept(text, value):
    found = mend(text)
    assert found.cut
    assert found.value == value


@pytest.mark.slow
@given(OBJECTS)
def test_json_is_read_as_json_or_not_at_all(value):
    found = mend(json.dumps(value))
    assert found is None or (found.value == value and not found.cut)


@pytest.mark.slow
@given(OBJECTS)
def test_python_is_read_as_python_or_not_at_all(value):
    found = mend(repr(value))
    assert found is None or found.cut or found.value == value


@given(OBJECTS, st.integers(1, 60))
def test_a_cut_text_never_says_anything_new(value, missing):
    text = json.dumps(value, ensure_ascii=False)[:-missing]
    found = mend(text)
    if found is not None:
        assert found.cut
        assert all(holds(part, value.get(key)) for key, part in found.value.items())


def holds(part, whole):
    """Whether a value is another one, or a list with its last items missing."""
    if isinstance(part, list) and isinstance(whole, list):
        return part == whole[: len(part)]
    return part == whole


@given(st.text("{}[]\"',:/*#ab1 \n\\", max_size=60))
def test_nothing_raises(text):
    mend("{" + text)
