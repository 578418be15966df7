"""Versions of a study's tree: where each came from, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atom.errors import DataError
from atom.records import TreeVersion
from atom.store import Store, load_tree, tree_versions
from atom.store.trees import tree_edits
from atom.views.study_data import StudyData
from atom.views.tree.edit import Steps, edit_words, in_effect, path_before, steps, touches
from atom.views.tree.node_table import placed
from atom.views.tree.study_trees import ORIGINS
from taxonomy import Path, Tree
from taxonomy.compare import LeafChange, compare
from taxonomy.edits import EditError, LoggedEdit, Moves, replay
from taxonomy.log import parse_edit

_MOST = 200


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    """One point of a tree's history.

    Attributes:
        position: 0-based place in the history.
        version: content hash of the tree.
        name: the tree's name.
        origin: where it came from, in words.
        note: a sentence about it.
        created: UTC time, ISO 8601; may be empty.
        leaves: leaves of the tree.
        depth: its deepest layer.
        criteria: the study's criteria that hang in it.
        edits: logged edits that led to it.
        current: whether it is the study's tree now.
    """

    position: int
    version: str
    name: str
    origin: str
    note: str
    created: str
    leaves: int
    depth: int
    criteria: int
    edits: int
    current: bool


@dataclass(frozen=True, kw_only=True)
class DiffRow:
    """One leaf that isn't where it was.

    Attributes:
        kind: `added`, `merged`, `moved`, `renamed` or `dropped`.
        old: its path before; empty for an added one.
        new: its path now; empty for a dropped one.
        criteria: criteria that went this way, or that are on it.
    """

    kind: str
    old: Path
    new: Path
    criteria: int


@dataclass(frozen=True, kw_only=True)
class MovedCriterion:
    """A criterion whose leaf is another one now."""

    criterion_id: str
    sample: int
    old: Path
    new: Path


@dataclass(frozen=True, kw_only=True)
class Diff:
    """Two trees side by side.

    Attributes:
        old: position of the older one.
        new: position of the newer one.
        rows: what differs, by kind.
        kept: leaves that are in both.
        moved: criteria whose leaf changed, at most 200.
        n_moved: how many those are.
        lost: criteria that hung in the old tree and hang nowhere in the new one.
    """

    old: int
    new: int
    rows: tuple[DiffRow, ...]
    kept: int
    moved: tuple[MovedCriterion, ...]
    n_moved: int
    lost: int


@dataclass(frozen=True, kw_only=True)
class Versions:
    """A study's tree history.

    Attributes:
        rows: newest first.
        diff: the two chosen ones compared; None with fewer than two trees.
        steps: what can be undone and redone.
    """

    rows: tuple[VersionRow, ...]
    diff: Diff | None
    steps: Steps


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """A logged edit that touches a node."""

    position: int
    words: str
    by: str
    why: str
    round: int


def history(store: Store, data: StudyData) -> tuple[TreeVersion, ...]:
    """Return a study's history; a study whose tree has none yet gets its one point."""
    known = tuple(tree_versions(store, data.study.id))
    if known or data.study.tree_version is None:
        return known
    return (
        TreeVersion(
            study_id=data.study.id, position=0, version=data.study.tree_version, origin="seed"
        ),
    )


def versions(
    store: Store, data: StudyData, old: str | None = None, new: str | None = None
) -> Versions:
    """Describe a study's tree history and compare two of its trees.

    Args:
        old: position of the older tree, as the address has it; None = the one before.
        new: position of the newer tree; None = the study's own.
    """
    points = history(store, data)
    trees: dict[str, Tree] = {}
    for point in points:
        if point.version not in trees:
            try:
                trees[point.version] = load_tree(store, point.version)
            except DataError:  # its text is gone: the point stays in the list, without a size
                continue
    edits = tree_edits(store, data.study.id) if points else []
    leaf_of = {version: placed(store, data, version).leaf_of for version in trees}
    now = max((p.position for p in points if p.version == data.study.tree_version), default=-1)
    rows = [
        VersionRow(
            position=point.position,
            version=point.version,
            name=trees[point.version].name if point.version in trees else "(its text is gone)",
            origin=ORIGINS[point.origin],
            note=point.note,
            created=point.created,
            leaves=len(trees[point.version].leaves) if point.version in trees else 0,
            depth=_depth(trees.get(point.version)),
            criteria=len(leaf_of.get(point.version, {})),
            edits=sum(edit.position == point.position for edit in edits),
            current=point.position == now,
        )
        for point in reversed(points)
    ]
    return Versions(
        rows=tuple(rows),
        diff=_diff(store, data, points, trees, leaf_of, _pick(points, trees, old, new, now)),
        steps=steps(points),
    )


def _depth(tree: Tree | None) -> int:
    return max((len(path) for path in tree.leaves), default=0) if tree else 0


def _pick(
    points: tuple[TreeVersion, ...],
    trees: Mapping[str, Tree],
    old: str | None,
    new: str | None,
    now: int,
) -> tuple[TreeVersion, TreeVersion] | None:
    """Choose two points to compare: those asked for, else the study's own and the one before."""
    usable = {str(point.position): point for point in points if point.version in trees}
    if len(usable) < 2:
        return None
    after = usable.get(new or "") or usable.get(str(now)) or list(usable.values())[-1]
    before = usable.get(old or "")
    if before is None:
        earlier = [p for p in usable.values() if p.position < after.position]
        before = earlier[-1] if earlier else next(p for p in usable.values() if p is not after)
    return before, after


def _diff(
    store: Store,
    data: StudyData,
    points: tuple[TreeVersion, ...],
    trees: Mapping[str, Tree],
    leaf_of: Mapping[str, Mapping[str, Path]],
    pair: tuple[TreeVersion, TreeVersion] | None,
) -> Diff | None:
    if pair is None:
        return None
    before, after = pair
    one, other = leaf_of[before.version], leaf_of[after.version]
    found = compare(
        trees[before.version],
        trees[after.version],
        one,
        other,
        _moves(store, data, points, trees, before, after),
    )

    def on(leaf: Path, where: Mapping[str, Path]) -> int:
        return sum(path == leaf for path in where.values())

    def changes(kind: str, items: tuple[LeafChange, ...]) -> list[DiffRow]:
        ranked = sorted(items, key=lambda c: (-c.criteria, c.old))
        return [DiffRow(kind=kind, old=c.old, new=c.new, criteria=c.criteria) for c in ranked]

    moved = [
        MovedCriterion(criterion_id=criterion, sample=at, old=path, new=other[criterion])
        for criterion, at in _samples(store, data).items()
        if (path := one.get(criterion)) and criterion in other and other[criterion] != path
    ]
    return Diff(
        old=before.position,
        new=after.position,
        rows=(
            *(DiffRow(kind="added", old=(), new=p, criteria=on(p, other)) for p in found.added),
            *changes("merged", found.merged),
            *changes("moved", found.moved),
            *changes("renamed", found.renamed),
            *(DiffRow(kind="dropped", old=p, new=(), criteria=on(p, one)) for p in found.dropped),
        ),
        kept=len(found.kept),
        moved=tuple(moved[:_MOST]),
        n_moved=len(moved),
        lost=sum(criterion not in other for criterion in one),
    )


def _samples(store: Store, data: StudyData) -> dict[str, int]:
    where = placed(store, data)
    pairs = zip(where.criterion, where.sample, strict=True)
    return {criterion: int(sample) for criterion, sample in pairs}


def _moves(
    store: Store,
    data: StudyData,
    points: tuple[TreeVersion, ...],
    trees: Mapping[str, Tree],
    before: TreeVersion,
    after: TreeVersion,
) -> dict[Path, Path | None] | None:
    """Follow the logged edits from one tree to a later one; None where the log has a gap."""
    path = _way(points, before, after)
    if path is None:
        return None
    total: dict[Path, Path | None] = {leaf: leaf for leaf in trees[before.version].leaves}
    for point in path:
        log = _entries(store, data, point.position)
        start = trees.get(point.parent_version or "")
        if start is None or not log:
            return None
        try:
            for applied in replay(start, log):
                total = _follow(total, applied.moves)
        except (EditError, KeyError):
            return None
    return total


def _follow(total: Mapping[Path, Path | None], moves: Moves) -> dict[Path, Path | None]:
    return {
        leaf: None if place is None else moves.get(place, place) for leaf, place in total.items()
    }


def _way(
    points: tuple[TreeVersion, ...], before: TreeVersion, after: TreeVersion
) -> list[TreeVersion] | None:
    """Find the points whose edits lead from one tree to another, going back by parents."""
    made: dict[str, TreeVersion] = {}
    for point in points:
        if point.parent_version is not None:
            made.setdefault(point.version, point)
    way: list[TreeVersion] = []
    version = after.version
    while version != before.version:
        point_ = made.get(version)
        if point_ is None or point_ in way or point_.parent_version is None:
            return None
        way.append(point_)
        version = point_.parent_version
    return way[::-1] or None


def _entries(store: Store, data: StudyData, position: int) -> tuple[LoggedEdit, ...]:
    return tuple(
        LoggedEdit(edit=parse_edit(row.edit), by=row.by, why=row.why, round=row.round)
        for row in tree_edits(store, data.study.id)
        if row.position == position
    )


def node_log(store: Store, data: StudyData, path: Path, limit: int = 12) -> tuple[LogLine, ...]:
    """Return the logged edits that touch a node, newest first, under the names it had before.

    Edits that were undone aren't among them.
    """
    points = tree_versions(store, data.study.id)
    if not path or not points:
        return ()
    lines, valid = [], in_effect(points)
    for row in reversed(tree_edits(store, data.study.id)):
        if row.position not in valid:
            continue
        try:
            edit = parse_edit(row.edit)
        except EditError:
            continue
        if touches(edit, path):
            lines.append(
                LogLine(position=row.position, words=edit_words(edit), by=row.by, why=row.why,
                        round=row.round)
            )  # fmt: skip
        path = path_before(edit, path)
        if len(lines) == limit:
            break
    return tuple(lines)
