"""Prices from a user's own file: three layouts, the very same names, nothing invented."""

from __future__ import annotations

import json

import pytest

from atom.errors import DataError
from atom.judge.servers.prices import read_prices
from atom.records import Endpoint, Prices

LITELLM = {
    "sample_spec": {"input_cost_per_token": 0.0, "output_cost_per_token": "LiteLLM-explains-here"},
    "gpt-4.1": {
        "input_cost_per_token": 2e-06,
        "output_cost_per_token": 8e-06,
        "cache_read_input_token_cost": 5e-07,
        "input_cost_per_token_batches": 1e-06,
        "mode": "chat",
        "litellm_provider": "openai",
    },
    "gemini/gemini-2.5-flash": {
        "input_cost_per_token": 3e-07,
        "output_cost_per_token": 2.5e-06,
        "mode": "chat",
    },
    "dall-e-3": {"input_cost_per_pixel": 1e-08, "mode": "image_generation"},
    "voyage": {"input_cost_per_token": 1e-07, "mode": "embedding"},
}


def endpoint(model: str, preset: str = "") -> Endpoint:
    return Endpoint(name="x", base_url="https://a.example/v1", model=model, preset=preset)


def test_litellm_s_file():
    found = read_prices("model_prices.json", json.dumps(LITELLM).encode())
    # 0.000002 a token is 2 a million; a batch costs 1 of 2, half.
    assert found.of(endpoint("gpt-4.1")) == Prices(
        input=2.0, output=8.0, cached_input=0.5, batch_share=0.5
    )
    assert found.of(endpoint("gemini-2.5-flash", "gemini")) == Prices(input=0.3, output=2.5)
    # Another provider may ask another price for the same model.
    assert found.of(endpoint("gemini-2.5-flash", "openrouter")) is None
    assert found.of(endpoint("gpt-4.1-mini")) is None
    assert set(found.prices) == {"gpt-4.1", "gemini/gemini-2.5-flash"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", "\ufeffModel,Input,Output,cached_input\nm,1.5,6,0.25\nfree,0,0,\n"),
        ("p.csv", "model;input;output;cached_input\nm;1.5;6;0.25\nfree;0;0;\n"),
        ("p.yaml", "- {model: m, input: 1.5, output: 6, cached_input: 0.25}\n"
                   "- {model: free, input: 0, output: 0}\n"),
        ("p.yml", "m: {input: 1.5, output: 6, cached_input: 0.25}\nfree: {input: 0, output: 0}\n"),
        ("p.json", '{"m": {"input": 1.5, "output": 6, "cached_input": 0.25},'
                   ' "free": {"input": 0, "output": 0}}'),
    ],
)  # fmt: skip
def test_simple_tables(name, text):
    found = read_prices(name, text.encode())
    assert found.of(endpoint("m")) == Prices(input=1.5, output=6, cached_input=0.25)
    assert found.of(endpoint("free")) == Prices(input=0, output=0)
    assert found.of(endpoint("M")) is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("p.csv", "model,price\nm,1\n", "has the columns model, price"),
        ("p.csv", "model,input,output\nm,1,cheap\n", "'cheap' isn't a price"),
        ("p.csv", "model,input,output\nm,-1,2\n", "isn't a price"),
        ("p.csv", "model,input,output\nm,nan,2\n", "isn't a price"),
        ("p.csv", "model,input,output\nm,1,\n", "both wanted"),
        ("p.csv", "model,input,output\n,1,2\n", "entry 1 names no model"),
        ("p.csv", "model,input,output\nm,1,2\nm,1,3\n", "two different prices"),
        ("p.csv", "model,input,output\n", "holds no price"),
        ("p.csv", "model,input,output,batch_share\nm,1,2,1.5\n", "batch_share is a share"),
        ("p.yaml", "m: 3\n", "neither a list"),
        ("p.yaml", "a: [", "isn't YAML"),
        ("p.json", "{", "isn't JSON"),
        ("p.json", '{"gpt": {"input_cost_per_token": true, "output_cost_per_token": 1}}',
         "isn't a price"),
    ],
)  # fmt: skip
def test_what_is_no_price_list_is_told(name, text, words):
    with pytest.raises(DataError, match=words):
        read_prices(name, text.encode())


def test_bytes_that_are_no_text_are_told():
    with pytest.raises(DataError, match="UTF-8"):
        read_prices("p.csv", b"\xff\xfe\x00")
