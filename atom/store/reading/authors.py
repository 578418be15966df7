"""Who wrote criteria, and who hung them in a tree."""

from __future__ import annotations

import json
from collections.abc import Iterable

import sqlalchemy as sa

from atom.records import CriteriaSet, Mapping
from atom.store.schema import table
from atom.store.standing.criteria import read_by_id
from atom.store.standing.members import parts
from atom.store.store import Store


def authors_of(store: Store, sample_ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Say which judges cut the criteria of some samples: criterion -> judges' ids.

    A person's edit has no author among the judges.
    """
    column = table(CriteriaSet).c
    found: dict[str, set[str]] = {}
    with store.read() as connection:
        for part in parts(sample_ids):
            rows = connection.execute(
                sa.select(column.judge_id, sa.cast(column.uses, sa.Text)).where(
                    column.sample_id.in_(part), column.state == "scored", column.source != "hand"
                )
            )
            for judge, uses in rows:
                for use in json.loads(uses):
                    found.setdefault(use["criterion_id"], set()).add(judge)
    return {name: frozenset(judges) for name, judges in found.items()}


def mappers_of(
    store: Store, tree_version: str | None, criterion_ids: Iterable[str]
) -> dict[str, str]:
    """Say which judge hung each of some criteria in a tree: criterion -> judge's id.

    Args:
        tree_version: the tree; None = there is none.
        criterion_ids: the criteria.
    """
    column = table(Mapping).c
    of_tree = column.tree_version == tree_version
    return read_by_id(store, column.criterion_id, column.judge_id, criterion_ids, of_tree)
