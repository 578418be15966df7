"""The criteria that stand for a sample, their leaves, and samples that are put aside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from atom.records import CriteriaSet, Criterion, CriterionUse, Replay, Sample, State, StudySample
from atom.records import Mapping as LeafMapping
from atom.store.schema import table
from atom.store.standing.members import parts
from atom.store.store import Store
from taxonomy import Path


def with_reference(store: Store, sample_ids: Iterable[str]) -> set[str]:
    """Return which of some samples have a reference answer."""
    columns = table(Sample).c
    found: set[str] = set()
    with store.read() as connection:
        for part in parts(sample_ids):
            known = sa.select(columns.id).where(
                columns.id.in_(part), columns.reference.is_not(None)
            )
            found |= set(connection.execute(known).scalars())
    return found


def quarantined(store: Store, places: Iterable[StudySample]) -> set[str]:
    """Return samples whose own replay disagrees with the reference: they enter no figure."""
    sample_of = {place.replay_id: place.sample_id for place in places if place.replay_id}
    columns = table(Replay).c
    found: set[str] = set()
    with store.read() as connection:
        for part in parts(sample_of):
            rows = connection.execute(
                sa.select(columns.id).where(columns.id.in_(part), columns.agrees.is_(False))
            ).scalars()
            found.update(sample_of[name] for name in rows)
    return found


def in_order(criteria: CriteriaSet) -> tuple[CriterionUse, ...]:
    """Return a set's criteria in the order of their positions."""
    return tuple(sorted(criteria.uses, key=lambda use: use.position))


def standing_sets(store: Store, places: Iterable[StudySample]) -> dict[str, CriteriaSet]:
    """Return the criteria that stand for samples: sample -> its set, where that is usable."""
    pointed = {place.criteria_set_id: place.sample_id for place in places if place.criteria_set_id}
    found = store.get_many(CriteriaSet, pointed)
    return {pointed[one.id]: one for one in found if one.state == "scored"}


def samples_of_criteria(store: Store, criterion_ids: Iterable[str]) -> dict[str, str]:
    """Return which sample each of some criteria is about."""
    column = table(Criterion).c
    return read_by_id(store, column.id, column.sample_id, criterion_ids)


def replay_states(store: Store, replay_ids: Iterable[str]) -> dict[str, State]:
    """Read in which state replays are."""
    column = table(Replay).c
    return read_by_id(store, column.id, column.state, replay_ids)


def mapping_states(
    store: Store, tree_version: str, criterion_ids: Iterable[str]
) -> dict[str, State]:
    """Read in which state criteria's mappings to a tree are."""
    column = table(LeafMapping).c
    of_tree = column.tree_version == tree_version
    return read_by_id(store, column.criterion_id, column.state, criterion_ids, of_tree)


def read_by_id(
    store: Store,
    key: sa.ColumnElement[Any],
    value: sa.ColumnElement[Any],
    ids: Iterable[str],
    *conditions: sa.ColumnElement[bool],
) -> dict[str, Any]:
    """Read one column of the rows that have these ids: id -> value."""
    statement = sa.select(key, value).where(*conditions)
    found: dict[str, Any] = {}
    with store.read() as connection:
        for part in parts(ids):
            rows = connection.execute(statement.where(key.in_(part)))
            found.update((row[0], row[1]) for row in rows)
    return found


def leaves_of(
    store: Store, tree_version: str | None, criterion_ids: Iterable[str] | None = None
) -> dict[str, Path]:
    """Read where criteria hang in a tree: criterion -> leaf; those that hang nowhere are left out.

    Args:
        tree_version: the tree; None = there is none.
        criterion_ids: only these; None = all that hang in the tree.
    """
    if tree_version is None:
        return {}
    columns = table(LeafMapping).c
    statement = sa.select(columns.criterion_id, columns.leaf).where(
        columns.tree_version == tree_version, columns.leaf.is_not(None)
    )
    chosen = (
        [statement]
        if criterion_ids is None
        else [statement.where(columns.criterion_id.in_(part)) for part in parts(criterion_ids)]
    )
    found: dict[str, Path] = {}
    with store.read() as connection:
        for one in chosen:
            for criterion_id, leaf in connection.execute(one):
                found[criterion_id] = tuple(json.loads(leaf))
    return found
