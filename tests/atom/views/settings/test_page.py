"""Endpoints as lines of words, and the form behind them."""

from __future__ import annotations

import re

import pytest

from atom.errors import SettingsError
from atom.records import Endpoint, PictureLimit, Prices
from atom.views.settings.page import (
    EndpointForm,
    endpoint_line,
    endpoint_of,
    form_of,
    price_words,
)

FULL = EndpointForm(name=" mine ", base_url="https://a.example/v1", model="m", key_env="MY_KEY")


def test_a_line_says_whether_a_key_is_set_and_never_the_key():
    endpoint = endpoint_of(FULL)
    line = endpoint_line(endpoint, built_in=False, environ={"MY_KEY": "sk-secret"})
    assert (line.key, line.key_missing) == ("MY_KEY is set", False)
    assert "sk-secret" not in repr(line)
    line = endpoint_line(endpoint, built_in=False, environ={})
    assert (line.key, line.key_missing) == ("MY_KEY is not set", True)
    free = endpoint.model_copy(update={"key_env": None})
    assert endpoint_line(free, built_in=True, environ={}).key == "no key needed"


def test_a_form_and_its_endpoint_are_the_same():
    endpoint = endpoint_of(FULL)
    assert endpoint.name == "mine"
    assert endpoint_of(form_of(endpoint)) == endpoint


def test_fields_that_the_form_does_not_have_stay():
    before = Endpoint(
        name="mine",
        base_url="https://a.example/v1",
        model="m",
        max_tries=2,
        prices=Prices(input=1, output=2, cached_input=0.1),
        pictures=PictureLimit(max_side=512, max_count=3),
    )
    after = endpoint_of(form_of(before), before)
    assert after == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Name is empty"),
        ({"base_url": ""}, "Address is empty"),
        ({"model": ""}, "Model is empty"),
        ({"roles": ()}, "Roles is empty"),
        ({"price_in": 1.0}, "One price is given"),
        ({"name": "x" * 99}, "Name: "),
        ({"concurrency": 0}, "Requests at a time: "),
    ],
)
def test_a_wrong_field_is_named_as_the_form_names_it(changes, words):
    values = {field: getattr(FULL, field) for field in FULL.__dataclass_fields__} | changes
    with pytest.raises(SettingsError, match=re.escape(words)):
        endpoint_of(EndpointForm(**values))


def test_prices_in_words():
    assert price_words(Prices()) == "price unknown"
    assert price_words(Prices(input=0, output=0)) == "free"
    assert price_words(Prices(input=2.5, output=10)) == "$2.5 in, $10 out a million tokens"
