"""The user's endpoints: added, put in another's place, removed."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from atom.engine.endpoints.configured import (
    built_in,
    check_variables,
    known_endpoints,
    own_endpoints,
    put_endpoint,
    remove_endpoint,
    try_endpoint,
)
from atom.errors import SettingsError, UsageError
from atom.records import Endpoint
from atom.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings(store=str(tmp_path), demo=tmp_path / "demo", endpoints=tmp_path / "e.yaml")


def endpoint(name: str, **values: object) -> Endpoint:
    return Endpoint(**({"name": name, "base_url": "https://a.example/v1", "model": "m"} | values))


def names(settings) -> list[str]:
    return [found.name for found in own_endpoints(settings)]


def test_endpoints_are_added_changed_renamed_and_removed(settings):
    assert names(settings) == []
    put_endpoint(settings, endpoint("a"))
    put_endpoint(settings, endpoint("b"))
    put_endpoint(settings, endpoint("a", concurrency=3), replaces="a")
    assert own_endpoints(settings)[0].concurrency == 3
    put_endpoint(settings, endpoint("c"), replaces="a")
    assert names(settings) == ["c", "b"]
    remove_endpoint(settings, "c")
    assert names(settings) == ["b"]
    assert set(known_endpoints(settings)) == {"b", *(found.name for found in built_in())}


def test_names_that_are_taken_or_gone_are_refused(settings):
    put_endpoint(settings, endpoint("a"))
    put_endpoint(settings, endpoint("b"))
    for name, replaces in (("a", None), ("probe-judge", None), ("a", "b")):
        with pytest.raises(SettingsError, match="already"):
            put_endpoint(settings, endpoint(name), replaces=replaces)
    with pytest.raises(SettingsError, match="any more"):
        put_endpoint(settings, endpoint("d"), replaces="gone")
    with pytest.raises(SettingsError, match="no endpoint 'gone'"):
        remove_endpoint(settings, "gone")
    assert names(settings) == ["a", "b"]


async def test_the_built_in_judge_is_tried_without_a_network():
    found = await try_endpoint(built_in()[0])
    assert found.ok


@pytest.mark.parametrize(
    ("variable", "address", "fine"),
    [
        ("OPENAI_API_KEY", "https://api.openai.com/v1", True),
        ("OPENAI_API_KEY", "https://api.openai.com.evil.example/v1", False),
        ("OPENAI_API_KEY", "http://api.openai.com/v1", False),
        ("OPENAI_API_KEY", "https://evil.example/v1", False),
        ("GEMINI_API_KEY", "https://api.openai.com/v1", False),
        ("HELD_KEY", "https://evil.example/v1", True),
        ("HELD_TOKEN", "https://evil.example/v1", False),
        ("LISTED", "https://evil.example/v1", True),
        ("HOME", "https://api.openai.com/v1", False),
    ],
)
def test_which_variables_a_screen_may_name(settings, variable, address, fine):
    put_endpoint(settings, endpoint("a", key_env="HELD_KEY"))
    put_endpoint(settings, endpoint("b", extra_headers={"x": "${HELD_TOKEN}"}))
    for made in (
        endpoint("c", base_url=address, key_env=variable),
        endpoint("c", base_url=address, extra_headers={"api-key": f"${{{variable}}}"}),
        endpoint("c", base_url=address, query={"code": f"${{{variable}}}"}),
    ):
        with nullcontext() if fine else pytest.raises(SettingsError, match="ATOM_KEYS"):
            check_variables(settings, made, {"ATOM_KEYS": "OTHER,LISTED"})


def test_azures_key_goes_to_azure_alone(settings):
    header = {"api-key": "${AZURE_OPENAI_API_KEY}"}
    own = "https://lab-1.openai.azure.com/openai/deployments/d"
    check_variables(settings, endpoint("c", base_url=own, extra_headers=header), {})
    for address in ("https://a.evil.example/.openai.azure.com", "https://evil.example/openai"):
        with pytest.raises(SettingsError, match="ATOM_KEYS"):
            check_variables(settings, endpoint("c", base_url=address, extra_headers=header), {})


async def test_nothing_is_sent_beyond_this_computer_before_a_yes():
    away = endpoint("c", base_url="https://a.invalid/v1", key_env="HELD_KEY")
    with pytest.raises(UsageError, match=r"the value of HELD_KEY to a\.invalid"):
        await try_endpoint(away)
    with pytest.raises(UsageError, match=r"to a\.invalid"):
        await try_endpoint(away, agreed=["b.invalid"])
