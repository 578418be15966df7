"""Presets: each makes an endpoint that the file takes, with nothing invented in it."""

from __future__ import annotations

import pytest

from atom.errors import SettingsError
from atom.judge.servers.endpoints import parse_endpoints, save_endpoints
from atom.judge.servers.presets import PRESETS, documented_boxes, find_preset, model_family, thinks
from atom.records import Prices

BLANKS = {"resource": "my-lab", "deployment": "gpt-4-1"}
NAMES = [
    "openai", "azure-openai", "gemini", "anthropic", "openrouter", "mistral", "together", "vllm",
    "sglang", "ollama", "lm-studio", "llama.cpp", "litellm",
]  # fmt: skip


def test_all_that_were_promised_are_there():
    assert list(PRESETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_makes_an_endpoint_that_can_be_saved(name, tmp_path):
    preset = find_preset(name.upper())
    made = preset.endpoint(name="mine", model="some-model", **BLANKS)
    assert made.preset == name
    assert made.prices == Prices()
    assert "{" not in made.base_url
    path = tmp_path / "endpoints.yaml"
    save_endpoints(path, [made])
    assert parse_endpoints(path.read_text()) == (made,)
    assert preset.sources


@pytest.mark.parametrize("name", NAMES)
def test_what_is_local_stays_on_this_computer(name):
    preset = PRESETS[name]
    local = preset.address.startswith("http://127.0.0.1:")
    assert local == preset.is_local
    assert not local or preset.address == f"http://127.0.0.1:{preset.port}/v1"


def test_what_an_address_leaves_open_must_be_given():
    azure = find_preset("azure-openai")
    assert azure.blanks == ("resource", "deployment")
    with pytest.raises(SettingsError, match=r"needs deployment.*--set deployment="):
        azure.endpoint(name="a", model="m", resource="my-lab")
    with pytest.raises(SettingsError, match="can't stand in an address"):
        azure.endpoint(name="a", model="m", resource="evil.example/x?", deployment="d")
    made = azure.endpoint(name="a", model="m", **BLANKS)
    assert made.base_url == "https://my-lab.openai.azure.com/openai/deployments/gpt-4-1"
    assert made.query == {"api-version": "2024-10-21"}
    assert made.extra_headers == {"api-key": "${AZURE_OPENAI_API_KEY}"}
    other = azure.endpoint(name="a", model="m", base_url="https://gateway.example/v1")
    assert other.base_url == "https://gateway.example/v1"


def test_a_wrong_name_is_told_with_the_right_ones():
    with pytest.raises(SettingsError, match="Known: openai, azure-openai"):
        find_preset("opnai")


@pytest.mark.parametrize(
    ("model", "family", "thinking", "boxes"),
    [
        ("gpt-4.1-mini", "gpt", False, None),
        ("gpt-5-mini", "gpt", True, None),
        ("gpt-5-chat-latest", "gpt", False, None),
        ("o4-mini", "gpt", True, None),
        ("google/gemini-2.5-flash", "gemini", True, "yxyx_1000"),
        ("claude-sonnet-4-5", "claude", False, None),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen", False, "xyxy_pixels"),
        ("qwen2.5vl:7b", "qwen", False, "xyxy_pixels"),
        ("qwen2-vl-7b", "qwen", False, "xyxy_1000"),
        ("qwen3-vl:8b", "qwen", True, "xyxy_1000"),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen", False, "xyxy_1000"),
        ("pixtral-12b", "mistral", False, None),
        ("OpenGVLab/InternVL3-8B", "internvl", False, "xyxy_1000"),
        ("meta-llama/Llama-4-Scout", "llama", False, None),
        ("something-else", "", False, None),
    ],
)
def test_what_a_model_s_name_tells(model, family, thinking, boxes):
    assert (model_family(model), thinks(model), documented_boxes(model)) == (
        family, thinking, boxes,
    )  # fmt: skip
    made = PRESETS["vllm"].endpoint(name="x", model=model)
    assert made.boxes == boxes
    assert bool(made.thinking_tokens) == thinking
