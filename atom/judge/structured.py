"""How a structured reply is asked for: json_schema, else json_object, else plain text.

What an endpoint refuses is learned once and kept for the client's life; which form was used is
recorded with every call.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from string import Template

from atom.judge.request import Request, schema_text
from atom.records import ReplyForm, StructuredMode

LADDER: tuple[ReplyForm, ...] = ("json_schema", "json_object", "text")
_MAX_QUOTED_REPLY = 20_000


class FormLadder:
    """Remembers the best reply form that an endpoint takes.

    Args:
        mode: `auto` begins at json_schema and steps down when the server refuses; any other
            mode is used as it is.
    """

    def __init__(self, mode: StructuredMode = "auto") -> None:
        self._fixed = mode != "auto"
        self._general: ReplyForm = "json_schema" if mode == "auto" else mode
        self._by_schema: dict[str, ReplyForm] = {}

    @property
    def general(self) -> ReplyForm:
        """The form for schemas that nothing else is known about."""
        return self._general

    def form_for(self, request: Request) -> ReplyForm:
        """Return the form to ask with; free text when the request has no schema."""
        if request.schema is None:
            return "text"
        own = self._by_schema.get(request.schema_name, self._general)
        return max(own, self._general, key=LADDER.index)

    def refused(self, request: Request, form: ReplyForm, message: str) -> ReplyForm | None:
        """Learn that a form was refused.

        Args:
            request: what was asked.
            form: the form that was refused.
            message: the server's words: a complaint about this schema alone is kept apart.

        Returns:
            The next form to try, or None when there is none.
        """
        if self._fixed or form == "text":
            return None
        below = LADDER[LADDER.index(form) + 1]
        if "invalid schema" in message.lower():
            self._by_schema[request.schema_name] = below
        else:
            self._general = max(self._general, below, key=LADDER.index)
        return below


def response_format(request: Request, form: ReplyForm) -> bytes | None:
    """Return the request's `response_format` field as JSON, or None when there is none."""
    if request.schema is None or form == "text":
        return None
    if form == "json_object":
        return b'{"type":"json_object"}'
    return _schema_format(schema_text(request.schema), request.schema_name or "reply")


@functools.lru_cache(maxsize=256)
def _schema_format(text: str, name: str) -> bytes:
    schema = json.loads(text)
    inner = {"name": name, "schema": schema, "strict": is_strict(schema)}
    field = {"type": "json_schema", "json_schema": inner}
    return json.dumps(field, ensure_ascii=False).encode()


def system_text(request: Request, form: ReplyForm) -> str:
    """Return the system text; where the server doesn't get the schema, the model is told it."""
    if request.schema is None or form == "json_schema":
        return request.system
    schema = json.dumps(request.schema, ensure_ascii=False)
    return f"{request.system}\n\n{wording('reply_form', schema=schema)}"


def repair_text(problem: str) -> str:
    """Return the message that asks for a reply in the right form."""
    return wording("repair", problem=problem)


def repair_talk(reply: str | None, problem: str) -> tuple[str, str]:
    """Return what stands before a repair turn: the reply, and the message that follows it."""
    return (reply or "")[:_MAX_QUOTED_REPLY], repair_text(problem)


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
