"""How a structured reply is asked for: json_schema, else json_object, else plain text.

Which form an endpoint takes is part of its dialect; which one was used is recorded with every call.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from string import Template

from atom.judge.request import Request, schema_text
from atom.judge.servers.dialect import without_keywords
from atom.records import ReplyForm

_MAX_QUOTED_REPLY = 20_000


def response_format(
    request: Request, form: ReplyForm, keywords: frozenset[str] = frozenset()
) -> bytes | None:
    """Return the request's `response_format` field as JSON, or None when there is none.

    Args:
        keywords: schema keywords that the server refuses.
    """
    if request.schema is None or form == "text":
        return None
    if form == "json_object":
        return b'{"type":"json_object"}'
    name = request.schema_name or "reply"
    return _schema_format(schema_text(request.schema), name, keywords)


@functools.lru_cache(maxsize=256)
def _schema_format(text: str, name: str, keywords: frozenset[str]) -> bytes:
    schema = without_keywords(json.loads(text), keywords)
    inner = {"name": name, "schema": schema, "strict": is_strict(schema)}
    field = {"type": "json_schema", "json_schema": inner}
    return json.dumps(field, ensure_ascii=False).encode()


def system_text(request: Request, form: ReplyForm, *, told: bool = False) -> str:
    """Return the system text; where the server doesn't get the schema, the model is told it.

    Args:
        told: the model is told in any case: the server takes a schema and does nothing with it.
    """
    if request.schema is None or (form == "json_schema" and not told):
        return request.system
    schema = json.dumps(request.schema, ensure_ascii=False)
    return f"{request.system}\n\n{wording('reply_form', schema=schema)}"


def repair_text(problem: str) -> str:
    """Return the message that asks for a reply in the right form."""
    return wording("repair", problem=problem)


def repair_talk(reply: str | None, problem: str) -> tuple[str, str]:
    """Return what stands before a repair turn: the reply, and the message that follows it."""
    # Several servers refuse a message without text.
    return (reply or "")[:_MAX_QUOTED_REPLY].strip() or "...", repair_text(problem)


def is_strict(schema: object) -> bool:
    """Whether a schema keeps the rules of strict mode.

    Every object in it has to forbid further properties and require all of its own.
    """
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            properties = schema.get("properties")
            required = schema.get("required")
            names = set(properties) if isinstance(properties, Mapping) else set()
            listed = set(required) if isinstance(required, list | tuple) else set()
            if schema.get("additionalProperties") is not False or names != listed:
                return False
        return all(is_strict(value) for value in schema.values())
    if isinstance(schema, list | tuple):
        return all(is_strict(value) for value in schema)
    return True


def wording(name: str, **values: str) -> str:
    """Return one of the client's own sentences, with its variables filled in."""
    return _template(name).substitute(values)


@functools.cache
def _template(name: str) -> Template:
    text = resources.files("atom.judge.wording").joinpath(f"{name}.txt").read_text("utf-8")
    return Template(text.split("\n\n", 1)[1].rstrip("\n"))
