"""Verdicts of judge benchmarks and of rival methods, read for what is counted from them."""

from __future__ import annotations

import json

import sqlalchemy as sa

from atom.records import Sampling, Verdict
from atom.store.schema import table
from atom.store.standing import closed, prompt_order, read_sampling
from atom.store.store import Store


def judges_of_group(store: Store, group: str) -> list[str]:
    """Return who gave verdicts on a set or a study."""
    column = table(Verdict).c
    with store.read() as connection:
        rows = sa.select(column.judge).where(
            column.group == group, *closed(connection, "verdict", column.key)
        )
        return [str(name) for name in connection.execute(rows.distinct()).scalars()]


def first_verdicts(
    store: Store, group: str, judge: str, sampling: Sampling
) -> dict[str, list[Verdict]]:
    """Read a judge's first verdicts under some settings, by subject; the newest prompt last.

    Args:
        store: where they are.
        group: the set or the study.
        judge: who gave them.
        sampling: the settings.

    Returns:
        Verdicts with what is counted from them: their state, value, data and call.
    """
    column = table(Verdict).c
    wanted = (column.key, column.subject_id, column.part, column.state, column.value, column.data,
              column.call_id, column.prompt, column.sampling)  # fmt: skip
    found: dict[str, list[Verdict]] = {}
    with store.read() as connection:
        rows = connection.execute(
            sa.select(*wanted).where(
                column.group == group,
                column.judge == judge,
                column.repeat == 0,
                *closed(connection, "verdict", column.key),
            )
        ).all()
    for row in sorted(rows, key=lambda one: (prompt_order(one.prompt), one.key)):
        if read_sampling(row.sampling) != sampling:
            continue
        verdict = Verdict.model_construct(
            key=row.key, group=group, subject_id=row.subject_id, part=row.part,
            judge=judge, prompt=row.prompt, state=row.state, value=row.value,
            data=json.loads(row.data) if row.data else {}, call_id=row.call_id,
        )  # fmt: skip
        found.setdefault(row.subject_id, []).append(verdict)
    return found
