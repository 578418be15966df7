"""A run's parts: which samples each of its processes begins with."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from atom.records import StudySample


def part_of(sample_id: str, of: int) -> int:
    """Return the number of the part that a sample is in: the same everywhere, by its id alone.

    Args:
        of: how many parts there are.
    """
    digest = hashlib.blake2b(sample_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") * of >> 64


def in_order(places: Sequence[StudySample], number: int, of: int) -> list[StudySample]:
    """Order samples as one of several processes goes through them.

    It does its own part, then what is left of the others', from their ends: whoever is there comes
    from the beginning.

    Args:
        number: the process.
        of: how many processes there are, and parts.
    """
    if of == 1:
        return list(places)
    parts: list[list[StudySample]] = [[] for _ in range(of)]
    for place in places:
        parts[part_of(place.sample_id, of)].append(place)
    others = (parts[(number + step) % of] for step in range(1, of))
    return [*parts[number], *(place for part in others for place in reversed(part))]
