"""Endpoints: where judges and candidates are asked."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from atom.records.base import Record

Role = Literal["judge", "candidate", "embedding"]
StructuredMode = Literal["auto", "json_schema", "json_object", "text"]


class Prices(Record):
    """Prices in USD for a million tokens; None = unknown."""

    input: float | None = Field(default=None, ge=0)
    output: float | None = Field(default=None, ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    batch_share: float | None = Field(default=None, ge=0, le=1)
    """What a call in a batch costs, as a share of these prices; None = as much as any other."""


class PictureLimit(Record):
    """What pictures an endpoint takes."""

    max_side: int = Field(default=2048, ge=16)
    """Longest side in pixels; larger pictures are scaled down."""
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

    @property
    def is_probe(self) -> bool:
        """Whether this is a probe endpoint, in this process or served."""
        return self.base_url.startswith("probe:")

    @property
    def url(self) -> str:
        """The address that requests go to; empty for the probe endpoint in this process."""
        return self.base_url.removeprefix("probe:")

    @property
    def host(self) -> str:
        """The host that requests go to, for the consent question."""
        return urlsplit(self.url).netloc if self.url else "this computer (probe endpoint)"
