"""Reads what is stored about a few samples at a time, for the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from atom.engine.plan import Case, Held, HeldResponse, PlanKeys
from atom.records import (
    Checkpoint,
    CriteriaSet,
    Mapping,
    Outcome,
    Replay,
    Response,
    Sample,
    Sampling,
    State,
    StudySample,
)
from atom.store import Store, table

CHUNK = 64
"""Samples read at a time."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A case and the place it has in the study.

    Args:
        case: what is stored.
        place: the sample's place as it is stored.
        adopted: the place as it should be, when records of another study can stand for it.
    """

    case: Case
    place: StudySample
    adopted: StudySample | None = None


def load_cases(
    store: Store, keys: PlanKeys, places: Sequence[StudySample], candidate_ids: Sequence[str]
) -> list[Loaded]:
    """Read the cases of some samples.

    Args:
        store: the store.
        keys: the run's content keys.
        places: the samples' places in the study; a few hundred at most.
        candidate_ids: the study's candidates; answers of others don't count.

    Returns:
        One case for each place, in the same order.
    """
    sample_ids = [place.sample_id for place in places]
    with store.read() as connection:
        samples, responses = table(Sample), table(Response)
        known = sa.select(samples.c.id, samples.c.reference.is_not(None))
        references = {
            sample_id: bool(there)
            for sample_id, there in connection.execute(known.where(samples.c.id.in_(sample_ids)))
        }
        columns = responses.c
        answered: dict[str, dict[str, HeldResponse]] = {}
        for row in connection.execute(
            sa.select(
                columns.id,
                columns.sample_id,
                columns.candidate_id,
                columns.prompt,
                columns.sampling,
                columns.state,
                (columns.text == "").label("silent"),
            )
            .where(columns.sample_id.in_(sample_ids), columns.arm.is_(None))
            .order_by(columns.id)
        ):
            if row.candidate_id not in candidate_ids:
                continue
            sampling = Sampling.model_validate(json.loads(row.sampling or "{}"))
            if row.prompt == "imported" or sampling == keys.answer_sampling:
                # Of an answer that only votes are known of there is nothing to judge.
                silent = row.prompt == "imported" and row.silent
                state: State = "unscored" if silent else row.state
                held = HeldResponse(candidate_id=row.candidate_id, state=state)
                answered.setdefault(row.sample_id, {})[row.id] = held
    replays = _replays(store, keys, places)
    sets = _sets(store, keys, places)
    mapped = _states_of_mappings(store, keys, sets)
    checkpoints, verdicts = _states_of_answers(store, keys, answered)

    loaded = []
    for place in places:
        replay, criteria = replays.get(place.sample_id), sets.get(place.sample_id)
        own = answered.get(place.sample_id, {})
        uses = tuple(use.criterion_id for use in criteria.uses) if criteria else ()
        case = Case(
            sample_id=place.sample_id,
            has_reference=references.get(place.sample_id, False),
            replay=replay,
            criteria=Held(id=criteria.id, state=criteria.state) if criteria else None,
            criterion_ids=uses,
            mapped={c: mapped[c] for c in uses if c in mapped},
            responses=own,
            checkpoints={k: s for r in own for k, s in checkpoints.get(r, {}).items()},
            verdicts={r: verdicts[r] for r in own if r in verdicts},
        )
        adopted = place.model_copy(
            update={
                "replay_id": replay.id if replay else place.replay_id,
                "criteria_set_id": criteria.id if criteria else place.criteria_set_id,
            }
        )
        loaded.append(Loaded(case=case, place=place, adopted=None if adopted == place else adopted))
    return loaded


def _replays(store: Store, keys: PlanKeys, places: Sequence[StudySample]) -> dict[str, Held]:
    """Choose each sample's replay: the study's own when it is usable, else this judge's."""
    expected = {keys.replay_id(place.sample_id): place.sample_id for place in places}
    pointed = {place.replay_id: place.sample_id for place in places if place.replay_id}
    wanted = table(Replay).c
    chosen: dict[str, Held] = {}
    with store.read() as connection:
        rows = connection.execute(
            sa.select(wanted.id, wanted.state).where(wanted.id.in_([*expected, *pointed]))
        ).all()
    for row in sorted(rows, key=lambda row: row.id in pointed and row.state == "scored"):
        sample_id = pointed.get(row.id) or expected[row.id]
        if row.id in expected or row.state == "scored":
            chosen[sample_id] = Held(id=row.id, state=row.state)
    return chosen


def _sets(store: Store, keys: PlanKeys, places: Sequence[StudySample]) -> dict[str, CriteriaSet]:
    """Choose each sample's criteria: the study's own when usable, else this judge's."""
    expected = {keys.criteria_set_id(place.sample_id) for place in places}
    pointed = {place.criteria_set_id for place in places if place.criteria_set_id}
    found = store.get_many(CriteriaSet, sorted(expected | pointed))
    chosen: dict[str, CriteriaSet] = {}
    for record in sorted(found, key=lambda r: r.id in pointed and r.state == "scored"):
        if record.id in expected or record.state == "scored":
            chosen[record.sample_id] = record
    return chosen


def _states_of_mappings(
    store: Store, keys: PlanKeys, sets: dict[str, CriteriaSet]
) -> dict[str, State]:
    ids = [use.criterion_id for record in sets.values() for use in record.uses]
    columns = table(Mapping).c
    states: dict[str, State] = {}
    with store.read() as connection:
        for part in _parts(ids):
            rows = connection.execute(
                sa.select(columns.criterion_id, columns.state).where(
                    columns.criterion_id.in_(part), columns.tree_version == keys.tree_version
                )
            )
            states.update((row.criterion_id, row.state) for row in rows)
    return states


def _states_of_answers(
    store: Store, keys: PlanKeys, answered: dict[str, dict[str, HeldResponse]]
) -> tuple[dict[str, dict[str, State]], dict[str, State]]:
    ids = [response_id for own in answered.values() for response_id in own]
    points, verdicts = table(Checkpoint).c, table(Outcome).c
    checkpoints: dict[str, dict[str, State]] = {}
    decided: dict[str, State] = {}
    with store.read() as connection:
        for part in _parts(ids):
            for row in connection.execute(
                sa.select(points.response_id, points.key, points.state).where(
                    points.response_id.in_(part), points.judge_id == keys.judge_id
                )
            ):
                checkpoints.setdefault(row.response_id, {})[row.key] = row.state
            for row in connection.execute(
                sa.select(verdicts.response_id, verdicts.how, verdicts.state).where(
                    verdicts.response_id.in_(part), verdicts.judge_id.in_(["", keys.judge_id])
                )
            ):
                if decided.get(row.response_id) != "scored":
                    decided[row.response_id] = row.state
    return checkpoints, decided


def _parts(ids: Sequence[str], size: int = 400) -> list[Sequence[str]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]
