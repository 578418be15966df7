"""What a model is asked, and the name of that question."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from atom.records import Sampling, blob_hash, content_id

_MOST_SCHEMAS = 256
_SCHEMA_TEXTS: dict[int, tuple[Mapping[str, object], str]] = {}

DEFAULT_SAMPLING = Sampling()
"""Everything as the server has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPart:
    """A piece of the user's message in words."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PicturePart:
    """A picture in the user's message.

    Args:
        sha256: hash of the original bytes, which names the picture in caches and request hashes.
        load: the original bytes, or a function that reads them. The function is called in a
            worker thread, and only when the prepared picture isn't cached.
    """

    sha256: str
    load: bytes | Callable[[], bytes] = field(repr=False, hash=False, compare=False)

    @classmethod
    def from_bytes(cls, data: bytes) -> PicturePart:
        """Make a part of bytes that are at hand."""
        return cls(sha256=blob_hash(data), load=data)

    def read(self) -> bytes:
        """Return the original bytes."""
        return self.load if isinstance(self.load, bytes) else self.load()


Part = TextPart | PicturePart


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A later message of a conversation: what the model said, or what it is told then.

    Args:
        role: who speaks.
        text: the message, sent as it is.
    """

    role: Literal["assistant", "user"]
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One question to a model.

    Args:
        task: `replay`, `criteria`, `mapping`, `scoring`, `outcome`, `answer`, ...
        prompt_id: template id and version, `scoring/1`.
        system: the system text.
        parts: the user's message, pictures and texts in order.
        schema: JSON Schema of the reply; None asks for free text.
        schema_name: name sent with the schema, `atomscope_scoring`.
        sampling: temperature, token limit, seed.
        repeat: 0-based index among equal requests; part of the call's id, not of the request hash.
        turns: what follows the user's message where the model is to go on with a conversation.
    """

    task: str
    prompt_id: str
    system: str
    parts: tuple[Part, ...]
    schema: Mapping[str, object] | None = field(default=None, hash=False)
    schema_name: str = ""
    sampling: Sampling = DEFAULT_SAMPLING
    repeat: int = 0
    turns: tuple[Turn, ...] = ()

    @property
    def pictures(self) -> tuple[PicturePart, ...]:
        """The pictures, in order."""
        return tuple(part for part in self.parts if isinstance(part, PicturePart))

    @property
    def n_characters(self) -> int:
        """Characters of text, the system text and all turns included."""
        shown = sum(len(part.text) for part in self.parts if isinstance(part, TextPart))
        return len(self.system) + shown + sum(len(turn.text) for turn in self.turns)


def request_hash(request: Request, model: str) -> str:
    """Name a request by its content.

    Args:
        request: the request; its pictures count by their hashes, so none is read.
        model: the model that is asked.

    Returns:
        24 hexadecimal digits over model, messages, pictures, sampling and schema. Equal hash
        (and repeat) = the same question to the same model, already paid for. A request without
        later turns has the hash that it had before there were any.
    """
    parts = [
        ["picture", part.sha256] if isinstance(part, PicturePart) else ["text", part.text]
        for part in request.parts
    ]
    schema = None if request.schema is None else _text_key(schema_text(request.schema))
    turns = [["turn", turn.role, turn.text] for turn in request.turns]
    return content_id(
        "request", model, request.system, parts, request.sampling.named, schema, *turns
    )


def call_id(request_hash_: str, repeat: int) -> str:
    """Name a call by its request and repeat."""
    return content_id("call", request_hash_, repeat)


def schema_text(schema: Mapping[str, object]) -> str:
    """Return a schema as JSON, its keys in their own order: models write in that order.

    The text is kept with the schema object, since a run asks with the same few schemas thousands
    of times: a schema isn't to be changed once it was used.
    """
    held = _SCHEMA_TEXTS.get(id(schema))
    if held is not None and held[0] is schema:
        return held[1]
    text = json.dumps(schema, ensure_ascii=False)
    if len(_SCHEMA_TEXTS) >= _MOST_SCHEMAS:
        _SCHEMA_TEXTS.clear()
    _SCHEMA_TEXTS[id(schema)] = (schema, text)
    return text


@functools.lru_cache(maxsize=256)
def _text_key(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
