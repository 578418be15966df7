"""The scales of a store's marks."""

from __future__ import annotations

import sqlalchemy as sa

from atom.records import JUDGE_SCALE, MarkScale
from atom.store.schema import KINDS
from atom.store.store import Store


def scales_of(store: Store) -> dict[str, MarkScale]:
    """Return every scale that a mark of the store may be on, by id: our own judges' first."""
    with store.read() as connection:
        return {scale.id: scale for scale in scales_within(connection)}


def scales_within(connection: sa.Connection) -> tuple[MarkScale, ...]:
    """Return the scales of a store, inside the transaction that reads the rest: ours first."""
    kind = KINDS[MarkScale]
    rows = connection.execute(sa.select(kind.table).order_by(kind.table.c.id)).mappings()
    found = [kind.from_row(dict(row)) for row in rows]
    return (JUDGE_SCALE, *(scale for scale in found if isinstance(scale, MarkScale)))
