"""Settings: endpoints as lines of words, the form behind them, and who was agreed with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pydantic import ValidationError

from atom.errors import SettingsError
from atom.records import BoxConvention, Endpoint, Prices, Role, StructuredMode
from atom.settings import read_key

Detail = Literal["low", "high", "auto"]
_BLANK = re.compile(r"\{[a-z]+\}")
ROLES: tuple[Role, ...] = get_args(Role)
_USUAL_ROLES: tuple[Role, ...] = ("judge", "candidate")
FORMS: dict[StructuredMode, str] = {
    "auto": "find out (JSON schema, else JSON, else text)",
    "json_schema": "JSON schema",
    "json_object": "JSON",
    "text": "plain text",
}
BOXES: dict[BoxConvention | Literal[""], str] = {
    "": "not checked: as asked, in thousandths",
    "xyxy_1000": "corners in thousandths",
    "yxyx_1000": "corners in thousandths, y first (Gemini)",
    "xyxy_pixels": "corners in pixels of the picture sent (Qwen2.5-VL)",
    "xyxy_unit": "corners as fractions, 0 to 1",
    "none": "fit nothing: drop them",
}
BOX_NAMES: dict[BoxConvention | None, str] = {
    None: "not checked",
    "xyxy_1000": "thousandths",
    "yxyx_1000": "thousandths, y first",
    "xyxy_pixels": "pixels",
    "xyxy_unit": "fractions",
    "none": "none that fit",
}
DETAILS: dict[Detail | Literal[""], str] = {
    "": "not said",
    "low": "low",
    "high": "high",
    "auto": "auto",
}
CHECK_WORDS = {
    "key": "Key",
    "models": "Model listed",
    "text": "Text reply",
    "json": "JSON reply",
    "picture": "Picture",
    "answer": "Answer",
    "replay": "Replay",
    "criteria": "Criteria",
    "mapping": "Mapping",
    "scoring": "Scoring",
    "boxes": "Boxes",
    "embedding": "Embeddings",
}
_LABELS = {
    "name": "Name",
    "base_url": "Address",
    "model": "Model",
    "key_env": "Key variable",
    "roles": "Roles",
    "concurrency": "Requests at a time",
    "requests_per_minute": "Requests a minute",
    "tokens_per_minute": "Tokens a minute",
    "prices.input": "Price in",
    "prices.output": "Price out",
    "timeout": "Seconds for a reply",
    "pictures.max_side": "Longest side of a picture",
    "pictures.min_side": "Shortest side of a picture",
    "pictures.max_bytes": "Bytes of a picture",
    "pictures.max_count": "Pictures in a request",
    "prices.cached_input": "Price of cached input",
    "prices.batch_share": "Share of the price in a batch",
    "max_tries": "Tries of a request",
    "max_seconds": "Seconds for all tries",
    "temperature": "Temperature",
    "top_p": "Top p",
    "seed": "Seed",
    "max_tokens": "Tokens of a reply",
    "reasoning_effort": "Reasoning effort",
    "image_detail": "Image detail",
    "thinking_tokens": "Further tokens for thinking",
    "extra_body": "Further fields",
    "extra_headers": "Further headers",
    "query": "Address parameters",
}


@dataclass(frozen=True, kw_only=True)
class EndpointLine:
    """An endpoint as it is listed."""

    endpoint: Endpoint
    built_in: bool
    key: str
    """`no key needed`, `KEY is set`, `KEY is not set`."""
    key_missing: bool
    price: str


def endpoint_line(
    endpoint: Endpoint, *, built_in: bool, environ: Mapping[str, str] | None = None
) -> EndpointLine:
    """Make an endpoint's line; the key itself is never read out.

    Args:
        built_in: whether it comes with Atomscope.
        environ: where keys are; the process's environment when None.
    """
    variables = endpoint.variables
    unset = [name for name in variables if read_key(name, environ) is None]
    missing = bool(unset)
    named = " and ".join(unset or variables)
    key = f"{named} is {'not ' * missing}set" if named else "no key needed"
    return EndpointLine(
        endpoint=endpoint,
        built_in=built_in,
        key=key,
        key_missing=missing,
        price=price_words(endpoint.prices),
    )


def kept_words(name: str, boxes: BoxConvention) -> str:
    """Say that an endpoint's convention for boxes was kept, and what follows."""
    return (
        f"Kept: boxes of {name}: {BOXES[boxes]}. Of a study that it has judged already, "
        "`study boxes --study NAME` reads the boxes again, free."
    )


def price_words(prices: Prices) -> str:
    """Write what a million tokens cost."""
    if prices.input is None or prices.output is None:
        return "price unknown"
    if prices.input == prices.output == 0:
        return "free"
    return f"${prices.input:g} in, ${prices.output:g} out a million tokens"


@dataclass(frozen=True, kw_only=True)
class EndpointForm:
    """The form's fields as they were typed."""

    name: str = ""
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    family: str = ""
    roles: tuple[Role, ...] = _USUAL_ROLES
    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_side: int = 2048
    timeout: float = 120.0
    structured: StructuredMode = "auto"
    preset: str = ""
    price_cached: float | None = None
    batch_share: float | None = None
    min_side: int = 1
    max_bytes: int = 5_000_000
    max_count: int = 16
    max_tries: int = 5
    max_seconds: float = 600.0
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    reasoning_effort: str = ""
    image_detail: Detail | Literal[""] = ""
    thinking_tokens: int = 0
    extra_body: str = ""
    """JSON, an object."""
    extra_headers: str = ""
    """`Name: value`, one a line."""
    query: str = ""
    """`name=value`, one a line."""
    boxes: BoxConvention | Literal[""] = ""
    system: bool = True


def form_of(endpoint: Endpoint) -> EndpointForm:
    """Fill the form with an endpoint."""
    return EndpointForm(
        name=endpoint.name,
        base_url=endpoint.base_url,
        model=endpoint.model,
        key_env=endpoint.key_env or "",
        family=endpoint.family,
        roles=tuple(role for role in ROLES if role in endpoint.roles),
        concurrency=endpoint.concurrency,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
        price_in=endpoint.prices.input,
        price_out=endpoint.prices.output,
        max_side=endpoint.pictures.max_side,
        timeout=endpoint.timeout,
        structured=endpoint.structured,
        preset=endpoint.preset,
        price_cached=endpoint.prices.cached_input,
        batch_share=endpoint.prices.batch_share,
        min_side=endpoint.pictures.min_side,
        max_bytes=endpoint.pictures.max_bytes,
        max_count=endpoint.pictures.max_count,
        max_tries=endpoint.max_tries,
        max_seconds=endpoint.max_seconds,
        temperature=endpoint.temperature,
        top_p=endpoint.top_p,
        seed=endpoint.seed,
        max_tokens=endpoint.max_tokens,
        reasoning_effort=endpoint.reasoning_effort or "",
        image_detail=endpoint.image_detail or "",
        thinking_tokens=endpoint.thinking_tokens,
        extra_body=json.dumps(endpoint.extra_body, ensure_ascii=False, indent=1)
        if endpoint.extra_body
        else "",
        extra_headers="\n".join(f"{name}: {text}" for name, text in endpoint.extra_headers.items()),
        query="\n".join(f"{name}={text}" for name, text in endpoint.query.items()),
        boxes=endpoint.boxes or "",
        system=endpoint.system,
    )


def with_preset(form: EndpointForm, made: Endpoint, address: str) -> EndpointForm:
    """Fill a form with a preset's habits; name, model, roles and prices stay.

    Args:
        form: what was typed so far.
        made: an endpoint of that preset and model.
        address: the preset's; what it leaves open stands in braces, for the user to put in.
    """
    return replace(
        form_of(made),
        name=form.name,
        model=form.model,
        base_url=address,
        roles=form.roles,
        price_in=form.price_in,
        price_out=form.price_out,
        price_cached=form.price_cached,
        batch_share=form.batch_share,
    )


def with_address(form: EndpointForm, address: str, query: Mapping[str, str]) -> EndpointForm:
    """Put an address into a form, and its parameters where they belong."""
    lines = [f"{name}={value}" for name, value in query.items()]
    return replace(form, base_url=address, query="\n".join(lines) if lines else form.query)


def with_model(form: EndpointForm, model: str, before: Endpoint, now: Endpoint) -> EndpointForm:
    """Put a model into a form; what its name tells goes along where nobody typed otherwise.

    Args:
        form: what was typed so far.
        before: an endpoint of the form's preset and its model until now.
        now: the same, of this model.
    """
    was, told = form_of(before), form_of(now)
    guesses = {
        name: getattr(told, name)
        for name in ("family", "boxes", "thinking_tokens")
        if getattr(form, name) == getattr(was, name)
    }
    return replace(form, model=model, **guesses)


def endpoint_of(form: EndpointForm, before: Endpoint | None = None) -> Endpoint:
    """Make the endpoint that a form describes.

    Args:
        before: the endpoint that is edited; its fields that the form doesn't have stay.

    Raises:
        SettingsError: a field is missing or wrong; the message names it as the form does.
    """
    typed = {name: getattr(form, name).strip() for name in ("name", "base_url", "model")}
    for field, value in typed.items():
        if not value:
            raise SettingsError(f"{_LABELS[field]} is empty. {_WANTED[field]}")
    if not form.roles:
        raise SettingsError("Roles is empty. Choose judge, candidate or both.")
    if (form.price_in is None) != (form.price_out is None):
        raise SettingsError(
            "One price is given and the other isn't. Give both, or leave both empty for unknown."
        )
    open_ = _BLANK.findall(form.base_url)
    if open_:
        raise SettingsError(f"Address: put {' and '.join(open_)} in, braces and all.")
    kept = before.model_dump() if before is not None else {}
    try:
        return Endpoint.model_validate(
            {
                **kept,
                **typed,
                "key_env": form.key_env.strip() or None,
                "family": form.family.strip(),
                "roles": form.roles,
                "concurrency": form.concurrency,
                "requests_per_minute": form.requests_per_minute,
                "tokens_per_minute": form.tokens_per_minute,
                "prices": {
                    "input": form.price_in,
                    "output": form.price_out,
                    "cached_input": form.price_cached if form.price_in is not None else None,
                    "batch_share": form.batch_share,
                },
                "pictures": {
                    "max_side": form.max_side,
                    "min_side": form.min_side,
                    "max_bytes": form.max_bytes,
                    "max_count": form.max_count,
                },
                "timeout": form.timeout,
                "structured": form.structured,
                "preset": form.preset,
                "max_tries": form.max_tries,
                "max_seconds": form.max_seconds,
                "temperature": form.temperature,
                "top_p": form.top_p,
                "seed": form.seed,
                "max_tokens": form.max_tokens,
                "reasoning_effort": form.reasoning_effort.strip() or None,
                "image_detail": form.image_detail or None,
                "thinking_tokens": form.thinking_tokens,
                "extra_body": _body(form.extra_body),
                "extra_headers": _pairs(form.extra_headers, ":", "extra_headers"),
                "query": _pairs(form.query, "=", "query"),
                "boxes": form.boxes or None,
                "system": form.system,
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{_LABELS.get(path, path)}: {first['msg']}.") from None


def _body(text: str) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{_LABELS['extra_body']}: not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise SettingsError(f"{_LABELS['extra_body']}: give a JSON object, {{...}}.")
    return value


def _pairs(text: str, mark: str, field: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, found, value = line.partition(mark)
        if not found or not name.strip():
            raise SettingsError(f"{_LABELS[field]}: {line!r:.60} isn't 'name{mark}value'.")
        if name.strip() in pairs:
            raise SettingsError(f"{_LABELS[field]}: {name.strip()!r} is given twice.")
        pairs[name.strip()] = value.strip()
    return pairs


def sampling_words(endpoint: Endpoint) -> str:
    """Say which sampling an endpoint asks for where a study sets none."""
    told = [
        (f"{_LABELS[name].lower()} {getattr(endpoint, name)}")
        for name in ("temperature", "top_p", "seed", "max_tokens", "reasoning_effort",
                     "image_detail")
        if getattr(endpoint, name) is not None
    ]  # fmt: skip
    if endpoint.thinking_tokens:
        told.append(f"{endpoint.thinking_tokens:,} further tokens for thinking")
    if endpoint.extra_body:
        told.append(f"further fields: {', '.join(endpoint.extra_body)}")
    return "; ".join(told) or "as the study has it, else as the server has it"


_WANTED = {
    "name": "Give a short name by which you will choose it.",
    "base_url": "Give the server's address, such as https://api.openai.com/v1.",
    "model": "Give the model's name as the server knows it.",
}
