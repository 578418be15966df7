"""Settings: the endpoints, for the page and for `endpoint list`."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display.table import Column, Table
from atom.views.settings.page import BOX_NAMES, EndpointLine

UNCHECKED = "unchecked"


def endpoint_table(lines: Sequence[EndpointLine], label: str = "Endpoints") -> Table[EndpointLine]:
    """List endpoints; keys are never shown, only whether they are set."""
    return Table(
        label=label,
        columns=(
            Column(title="Name", of=lambda one: one.endpoint.name, name="name"),
            Column(title="Model", of=lambda one: one.endpoint.model, name="model", broad=True),
            Column(title="Where", of=lambda one: one.endpoint.host, name="host"),
            Column(title="Preset", of=lambda one: one.endpoint.preset, name="preset", seen="text"),
            Column(
                title="Roles", of=lambda one: ", ".join(one.endpoint.roles), name="roles",
                broad=True,
            ),
            Column(
                title="Boxes", of=lambda one: one.endpoint.boxes or UNCHECKED, name="boxes",
                write=lambda boxes: BOX_NAMES[None if boxes == UNCHECKED else boxes], broad=True,
            ),
            Column(
                title="At a time", of=lambda one: one.endpoint.concurrency, name="concurrency",
                seen="text", number=True,
            ),
            Column(title="Key", of=lambda one: one.key, name="key"),
            Column(title="Price", of=lambda one: one.price, name="price", broad=True),
        ),
        rows=lines,
    )  # fmt: skip
