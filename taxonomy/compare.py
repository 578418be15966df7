"""Two trees side by side: what was added, dropped, renamed, moved and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from taxonomy.path import Path
from taxonomy.tree import Tree


@dataclass(frozen=True, kw_only=True)
class LeafChange:
    """A leaf that is not where it was.

    Attributes:
        old: its path in the old tree.
        new: its path in the new tree.
        criteria: how many criteria went this way.
    """

    old: Path
    new: Path
    criteria: int


@dataclass(frozen=True, kw_only=True)
class TreeDiff:
    """What differs between two trees, leaf by leaf.

    Attributes:
        added: new leaves that nothing became.
        dropped: old leaves that became nothing.
        renamed: same parent, other name.
        moved: other parent.
        merged: old leaves that share their new leaf with others.
        kept: leaves that are in both.
        criteria_moved: criteria whose leaf changed, over all kinds.
    """

    added: tuple[Path, ...]
    dropped: tuple[Path, ...]
    renamed: tuple[LeafChange, ...]
    moved: tuple[LeafChange, ...]
    merged: tuple[LeafChange, ...]
    kept: tuple[Path, ...]
    criteria_moved: int


def compare(
    old: Tree,
    new: Tree,
    old_leaf: Mapping[str, Path] | None = None,
    new_leaf: Mapping[str, Path] | None = None,
    moves: Mapping[Path, Path | None] | None = None,
) -> TreeDiff:
    """Compare two trees.

    Args:
        old_leaf: criterion id -> leaf in the old tree.
        new_leaf: criterion id -> leaf in the new tree.
        moves: where old leaves went, when the edits between the trees are known; otherwise a leaf
            went where most of its criteria went, or to the leaf of the same name.

    Returns:
        The difference; every old and new leaf appears in exactly one of its parts (an old leaf by
        where it went, a new one only when nothing became it).
    """
    old_leaf, new_leaf = old_leaf or {}, new_leaf or {}
    flow = Counter(
        (leaf, new_leaf[criterion]) for criterion, leaf in old_leaf.items() if criterion in new_leaf
    )
    target = {leaf: _target(leaf, new, flow, moves) for leaf in old.leaves}
    arrivals = Counter(leaf for leaf in target.values() if leaf is not None)
    renamed, moved, merged = [], [], []
    kept, dropped = [], []
    for leaf, place in target.items():
        if place is None:
            dropped.append(leaf)
            continue
        change = LeafChange(old=leaf, new=place, criteria=flow[(leaf, place)])
        if place == leaf:
            kept.append(leaf)
        elif arrivals[place] > 1:
            merged.append(change)
        elif place[:-1] == leaf[:-1]:
            renamed.append(change)
        else:
            moved.append(change)
    return TreeDiff(
        added=tuple(leaf for leaf in new.leaves if leaf not in arrivals),
        dropped=tuple(dropped),
        renamed=tuple(renamed),
        moved=tuple(moved),
        merged=tuple(merged),
        kept=tuple(kept),
        criteria_moved=sum(n for (before, after), n in flow.items() if before != after),
    )


def _target(
    leaf: Path,
    new: Tree,
    flow: Mapping[tuple[Path, Path], int],
    moves: Mapping[Path, Path | None] | None,
) -> Path | None:
    if moves is not None and leaf in moves:
        place = moves[leaf]
        return place if place is not None and place in new else None
    if leaf in new and not new.node(leaf).children:
        return leaf
    went = {after: n for (before, after), n in flow.items() if before == leaf}
    if went:
        best = max(sorted(went), key=lambda place: went[place])
        if 2 * went[best] >= sum(went.values()):
            return best
    same = [other for other in new.leaves if other[-1].casefold() == leaf[-1].casefold()]
    return same[0] if len(same) == 1 else None
