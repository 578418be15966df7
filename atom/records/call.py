"""Model calls: what was asked, what came back, what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from pydantic import Field

from atom.records.base import Id, Record, content_id

ReplyForm = Literal["json_schema", "json_object", "text"]


_FIRST_FIELDS = frozenset({"temperature", "top_p", "max_tokens", "seed"})


class Sampling(Record):
    """Sampling settings of a request: what is asked for, whatever the server makes of it."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    """How long a reasoning model is to think: `minimal`, `low`, `medium`, `high`, as it says."""
    image_detail: str | None = None
    """How closely pictures are looked at: `low`, `high`, `auto`."""
    extra: str | None = None
    """Further fields of the request as canonical JSON (an endpoint's `extra_body`)."""

    @property
    def named(self) -> dict[str, object]:
        """The settings as they name things: fields that came later only where they are set."""
        return {
            name: value
            for name, value in self.model_dump().items()
            if name in _FIRST_FIELDS or value is not None
        }

    @cached_property
    def key(self) -> str:
        """A short name for these settings, part of the keys of what they produced."""
        return content_id("sampling", self.named)[:8]


class Usage(Record):
    """Tokens as the server counted them; None where it didn't say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    thinking_tokens: int | None = None
    """Those of the completion that were thoughts."""


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
    adapted: tuple[str, ...] = ()
    """What the server refused of what was asked for, and what was sent instead, a line each."""
    sampled: Sampling | None = None
    """The sampling settings that the server let through; None = those that were asked for."""


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Add up USD; None where one of them is unknown."""
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)
