"""What all records share: frozen, strict, and named by their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[str, Field(min_length=1, max_length=200)]
State = Literal["scored", "unscored", "failed"]

P = ParamSpec("P")
R = TypeVar("R")

quoted: Callable[[str], str] = json.encoder.encode_basestring
"""A text as canonical JSON writes it."""
_BLAKE = hashlib.blake2b(digest_size=12)
"""Copied for each name: to begin anew takes three times as long."""
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Record(BaseModel):
    """A stored or exchanged value: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    retired: ClassVar[frozenset[str]] = frozenset()
    """Fields that older archives and stores hold beside or instead of those of now."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record; what was worked out from its fields isn't copied with them."""
        copied = super().model_copy(update=update, deep=deep)
        for name in [name for name in copied.__dict__ if name not in type(self).model_fields]:
            del copied.__dict__[name]
        return copied


def unchecked(kind: Callable[P, R]) -> Callable[P, R]:
    """Return a maker of records whose values are known to be right, several times as fast.

    An import makes millions of records of texts that its reader cleaned and ids that it hashed.

    Args:
        kind: the class of the records; all of its defaults are values, none is made anew.

    Returns:
        What makes an equal record of the same keywords; nothing is checked or converted, and
        fields without a default must be given.
    """
    record = cast("type[Record]", kind)
    template = {
        name: None if field.is_required() else field.get_default()
        for name, field in record.model_fields.items()
    }
    blank, put = object.__new__, object.__setattr__
    slots = vars(BaseModel)
    put_set, put_extra, put_private = (
        slots[f"__pydantic_{name}__"].__set__ for name in ("fields_set", "extra", "private")
    )
    given: dict[tuple[str, ...], set[str]] = {}  # shared: a copy of a record has a copy of it

    def make(*_: P.args, **fields: P.kwargs) -> R:
        made = blank(record)
        # A copy of the template keeps the fields in their order, which is the order in exports.
        put(made, "__dict__", template | fields)
        names = tuple(fields)
        put_set(made, given.get(names) or given.setdefault(names, set(names)))
        put_extra(made, None)
        put_private(made, None)
        return cast("R", made)

    return make


def content_id(kind: str, *parts: object) -> str:
    """Name a record by what it is.

    Args:
        kind: the record's kind; equal parts of different kinds get different ids.
        parts: JSON-able values, in a fixed order.

    Returns:
        24 hexadecimal digits (96 bits) of a BLAKE2b hash over canonical JSON.
    """
    cells = [quoted(part) if part.__class__ is str else _canonical(part) for part in (kind, *parts)]
    return hash_of(f"[{','.join(cells)}]")


def hash_of(text: str) -> str:
    """Name canonical JSON: 24 hexadecimal digits (96 bits) of its BLAKE2b hash."""
    blake = _BLAKE.copy()
    blake.update(text.encode("utf-8", "surrogatepass"))
    return blake.hexdigest()


def _canonical(part: object) -> str:
    """Write a value as canonical JSON; texts and whole numbers are nearly all there is."""
    if part.__class__ is str:
        return quoted(part)
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
