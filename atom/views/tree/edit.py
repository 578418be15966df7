"""Changing a study's tree by hand: every edit is logged, makes a new version, and can be undone.

History only grows: undoing and redoing add points that return to a tree that was there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from atom.analysis.intervals import Ints
from atom.errors import ConflictError, DataError, UsageError
from atom.records import Mapping, Study, TreeOrigin, TreeRecord, TreeVersion
from atom.store import (
    Store,
    TreeDraft,
    add_version,
    begin_history,
    carried,
    find_study,
    leaf_mappings,
    load_tree,
    study_criteria,
    tree_versions,
    use_version,
)
from atom.views.tree.node_table import NodeTable
from taxonomy import (
    DEPTH,
    Path,
    Tree,
    TreeFormatError,
    format_path,
    parse_tree,
    tree_version,
)
from taxonomy.edits import Drop, Edit, EditError, LoggedEdit, Merge, Move, Rename, apply
from taxonomy.log import describe

HAND: TreeOrigin = "hand"
"""Who made an edit in the app."""
FROM_FILE = "file"
"""`Mapping.judge_id` of a mapping that came with a tree's file."""
UNDO = "undo"
REDO = "redo"
BACK = "back to version"
"""Notes of the points that return to a tree that was there before."""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What can be undone and redone.

    Attributes:
        undo: in words what undoing takes back; None when there is nothing.
        redo: in words what redoing brings again; None when there is nothing.
        back: the tree that undoing returns to.
        forth: the tree that redoing returns to.
    """

    undo: str | None = None
    redo: str | None = None
    back: str | None = None
    forth: str | None = None


def now() -> str:
    """Return the time now, UTC, for a record."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def steps(history: Sequence[TreeVersion]) -> Steps:
    """Work out from a study's history what can be undone and redone.

    Edits by hand can be undone down to the last tree that came from elsewhere (an induction, a
    file); an edit after an undo ends what could be redone.
    """
    done: list[TreeVersion] = []
    undone: list[TreeVersion] = []
    for point in history:
        if point.origin != HAND or point.note.startswith(BACK):
            done, undone = [], []
        elif point.note == UNDO and done:
            undone.append(done.pop())
        elif point.note == REDO and undone:
            done.append(undone.pop())
        elif point.parent_version is not None:
            done.append(point)
            undone = []
    last = done[-1] if done else None
    next_ = undone[-1] if undone else None
    return Steps(
        undo=last.note if last else None,
        back=last.parent_version if last else None,
        redo=next_.note if next_ else None,
        forth=next_.version if next_ else None,
    )


def in_effect(history: Sequence[TreeVersion]) -> frozenset[int]:
    """Return the positions whose edits led to the tree as it is; what was undone isn't among them.

    Args:
        history: a study's points, the oldest first.
    """
    made: dict[str, tuple[int, ...]] = {}
    now: tuple[int, ...] = ()
    for point in history:
        returns = point.origin == HAND and point.note.startswith((UNDO, REDO, BACK))
        if returns and point.version in made:
            now = made[point.version]
        else:
            now = (*made.get(point.parent_version or "", ()), point.position)
        made[point.version] = now
    return frozenset(now)


def edit_tree(
    store: Store,
    study_id: str,
    edit: Edit,
    why: str = "",
    created: str = "",
    *,
    seen: str | None = None,
) -> Tree:
    """Make one edit by hand.

    The criteria keep their leaves, carried through the edit; those of a dropped leaf are left
    unmapped. An edit that is asked for twice, as by two presses of one button, is made once.

    Args:
        why: the reason, in words.
        created: UTC time; now when empty.
        seen: version of the tree that whoever makes the edit looked at; None = the tree as it is.

    Raises:
        UsageError: the edit doesn't fit; the message says why.
        ConflictError: somebody else changed the tree meanwhile; nothing was changed.
        ReadOnlyError: the study is sealed.
    """
    study = find_study(store, study_id)
    tree = _own_tree(store, study)
    if seen is not None and seen != study.tree_version:
        if _leads_to(store, seen, edit) == study.tree_version:
            return tree
        raise ConflictError(_changed_words(store, study))
    check_editable(tree)
    try:
        applied = apply(tree, edit)
    except (EditError, KeyError) as error:
        raise UsageError(str(error).strip("'\"") or "the edit doesn't fit the tree") from error
    version = tree_version(applied.tree)
    if version == study.tree_version:
        raise UsageError("this changes nothing: choose another name or place")
    assert study.tree_version is not None
    old = leaf_mappings(store, study.tree_version, list(study_criteria(store, study.id)))
    entry = LoggedEdit(edit=edit, by=HAND, why=" ".join(why.split())[:300])
    created = created or now()
    with store.write() as writer:
        begin_history(writer, study, tree, created)
        draft = TreeDraft(
            tree=applied.tree, origin=HAND, parent=tree, entries=(entry,), note=describe(edit)
        )
        add_version(writer, study.id, draft, created)
        writer.put(carried(list(old.values()), applied.moves, version))
        use_version(writer, study.id, version, instead_of=study.tree_version)
    return applied.tree


def _leads_to(store: Store, seen: str, edit: Edit) -> str | None:
    """Return the version that an edit makes of a tree; None where it can't be made."""
    try:
        return tree_version(apply(load_tree(store, seen), edit).tree)
    except (EditError, KeyError, DataError):
        return None


def _changed_words(store: Store, study: Study) -> str:
    """Say what became of a tree that somebody else changed."""
    history = tree_versions(store, study.id)
    last = history[-1].note if history else ""
    what = f" ({last:.200})" if last else ""
    return (
        f"somebody else changed the tree meanwhile{what}: look at it as it is now, and make your "
        "change again if you still want it"
    )


def check_editable(tree: Tree) -> None:
    """Refuse trees of another depth, which are kept as they came.

    Raises:
        UsageError: the tree isn't four layers deep.
    """
    wrong = next((path for path in tree.leaves if len(path) != DEPTH), None)
    if wrong is not None:
        raise UsageError(
            f"this tree has leaves in layer {len(wrong)}; only trees of {DEPTH} layers are edited "
            "here, others are kept as they came"
        )


def editable(tree: Tree) -> bool:
    """Whether a tree can be edited by hand."""
    return all(len(path) == DEPTH for path in tree.leaves)


def step_tree(store: Store, study_id: str, which: str, created: str = "") -> Tree:
    """Undo or redo an edit by hand.

    Args:
        which: `undo` or `redo`.
        created: UTC time; now when empty.

    Raises:
        UsageError: there is nothing to undo or redo.
    """
    study = find_study(store, study_id)
    found = steps(tree_versions(store, study.id))
    target = found.back if which == UNDO else found.forth
    if target is None or which not in (UNDO, REDO):
        raise UsageError(f"there is nothing to {which}")
    return _return_to(
        store,
        study,
        target,
        TreeDraft(tree=load_tree(store, target), origin=HAND, note=which),
        created,
    )


def use_older(store: Store, study_id: str, version: str, created: str = "") -> Tree:
    """Make a tree of the study's history its tree again.

    Raises:
        UsageError: it is the study's tree already, or none of its history.
    """
    study = find_study(store, study_id)
    known = {point.version: point for point in tree_versions(store, study.id)}
    if version == study.tree_version or version not in known:
        raise UsageError("choose another version of this study's history")
    note = f"{BACK} {known[version].position}"
    draft = TreeDraft(tree=load_tree(store, version), origin=HAND, note=note)
    return _return_to(store, study, version, draft, created)


def _return_to(store: Store, study: Study, version: str, draft: TreeDraft, created: str) -> Tree:
    current = _own_tree(store, study)
    draft = TreeDraft(tree=draft.tree, origin=draft.origin, parent=current, note=draft.note)
    with store.write() as writer:
        add_version(writer, study.id, draft, created or now())
        use_version(writer, study.id, version, instead_of=study.tree_version)
    return draft.tree


def take_tree(
    store: Store,
    study_id: str,
    tree: Tree,
    *,
    note: str,
    leaf_of: dict[str, Path] | None = None,
    created: str = "",
) -> int:
    """Give a study a tree that came from a file.

    Criteria keep their leaves where the new tree has the same leaf; the rest are to be mapped.

    Args:
        note: where it came from, in words.
        leaf_of: criterion id -> leaf, where the file says so.
        created: UTC time; now when empty.

    Returns:
        How many criteria hang in it now.
    """
    study = find_study(store, study_id)
    old_tree = None if study.tree_version is None else _own_tree(store, study)
    version = tree_version(tree)
    if version == study.tree_version:
        raise UsageError("the study has this very tree already")
    criteria = list(study_criteria(store, study.id))
    new = []
    if study.tree_version is not None:
        old = leaf_mappings(store, study.tree_version, criteria)
        moves = {leaf: tree.find_leaf(leaf) for leaf in {m.leaf for m in old.values() if m.leaf}}
        new = carried(list(old.values()), moves, version)
    if leaf_of:
        new = [
            Mapping(
                criterion_id=criterion,
                tree_version=version,
                judge_id=FROM_FILE,
                prompt="imported",
                state="scored",
                leaf=leaf,
            )
            for criterion, leaf in leaf_of.items()
        ]
    created = created or now()
    with store.write() as writer:
        begin_history(writer, study, old_tree, created)
        add_version(writer, study.id, TreeDraft(tree=tree, origin="imported", note=note), created)
        writer.put(new)
        use_version(writer, study.id, version, instead_of=study.tree_version)
    there = leaf_mappings(store, version, criteria)
    return sum(mapping.leaf is not None for mapping in there.values())


def read_tree_file(data: bytes, name: str) -> Tree:
    """Read an uploaded tree in our YAML (or JSON) form.

    Raises:
        UsageError: it isn't one; the message says where and what is expected.
    """
    try:
        return parse_tree(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{name!r} isn't UTF-8 text: save it as such") from error
    except TreeFormatError as error:
        raise UsageError(f"{name!r}: {error}") from error


def _own_tree(store: Store, study: Study) -> Tree:
    if study.tree_version is None or store.get(TreeRecord, study.tree_version) is None:
        raise DataError(f"the study {study.name!r} has no tree yet: grow or upload one first")
    return load_tree(store, study.tree_version)


# --- what an edit can choose from --------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What can be done with a node by hand.

    Attributes:
        rename: whether it can get another name.
        parents: indices of the nodes that it can move under.
        mates: indices of the nodes that it can be merged into, likely ones first.
        drop: whether it can be removed.
    """

    rename: bool = False
    parents: tuple[int, ...] = ()
    mates: tuple[int, ...] = ()
    drop: bool = False


def choices(nodes: NodeTable, index: int) -> Choices:
    """Say what can be done with a node; roots and the whole tree stay as they are."""
    path = nodes.paths[index]
    if len(path) < 2 or not editable(nodes.tree):
        return Choices()
    layer = np.array([len(other) for other in nodes.paths], dtype=np.int64)
    above = nodes.parent[index]
    parents = [int(i) for i in np.flatnonzero(layer == len(path) - 1) if i != above]
    mates = [int(i) for i in np.flatnonzero(layer == len(path)) if i != index]
    near: Ints = np.array([_apart(nodes.paths[i], path) for i in mates], dtype=np.int64)
    ranked = [mates[int(i)] for i in np.argsort(near, kind="stable")]
    return Choices(rename=True, parents=tuple(parents), mates=tuple(ranked), drop=True)


def _apart(one: Path, other: Path) -> int:
    shared = sum(1 for _ in _common(one, other))
    return len(other) - shared


def _common(one: Path, other: Path) -> list[str]:
    shared = []
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared.append(a)
    return shared


def after(edit: Edit) -> Path:
    """Return the node that an edit leaves the reader at."""
    match edit:
        case Rename(path, name):
            return (*path[:-1], name)
        case Move(path, parent):
            return (*parent, path[-1])
        case Merge(_, into):
            return into
        case Drop(path):
            return path[:-1]
        case _:
            return ()


def path_before(edit: Edit, path: Path) -> Path:
    """Return where a node was before an edit."""
    match edit:
        case Rename(old, _) | Move(old, _):
            new = after(edit)
            return old + path[len(new) :] if path[: len(new)] == new else path
        case _:
            return path


def touches(edit: Edit, path: Path) -> bool:
    """Whether a logged edit is part of a node's history: of itself or what lies above it."""
    named = [after(edit)] + [
        value for key, value in vars(edit).items() if key in ("path", "into") and value
    ]
    return any(path[: len(other)] == other and len(other) > 1 for other in named if other)


def edit_words(edit: Edit) -> str:
    """Say briefly what an edit did, without the paths that are the same on both sides."""
    match edit:
        case Rename(path, name):
            return f"renamed {path[-1]} to {name}"
        case Move(path, parent):
            return f"moved {path[-1]} from {path[-2]} to {format_path(parent[1:] or parent)}"
        case Merge(path, into):
            return f"merged {path[-1]} into {into[-1]}"
        case Drop(path):
            return f"dropped {path[-1]}"
        case _:
            return describe(edit)
