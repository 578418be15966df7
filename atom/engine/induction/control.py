"""How inductions are, and what they grow."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from atom.engine.control import RunStatus, list_runs
from atom.engine.induction.first_tree import first_tree
from atom.engine.induction.growth_log import GrowthProgress
from atom.engine.induction.result import run_of
from atom.engine.members import study_tree
from atom.records import Induction, Run
from atom.store import (
    Store,
    find_study,
    leaf_mappings,
    load_tree,
    study_criteria,
    table,
    tree_log,
    tree_versions,
)
from taxonomy import Tree
from taxonomy.grow import roots_of


@dataclass(frozen=True, kw_only=True)
class InductionStatus:
    """An induction as it is, not only as its row says.

    Attributes:
        row: what was asked, and what came of it.
        run: its run; one whose process is gone shows `stopped`.
        alive: whether a process works on it.
    """

    row: Induction
    run: Run
    alive: bool


def newest_induction(store: Store, study_id: str) -> InductionStatus | None:
    """Return how the induction of a study is that was begun last; None where there was none."""
    alive = {status.run.id: status for status in list_runs(store, study_id)}
    known = [
        InductionStatus(row=row, run=status.run, alive=status.alive)
        for row in store.select(Induction, table(Induction).c.study_id == study_id)
        if (status := alive.get(row.id) or RunStatus(run=run_of(store, row), alive=False))
    ]
    return max(known, key=_begun, default=None)


def _begun(status: InductionStatus) -> tuple[str, int]:
    position = status.row.position
    return status.run.heartbeat, -1 if position is None else position


def what_grew(store: Store, row: Induction) -> GrowthProgress:
    """Return every edit of an induction that is done, and the study's criteria on each leaf."""
    for version in tree_versions(store, row.study_id):
        if version.position == row.position:
            criteria = list(study_criteria(store, row.study_id))
            found = leaf_mappings(store, version.version, criteria).values()
            held = Counter(mapping.leaf for mapping in found if mapping.leaf is not None)
            entries = tree_log(store, row.study_id, version.position)
            return GrowthProgress(entries=entries, held=dict(held))
    return GrowthProgress()


def start_of(store: Store, row: Induction) -> Tree:
    """Return the tree that an induction's edits start from."""
    study = find_study(store, row.study_id)
    if row.position is not None:
        for version in tree_versions(store, study.id):
            if version.position == row.position and version.parent_version is not None:
                return load_tree(store, version.parent_version)
    if json.loads(row.settings)["start"] == "current":
        return study_tree(store, study, "")[0]
    return roots_of(first_tree(store, study))
