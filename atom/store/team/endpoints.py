"""Endpoints of a deployment, which all its processes share: rows in place of a file."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from atom.records import Endpoint
from atom.store.store import Store
from atom.store.team.tables import endpoints


def kept_endpoints(store: Store) -> tuple[Endpoint, ...]:
    """Return the deployment's own endpoints, in their order."""
    with store.read() as connection:
        rows = connection.execute(sa.select(endpoints.c.body).order_by(endpoints.c.position))
        return tuple(Endpoint.model_validate_json(body) for body in rows.scalars())


def keep_endpoints(store: Store, own: Iterable[Endpoint]) -> None:
    """Put a list of endpoints in the place of the one that is kept.

    Raises:
        AccessError: whoever acts isn't an admin.
    """
    new = {one.name: one for one in own}
    before = {one.name: one for one in kept_endpoints(store)}
    with store.write(action="endpoints") as writer:
        writer.execute(sa.delete(endpoints))
        for position, one in enumerate(new.values()):
            row = {"name": one.name, "position": position, "body": one.model_dump_json()}
            writer.execute(sa.insert(endpoints).values(**row))
        for name in {*before, *new}:
            if before.get(name) != new.get(name):
                writer.tell(
                    "endpoint", subject=name, before=_words(before.get(name)),
                    after=_words(new.get(name)),
                )  # fmt: skip


def _words(endpoint: Endpoint | None) -> str:
    return "" if endpoint is None else f"{endpoint.model} at {endpoint.host or endpoint.base_url}"
