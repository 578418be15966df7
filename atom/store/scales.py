"""The scales of a store's marks."""

from __future__ import annotations

from atom.records import JUDGE_SCALE, MarkScale
from atom.store.store import Store


def scales_of(store: Store) -> dict[str, MarkScale]:
    """Return every scale that a mark of the store may be on, by id: our own judges' first."""
    found = store.select(MarkScale)
    return {scale.id: scale for scale in (JUDGE_SCALE, *sorted(found, key=lambda one: one.id))}
