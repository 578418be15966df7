"""Verdicts of judge benchmarks and of rival methods, read for what is counted from them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from atom.records import BenchItem, BenchSet, Sampling, State, Verdict
from atom.store.schema import table
from atom.store.standing.marks import prompt_order
from atom.store.standing.members import closed, read_sampling
from atom.store.store import Store


def judges_of_group(store: Store, group: str, *, without: Collection[str] = ()) -> list[str]:
    """Return who gave verdicts on a set or a study; those whose part begins so are left out."""
    column = table(Verdict).c
    with store.read() as connection:
        rows = sa.select(column.judge).where(
            column.group == group,
            *(sa.not_(column.part.startswith(part)) for part in without),
            *closed(connection, "verdict", column.key),
        )
        return [str(name) for name in connection.execute(rows.distinct()).scalars()]


def first_verdicts(
    store: Store, group: str, judge: str, sampling: Sampling
) -> dict[str, list[Verdict]]:
    """Read a judge's first verdicts under some settings, by subject; the newest prompt last.

    Args:
        group: the set or the study.
        judge: who gave them.

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


class GroupValue(NamedTuple):
    """A verdict with a number.

    Args:
        judge: who gave it.
        part: what of the subject it is about.
        subject_id: what it is about.
        prompt: what the judge was asked.
        settings: the settings, as they are stored.
        order: in which order it was shown.
        state: whether it can be counted.
        value: the number.
    """

    judge: str
    part: str
    subject_id: str
    prompt: str
    settings: str
    order: str
    repeat: int
    state: State
    value: float | None


def values_of_group(store: Store, group: str, *, repeated: bool = False) -> list[GroupValue]:
    """Read a group's verdicts with what is counted from them.

    Args:
        group: the set or the study.
        repeated: only of subjects that were asked about more than once.
    """
    column = table(Verdict).c
    mine = column.group == group
    again = sa.select(column.subject_id).where(mine, column.repeat > 0)
    with store.read() as connection:
        rows = connection.execute(
            sa.select(
                column.judge, column.part, column.subject_id, column.prompt,
                sa.cast(column.sampling, sa.Text), column.order, column.repeat, column.state,
                column.value,
            )
            .where(
                mine,
                *([column.subject_id.in_(again)] if repeated else []),
                *closed(connection, "verdict", column.key),
            )
            .order_by(column.key)
        )  # fmt: skip
        return [GroupValue(*row) for row in rows]


def votes_in_orders(store: Store, judge: str, labels: Collection[str]) -> list[Verdict]:
    """Read a judge's votes on pairs shown in an order, by group.

    Returns:
        Verdicts with their group, subject, part, order and label.
    """
    column = table(Verdict).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(column.group, column.subject_id, column.part, column.order, column.label)
            .where(
                column.judge == judge,
                column.order.in_(("ab", "ba")),
                column.label.in_(list(labels)),
                column.state == "scored",
                *closed(connection, "verdict", column.key),
            )
            .order_by(column.group, column.key)
        ).all()
    return [
        Verdict.model_construct(
            key="", group=row.group, subject_id=row.subject_id, part=row.part, judge=judge,
            prompt="", order=row.order, label=row.label,
        )
        for row in rows
    ]  # fmt: skip


# --- judge benchmarks ---------------------------------------------------------------------------


def asked_of_group(store: Store, group: str, without: str) -> list[Verdict]:
    """Read who gave verdicts on a set and how they ended.

    Args:
        group: the set.
        without: parts that begin so are left out.

    Returns:
        Verdicts with their judge, state, prompt and subject.
    """
    column = table(Verdict).c
    with store.read() as connection:
        rows = connection.execute(
            sa.select(column.judge, column.state, column.prompt, column.subject_id).where(
                column.group == group, sa.not_(column.part.startswith(without))
            )
        ).all()
    return [
        Verdict.model_construct(
            key="", group=group, subject_id=row.subject_id, part="", judge=row.judge,
            prompt=row.prompt, state=row.state,
        )
        for row in rows
    ]  # fmt: skip


def verdicts_about(
    store: Store, group: str, judge: str, *, scorer: str, shared: str
) -> list[Verdict]:
    """Read all that figures of one judge on one set rest on.

    Args:
        group: the set.
        scorer: how parts begin that score what a judge wrote; its id follows.
        shared: how parts begin that all judges share.
    """
    column = table(Verdict).c
    about = sa.or_(
        sa.and_(column.judge == judge, sa.not_(column.part.startswith(scorer))),
        column.part.startswith(f"{scorer}{judge}/", autoescape=True),
        column.part.startswith(shared),
    )
    return store.select(Verdict, column.group == group, about)


def verdicts_on(store: Store, group: str, subject_id: str) -> list[Verdict]:
    """Read everything that anybody said about one item of a set."""
    column = table(Verdict).c
    return store.select(Verdict, column.group == group, column.subject_id == subject_id)


def verdicts_by(store: Store, groups: Sequence[str], judge: str) -> list[Verdict]:
    """Read all verdicts of a judge on some sets."""
    column = table(Verdict).c
    if not groups:
        return []
    return store.select(Verdict, column.group.in_(list(groups)), column.judge == judge)


def sets_of(store: Store, benchmark: str | None = None) -> list[BenchSet]:
    """Return the sets of a benchmark, or all: the newest first, of one time the largest."""
    wanted = [] if benchmark is None else [table(BenchSet).c.benchmark == benchmark]
    found = store.select(BenchSet, *wanted)
    return sorted(found, key=lambda row: (row.created, row.n_items), reverse=True)


def items_of(store: Store, sets: Collection[str]) -> list[BenchItem]:
    """Return the items of some sets, in their order."""
    if not sets:
        return []
    rows = store.select(BenchItem, table(BenchItem).c.set_id.in_(sorted(sets)))
    return sorted(rows, key=lambda item: item.position)


def verdicts_of_part(store: Store, group: str, part: str) -> list[Verdict]:
    """Read all verdicts on a set or a study whose part begins so."""
    column = table(Verdict).c
    with store.read() as connection:
        done = closed(connection, "verdict", column.key)
    return store.select(Verdict, column.group == group, column.part.startswith(part), *done)
