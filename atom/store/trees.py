"""A study's trees: every version with its log, and old results carried to a new tree."""

from __future__ import annotations

from collections.abc import Mapping as AbcMapping
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from atom.errors import ConflictError, DataError, UsageError
from atom.records import (
    CriteriaSet,
    Induction,
    Mapping,
    Study,
    StudySample,
    TreeEdit,
    TreeOrigin,
    TreeRecord,
    TreeVersion,
)
from atom.store.schema import table
from atom.store.store import Store, Writer
from taxonomy import Path, Tree, TreeFormatError, format_path, parse_tree, to_json, tree_version
from taxonomy.edits import LoggedEdit
from taxonomy.log import dump_edit, parse_edit

CARRIED = "carried"
"""`Mapping.prompt` of a mapping that was taken over from an older tree."""
_CHUNK = 400


@dataclass(frozen=True, kw_only=True)
class TreeDraft:
    """A version that is to be added to a study's history.

    Args:
        parent: the tree that the edits start from; None where none is known.
        entries: the edits that lead from the parent to the tree.
        note: a sentence for people.
    """

    tree: Tree
    origin: TreeOrigin
    parent: Tree | None = None
    entries: tuple[LoggedEdit, ...] = ()
    note: str = ""


def tree_record(tree: Tree, created: str = "") -> TreeRecord:
    """Make the record of a tree."""
    return TreeRecord(
        version=tree_version(tree), name=tree.name, body=to_json(tree), created=created
    )


def load_tree(store: Store, version: str) -> Tree:
    """Return a stored tree.

    Raises:
        DataError: there is no such tree, or it can't be read.
    """
    found = store.get(TreeRecord, version)
    if found is None:
        raise DataError(f"there is no tree {version!r} in the store: choose another version")
    try:
        return parse_tree(found.body, depth=None)
    except TreeFormatError as error:
        raise DataError(f"the tree {version!r} can't be read: {error}") from error


def tree_versions(store: Store, study_id: str) -> list[TreeVersion]:
    """Return a study's tree versions, the oldest first; none in a store older than they are."""
    versions = table(TreeVersion)
    with store.read() as connection:
        if not sa.inspect(connection).has_table(versions.name):
            return []
    return store.select(
        TreeVersion, versions.c.study_id == study_id, order_by=[versions.c.position]
    )


def find_version(store: Store, study_id: str, name: str) -> TreeVersion:
    """Return a study's tree version by its position (`2`) or the beginning of its hash.

    Raises:
        UsageError: none or several fit; the message lists those that exist.
    """
    known = tree_versions(store, study_id)
    if name.isdigit() and len(name) < 6:
        fits = [v for v in known if v.position == int(name)]
    else:
        fits = [v for v in known if v.version.startswith(name)]
    if len({v.version for v in fits}) == 1:
        return fits[-1]
    there = ", ".join(f"{v.position} ({v.version})" for v in known) or "none yet"
    raise UsageError(f"{len(fits):,} tree versions fit {name!r}; there are: {there}")


def tree_edits(store: Store, study_id: str) -> list[TreeEdit]:
    """Return every logged edit of a study's history, in order."""
    edits = table(TreeEdit)
    return store.select(
        TreeEdit, edits.c.study_id == study_id, order_by=[edits.c.position, edits.c.ordinal]
    )


def tree_log(store: Store, study_id: str, position: int) -> tuple[LoggedEdit, ...]:
    """Return the edits that lead from a version's parent to it, in order."""
    edits = table(TreeEdit)
    rows = store.select(
        TreeEdit,
        edits.c.study_id == study_id,
        edits.c.position == position,
        order_by=[edits.c.ordinal],
    )
    return tuple(
        LoggedEdit(edit=parse_edit(row.edit), by=row.by, why=row.why, round=row.round)
        for row in rows
    )


def add_version(writer: Writer, study_id: str, draft: TreeDraft, created: str) -> TreeVersion:
    """Add a tree to a study's history, behind those that are there; the study isn't changed.

    Args:
        draft: the tree and how it came to be.
        created: UTC time.

    Returns:
        The version, with its position.
    """
    versions = table(TreeVersion)
    last = writer.execute(
        sa.select(sa.func.max(versions.c.position)).where(versions.c.study_id == study_id)
    ).scalar()
    position = 0 if last is None else int(last) + 1
    record = tree_record(draft.tree, created)
    parent = None if draft.parent is None else tree_record(draft.parent, created)
    made = TreeVersion(
        study_id=study_id,
        position=position,
        version=record.version,
        parent_version=None if parent is None else parent.version,
        origin=draft.origin,
        note=draft.note,
        created=created,
    )
    writer.put([record, *([parent] if parent else []), made])
    writer.put(
        TreeEdit(
            study_id=study_id,
            position=position,
            ordinal=ordinal,
            version=record.version,
            edit=dump_edit(entry.edit),
            by=entry.by,
            why=entry.why,
            round=entry.round,
        )
        for ordinal, entry in enumerate(draft.entries)
    )
    return made


_ANY = "any"


def use_version(
    writer: Writer, study_id: str, version: str, *, instead_of: str | None = _ANY
) -> None:
    """Make a tree the study's own.

    Args:
        instead_of: the tree that it was made from, and that must still be the study's own.

    Raises:
        ConflictError: somebody else gave the study another tree meanwhile; nothing changes.
    """
    studies = table(Study)
    here = studies.c.id == study_id
    if instead_of != _ANY:
        own = writer.execute(sa.select(studies.c.tree_version).where(here)).scalar()
        if own not in (instead_of, version):
            raise ConflictError(
                "somebody else changed the tree meanwhile: look at it as it is now, and make the "
                "change again if you still want it"
            )
    writer.execute(sa.update(studies).where(here).values(tree_version=version))
    _tell_tree(writer, study_id, version, instead_of)


def _tell_tree(writer: Writer, study_id: str, version: str, before: str | None) -> None:
    """Log what a study's tree is from now on, by the words of its history."""
    if writer.person is None:
        return
    rows = table(TreeVersion).c
    noted = sa.select(rows.note, rows.origin).where(
        rows.study_id == study_id, rows.version == version
    )
    last = writer.execute(noted.order_by(rows.position.desc()).limit(1)).mappings().first()
    words = version if last is None else str(last["note"] or last["origin"])
    was = "" if before in (None, _ANY) else str(before)
    writer.tell("tree", study=study_id, subject=version, before=was[:12], after=words)


def begin_history(writer: Writer, study: Study, tree: Tree | None, created: str) -> None:
    """Note the tree that a study has had so far as its first version, unless there is one."""
    versions = table(TreeVersion)
    known = writer.execute(
        sa.select(versions.c.position).where(versions.c.study_id == study.id).limit(1)
    ).first()
    if known is None and tree is not None:
        note = "The tree that the study began with."
        add_version(writer, study.id, TreeDraft(tree=tree, origin="seed", note=note), created)


def study_criteria(store: Store, study_id: str) -> dict[str, str]:
    """Return a study's criteria with their samples, in the study's order.

    Returns:
        Criterion id -> sample id, over the usable criteria sets that stand for its samples.
    """
    places, sets = table(StudySample), table(CriteriaSet)
    rows = store.select(StudySample, places.c.study_id == study_id, order_by=[places.c.position])
    ids = [row.criteria_set_id for row in rows if row.criteria_set_id]
    found: dict[str, CriteriaSet] = {}
    for start in range(0, len(ids), _CHUNK):
        part = ids[start : start + _CHUNK]
        for record in store.select(CriteriaSet, sets.c.id.in_(part), sets.c.state == "scored"):
            found[record.id] = record
    return {
        use.criterion_id: found[set_id].sample_id
        for set_id in ids
        if set_id in found
        for use in found[set_id].uses
    }


def leaf_mappings(store: Store, version: str, criteria: Sequence[str]) -> dict[str, Mapping]:
    """Return the stored mappings of these criteria to a tree, by criterion."""
    columns = table(Mapping).c
    found: dict[str, Mapping] = {}
    for start in range(0, len(criteria), _CHUNK):
        part = list(criteria[start : start + _CHUNK])
        rows = store.select(
            Mapping, columns.tree_version == version, columns.criterion_id.in_(part)
        )
        found.update((row.criterion_id, row) for row in rows)
    return found


def mapped_trees(store: Store, criteria: Sequence[str]) -> dict[str, int]:
    """Return the trees that any of these criteria hang in, with how many do.

    Args:
        criteria: ids; of many, the first 400 speak for all.
    """
    columns = table(Mapping).c
    statement = (
        sa.select(columns.tree_version, sa.func.count())
        .where(columns.criterion_id.in_(list(criteria[:_CHUNK])), columns.leaf.is_not(None))
        .group_by(columns.tree_version)
    )
    with store.read() as connection:
        return {version: int(n) for version, n in connection.execute(statement)}


def carried(
    mappings: Sequence[Mapping],
    moves: AbcMapping[Path, Path | None],
    version: str,
    *,
    with_unscored: bool = False,
) -> list[Mapping]:
    """Take mappings over to another tree.

    Args:
        mappings: mappings to one older tree.
        moves: where each old leaf went (see `taxonomy.edits.compose`); a leaf that isn't named
            stayed where it was, one that became None was dropped.
        version: the new tree.
        with_unscored: take "no leaf fits" over, too: right where the new tree has no new leaf.

    Returns:
        A scored mapping for each criterion whose leaf is still there, with the old version in
        its detail. A criterion whose leaf was dropped gets none: it is to be mapped anew.
    """
    out = []
    for mapping in mappings:
        if mapping.state != "scored" or mapping.leaf is None:
            if with_unscored and mapping.state == "unscored":
                out.append(mapping.model_copy(update={"tree_version": version, "prompt": CARRIED}))
            continue
        leaf = moves.get(mapping.leaf, mapping.leaf)
        if leaf is None:
            continue
        was = "" if leaf == mapping.leaf else f", where it was {format_path(mapping.leaf)}"
        out.append(
            mapping.model_copy(
                update={
                    "tree_version": version,
                    "prompt": CARRIED,
                    "leaf": leaf,
                    "detail": f"carried from tree {mapping.tree_version}{was}",
                }
            )
        )
    return out


def forget_trees(writer: Writer, study_id: str) -> None:
    """Remove a study's history; trees and mappings are shared and stay."""
    for kind in (TreeVersion, TreeEdit, Induction):
        writer.delete(kind, table(kind).c.study_id == study_id)
