"""What all records share: frozen, strict, and named by their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[str, Field(min_length=1, max_length=200)]
State = Literal["scored", "unscored", "failed"]

_QUOTE = json.encoder.encode_basestring
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Record(BaseModel):
    """A stored or exchanged value: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record; what was worked out from its fields isn't copied with them."""
        copied = super().model_copy(update=update, deep=deep)
        for name in [name for name in copied.__dict__ if name not in type(self).model_fields]:
            del copied.__dict__[name]
        return copied


def content_id(kind: str, *parts: object) -> str:
    """Name a record by what it is.

    Args:
        kind: the record's kind; equal parts of different kinds get different ids.
        parts: JSON-able values, in a fixed order.

    Returns:
        24 hexadecimal digits (96 bits) of a BLAKE2b hash over canonical JSON.
    """
    text = "[" + ",".join([_QUOTE(kind), *map(_canonical, parts)]) + "]"
    data = text.encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def _canonical(part: object) -> str:
    """Write a value as canonical JSON; texts and whole numbers are nearly all there is."""
    if part.__class__ is str:
        return _QUOTE(part)
    if part is None:
        return "null"
    if part.__class__ is int:
        return repr(part)
    if part.__class__ in (list, tuple):
        return "[" + ",".join(map(_canonical, part)) + "]"
    return _CANONICAL.encode(part)


def blob_hash(data: bytes) -> str:
    """Name a picture by its original bytes (SHA-256, hexadecimal)."""
    return hashlib.sha256(data).hexdigest()
