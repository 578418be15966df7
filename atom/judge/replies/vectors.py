"""Reads a reply that holds embeddings: a vector a text, or a fault that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import numpy as np

from atom.judge.replies.completion import read_usage
from atom.judge.retry import AttemptFailed, Fault
from atom.records import Usage
from atom.records.vectors import Vector

MOST_NUMBERS: Final = 16_384
"""Numbers of a vector: four times what large embedding models give."""


def read_vectors(raw: bytes, n: int) -> tuple[tuple[Vector, ...], Usage]:
    """Read the body of a 200 reply.

    Args:
        raw: the body.
        n: how many texts were sent.

    Returns:
        A vector for each text, in the texts' order, all of one length and of finite numbers in
        single precision; and the tokens as counted by the server.

    Raises:
        AttemptFailed: the body holds anything else: no JSON, another number of vectors, places
            that aren't the texts', numbers that can't be.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise _unusable("it isn't JSON") from None
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _unusable("it holds no list of vectors")
    if len(rows) != n:
        raise _unusable(f"{len(rows):,} vectors came for {n:,} texts")
    vectors = [_vector(row.get("embedding")) for row in rows]
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise _unusable(f"its vectors have from {lengths[0]:,} to {lengths[-1]:,} numbers")
    ordered = [vectors[at] for at in _order([row.get("index") for row in rows])]
    return tuple(ordered), read_usage(body.get("usage"))


def _order(places: Sequence[object]) -> Sequence[int]:
    """Return which row is each text's: as the rows say, or as they come where none says it."""
    if all(place is None for place in places):
        return range(len(places))
    said = {place: row for row, place in enumerate(places) if type(place) is int}
    if set(said) != set(range(len(places))):
        raise _unusable("its vectors don't say which text each is of")
    return [said[place] for place in range(len(places))]


def _vector(given: object) -> Vector:
    if not isinstance(given, list) or not 0 < len(given) <= MOST_NUMBERS:
        raise _unusable(f"a vector isn't a list of 1 to {MOST_NUMBERS:,} numbers")
    if not all(type(value) in (int, float) for value in given):
        raise _unusable("a vector holds something that isn't a number")
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(given, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise _unusable("a vector holds a number that can't be") from None
    if not np.isfinite(numbers).all():
        raise _unusable("a vector holds a number that can't be")
    return tuple(numbers.tolist())


def _unusable(what: str) -> AttemptFailed:
    return AttemptFailed(Fault(kind="transient", message=f"The reply can't be used: {what}."))
