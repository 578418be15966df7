"""Which calls brought what counts, and what they took."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from atom.records import (
    Call,
    Checkpoint,
    CriteriaSet,
    Outcome,
    Replay,
    Response,
    StudySample,
    Usage,
)
from atom.store.schema import table
from atom.store.standing.marks import repeat_of
from atom.store.standing.members import members, parts
from atom.store.store import Store


def calls_of(store: Store, response_ids: Iterable[str]) -> dict[tuple[str, int], set[str]]:
    """Read which calls brought and judged corrected answers: (answer, repeat of marks) -> calls."""
    found: dict[tuple[str, int], set[str]] = {}
    answer, verdict, point = table(Response).c, table(Outcome).c, table(Checkpoint).c
    with store.read() as connection:
        for part in parts(response_ids):
            once, ours = sa.literal(0), sa.literal("")
            for statement in (
                sa.select(answer.id, once, ours, answer.call_id).where(
                    answer.id.in_(part), answer.call_id.is_not(None), answer.arm.is_not(None)
                ),
                sa.select(verdict.response_id, once, ours, verdict.call_id).where(
                    verdict.response_id.in_(part), verdict.call_id.is_not(None)
                ),
                sa.select(point.response_id, point.repeat, point.prompt, point.call_id)
                .where(point.response_id.in_(part), point.call_id.is_not(None))
                .distinct(),
            ):
                for name, repeat, prompt, call in connection.execute(statement):
                    found.setdefault((name, repeat_of(prompt, repeat)), set()).add(call)
    return found


@dataclass(frozen=True, kw_only=True)
class CallCost:
    """What a call took.

    Args:
        usage: tokens, as the server counted them.
        cost: USD; None where no price is known.
    """

    usage: Usage
    cost: float | None


def paid_for(store: Store, call_ids: Iterable[str]) -> dict[str, CallCost]:
    """Read what calls took, without their replies."""
    columns = table(Call).c
    found: dict[str, CallCost] = {}
    with store.read() as connection:
        for part in parts(call_ids):
            for name, usage, cost in connection.execute(
                sa.select(columns.id, columns.usage, columns.cost).where(columns.id.in_(part))
            ):
                found[name] = CallCost(usage=Usage.model_validate_json(usage or "{}"), cost=cost)
    return found


@dataclass(frozen=True, kw_only=True)
class MarksCost:
    """What a judge's first marks of a study took.

    Args:
        marks: scored marks that calls of this store brought; imported ones have no call.
        cost: USD of these calls; None where one of them has no price, or there is none.
    """

    marks: int
    cost: float | None

    @property
    def each(self) -> float | None:
        """USD a mark; None where that isn't known."""
        return None if self.cost is None or not self.marks else self.cost / self.marks


def cost_of_marks(store: Store, study_id: str, judge_id: str) -> MarksCost:
    """Add up what the calls cost that brought a judge's first marks of a study.

    A call that marks several criteria of an answer counts once; marks that were asked for anew, and
    what solved samples and cut criteria, don't count.
    """
    point, calls, response = table(Checkpoint).c, table(Call).c, table(Response).c
    with store.read() as connection:
        mine = (
            point.judge_id == judge_id,
            point.repeat == 0,
            point.call_id.is_not(None),
            point.response_id.in_(sa.select(response.id).where(*members(connection, study_id))),
        )
        scored = sa.select(sa.func.count()).where(*mine, point.state == "scored")
        marks = connection.execute(scored).scalar_one()
        brought = sa.select(point.call_id).where(*mine)
        n, priced, cost = connection.execute(
            sa.select(sa.func.count(), sa.func.count(calls.cost), sa.func.sum(calls.cost)).where(
                calls.id.in_(brought)
            )
        ).one()
    return MarksCost(marks=marks, cost=float(cost) if n and n == priced else None)


def solution_calls(
    store: Store, study_id: str, sample_ids: Iterable[str], *, criteria: bool
) -> list[tuple[str, str]]:
    """Read which calls solved samples, and cut the solutions that stand into criteria.

    Args:
        study_id: the study whose solutions stand.
        criteria: whether the calls that cut solutions are wanted, too.

    Returns:
        (sample, call) pairs.
    """
    place = table(StudySample).c
    sources = [(table(Replay).c, place.replay_id)]
    if criteria:
        sources.append((table(CriteriaSet).c, place.criteria_set_id))
    found: list[tuple[str, str]] = []
    with store.read() as connection:
        for record, pointer in sources:
            for part in parts(sorted(sample_ids)):
                rows = connection.execute(
                    sa.select(place.sample_id, record.call_id).where(
                        record.id == pointer,
                        place.study_id == study_id,
                        place.sample_id.in_(part),
                        record.call_id.is_not(None),
                    )
                )
                found += [(row.sample_id, row.call_id) for row in rows]
    return found


def scoring_calls(
    store: Store, response_ids: Iterable[str], judge_id: str
) -> list[tuple[str, str]]:
    """Read which calls brought a judge's first marks: (answer, call) pairs."""
    column = table(Checkpoint).c
    found: list[tuple[str, str]] = []
    with store.read() as connection:
        for part in parts(sorted(response_ids)):
            rows = connection.execute(
                sa.select(column.response_id, column.call_id)
                .where(
                    column.response_id.in_(part),
                    column.judge_id == judge_id,
                    column.repeat == 0,
                    column.call_id.is_not(None),
                )
                .distinct()
            )
            found += [(row.response_id, row.call_id) for row in rows]
    return found


def adapted_calls(store: Store, endpoint: str, most: int) -> list[list[str]]:
    """Read how an endpoint's last calls were adapted to its server, the newest first.

    Args:
        most: so many calls at most.
    """
    calls = table(Call).c
    lately = (
        sa.select(calls.adapted)
        .where(calls.endpoint == endpoint)
        .order_by(calls.created.desc(), calls.id)
        .limit(most)
    )
    with store.read() as connection:
        return [json.loads(text or "[]") for text in connection.execute(lately).scalars()]
