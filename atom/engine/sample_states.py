"""Reads what is stored about a few samples at a time, for the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atom.engine.plan import HeldResponse, PlanKeys, RecordState, SampleState
from atom.judge import is_server_fault
from atom.records import CriteriaSet, State, StudySample
from atom.store import Store
from atom.store.reading.unscored import unscored_calls
from atom.store.standing.answers import answers_under
from atom.store.standing.criteria import in_order, mapping_states, replay_states, with_reference
from atom.store.standing.marks import mark_states
from atom.store.standing.outcomes import settled_outcomes

CHUNK = 64
"""Samples read at a time."""


@dataclass(frozen=True, kw_only=True)
class LoadedSample:
    """A sample's state and the place it has in the study.

    Args:
        adopted: the place as it should be, when records of another study can stand for it.
    """

    have: SampleState
    place: StudySample
    adopted: StudySample | None = None


def load_states(
    store: Store, keys: PlanKeys, places: Sequence[StudySample], candidate_ids: Sequence[str]
) -> list[LoadedSample]:
    """Read the states of some samples.

    Args:
        keys: the run's content keys.
        places: the samples' places in the study; a few hundred at most.
        candidate_ids: the study's candidates; answers of others don't count.

    Returns:
        One state for each place, in the same order.
    """
    sample_ids = [place.sample_id for place in places]
    references = with_reference(store, sample_ids)
    answered: dict[str, dict[str, HeldResponse]] = {}
    for one in answers_under(store, keys.answer_sampling, sample_ids, candidate_ids):
        # Of an answer without a text there is nothing to judge.
        state: State = "unscored" if one.silent and one.state == "scored" else one.state
        held = HeldResponse(candidate_id=one.candidate_id, state=state)
        answered.setdefault(one.sample_id, {})[one.id] = held
    replays = _replays(store, keys, places)
    sets = _sets(store, keys, places)
    used = [use.criterion_id for record in sets.values() for use in record.uses]
    mapped = mapping_states(store, keys.tree_version, used)
    ids = [name for own in answered.values() for name in own]
    checkpoints = mark_states(store, ids, keys.judge_id)
    verdicts = settled_outcomes(store, ids, keys.judge_id)
    spoiled = _spoiled(store, keys, ids, replays, sets) if keys.retry_unscored else frozenset()

    loaded = []
    for place in places:
        replay, criteria = replays.get(place.sample_id), sets.get(place.sample_id)
        own = answered.get(place.sample_id, {})
        uses = tuple(use.criterion_id for use in in_order(criteria)) if criteria else ()
        have = SampleState(
            sample_id=place.sample_id,
            has_reference=place.sample_id in references,
            replay=replay,
            criteria=RecordState(id=criteria.id, state=criteria.state) if criteria else None,
            criterion_ids=uses,
            mapped={c: mapped[c] for c in uses if c in mapped},
            responses=own,
            checkpoints={k: s for r in own for k, s in checkpoints.get(r, {}).items()},
            verdicts={r: verdicts[r] for r in own if r in verdicts},
            spoiled=spoiled,
        )
        adopted = place.model_copy(
            update={
                "replay_id": replay.id if replay else place.replay_id,
                "criteria_set_id": criteria.id if criteria else place.criteria_set_id,
            }
        )
        loaded.append(
            LoadedSample(have=have, place=place, adopted=None if adopted == place else adopted)
        )
    return loaded


def _spoiled(
    store: Store,
    keys: PlanKeys,
    responses: Sequence[str],
    replays: dict[str, RecordState],
    sets: dict[str, CriteriaSet],
) -> frozenset[str]:
    """Name what is unscored through a server's fault."""
    calls = unscored_calls(
        store,
        responses=responses,
        replays=[one.id for one in replays.values()],
        criteria_sets=[one.id for one in sets.values()],
        criteria=[use.criterion_id for one in sets.values() for use in one.uses],
        tree_version=keys.tree_version,
        judge_id=keys.judge_id,
    )
    return frozenset(name for name, call in calls.items() if is_server_fault(call))


def _replays(store: Store, keys: PlanKeys, places: Sequence[StudySample]) -> dict[str, RecordState]:
    """Choose each sample's replay: the study's own when it is usable, else this judge's."""
    expected = {keys.replay_id(place.sample_id): place.sample_id for place in places}
    pointed = {place.replay_id: place.sample_id for place in places if place.replay_id}
    chosen: dict[str, RecordState] = {}
    states = replay_states(store, [*expected, *pointed])
    for name, state in sorted(
        states.items(), key=lambda one: one[0] in pointed and one[1] == "scored"
    ):
        if name in expected or state == "scored":
            chosen[pointed.get(name) or expected[name]] = RecordState(id=name, state=state)
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
