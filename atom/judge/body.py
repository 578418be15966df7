"""Builds the bytes of a request, with each picture's JSON literal spliced in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from atom.judge.request import Request, TextPart
from atom.judge.sampling import extra_fields
from atom.judge.servers.dialect import SETTINGS, SentRequest
from atom.judge.structured import response_format, system_text

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeTurn:
    """One request within an exchange.

    Args:
        max_tokens: token limit, thoughts and reply together; None leaves it to the server.
        earlier: the unusable reply and the message that asks for a better one, in a repair turn.
    """

    max_tokens: int | None
    earlier: tuple[str, str] | None = field(default=None)


def build_body(
    request: Request,
    model: str,
    literals: Sequence[bytes],
    *,
    turn: ExchangeTurn,
    sent: SentRequest,
) -> bytes:
    """Build the JSON body of a chat-completions request.

    Args:
        model: the endpoint's model name.
        literals: the pictures' data URLs as JSON string literals, in order.
        turn: the earlier reply in a repair turn.
        sent: what of the request is sent, and how the endpoint wants it spelt.

    Returns:
        UTF-8 JSON. Texts without pictures go as one string, which every server takes. The
        request's own later turns come before a repair turn.
    """
    dialect, sampling = sent.dialect, request.sampling
    system = system_text(request, sent.form, told=dialect.told)
    messages = [_message("system", _json(system))] if dialect.system else []
    opening = "" if dialect.system else system
    detail = sampling.image_detail if "image_detail" in sent.parts else None
    messages.append(_message("user", _user_content(request, literals, opening, detail)))
    messages.extend(_message(said.role, _json(said.text)) for said in request.turns)
    if turn.earlier is not None:
        reply, complaint = turn.earlier
        messages.append(_message("assistant", _json(reply)))
        messages.append(_message("user", _json(complaint)))
    fields: dict[str, object] = {"model": model}
    wanted = {**extra_fields(sampling), **{name: getattr(sampling, name) for name in SETTINGS}}
    fields |= {name: value for name, value in wanted.items() if name in sent.parts}
    if sent.max_tokens is not None:
        fields[dialect.token_name] = sent.max_tokens
    if "stream" in sent.parts:
        fields["stream"] = True
        if "stream_options" in sent.parts:
            fields["stream_options"] = {"include_usage": True}
    pieces = [_json(fields)[:-1], b',"messages":[', b",".join(messages), b"]"]
    shape = response_format(request, sent.form, dialect.keywords)
    if shape is not None:
        pieces += [b',"response_format":', shape]
    return b"".join((*pieces, b"}"))


def _user_content(
    request: Request, literals: Sequence[bytes], opening: str, detail: str | None
) -> bytes:
    """Return the user's message; `opening` is the system text of a model without a system role."""
    if not literals:
        texts = [part.text for part in request.parts if isinstance(part, TextPart)]
        return _json("\n\n".join([opening, *texts] if opening else texts))
    following = iter(literals)
    end = b"}}" if detail is None else b',"detail":' + _json(detail) + b"}}"
    parts = [
        _text_part(part.text)
        if isinstance(part, TextPart)
        else b'{"type":"image_url","image_url":{"url":' + next(following) + end
        for part in request.parts
    ]
    if opening:
        parts.insert(0, _text_part(opening))
    return b"[" + b",".join(parts) + b"]"


def _text_part(text: str) -> bytes:
    return b'{"type":"text","text":' + _json(text) + b"}"


def _message(role: str, content: bytes) -> bytes:
    return b'{"role":"' + role.encode() + b'","content":' + content + b"}"


def _json(value: object) -> bytes:
    return _ENCODER.encode(value).encode("utf-8", errors="replace")
