"""What came of growing a tree, also of one that was grown before."""

from __future__ import annotations

from dataclasses import dataclass

from atom.engine.induction.ground import InductionParts
from atom.records import Induction, Run, TreeTask, TreeVersion
from atom.store import Store, leaf_mappings, load_tree, study_criteria, tree_log, tree_versions
from taxonomy import Tree
from taxonomy.edits import LoggedEdit


@dataclass(frozen=True, kw_only=True)
class InductionResult:
    """What came of an induction.

    Args:
        version: the study's new tree version; None when it was stopped.
        log: every edit from `start` to the tree.
        mapped: criteria on a leaf.
        unmapped: criteria that the judge put on none, or whose call failed.
    """

    row: Induction
    run: Run
    version: TreeVersion | None = None
    tree: Tree | None = None
    log: tuple[LoggedEdit, ...] = ()
    mapped: int = 0
    unmapped: int = 0


def grown_already(store: Store, ground: InductionParts) -> InductionResult | None:
    """Return what this induction brought earlier, if the study still has that tree."""
    row = store.get(Induction, ground.row.id)
    if row is None or row.position is None:
        return None
    found = induced_by(store, run_of(store, row))
    version = found.version
    return found if version and version.version == ground.members.study.tree_version else None


def run_of(store: Store, row: Induction) -> Run:
    """Return an induction's run; for one of an older archive, which told of none, as it ended."""
    ended = Run(
        id=row.id,
        study_id=row.study_id,
        judge=row.judge,
        state="stopped" if row.position is None else "done",
        created=row.created,
        heartbeat=row.created,
        task=TreeTask(kind="tree"),
    )
    return store.get(Run, row.id) or ended


def induced_by(store: Store, run: Run) -> InductionResult:
    """Read what came of an induction."""
    row = store.get(Induction, run.id)
    assert row is not None
    if row.position is None:
        return InductionResult(row=row, run=run)
    versions = tree_versions(store, run.study_id)
    version = next((one for one in versions if one.position == row.position), None)
    if version is None:
        return InductionResult(row=row, run=run)
    ids = list(study_criteria(store, run.study_id))
    found = leaf_mappings(store, version.version, ids).values()
    mapped = sum(m.leaf is not None for m in found)
    return InductionResult(
        row=row,
        run=run,
        version=version,
        tree=load_tree(store, version.version),
        log=tree_log(store, run.study_id, version.position),
        mapped=mapped,
        unmapped=len(ids) - mapped,
    )
