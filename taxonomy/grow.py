"""Growing a tree: what a proposal must satisfy, and the tree with its log after each edit.

A grown tree has its fixed roots and every leaf in layer four. It is never changed except by logged
edits, so that the log alone makes it again.

Reference: ATOM 3.2, E.1 (proposal: reuse a leaf first, else `add(path, name)`, parents first).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from taxonomy.edits import Add, LoggedEdit, apply
from taxonomy.path import DEPTH, Path, format_path
from taxonomy.tree import Tree

MAX_NAME = 60
MAX_MEANING = 240
_WORD = re.compile(r"[^\W\d_]{2}")
_MARKS = re.compile(r"[›»→<>|{}\[\]\x00-\x1f]|\s/\s")


class ProposalRefused(ValueError):
    """A proposed place can't be in the tree; the message says why."""


@dataclass(frozen=True, kw_only=True)
class GrownTree:
    """A tree, the log that made it, and where each criterion hangs in it.

    Attributes:
        tree: the tree now.
        log: every edit since `roots_of` it, in order.
        leaf_of: criterion id -> leaf; criteria without a place aren't in it.
    """

    tree: Tree
    log: tuple[LoggedEdit, ...] = ()
    leaf_of: Mapping[str, Path] = field(default_factory=dict)

    def edited(self, entries: Iterable[LoggedEdit]) -> GrownTree:
        """Apply edits, log them, and take the criteria along.

        Raises:
            EditError: an edit doesn't fit the tree that the ones before it made.
        """
        tree, log, leaf_of = self.tree, list(self.log), dict(self.leaf_of)
        for entry in entries:
            applied = apply(tree, entry.edit)
            tree = applied.tree
            log.append(entry)
            if not applied.moves:
                continue
            for criterion, leaf in list(leaf_of.items()):
                if leaf not in applied.moves:
                    continue
                place = applied.moves[leaf]
                if place is None:
                    del leaf_of[criterion]
                else:
                    leaf_of[criterion] = place
        return GrownTree(tree=tree, log=tuple(log), leaf_of=leaf_of)

    def hung(self, places: Mapping[str, Path]) -> GrownTree:
        """Hang criteria on leaves; one that hangs already moves."""
        return replace(self, leaf_of={**self.leaf_of, **places})


def roots_of(tree: Tree) -> Tree:
    """Return a tree's bare roots: what an induction starts from."""
    return Tree(tree.name, tuple(replace(root, children=()) for root in tree.roots))


def only_leaves(tree: Tree, leaves: Iterable[Path]) -> Tree:
    """Return the tree with these leaves alone, in the tree's order; other roots stay bare."""
    kept = {leaf[:depth] for leaf in leaves for depth in range(1, len(leaf) + 1)}

    def cut(path: Path) -> Tree:
        node = tree.node(path)
        children = tuple(
            cut((*path, child.name)).roots[0]
            for child in node.children
            if (*path, child.name) in kept
        )
        return Tree("", (replace(node, children=children),))

    return Tree(tree.name, tuple(cut((root.name,)).roots[0] for root in tree.roots))


def spelled(tree: Tree, path: Path) -> Path:
    """Return a path with every name that the tree has already spelled as there."""
    out: list[str] = []
    nodes = tree.roots
    for name in path:
        folded = " ".join(name.casefold().split())
        found = next((n for n in nodes if " ".join(n.name.casefold().split()) == folded), None)
        out.append(" ".join(name.split()) if found is None else found.name)
        nodes = () if found is None else found.children
    return tuple(out)


def check_place(tree: Tree, path: Path) -> Path:
    """Check where a proposed leaf would hang.

    Args:
        tree: the tree; its roots are the only ones allowed.
        path: the leaf's full path, as proposed.

    Returns:
        The path, spelled as the tree spells what it has already.

    Raises:
        ProposalRefused: another root, another depth, or a name that can't be one.
    """
    if len(path) != DEPTH:
        raise ProposalRefused(
            f"{format_path(path)!r} has {len(path):,} names; a leaf lies in layer {DEPTH}"
        )
    made = spelled(tree, path)
    if made[:1] not in tree:
        roots = ", ".join(root.name for root in tree.roots)
        raise ProposalRefused(f"{path[0]!r} is no root; the roots are {roots}")
    for name in made[1:]:
        if len(name) > MAX_NAME or not _WORD.search(name) or _MARKS.search(name):
            raise ProposalRefused(f"{name[:80]!r} can't be a name of an ability")
    return made


def additions(
    tree: Tree, leaf: Path, meanings: Mapping[Path, str], *, by: str, why: str, round_: int
) -> tuple[LoggedEdit, ...]:
    """Return the edits that bring a checked leaf into the tree, parents first.

    Args:
        leaf: a path that `check_place` gave.
        meanings: a sentence for each new node that has one.
        by: who proposed it.

    Returns:
        One `Add` for each node that isn't there yet; none when the leaf is there.
    """
    return tuple(
        LoggedEdit(
            edit=Add(leaf[: depth - 1], leaf[depth - 1], meanings.get(leaf[:depth], "")),
            by=by,
            why=why,
            round=round_,
        )
        for depth in range(2, len(leaf) + 1)
        if leaf[:depth] not in tree
    )
