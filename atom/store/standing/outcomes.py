"""Of an answer's outcomes, the one that counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from atom.records import Outcome, OutcomeHow, State
from atom.store.schema import table
from atom.store.standing.members import closed, parts
from atom.store.store import Store

HOW_RANK: Mapping[OutcomeHow, int] = {
    "imported": 0, "choice": 1, "numeric": 1, "exact": 1, "judge": 2,
}  # fmt: skip
"""Which kind of outcome counts before which."""
OTHER_JUDGE = 3
"""The rank of an outcome by a judge that isn't looked at."""


def outcome_rank(how: OutcomeHow, judge_id: str, looked_at: str | None) -> int:
    """Say how soon an outcome counts, the smallest first.

    Args:
        judge_id: who found it, for `how = judge`.
        looked_at: the judge that is looked at.
    """
    return OTHER_JUDGE if how == "judge" and judge_id != (looked_at or "") else HOW_RANK[how]


def ranked_outcomes(
    outcomes: Iterable[Outcome], looked_at: str | None
) -> dict[str, tuple[Outcome, ...]]:
    """Order the outcomes of each answer: the one that counts first, those without a value last.

    Args:
        outcomes: of any answers.
        looked_at: the judge that is looked at.
    """
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.response_id, []).append(outcome)
    return {
        name: tuple(
            sorted(
                own,
                key=lambda one: (
                    one.value is None,
                    outcome_rank(one.how, one.judge_id, looked_at),
                    one.how,
                    one.judge_id,
                ),
            )
        )
        for name, own in found.items()
    }


def outcomes_of(
    store: Store, response_ids: Iterable[str], looked_at: str | None
) -> dict[str, tuple[Outcome, ...]]:
    """Read the outcomes of some answers: the one that counts first, those without a value last."""
    return ranked_outcomes(all_outcomes(store, response_ids), looked_at)


def all_outcomes(store: Store, response_ids: Iterable[str]) -> list[Outcome]:
    """Read all outcomes of some answers, those of unfinished imports left out."""
    columns = table(Outcome).c
    found: list[Outcome] = []
    with store.read() as connection:
        conditions = closed_outcomes(connection)
    for part in parts(response_ids):
        found += store.select(
            Outcome,
            columns.response_id.in_(part),
            *conditions,
            order_by=[columns.response_id, columns.how, columns.judge_id],
        )
    return found


def closed_outcomes(connection: sa.Connection) -> tuple[sa.ColumnElement[bool], ...]:
    """An import names its outcomes by their answer; what else was found of that answer stays."""
    columns = table(Outcome).c
    left = closed(connection, "outcome", columns.response_id)
    return (sa.or_(columns.how != "imported", *left),) if left else ()


def values_of(store: Store, response_ids: Iterable[str], looked_at: str | None) -> dict[str, float]:
    """Read whether answers are right, 0 to 1, where that is known."""
    columns = table(Outcome).c
    best: dict[str, tuple[tuple[int, str, str], float]] = {}
    with store.read() as connection:
        conditions = closed_outcomes(connection)
        for part in parts(response_ids):
            for name, how, judge, value in connection.execute(
                sa.select(columns.response_id, columns.how, columns.judge_id, columns.value).where(
                    columns.response_id.in_(part), columns.value.is_not(None), *conditions
                )
            ):
                order = (outcome_rank(how, judge, looked_at), how, judge)
                if name not in best or order < best[name][0]:
                    best[name] = (order, float(value))
    return {name: value for name, (_, value) in best.items()}


def settled_outcomes(store: Store, response_ids: Iterable[str], judge_id: str) -> dict[str, State]:
    """Say which answers need no outcome by a judge, and in which state theirs is.

    Args:
        judge_id: the judge that would be asked; another judge's outcome settles nothing for it.
    """
    columns = table(Outcome).c
    found: dict[str, State] = {}
    with store.read() as connection:
        conditions = closed_outcomes(connection)
        for part in parts(response_ids):
            for row in connection.execute(
                sa.select(columns.response_id, columns.state).where(
                    columns.response_id.in_(part),
                    columns.judge_id.in_(["", judge_id]),
                    *conditions,
                )
            ):
                if found.get(row.response_id) != "scored":
                    found[row.response_id] = row.state
    return found
