"""The chat-completions protocol, as far as the probe endpoint speaks it: bytes in, bytes out."""

from __future__ import annotations

import array
import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from atom.probes.errors import embed

CREATED = 1_750_000_000
"""The `created` field of every reply, which depends on its request and on no clock."""
PICTURE_TOKENS = 255
"""Tokens counted for a picture of any size."""
MOST_EMBEDDED = 2048
"""Texts in a request for embeddings."""
_JSON = {"content-type": "application/json"}
_TASK = re.compile(r"Atomscope task:\s*(?P<task>[a-z_]{1,40})\s*/\s*(?P<version>[\w.\-]{1,40})\s*$")
_DATA_URL = re.compile(r"data:image/[\w.+\-]{1,40};base64,")


class RequestError(Exception):
    """A request that the endpoint refuses, with the HTTP status and a plain message."""

    def __init__(self, status: int, message: str, *, code: str | None = None) -> None:
        super().__init__(status, message, code)
        self.status = status
        self.message = message
        self.code = code


@dataclass(frozen=True, kw_only=True)
class HttpReply:
    """An HTTP reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    delay: float = 0.0
    """Seconds to wait before answering."""
    wreck: Literal["", "reset", "stall", "cut"] = ""
    """How the connection fails: closed at once, hanging, or after half of the body."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A chat request, checked."""

    model: str
    task: str
    """`replay`, `criteria`, `mapping`, `scoring`, `outcome`, `answer`, ...; empty if none."""
    prompt: str
    """Prompt id and version as the request names them, `scoring/1`."""
    pictures: tuple[str, ...]
    """Data URLs, in order."""
    question: str
    """Text of the first user message."""
    feedback: str
    """Text of the last user message that follows a reply of the model; empty when there is none."""
    replied: str
    """The model's last reply in the conversation; empty when there is none."""
    data: Mapping[str, Any] | None
    """The JSON document between BEGIN DATA and END DATA; None when there is none."""
    schema: Mapping[str, Any] | None
    """The JSON schema asked for, if one was."""
    seed: int | None
    temperature: float | None
    max_tokens: int | None
    stream: bool
    stream_usage: bool
    characters: int
    """Length of all texts, for the token count."""

    @property
    def repeat(self) -> str:
        """What tells repeats of one request apart: its seed and temperature."""
        heat = "" if self.temperature is None else f"{self.temperature:g}"
        return f"{self.seed or 0}/{heat}"


@dataclass
class _Texts:
    system: str = ""
    users: list[str] = field(default_factory=list)
    """Text of each user message, its parts joined."""
    lasts: list[str] = field(default_factory=list)
    """Last text part of each user message."""
    replied: list[bool] = field(default_factory=list)
    """Whether each user message follows a reply of the model."""
    reply: str = ""
    """The model's last reply."""
    pictures: list[str] = field(default_factory=list)
    characters: int = 0


def parse_request(payload: object) -> ChatRequest:
    """Check a chat request.

    Args:
        payload: the decoded JSON body.

    Raises:
        RequestError: it isn't one that this endpoint can answer (status 400).
    """
    if not isinstance(payload, dict):
        raise RequestError(400, "the body must be a JSON object")
    model = payload.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError(400, "`model` must be a model's name")
    texts = _read_messages(payload.get("messages"))
    task = _TASK.match(texts.system.split("\n", 1)[0].strip())
    if payload.get("n") not in (None, 1):
        raise RequestError(400, "`n` must be 1: ask again with another `seed` for another answer")
    follow_ups = [t for t, replied in zip(texts.users, texts.replied, strict=True) if replied]
    options = payload.get("stream_options")
    return ChatRequest(
        model=model,
        task=task.group("task") if task else "",
        prompt=f"{task.group('task')}/{task.group('version')}" if task else "",
        pictures=tuple(texts.pictures),
        question=texts.users[0] if texts.users else "",
        feedback=follow_ups[-1] if follow_ups else "",
        replied=texts.reply,
        data=_find_data(texts.lasts),
        schema=_find_schema(payload.get("response_format")),
        seed=_number(payload, "seed", int),
        temperature=_number(payload, "temperature", float),
        max_tokens=_number(payload, "max_completion_tokens", int)
        or _number(payload, "max_tokens", int),
        stream=payload.get("stream") is True,
        stream_usage=isinstance(options, dict) and options.get("include_usage") is True,
        characters=texts.characters,
    )


@dataclass(frozen=True, kw_only=True)
class EmbeddingRequest:
    """A request for embeddings, checked."""

    model: str
    texts: tuple[str, ...]
    packed: bool
    """Whether vectors are wanted in base64, as the `openai` client asks by itself."""


def parse_embedding(payload: object, model: str) -> EmbeddingRequest:
    """Check a request for embeddings.

    Args:
        payload: the decoded JSON body.
        model: the one embedding model that is served.

    Raises:
        RequestError: it isn't one that this endpoint can answer.
    """
    if not isinstance(payload, dict):
        raise RequestError(400, "the body must be a JSON object")
    asked = payload.get("model")
    if asked != model:
        raise RequestError(
            404, f"{asked!r} gives no embeddings: {model!r} does", code="model_not_found"
        )
    given = payload.get("input")
    texts = [given] if isinstance(given, str) else given
    whole = isinstance(texts, list) and all(isinstance(one, str) and one for one in texts)
    if not whole or not 0 < len(texts or ()) <= MOST_EMBEDDED:
        raise RequestError(400, f"`input` must be 1 to {MOST_EMBEDDED} texts, none empty")
    form = payload.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise RequestError(400, "`encoding_format` must be `float` or `base64`")
    return EmbeddingRequest(model=model, texts=tuple(texts or ()), packed=form == "base64")


def embedding_reply(request: EmbeddingRequest) -> HttpReply:
    """Return the synthetic vectors of texts."""
    rows = []
    for at, text in enumerate(request.texts):
        vector = embed(text)
        packed = base64.b64encode(array.array("f", vector).tobytes()).decode()
        rows.append(
            {"object": "embedding", "index": at, "embedding": packed if request.packed else vector}
        )
    tokens = sum(len(text) // 4 + 1 for text in request.texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_reply(
        {"object": "list", "model": request.model, "synthetic": True, "data": rows, "usage": usage}
    )


def _number(payload: Mapping[str, Any], name: str, kind: type[int] | type[float]) -> Any:
    value = payload.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int if kind is int else (int, float)):
        raise RequestError(400, f"`{name}` must be a number, not {value!r}"[:200])
    return value


def _read_messages(messages: object) -> _Texts:
    if not isinstance(messages, list) or not messages:
        raise RequestError(400, "`messages` must be a list with at least one message")
    texts = _Texts()
    replied = False
    for message in messages:
        if not isinstance(message, dict):
            raise RequestError(400, "each message must be an object with `role` and `content`")
        role = message.get("role")
        parts, pictures = _read_parts(message.get("content"))
        texts.characters += sum(map(len, parts))
        if role in ("system", "developer"):
            texts.system = texts.system or "\n".join(parts)
        elif role == "user":
            texts.users.append("\n".join(parts))
            texts.lasts.append(parts[-1] if parts else "")
            texts.replied.append(replied)
            texts.pictures.extend(pictures)
        elif role == "assistant":
            replied = True
            texts.reply = "\n".join(parts)
        else:
            raise RequestError(400, f"the role {role!r} is not one of system, user, assistant")
    return texts


def _read_parts(content: object) -> tuple[list[str], list[str]]:
    if content is None:
        return [], []
    if isinstance(content, str):
        return [content], []
    if not isinstance(content, list):
        raise RequestError(400, "`content` must be a text or a list of parts")
    texts: list[str] = []
    pictures: list[str] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "image_url" and isinstance(part.get("image_url"), dict):
            pictures.append(str(part["image_url"].get("url")))
        else:
            raise RequestError(400, f"a content part of type {kind!r} is not understood")
    return texts, pictures


def _find_data(texts: Sequence[str]) -> Mapping[str, Any] | None:
    for text in reversed(texts):
        lines = text.split("\n")
        for at in range(len(lines) - 1, -1, -1):
            if lines[at].strip() != "BEGIN DATA":
                continue
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == "END DATA"), -1)
            if end < 0:
                continue
            try:
                data = json.loads("\n".join(lines[at + 1 : end]))
            except (ValueError, RecursionError) as error:
                raise RequestError(400, f"the data block holds no JSON: {error}") from error
            if not isinstance(data, dict):
                raise RequestError(400, "the data block must hold one JSON object")
            return data
    return None


def _find_schema(form: object) -> Mapping[str, Any] | None:
    if form is None:
        return None
    kind = form.get("type") if isinstance(form, dict) else None
    if not isinstance(form, dict) or kind not in ("text", "json_object", "json_schema"):
        raise RequestError(
            400, "`response_format.type` must be `text`, `json_object` or `json_schema`"
        )
    if kind != "json_schema":
        return None
    outer = form.get("json_schema")
    if not isinstance(outer, dict) or not outer.get("name"):
        raise RequestError(400, "`response_format.json_schema` needs a `name` and a `schema`")
    schema = outer.get("schema")
    return schema if isinstance(schema, dict) else None


def decode_picture(url: str) -> bytes:
    """Return the bytes behind a picture's data URL.

    Raises:
        RequestError: it isn't a base64 data URL of a picture.
    """
    head = _DATA_URL.match(url)
    if head is None:
        raise RequestError(400, "a picture must be a base64 data URL: `data:image/png;base64,...`")
    try:
        return base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise RequestError(400, f"a picture's base64 is damaged: {error}") from error


def fit_schema(value: object, schema: object) -> object:
    """Keep a reply within a strict schema: unknown keys go, long texts and lists are cut.

    Args:
        value: a JSON value.
        schema: its JSON schema.

    Returns:
        The value, without keys of objects that allow no additional properties, and within
        `maxLength` and `maxItems`.
    """
    if not isinstance(schema, dict):
        return value
    if isinstance(value, str):
        most = schema.get("maxLength")
        return value[:most] if isinstance(most, int) else value
    if isinstance(value, list):
        most = schema.get("maxItems")
        kept = value[:most] if isinstance(most, int) else value
        return [fit_schema(item, schema.get("items")) for item in kept]
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, dict):
        return value
    strict = schema.get("additionalProperties") is False
    return {
        key: fit_schema(item, known.get(key))
        for key, item in value.items()
        if key in known or not strict
    }


def error_reply(status: int, message: str, *, code: str | None = None) -> HttpReply:
    """Return an error in the protocol's form."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    document = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return HttpReply(status=status, headers=dict(_JSON), body=_dump(document))


def json_reply(document: Mapping[str, object]) -> HttpReply:
    """Return a document with status 200."""
    return HttpReply(status=200, headers=dict(_JSON), body=_dump(document))


def completion_reply(
    request: ChatRequest,
    content: str | None,
    *,
    reply_id: str,
    finish: str = "stop",
    refusal: str | None = None,
) -> HttpReply:
    """Return a chat completion, whole or as a stream of events.

    Args:
        content: the message's text; None with a refusal.
        finish: the finish reason.
        refusal: the refusal's text, if it is one.
    """
    if content is not None and request.max_tokens and len(content) > 4 * request.max_tokens:
        content, finish = content[: 4 * request.max_tokens], "length"
    prompt = request.characters // 4 + PICTURE_TOKENS * len(request.pictures) + 1
    written = -(-len(content or refusal or "") // 4)
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
    }
    head = {"id": reply_id, "created": CREATED, "model": request.model}
    if request.stream:
        return _stream(request, head, content, finish, refusal, usage)
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return json_reply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _stream(
    request: ChatRequest,
    head: Mapping[str, object],
    content: str | None,
    finish: str,
    refusal: str | None,
    usage: Mapping[str, int],
) -> HttpReply:
    base = {**head, "object": "chat.completion.chunk"}
    deltas: list[dict[str, object]] = [{"role": "assistant", "content": ""}]
    text = content or ""
    deltas.extend({"content": text[at : at + 64]} for at in range(0, len(text), 64))
    if refusal is not None:
        deltas.append({"refusal": refusal})
    events: list[object] = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    events.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if request.stream_usage:
        events.append({**base, "choices": [], "usage": usage})
    body = b"".join(b"data: " + _dump(event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"
    return HttpReply(status=200, headers={"content-type": "text/event-stream"}, body=body)


def _dump(document: object) -> bytes:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace")
