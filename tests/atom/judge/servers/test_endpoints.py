"""The endpoints file: what it may hold, and errors that name line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom.errors import SettingsError
from atom.judge.servers.endpoints import (
    builtin_endpoints,
    load_endpoints,
    parse_endpoints,
    read_endpoints,
    save_endpoints,
)
from atom.records import Endpoint, PictureLimit, Prices

GOOD = """\
- name: mine
  base_url: https://host.example/v1
  model: some-model
  key_env: MY_KEY
  roles: [judge]
  prices: {input: 1.0, output: 2.0}
  pictures:
    max_side: 1024
"""


def test_the_example_file_is_right(project):
    endpoints = read_endpoints(project / "endpoints.example.yaml")
    assert len(endpoints) >= 3
    assert {role for endpoint in endpoints for role in endpoint.roles} >= {"judge", "candidate"}


def test_the_example_file_explains_every_field(project):
    text = (project / "endpoints.example.yaml").read_text("utf-8")
    fields = [*Endpoint.model_fields, *Prices.model_fields, *PictureLimit.model_fields]
    assert [name for name in fields if f"{name}:" not in text] == []


def test_the_built_in_endpoints_need_no_key_and_cost_nothing():
    endpoints = builtin_endpoints()
    names = [endpoint.name for endpoint in endpoints]
    judges = ["probe-judge", "probe-judge-noisy", "probe-judge-coin", "probe-judge-lenient",
              "probe-judge-sighted", "probe-judge-sightless"]  # fmt: skip
    assert names == [*judges, *(f"model-{c}" for c in "abcdefgh"), "probe-embedding"]
    assert all(e.is_probe and e.key_env is None and e.prices.input == 0 for e in endpoints)


def test_a_good_file():
    (endpoint,) = parse_endpoints(GOOD)
    assert endpoint.pictures.max_side == 1024
    assert endpoint.prices.output == 2.0


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]"])
def test_an_empty_file_lists_nothing(text):
    assert parse_endpoints(text) == ()


START = "- name: a\n  base_url: https://h/v1\n  model: m\n"
WRONG = {
    "not YAML": ("- name: [", "line 1"),
    "tabs": ("- name: a\n\tmodel: b\n", "line 2"),
    "a mapping": ("name: a\n", "a list of endpoints is wanted"),
    "a text": ("hello", "a list of endpoints is wanted"),
    "a list of texts": ("- a\n- b\n", "line 1: an endpoint is a group of fields"),
    "missing field": ("- name: a\n  model: m\n", "line 1: field 'base_url'.*Field required"),
    "unknown field": (START + "  colour: red\n", "line 4: field 'colour'"),
    "wrong type": (START + "  concurrency: many\n", "line 4: field 'concurrency'.*'many'"),
    "out of range": (START + "  concurrency: 0\n", "line 4: field 'concurrency'.*'0'"),
    "nested": (START + "  prices:\n    input: -1\n", "line 5: field 'prices.input'"),
    "nested unknown": (START + "  pictures: {size: 3}\n", "line 4: field 'pictures.size'"),
    "role": (START + "  roles: [judge, king]\n", "line 4: field 'roles.1'.*'king'"),
    "mode": (START + "  structured: xml\n", "line 4: field 'structured'"),
    "no address": ("- name: a\n  base_url: host/v1\n  model: m\n", "line 2: field 'base_url'"),
    "odd port": ("- name: a\n  base_url: http://h:x/v1\n  model: m\n", "line 2: field 'base_url'"),
    "full address": (
        "- name: a\n  base_url: http://h/v1/chat/completions\n  model: m\n",
        "line 2.*leave '/chat/completions' out",
    ),
    "field twice": (START + "  model: n\n", "line 4: the field 'model' is given twice"),
    "name twice": (START + START, "line 1: field 'name': 'a' is given 2 times"),
    "built-in name": (START.replace("name: a", "name: model-a"), "is built in"),
    "own field again": (START + "  extra_body: {temperature: 1}\n", "line 4.*of the endpoint"),
    "client's header": (START + "  extra_headers: {Host: h}\n", "line 4.*written by the client"),
    "query twice": (
        START.replace("/v1", "/v1?a=1") + "  query: {a: '2'}\n",
        "line 2: field 'base_url'.*into the field 'query'",
    ),
    "second entry": (START + "- name: b\n  model: m\n", "line 4: field 'base_url'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_line_and_field(name):
    text, words = WRONG[name]
    with pytest.raises(SettingsError, match=words):
        parse_endpoints(text)


SECRET = "sk-1234567890abcdef"


@pytest.mark.parametrize(
    "line",
    [
        f"  api_key: {SECRET}",
        f"  key: {SECRET}",
        f"  token: {SECRET}",
        f"  key_env: {SECRET}",
        f"  key_env: hf_{SECRET.replace('-', '')}",
        f"  key_env: [{SECRET}]",
        f"  headers: {{api-key: {SECRET}}}",
        f"  extra_headers: {{api-key: {SECRET}}}",
        f"  extra_headers: {{Authorization: Bearer {SECRET}}}",
        f"  query: {{key: {SECRET}}}",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(line):
    with pytest.raises(SettingsError, match="line 4") as caught:
        parse_endpoints(START + line + "\n")
    assert SECRET not in str(caught.value)
    assert SECRET.replace("-", "") not in str(caught.value)


@pytest.mark.parametrize("url", [f"https://me:{SECRET}@h/v1", f"https://h/v1?key={SECRET}"])
def test_a_key_in_the_address_is_refused_and_not_repeated(url):
    with pytest.raises(SettingsError, match="line 2") as caught:
        parse_endpoints(f"- name: a\n  base_url: {url}\n  model: m\n")
    assert SECRET not in str(caught.value)


def test_an_address_with_a_query_is_taken_apart():
    address = "https://x.example/openai/deployments/gpt-x?api-version=2024-06-01"
    (endpoint,) = parse_endpoints(f"- name: a\n  base_url: {address}\n  model: m\n")
    assert endpoint.base_url == "https://x.example/openai/deployments/gpt-x"
    assert endpoint.query == {"api-version": "2024-06-01"}


def test_headers_name_variables():
    (endpoint,) = parse_endpoints(START + "  extra_headers: {api-key: '${AZURE_KEY}'}\n")
    assert endpoint.extra_headers == {"api-key": "${AZURE_KEY}"}


def test_no_code_runs_from_a_file():
    with pytest.raises(SettingsError):
        parse_endpoints("- !!python/object/apply:os.system ['true']\n")


def test_save_and_read_back(tmp_path: Path):
    path = tmp_path / "deeper" / "endpoints.yaml"
    (given,) = parse_endpoints(GOOD)
    save_endpoints(path, [*builtin_endpoints(), given])
    assert read_endpoints(path) == (given,)
    assert [entry.name for entry in path.parent.iterdir()] == ["endpoints.yaml"]
    assert set(load_endpoints(path)) > {"mine", "probe-judge"}
    assert load_endpoints(path)["mine"] == given


def test_a_wrong_endpoint_is_not_saved(tmp_path: Path):
    path = tmp_path / "endpoints.yaml"
    (good,) = parse_endpoints(GOOD)
    save_endpoints(path, [good])
    with pytest.raises(SettingsError, match="given 2 times"):
        save_endpoints(path, [good, good])
    assert read_endpoints(path) == (good,)


def test_a_file_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsError, match="can't be written"):
        save_endpoints(tmp_path / "file" / "endpoints.yaml", [])


def test_a_file_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(SettingsError, match="can't be read"):
        read_endpoints(tmp_path)
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"- name: \xff\n")
    with pytest.raises(SettingsError, match="can't be read"):
        read_endpoints(path)
