"""A key is used and never shown."""

from __future__ import annotations

import json
import pickle
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.errors import SettingsError
from atom.judge.keys import Key, endpoint_key
from atom.records import Endpoint
from atom.settings import read_key

SECRET = "sk-secret-value"
SLASHED = "sk-a/b+c=Z9.x"


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


def json_of(text: str, times: int = 1) -> str:
    for _ in range(times):
        text = json.dumps(text)
    return text


@pytest.mark.parametrize(
    "told",
    [
        SLASHED,
        json_of(SLASHED),
        json_of(SLASHED, 3),
        SLASHED.replace("/", "\\/"),
        "".join(f"\\u{ord(sign):04x}" for sign in SLASHED),
        "".join(f"\\\\u{ord(sign):04X}" for sign in SLASHED),
        SLASHED[:5] + f"\\u{ord(SLASHED[5]):04x}" + SLASHED[6:],
        quote(SLASHED, safe=""),
        "".join(f"%{ord(sign):02x}" for sign in SLASHED),
    ],
)
def test_a_key_in_disguise_is_found(told):
    clean = Key(SLASHED).scrub(f"before {told} behind")
    assert SLASHED not in clean
    assert clean.replace('"', "").replace("\\", "") == "before [key] behind"


@given(st.lists(st.integers(1, 9), max_size=12), st.text(max_size=30), st.text(max_size=30))
def test_a_key_in_pieces_never_shows(lengths, before, behind):
    text, stream, shown = f"{before}{SECRET}{behind}{SECRET[:6]}", Key(SECRET).stream(), ""
    rest = text
    for length in [*lengths, len(text)]:
        shown += stream.take(rest[:length])
        assert SECRET not in shown
        rest = rest[length:]
    # Nothing else is lost, and the end that might have been a beginning comes last.
    assert shown + stream.rest() == text.replace(SECRET, "[key]")


def test_of_two_secrets_the_longer_goes_first():
    key = endpoint_key(
        endpoint(extra_headers={"x": "${LONG_KEY}"}),
        {"E_KEY": "sk-short", "LONG_KEY": "sk-short-and-long"},
    )
    assert key.scrub("sk-short-and-long") == "[key]"


@pytest.mark.parametrize("name", ["HOME", "DATABASE_URL", "KEYRING", "TOKEN"])
def test_only_what_may_hold_a_key_is_read(name):
    for one in (endpoint(key_env=name), endpoint(extra_headers={"x": f"Bearer ${{{name}}}"}),
                endpoint(query={"sig": f"${{{name}}}"})):  # fmt: skip
        given_ = {"E_KEY": "sk-1234", name: "/root"}
        with pytest.raises(SettingsError, match=f"ATOM_KEYS={name}"):
            endpoint_key(one, given_)
        listed = endpoint_key(one, given_ | {"ATOM_KEYS": f"OTHER, {name}"})
        assert "/root" in (listed.value, *listed.headers.values(), *listed.query.values()) or (
            "/root" in listed.headers["x"]
        )
    assert read_key(name, {name: "/root"}) is None
