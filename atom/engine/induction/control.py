"""Inductions as processes of their own: start, stop, go on, and see how they are."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields

from atom.engine.control import GONE
from atom.engine.detached import detach
from atom.engine.induction.first_tree import first_tree
from atom.engine.induction.grow import InductionSpec, induction_claim, open_induction
from atom.engine.induction.growing import GrowSettings
from atom.engine.induction.growth_log import Watched
from atom.engine.ledger import holder, take_hold
from atom.engine.members import study_tree
from atom.errors import UsageError
from atom.judge.servers.endpoints import load_endpoints
from atom.records import Induction
from atom.settings import Settings
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
        row: the row; one whose process is gone shows `stopped`.
        alive: whether a process works on it.
    """

    row: Induction
    alive: bool


def start_induction(store: Store, spec: InductionSpec, settings: Settings) -> Induction:
    """Grow a study's tree in a process of its own; the same again goes on where it stopped.

    Args:
        store: the store that `settings` names.
        spec: what is asked.
        settings: where the store and the endpoints are.

    Returns:
        The induction's row; follow it with `induction_status`.

    Raises:
        UsageError: it can't begin, it is being done, or its tree is the study's already.
        ConsentNeeded: it would send data to a host that nobody has agreed to.
    """
    opened = open_induction(store, spec, load_endpoints(settings.endpoints))
    row = opened.row
    if opened.there is not None:
        raise UsageError(
            "the study has the tree that these settings grow: choose another judge, other samples "
            "or another begin"
        )
    if _is_held(store, row.id):
        raise UsageError("this tree is growing already: wait for its end, or stop it")
    with store.write() as writer:
        take_hold(writer, row.id, induction_claim(row.id))
        writer.replace([row])
    detach(
        store,
        settings,
        ["tree", "induce", "--resume-id", row.id],
        name=row.id,
        claim=induction_claim(row.id),
        log=store.folder / "inductions" / f"{row.id}.log",
    )
    return row


def spec_of(store: Store, induction_id: str) -> InductionSpec:
    """Return what an induction was asked to do, so that it can go on.

    Raises:
        UsageError: there is no such induction.
    """
    row = store.get(Induction, induction_id)
    if row is None:
        raise UsageError(f"there is no induction {induction_id!r}")
    asked = json.loads(row.settings)
    grow = {field.name: asked.pop(field.name) for field in fields(GrowSettings)}
    return InductionSpec(
        study_id=row.study_id,
        judge=row.judge,
        budget=row.budget,
        grow=GrowSettings(**grow),
        **asked,
    )


def stop_induction(store: Store, induction_id: str) -> None:
    """Ask an induction to stop; the calls in flight end first, and nothing that came is lost."""
    row = store.get(Induction, induction_id)
    if row is None or not _status(store, row).alive:
        return
    with store.write() as writer:
        writer.replace([row.model_copy(update={"state": "stopping"})])


def newest_induction(store: Store, study_id: str) -> InductionStatus | None:
    """Return how the induction of a study is that was begun last; None where there was none."""
    rows = table(Induction)
    latest = [rows.c.heartbeat.desc(), rows.c.position.desc()]
    found = store.select(Induction, rows.c.study_id == study_id, order_by=latest)
    return _status(store, found[0]) if found else None


def _status(store: Store, row: Induction) -> InductionStatus:
    if row.state not in ("running", "stopping"):
        return InductionStatus(row=row, alive=False)
    if _is_held(store, row.id):
        return InductionStatus(row=row, alive=True)
    gone = row.model_copy(update={"state": "stopped", "message": GONE})
    return InductionStatus(row=gone, alive=False)


def _is_held(store: Store, induction_id: str) -> bool:
    return holder(store, induction_claim(induction_id)) is not None


def what_grew(store: Store, row: Induction) -> Watched:
    """Return every edit of an induction that is done, and the study's criteria on each leaf."""
    for version in tree_versions(store, row.study_id):
        if version.position == row.position:
            criteria = list(study_criteria(store, row.study_id))
            found = leaf_mappings(store, version.version, criteria).values()
            held = Counter(mapping.leaf for mapping in found if mapping.leaf is not None)
            entries = tree_log(store, row.study_id, version.position)
            return Watched(entries=entries, held=dict(held))
    return Watched()


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
