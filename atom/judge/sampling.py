"""What a request asks of the sampling: the study's settings, the endpoint's where it sets none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from atom.errors import SettingsError
from atom.judge.request import Request
from atom.records import Endpoint, Sampling

OWN_FIELDS = {
    "model": "model",
    "messages": None,
    "stream": None,
    "stream_options": None,
    "response_format": "structured",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "reasoning_effort": "reasoning_effort",
}
"""Fields of a request that the client writes itself, and the endpoint's field that sets them."""

_FILLED = ("temperature", "top_p", "seed", "max_tokens", "reasoning_effort", "image_detail")


def asked_sampling(endpoint: Endpoint, study_sampling: Sampling) -> Sampling:
    """Return what a request to an endpoint asks for: part of the request's name and of keys.

    Args:
        endpoint: whose settings fill in what the study leaves open.
        study_sampling: the study's settings, which go first.

    Returns:
        The settings. Of `extra`, single fields of the study go before the endpoint's. Applied to
        its own result it changes nothing; with an endpoint that sets nothing it returns the
        study's settings.
    """
    filled = {
        name: getattr(endpoint, name) for name in _FILLED if getattr(study_sampling, name) is None
    }
    extra = extra_text({**endpoint.extra_body, **extra_fields(study_sampling)})
    return study_sampling.model_copy(update={**filled, "extra": extra})


def asked_request(endpoint: Endpoint, request: Request) -> Request:
    """Return a request as an endpoint is asked it; its hash names the call."""
    return replace(request, sampling=asked_sampling(endpoint, request.sampling))


def extra_text(fields: Mapping[str, object]) -> str | None:
    """Return further fields of a request as canonical JSON; None where there are none.

    Raises:
        SettingsError: a field is one that the client writes itself, or isn't JSON.
    """
    if not fields:
        return None
    problem = extra_problem(fields)
    if problem is not None:
        raise SettingsError(f"Further fields of a request (extra_body): {problem}")
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def extra_fields(sampling: Sampling) -> dict[str, object]:
    """Return the further fields that are asked for."""
    if sampling.extra is None:
        return {}
    fields = json.loads(sampling.extra)
    if not isinstance(fields, dict):
        raise SettingsError(
            f"Further fields of a request (extra_body) are a {type(fields).__name__}; "
            'give an object such as {"top_k": 20}.'
        )
    return fields


def extra_problem(fields: Mapping[str, object]) -> str | None:
    """Say what is wrong with further fields of a request; None where nothing is."""
    for name in fields:
        if name in OWN_FIELDS:
            instead = OWN_FIELDS[name]
            fix = "take it out" if instead is None else f"give it as {instead!r} of the endpoint"
            return f"{name!r} is written by the client itself; {fix}."
    try:
        json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"they can't be sent as JSON ({error})."
    return None
