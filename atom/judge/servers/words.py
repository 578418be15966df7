"""A server's error, in whichever of the usual shapes it comes: its words, code and fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_MAX_QUOTED = 400
_DEEPEST = 6
_MESSAGE_FIELDS = ("message", "detail", "msg", "error_description", "error_message", "error")
_CODE_FIELDS = ("code", "type", "status", "reason", "error_type")


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerWords:
    """What a server says of an error.

    Args:
        message: its words, shortened, of all levels where one error wraps another.
        code: its codes and types, in words.
        number: the code as a number, an HTTP status, where it gives one.
        params: the fields of the request that it names.
        wait: seconds to wait, where the body says so.
    """

    message: str = ""
    code: str = ""
    number: int | None = None
    params: tuple[str, ...] = ()
    wait: float | None = None


def read_error(body: object) -> ServerWords:
    """Read an error body.

    Args:
        body: decoded JSON or text: an object with `error`, a list of such objects (Gemini), a bare
            text (LM Studio), a list of details (FastAPI, Mistral), an error of another server
            inside (OpenRouter, LiteLLM), an HTML page.
    """
    if isinstance(body, str):
        return ServerWords(message=_page_or_text(body))
    messages: list[str] = []
    codes: list[str] = []
    numbers: list[int] = []
    params: list[str] = []
    waits: list[float] = []
    for level in _levels(body, 0):
        if isinstance(level, str):
            messages.append(level)
            continue
        messages += [text for name in _MESSAGE_FIELDS if isinstance(text := level.get(name), str)]
        for name in _CODE_FIELDS:
            value = level.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                numbers.append(value)
            elif isinstance(value, str):
                codes.append(value)
                if value.isdigit():
                    numbers.append(int(value))
        params += _named_fields(level)
        delay = level.get("retryDelay")
        if isinstance(delay, str) and re.fullmatch(r"[\d.]{1,10}s", delay):
            waits.append(float(delay[:-1]))
    told = dict.fromkeys(" ".join(text.split()).rstrip(".") for text in messages if text.strip())
    # A level that repeats what stands inside another one adds nothing.
    kept = [text for text in told if not any(text in other and text != other for other in told)]
    return ServerWords(
        message=quoted(". ".join(kept)),
        code=" ".join(dict.fromkeys(codes)),
        number=next((number for number in numbers if 400 <= number <= 599), None),
        params=tuple(dict.fromkeys(params)),
        wait=waits[0] if waits else None,
    )


def quoted(text: str) -> str:
    """Return words for a message: one line, shortened."""
    flat = " ".join(text[: 4 * _MAX_QUOTED].split())
    return flat if len(flat) <= _MAX_QUOTED else flat[:_MAX_QUOTED] + " ..."


def _levels(value: object, depth: int) -> Iterator[Mapping[str, object] | str]:
    """Walk over an error's levels, from the outside in."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list | tuple):
        for one in value[:20]:
            yield from _levels(one, depth + 1)
        return
    if isinstance(value, str):
        inner = _json_within(value)
        if inner is None:
            yield value
        else:
            yield from _levels(inner, depth + 1)
        return
    if not isinstance(value, Mapping):
        return
    yield {name: one for name, one in value.items() if name == "loc" or not _is_level(one)}
    for name in ("error", "errors", "message", "detail", "details", "metadata", "raw",
                 "innererror", "fieldViolations", "provider_error"):  # fmt: skip
        if _is_level(value.get(name)):
            yield from _levels(value[name], depth + 1)


def _is_level(value: object) -> bool:
    if isinstance(value, str):
        return _json_within(value) is not None
    return isinstance(value, Mapping | list | tuple)


def _json_within(text: str) -> object | None:
    """Return the error object that stands as text within another error."""
    at = text.find("{")
    if at < 0 or len(text) > 20_000 or '"' not in text:
        return None
    try:
        inner, _ = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    known = {"error", "message", "detail", "msg"}
    if not isinstance(inner, dict) or not known & inner.keys():
        return None
    front = text[:at].strip()
    return [front, inner] if front else inner


def _named_fields(level: Mapping[str, object]) -> list[str]:
    found: list[str] = []
    for name in ("param", "field", "parameter"):
        value = level.get(name)
        if isinstance(value, str) and value:
            found.append(value)
    loc = level.get("loc")
    if isinstance(loc, list | tuple):
        found.append(".".join(str(step) for step in loc))
    text = level.get("message")
    if isinstance(text, str):
        found += re.findall(r"Unknown name \"([\w.]+)\"", text)
        found += re.findall(r"Unknown name \"[\w.]+\" at '([\w.]+)", text)
        listed = re.search(r"does not support parameters: \[([^\]]*)\]", text)
        if listed:
            found += re.findall(r"[\w.]+", listed[1])
    return found


def _page_or_text(text: str) -> str:
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml", "<head", "<body")):
        title = re.search(r"<title>([^<]{1,100})</title>", text[:5000], re.IGNORECASE)
        return f"an HTML page{f' titled {title.group(1).strip()!r}' if title else ''}"
    return quoted(text)
