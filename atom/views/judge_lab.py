"""The Judge lab: benchmark sets, who was judged on them, and the figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa

from atom.judgebench.base import BenchResult
from atom.judgebench.registry import find_bench
from atom.records import BenchItem, BenchSet, Judge, Verdict
from atom.store import Store
from atom.store import table as columns_of


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far one judge is on one set.

    Args:
        judge: the judge's id, or the name under which its replies were taken in.
        name: what it is called.
        scored: verdicts that could be read.
        unscored: verdicts that couldn't.
        failed: questions whose call failed.
        items: items with a verdict.
        imported: whether replies made elsewhere are among them.
    """

    judge: str
    name: str
    scored: int
    unscored: int
    failed: int
    items: int
    imported: bool


def bench_sets(store: Store, benchmark: str | None = None) -> list[BenchSet]:
    """Return the sets, the newest first; of one benchmark, or of all."""
    wanted = [] if benchmark is None else [columns_of(BenchSet).c.benchmark == benchmark]
    return sorted(store.select(BenchSet, *wanted), key=lambda row: row.created, reverse=True)


def standings(store: Store, set_id: str) -> list[Standing]:
    """Return the judges that have verdicts on a set, the furthest first.

    Whoever only scored what others wrote isn't among them.
    """
    columns = columns_of(Verdict).c
    names = {row.id: row.name for row in store.select(Judge)}
    with store.read() as connection:
        rows = connection.execute(
            sa.select(columns.judge, columns.state, columns.prompt, columns.subject_id)
            .where(columns.group == set_id)
            .where(sa.not_(columns.part.startswith(SCORER_PART)))
        ).all()
    states: dict[str, Counter[str]] = {}
    items: dict[str, set[str]] = {}
    imported = {row.judge for row in rows if row.prompt == "imported"}
    for row in rows:
        states.setdefault(row.judge, Counter())[row.state] += 1
        items.setdefault(row.judge, set()).add(row.subject_id)
    found = [
        Standing(
            judge=judge,
            name=names.get(judge, judge),
            scored=counts["scored"],
            unscored=counts["unscored"],
            failed=counts["failed"],
            items=len(items[judge]),
            imported=judge in imported,
        )
        for judge, counts in states.items()
    ]
    return sorted(found, key=lambda one: (-one.items, one.name))


SCORER_PART = "scorer/"
"""The parts of verdicts that a scorer gave begin so; the examined judge's id follows."""


def bench_result(store: Store, set_id: str, judge: str) -> BenchResult:
    """Return the figures of one judge on one set.

    Args:
        store: the store.
        set_id: the set.
        judge: the judge's id, or the name under which its replies were taken in.

    Raises:
        UsageError: there is no such set.
    """
    record = store.get(BenchSet, set_id)
    bench = find_bench(record.benchmark if record else "")
    items = store.select(BenchItem, columns_of(BenchItem).c.set_id == set_id)
    columns = columns_of(Verdict).c
    about = sa.or_(
        sa.and_(columns.judge == judge, sa.not_(columns.part.startswith(SCORER_PART))),
        columns.part.startswith(f"{SCORER_PART}{judge}/"),
    )
    verdicts = store.select(Verdict, columns.group == set_id, about)
    return bench.measure(sorted(items, key=lambda item: item.position), verdicts)
