"""Endpoints: where judges and candidates are asked."""

from __future__ import annotations

import re
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from atom.records.base import Record

Role = Literal["judge", "candidate", "embedding"]
StructuredMode = Literal["auto", "json_schema", "json_object", "text"]
BoxConvention = Literal["xyxy_1000", "yxyx_1000", "xyxy_pixels", "xyxy_unit", "none"]
"""How a model writes boxes: corners in thousandths, the same with y first, corners in pixels of
the picture as it was sent, corners as fractions; `none`: its boxes fit nothing and are dropped
(METHODS T4)."""


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def named_variables(text: str) -> tuple[str, ...]:
    """Return the environment variables that a header or a part of an address names."""
    return tuple(dict.fromkeys(_VARIABLE.findall(text)))


class Prices(Record):
    """Prices in USD for a million tokens; None = unknown."""

    input: float | None = Field(default=None, ge=0)
    output: float | None = Field(default=None, ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    batch_share: float | None = Field(default=None, ge=0, le=1)
    """What a call in a batch costs, as a share of these prices; None = as much as any other."""

    @property
    def unknown(self) -> bool:
        """Whether what a call costs can't be said."""
        return self.input is None or self.output is None


class PictureLimit(Record):
    """What pictures an endpoint takes."""

    max_side: int = Field(default=2048, ge=16)
    """Longest side in pixels; larger pictures are scaled down."""
    min_side: int = Field(default=1, ge=1, le=512)
    """Shortest side in pixels; a thinner picture is padded."""
    max_bytes: int = Field(default=5_000_000, ge=1000)
    """Encoded size of one picture."""
    max_count: int = Field(default=16, ge=0)
    """Pictures in a request."""


class Endpoint(Record):
    """An OpenAI-compatible chat endpoint and one model on it."""

    name: str = Field(min_length=1, max_length=80)
    base_url: str
    """`https://host/v1`; `probe:` for the built-in offline endpoint, `probe:http://host/v1` for
    one that is served (`probe serve`): both are shown the programs in the pictures."""
    model: str
    family: str = ""
    """Model family, to keep a judge from marking its relatives unnoticed."""
    size: float | None = Field(default=None, gt=0)
    """The model's size in billions of parameters; None = as its name says, if it does."""
    key_env: str | None = None
    """Name of the environment variable that holds the key; the key itself is never stored."""
    roles: tuple[Role, ...] = ("judge", "candidate")
    concurrency: int = Field(default=16, ge=1, le=1024)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    prices: Prices = Prices()
    pictures: PictureLimit = PictureLimit()
    structured: StructuredMode = "auto"
    timeout: float = Field(default=120.0, gt=0)
    """Seconds for one attempt, bodies that trickle included."""
    max_tries: int = Field(default=5, ge=1, le=20)
    max_seconds: float = Field(default=600.0, gt=0)
    """Seconds for all tries of a request together."""
    preset: str = ""
    """The provider whose habits it was set up with, `openai`, `vllm`, ...; empty = none."""
    temperature: float | None = Field(default=None, ge=0, le=5)
    """Sampling where the study sets none; so are the next four."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    reasoning_effort: str | None = None
    image_detail: Literal["low", "high", "auto"] | None = None
    thinking_tokens: int = Field(default=0, ge=0)
    """Room for thoughts, on top of the reply's own token limit."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of every request."""
    extra_headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of every request; `${NAME}` stands for an environment variable."""
    query: dict[str, str] = Field(default_factory=dict)
    """Further parts of the address after `?`, such as Azure's `api-version`."""
    boxes: BoxConvention | None = None
    """How the model writes boxes; None = corners in thousandths, as it is asked to."""
    system: bool = True
    """Whether the model knows a system role; else the system text opens the user's message."""

    @property
    def is_probe(self) -> bool:
        """Whether this is a probe endpoint, in this process or served."""
        return self.base_url.startswith("probe:")

    @property
    def url(self) -> str:
        """The address that requests go to; empty for the probe endpoint in this process."""
        return self.base_url.removeprefix("probe:")

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that it needs: its key's, and those in headers and query."""
        texts = (*self.extra_headers.values(), *self.query.values())
        named = [name for text in texts for name in named_variables(text)]
        return tuple(dict.fromkeys((*([self.key_env] if self.key_env else []), *named)))

    @property
    def host(self) -> str:
        """The host that requests go to, for the consent question."""
        return urlsplit(self.url).netloc if self.url else "this computer (probe endpoint)"
