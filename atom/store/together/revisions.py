"""How often a study changed: what caches are keyed by, and what a run has brought since."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from atom.errors import CorruptError
from atom.records import Study, StudySample
from atom.store.schema import meta, revisions, table
from atom.store.together.server import insert_into

_BUMP: Final = sa.text(
    "UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE key = 'revision'"
)


class StudyMoment(NamedTuple):
    """A moment in a study's life.

    Args:
        changes: changes other than results of runs, those of the whole store included.
        results: results that runs brought.
    """

    changes: int
    results: int

    @property
    def revision(self) -> int:
        """A number that grows with every change and every result."""
        return self.changes + self.results


def held(before: StudyMoment | None, now: StudyMoment) -> StudyMoment:
    """Return where a study is looked at: results of a run that works don't change what is shown.

    Args:
        before: where it was looked at so far; None = it is opened now.
    """
    same = before is not None and before.changes == now.changes and before.results <= now.results
    return before if same and before is not None else now


def bump_all(connection: sa.Connection) -> None:
    """Note a change that may concern every study."""
    connection.execute(_BUMP)


def bump_studies(
    connection: sa.Connection, study_ids: Iterable[str], stripe: str, *, results: int
) -> tuple[tuple[str, int], ...]:
    """Note what a run changed.

    Args:
        study_ids: the studies that it shows in.
        stripe: who writes; nobody else writes these rows, so nobody waits for them.
        results: how many results it brought; 0 = it changed something else.

    Returns:
        Each study with its row's sum now: whoever finds it so later knows that this was written.
    """
    row = {"stripe": stripe, "changes": int(not results), "results": results}
    statement = _adding(connection.dialect.name)
    return tuple(
        (name, int(connection.execute(statement, {**row, "study_id": name}).scalar_one()))
        for name in sorted(set(study_ids))
    )


@cache
def _adding(dialect: str) -> Any:
    """Return the statement that adds to a row's counts, which is made where it isn't there.

    It returns their sum.
    """
    statement = insert_into(dialect, revisions)
    counts = {name: revisions.c[name] + statement.excluded[name] for name in ("changes", "results")}
    added = statement.on_conflict_do_update(index_elements=["study_id", "stripe"], set_=counts)
    return added.returning(revisions.c.changes + revisions.c.results)


def stand_at(connection: sa.Connection, wrote: Iterable[tuple[str, int]], stripe: str) -> bool:
    """Whether a writer's rows stand where it left them: its transaction went through."""
    rows = revisions.c
    found = sa.select(rows.study_id, rows.changes + rows.results).where(rows.stripe == stripe)
    # A server that still ends the transaction is waited for by the lock.
    now = {str(row[0]): int(row[1]) for row in connection.execute(found.with_for_update())}
    return all(now.get(name) == value for name, value in wrote)


def fold(connection: sa.Connection, stripe: str) -> None:
    """Add a writer's rows to those of writers that are gone; it writes no more under its name."""
    rows = connection.execute(sa.select(revisions).where(revisions.c.stripe == stripe)).all()
    if not rows:
        return
    connection.execute(sa.delete(revisions).where(revisions.c.stripe == stripe))
    statement = _adding(connection.dialect.name)
    for row in sorted(rows):
        connection.execute(statement, {**row._mapping, "stripe": ""})


def read_mark(connection: sa.Connection, study_id: str | None = None) -> StudyMoment:
    """Read where a study stands, inside the transaction that reads the rest.

    Args:
        study_id: the study; None = all of them together.

    Raises:
        CorruptError: the store doesn't say it.
    """
    sums = sa.select(
        sa.func.coalesce(sa.func.sum(revisions.c.changes), 0),
        sa.func.coalesce(sa.func.sum(revisions.c.results), 0),
    )
    if study_id is not None:
        sums = sums.where(revisions.c.study_id == study_id)
    changes, results = connection.execute(sums).one()
    try:
        whole = connection.execute(sa.select(meta.c.value).where(meta.c.key == "revision"))
        return StudyMoment(int(whole.scalar_one()) + int(changes), int(results))
    except (ValueError, sa.exc.NoResultFound) as error:
        raise CorruptError(
            "the store is damaged (it doesn't say how often it changed): put a backup in its place"
        ) from error


def studies_with(connection: sa.Connection, sample_ids: Iterable[str]) -> set[str]:
    """Return the studies that samples have a place in: what is judged in one may count in all."""
    wanted = sorted(set(sample_ids))
    if not wanted:
        return set()
    return {str(one) for one in connection.execute(_studies_with(), {"of": wanted}).scalars()}


@cache
def _studies_with() -> sa.Select[tuple[str]]:
    studies, places = table(Study).c, table(StudySample).c
    here = sa.exists().where(
        places.study_id == studies.id, places.sample_id.in_(sa.bindparam("of", expanding=True))
    )
    return sa.select(studies.id).where(here)
