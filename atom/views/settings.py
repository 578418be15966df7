"""Settings: endpoints as lines of words, the form behind them, and who was agreed with."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from atom.errors import SettingsError
from atom.records import Endpoint, PictureLimit, Prices, Role, StructuredMode
from atom.settings import PROJECT_ROOT, read_key

ROLES: tuple[Role, ...] = ("judge", "candidate")
FORMS: dict[StructuredMode, str] = {
    "auto": "find out (JSON schema, else JSON, else text)",
    "json_schema": "JSON schema",
    "json_object": "JSON",
    "text": "plain text",
}
CHECK_WORDS = {
    "key": "Key",
    "models": "Model listed",
    "text": "Text reply",
    "json": "JSON reply",
    "picture": "Picture",
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
}


def app_version() -> str:
    """Return the version as the project's file states it."""
    try:
        text = (PROJECT_ROOT / "pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return "unknown"


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
        endpoint: the endpoint.
        built_in: whether it comes with Atomscope.
        environ: where keys are; the process's environment when None.
    """
    variable = endpoint.key_env
    missing = variable is not None and read_key(variable, environ) is None
    key = "no key needed" if variable is None else f"{variable} is {'not ' * missing}set"
    return EndpointLine(
        endpoint=endpoint,
        built_in=built_in,
        key=key,
        key_missing=missing,
        price=price_words(endpoint.prices),
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
    roles: tuple[Role, ...] = ROLES
    concurrency: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_side: int = 2048
    timeout: float = 120.0
    structured: StructuredMode = "auto"


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
    )


def endpoint_of(form: EndpointForm, before: Endpoint | None = None) -> Endpoint:
    """Make the endpoint that a form describes.

    Args:
        form: what was typed.
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
    kept = before.model_dump() if before is not None else {}
    prices = Prices(
        input=form.price_in,
        output=form.price_out,
        cached_input=before.prices.cached_input if before and form.price_in is not None else None,
        batch_share=before.prices.batch_share if before else None,
    )
    limit = (before.pictures if before else PictureLimit()).model_dump()
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
                "prices": prices.model_dump(),
                "pictures": {**limit, "max_side": form.max_side},
                "timeout": form.timeout,
                "structured": form.structured,
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{_LABELS.get(path, path)}: {first['msg']}.") from None


_WANTED = {
    "name": "Give a short name by which you will choose it.",
    "base_url": "Give the server's address, such as https://api.openai.com/v1.",
    "model": "Give the model's name as the server knows it.",
}
