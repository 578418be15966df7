"""Errors in all the shapes that servers give them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.judge.servers.words import read_error


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"message": "a"}, "a"),
        ({"error": "a"}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"loc": ["body"], "msg": "a"}]}, "a"),
        ([{"error": {"message": "a"}}], "a"),
        ({"object": "error", "message": {"detail": [{"msg": "a"}]}}, "a"),
        ("a\n b", "a b"),
        (None, ""),
        ([1], ""),
        ("<html><title> Bad  </title>", "an HTML page titled 'Bad'"),
        ("<!DOCTYPE html>", "an HTML page"),
    ],
)
def test_words(body, text):
    assert read_error(body).message == text


def test_an_error_inside_an_error_is_shown():
    raw = json.dumps({"error": {"message": "No seed here", "param": "seed", "code": "unsupported"}})
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    words = read_error(body)
    assert words.message == "Provider returned error. No seed here"
    assert (words.number, words.params) == (400, ("seed",))


def test_fields_are_found_in_every_shape():
    mistral = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "no"}]}
    google = [{"error": {"message": 'Unknown name "seed": Cannot find field.', "code": 400}}]
    litellm = {"error": {"message": "openai does not support parameters: ['top_k', 'seed']"}}
    assert read_error(mistral).params == ("body.seed",)
    assert read_error(google).params == ("seed",)
    assert read_error(litellm).params == ("top_k", "seed")


def test_long_words_are_cut():
    assert len(read_error("x" * 100_000).message) < 500
    assert len(read_error({"error": "x " * 100_000}).message) < 500


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "loc", "metadata", "raw", "code"]), inner
        )
    ),
    max_leaves=20,
)


@given(anything)
def test_no_body_is_too_odd(body):
    words = read_error(body)
    assert len(words.message) <= 404
    assert words.number is None or 400 <= words.number <= 599
