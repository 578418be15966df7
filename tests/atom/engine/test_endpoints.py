"""The user's endpoints: added, put in another's place, removed."""

from __future__ import annotations

import pytest

from atom.engine.endpoints import (
    built_in,
    known_endpoints,
    own_endpoints,
    put_endpoint,
    remove_endpoint,
    try_endpoint,
)
from atom.errors import SettingsError
from atom.records import Endpoint
from atom.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings(store=str(tmp_path), demo=tmp_path / "demo", endpoints=tmp_path / "e.yaml")


def endpoint(name: str, **values: object) -> Endpoint:
    return Endpoint(name=name, base_url="https://a.example/v1", model="m", **values)


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
