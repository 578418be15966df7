"""Runs: the list of them as a table, for the Runs page and `run status`."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.display.table import Column, Table
from atom.views.runs.page import RunView


def run_table(views: Sequence[RunView]) -> Table[RunView]:
    """List runs, in the order given."""
    return Table(
        label="Runs of this study",
        columns=(
            Column(title="Run", of=lambda view: view.run.id, seen="text"),
            Column(title="Begun (UTC)", of=lambda view: view.run.created, write=numbers.moment),
            Column(title="What", of=lambda view: view.what, width="36%"),
            Column(title="State", of=lambda view: view.words),
            Column(title="Done", of=lambda view: view.far, number=True),
            Column(title="Unscored", of=lambda view: view.run.unscored, number=True),
            Column(title="Failed", of=lambda view: view.run.failed, number=True),
            Column(title="Cost", of=lambda view: view.spent, number=True),
            Column(title="Message", of=lambda view: view.run.message, seen="text", spare=True),
        ),
        rows=views,
    )
