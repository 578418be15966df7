"""What is stored as unscored, with the calls that brought it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from atom.records import (
    Call,
    Checkpoint,
    CriteriaSet,
    Mapping,
    Outcome,
    Record,
    Replay,
    Response,
)
from atom.store.schema import table
from atom.store.store import Store

_PART = 400


def unscored_calls(
    store: Store,
    *,
    responses: Sequence[str] = (),
    replays: Sequence[str] = (),
    criteria_sets: Sequence[str] = (),
    criteria: Sequence[str] = (),
    tree_version: str = "",
    judge_id: str = "",
) -> dict[str, Call]:
    """Return the call behind everything that is unscored.

    Args:
        responses: answers; with them their marks and outcomes by the judge.
        criteria: criteria, for their mappings.
        tree_version: the tree of the mappings.
        judge_id: the judge of marks and outcomes.

    Returns:
        Call by id of an answer, replay or criteria set, key of a mark, id of a criterion whose
        mapping it is, or `outcome/` with the answer's id.
    """
    found: dict[str, str] = {}

    def look(
        record: type[Record],
        name: str,
        ids: Sequence[str],
        where: str,
        *more: sa.ColumnElement[bool],
        prefix: str = "",
    ) -> None:
        columns = table(record).c
        with store.read() as connection:
            for part in _parts(ids):
                rows = connection.execute(
                    sa.select(columns[name], columns.call_id).where(
                        columns[where].in_(part),
                        columns.state == "unscored",
                        columns.call_id.is_not(None),
                        *more,
                    )
                )
                found.update((f"{prefix}{row[0]}", str(row[1])) for row in rows)

    marks, leaves, outcomes = table(Checkpoint).c, table(Mapping).c, table(Outcome).c
    look(Response, "id", responses, "id")
    look(Replay, "id", replays, "id")
    look(CriteriaSet, "id", criteria_sets, "id")
    look(Mapping, "criterion_id", criteria, "criterion_id", leaves.tree_version == tree_version)
    look(Checkpoint, "key", responses, "response_id", marks.judge_id == judge_id)
    look(
        Outcome,
        "response_id",
        responses,
        "response_id",
        outcomes.judge_id == judge_id,
        prefix="outcome/",
    )
    calls = {call.id: call for call in store.get_many(Call, sorted({*found.values()}))}
    return {name: calls[call] for name, call in found.items() if call in calls}


def _parts(ids: Iterable[Any]) -> list[list[Any]]:
    wanted = list(ids)
    return [wanted[start : start + _PART] for start in range(0, len(wanted), _PART)]
