"""Prices from a file that the user has; nothing is ever filled in from anywhere else.

Three layouts are read: LiteLLM's `model_prices_and_context_window.json` (USD a token), a CSV table
and a YAML list or mapping (USD a million tokens; columns or keys model, input, output and, if
known, cached_input and batch_share).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from atom.errors import DataError
from atom.records import Endpoint, Prices

MAX_BYTES = 50_000_000
_A_MILLION = 1_000_000
_FIELDS = ("input", "output", "cached_input", "batch_share")
_PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "openai": ("openai",),
    "azure-openai": ("azure",),
    "gemini": ("gemini",),
    "anthropic": ("anthropic",),
    "openrouter": ("openrouter",),
    "mistral": ("mistral",),
    "together": ("together_ai",),
}
"""Preset → the prefixes by which LiteLLM's file names that provider's models."""
_WANTED = "the columns model, input and output, in USD for a million tokens"


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """What a file says of prices.

    Args:
        name: the file's name.
        prices: model, as the file names it, to its prices.
        layout: `litellm`, `table` or `yaml`.
    """

    name: str
    prices: Mapping[str, Prices]
    layout: str

    def of(self, endpoint: Endpoint) -> Prices | None:
        """Return what the file says of an endpoint's model; a name must be the very same.

        In LiteLLM's layout a model of a known provider may have that provider's prefix. A batch
        share or a cached price that the file doesn't know is unknown, not kept from before.
        """
        prefixes = _PROVIDERS.get(endpoint.preset, ()) if self.layout == "litellm" else ()
        for name in (*(f"{prefix}/{endpoint.model}" for prefix in prefixes), endpoint.model):
            if name in self.prices:
                return self.prices[name]
        return None


def read_prices(name: str, data: bytes) -> PriceList:
    """Read a file of prices.

    Args:
        name: its name; the ending tells the layout.

    Raises:
        DataError: it can't be read, or a price is none; the message names the place.
    """
    if len(data) > MAX_BYTES:
        raise DataError(f"{name!r} has more than {MAX_BYTES // 1_000_000} MB: is it a price list?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name!r} isn't text in UTF-8: {error}") from error
    ending = Path(name).suffix.lower()
    if ending == ".json":
        return _read_json(name, text)
    if ending in (".yaml", ".yml"):
        return _read_yaml(name, text)
    return _read_table(name, text)


def _read_json(name: str, text: str) -> PriceList:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name!r} isn't JSON: {error}") from error
    if isinstance(value, dict) and any(
        isinstance(entry, dict) and "input_cost_per_token" in entry for entry in value.values()
    ):
        return _read_litellm(name, value)
    return PriceList(name=name, prices=_entries(name, value), layout="yaml")


def _read_litellm(name: str, value: Mapping[str, object]) -> PriceList:
    prices = {}
    for model, entry in value.items():
        # `sample_spec` explains the fields in words; pictures, speech, ... have other units.
        if model == "sample_spec" or not isinstance(entry, Mapping):
            continue
        if entry.get("mode", "chat") not in ("chat", "responses", "completion", "embedding"):
            continue
        into = _number(name, model, entry.get("input_cost_per_token"), _A_MILLION)
        out = _number(name, model, entry.get("output_cost_per_token"), _A_MILLION)
        if into is None or out is None:
            continue
        batch = _number(name, model, entry.get("input_cost_per_token_batches"), _A_MILLION)
        prices[model] = Prices(
            input=into,
            output=out,
            cached_input=_number(name, model, entry.get("cache_read_input_token_cost"), _A_MILLION),
            batch_share=round(batch / into, 6) if batch is not None and 0 < batch <= into else None,
        )
    return _list(name, prices, "litellm")


def _read_yaml(name: str, text: str) -> PriceList:
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{name!r} isn't YAML: {error}") from error
    return PriceList(name=name, prices=_entries(name, value), layout="yaml")


def _entries(name: str, value: object) -> Mapping[str, Prices]:
    rows: list[tuple[object, Mapping[str, object]]] = []
    if isinstance(value, Mapping):
        rows = [(model, row) for model, row in value.items() if isinstance(row, Mapping)]
        wrong = len(rows) != len(value)
    elif isinstance(value, list):
        rows = [(row.get("model"), row) for row in value if isinstance(row, Mapping)]
        wrong = len(rows) != len(value)
    else:
        wrong = True
    if wrong:
        raise DataError(
            f"{name!r} is neither a list of entries with model, input and output nor a mapping of "
            "models to input and output (USD a million tokens)"
        )
    return _list(name, _made(name, rows), "yaml").prices


def _read_table(name: str, text: str) -> PriceList:
    sample = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=sample.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    heads = {head.strip().casefold(): head for head in reader.fieldnames or () if head}
    if not {"model", "input", "output"} <= set(heads):
        raise DataError(f"{name!r} has the columns {', '.join(heads) or 'none'}; wanted: {_WANTED}")
    rows = [
        ((row.get(heads["model"]) or "").strip(),
         {field: row.get(heads[field]) for field in _FIELDS if field in heads})
        for row in reader
    ]  # fmt: skip
    return _list(name, _made(name, rows), "table")


def _made(name: str, rows: Iterable[tuple[object, Mapping[str, object]]]) -> dict[str, Prices]:
    prices: dict[str, Prices] = {}
    for number, (model, row) in enumerate(rows, start=1):
        if not isinstance(model, str) or not model.strip():
            raise DataError(f"{name!r}, entry {number} names no model")
        where = model.strip()
        found = {field: _number(name, where, row.get(field), 1) for field in _FIELDS}
        if found["input"] is None or found["output"] is None:
            raise DataError(f"{name!r}, {where!r}: input and output are both wanted")
        if (found["batch_share"] or 0) > 1:
            raise DataError(f"{name!r}, {where!r}: batch_share is a share of the price, 0 to 1")
        made = Prices(**found)
        if prices.get(where, made) != made:
            raise DataError(f"{name!r} has two different prices of {where!r}: keep one")
        prices[where] = made
    return prices


def _list(name: str, prices: Mapping[str, Prices], layout: str) -> PriceList:
    if not prices:
        raise DataError(f"{name!r} holds no price: {_WANTED}, or LiteLLM's JSON file")
    return PriceList(name=name, prices=prices, layout=layout)


def _number(name: str, model: str, value: object, times: int) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise DataError(f"{name!r}, {model!r}: {value!r:.40} isn't a price")
    # 2e-06 a token is 2 a million, not 1.9999999999999998.
    return round(number * times, 9)
