"""A key is used and never shown."""

from __future__ import annotations

import pickle

import pytest

from atom.errors import SettingsError
from atom.judge.keys import Key, endpoint_key
from atom.records import Endpoint

SECRET = "sk-secret-value"


def endpoint(**changes):
    fields = {"name": "e", "base_url": "https://host/v1", "model": "m", "key_env": "E_KEY"}
    return Endpoint(**(fields | changes))


def test_a_key_is_not_in_its_repr_or_pickle():
    key = Key(SECRET)
    assert SECRET not in repr(key)
    assert SECRET.encode() not in pickle.dumps(key)
    assert pickle.loads(pickle.dumps(key)).value is None


def test_scrub():
    assert Key(SECRET).scrub(f"a {SECRET} b {SECRET}") == "a [key] b [key]"
    assert Key("x").scrub("extra") == "extra"
    assert Key(None).scrub("text") == "text"


def test_read_from_the_environment_given():
    assert endpoint_key(endpoint(), {"E_KEY": f" {SECRET}\n"}).value == SECRET
    assert endpoint_key(endpoint(key_env=None), {}).value is None
    assert endpoint_key(endpoint(base_url="probe:"), {}).value is None


@pytest.mark.parametrize("environ", [{}, {"E_KEY": ""}])
def test_not_set(environ):
    with pytest.raises(SettingsError, match="'E_KEY'"):
        endpoint_key(endpoint(), environ)
