"""People among a study's judges, one by one and together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import sqlalchemy as sa

from atom.records import Judge
from atom.store.schema import table

PEOPLE: Final = "people"
"""Stands for all people who marked, wherever a judge's id does: the mean of their marks."""
ALL_PEOPLE: Final = Judge(id=PEOPLE, name="All people", kind="person")
"""In no store: who they are is found when it is looked through them."""
_T = TypeVar("_T")


def persons(connection: sa.Connection) -> list[str]:
    """Return the ids of all judges who are people, by name."""
    judge = table(Judge).c
    rows = sa.select(judge.id).where(judge.kind == "person").order_by(judge.name, judge.id)
    return [str(name) for name in connection.execute(rows).scalars()]


def one_after_another(
    each: Mapping[str, Mapping[tuple[str, int], Mapping[str, _T]]],
) -> dict[tuple[str, int], dict[str, _T]]:
    """Count several people's marks as the repeats of one judge.

    Args:
        each: person -> (answer, repeat) -> criterion -> mark.

    Returns:
        (answer, place) -> criterion -> mark: of each criterion on each answer the places count
        from 0, in the people's order.
    """
    found: dict[tuple[str, int], dict[str, _T]] = {}
    next_place: dict[tuple[str, str], int] = {}
    for marks in each.values():
        for (answer, _), points in sorted(marks.items(), key=lambda item: item[0]):
            for criterion, point in points.items():
                place = next_place.get((answer, criterion), 0)
                next_place[answer, criterion] = place + 1
                found.setdefault((answer, place), {})[criterion] = point
    return found
