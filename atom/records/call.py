"""Model calls: what was asked, what came back, what it cost."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field

from atom.records.base import Id, Record, content_id

ReplyForm = Literal["json_schema", "json_object", "text"]


class Sampling(Record):
    """Sampling settings of a request."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    @cached_property
    def key(self) -> str:
        """A short name for these settings, part of the keys of what they produced."""
        return content_id("sampling", self.model_dump())[:8]


class Usage(Record):
    """Tokens as the server counted them; None where it didn't say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class Call(Record):
    """One model call, kept once with its raw reply."""

    id: Id
    """Hash of (request hash, repeat)."""
    request_hash: str
    """Hash of model, messages, pictures, sampling and reply form asked for."""
    task: str
    """`answer`, `replay`, `criteria`, `mapping`, `scoring`, `outcome`, ..."""
    endpoint: str
    """The endpoint's name."""
    model: str
    prompt: str
    """Template id and version, `scoring/1`."""
    reply: str | None = None
    """The raw reply, untouched; None when the call failed."""
    error: str | None = None
    """What went wrong, when it failed."""
    form: ReplyForm = "text"
    """How the structured reply was asked for in the end."""
    finish: str | None = None
    attempts: int = Field(default=1, ge=1)
    """Requests sent, retries and repair turn included."""
    repaired: bool = False
    """Whether a repair turn was needed."""
    usage: Usage = Usage()
    cost: float | None = None
    """In the endpoint's currency (USD); None = unknown."""
    seconds: float = 0.0
    """Wall time of the last attempt."""
    created: str = ""
    """UTC time, ISO 8601."""
