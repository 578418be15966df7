"""Vectors of texts, as calls keep them: named by model and text, written as text."""

from __future__ import annotations

import array
import base64
import json
import math
from collections.abc import Sequence

from atom.records.base import content_id

Vector = tuple[float, ...]


def texts_hash(model: str, texts: Sequence[str]) -> str:
    """Name what an embedding model is asked."""
    return content_id("embedding", model, list(texts))


def embedding_id(model: str, texts: Sequence[str]) -> str:
    """Name the call that turns these texts into vectors; an equal name is paid for already."""
    return content_id("call", texts_hash(model, texts), 0)


def pack(vectors: Sequence[Vector]) -> str:
    """Write vectors as text: JSON with base64 of single-precision numbers."""
    rows = [base64.b64encode(array.array("f", vector).tobytes()).decode() for vector in vectors]
    return json.dumps(rows)


def unpack(text: str) -> list[Vector]:
    """Read vectors that `pack` wrote; none where something else wrote this."""
    try:
        rows = [array.array("f", base64.b64decode(row, validate=True)) for row in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        return []
    whole = all(math.isfinite(value) for row in rows for value in row)
    return [tuple(row) for row in rows] if whole else []
