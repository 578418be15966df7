"""Edits: every change of a tree as a value, so that a tree can be replayed at any step.

An edit never changes a tree; `apply` returns the new tree and says where each leaf went, so that
results mapped on the old tree can be carried over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from taxonomy.path import Path, fold, format_path
from taxonomy.tree import Node, Tree

Moves = Mapping[Path, Path | None]
"""Old leaf -> new leaf, or None where it is gone; leaves not named stay where they are."""


class EditError(ValueError):
    """An edit doesn't fit the tree; the message says why."""


@dataclass(frozen=True)
class Add:
    """Add a node under a parent; missing ancestors are added with it, parents first."""

    parent: Path
    name: str
    meaning: str = ""


@dataclass(frozen=True)
class Rename:
    """Give a node another name."""

    path: Path
    name: str


@dataclass(frozen=True)
class Move:
    """Hang a node, with all below it, under another parent in the same layer."""

    path: Path
    parent: Path


@dataclass(frozen=True)
class Merge:
    """Unite a node with another of the same layer; its children join the other's."""

    path: Path
    into: Path


@dataclass(frozen=True)
class Drop:
    """Remove a node with all below it."""

    path: Path


Edit = Add | Rename | Move | Merge | Drop


@dataclass(frozen=True, kw_only=True)
class LoggedEdit:
    """A logged edit.

    Attributes:
        edit: what was changed.
        by: who proposed it: a judge, a rule, or a person.
        why: the reason, in words.
        round: which round of the induction; 0 for edits by hand.
    """

    edit: Edit
    by: str
    why: str = ""
    round: int = 0


@dataclass(frozen=True)
class EditResult:
    """What an edit made of a tree."""

    tree: Tree
    moves: Moves


def apply(tree: Tree, edit: Edit) -> EditResult:
    """Apply an edit.

    Args:
        tree: the tree; it stays as it is.
        edit: the change. Inner nodes that are left without children go as well; roots stay.

    Returns:
        The new tree, and where the leaves that were touched went.

    Raises:
        EditError: the edit doesn't fit this tree.
    """
    try:
        return _apply(tree, edit)
    except EditError:
        raise
    except ValueError as error:  # a name is empty or taken: the tree's own words say so
        raise EditError(str(error)) from error


def _apply(tree: Tree, edit: Edit) -> EditResult:
    match edit:
        case Add(parent, name, meaning):
            return EditResult(_add(tree, parent, name, meaning), {})
        case Rename(path, name):
            return _rename(tree, path, name)
        case Move(path, parent):
            return _move(tree, path, parent)
        case Merge(path, into):
            return _merge(tree, path, into)
        case Drop(path):
            return _drop(tree, path)


def replay(tree: Tree, entries: Iterable[LoggedEdit]) -> Iterator[EditResult]:
    """Yield the tree after each entry of a log, in order.

    Raises:
        EditError: an entry doesn't fit the tree that the ones before it made.
    """
    for entry in entries:
        applied = apply(tree, entry.edit)
        yield applied
        tree = applied.tree


def carry(path: Path, steps: Iterable[Moves]) -> Path | None:
    """Follow a leaf through a series of edits; None when it was dropped on the way."""
    here: Path | None = path
    for moves in steps:
        if here is None:
            return None
        here = moves.get(here, here)
    return here


def compose(steps: Iterable[Moves], leaves: Iterable[Path]) -> dict[Path, Path | None]:
    """Say where each of the leaves is after a series of edits."""
    known = list(steps)
    return {leaf: carry(leaf, known) for leaf in leaves}


def _need(tree: Tree, path: Path) -> Node:
    if path not in tree:
        raise EditError(f"there is no node {format_path(path)!r} in the tree")
    return tree.node(path)


def _change(nodes: tuple[Node, ...], path: Path, new: tuple[Node, ...]) -> tuple[Node, ...]:
    """Put `new` in the place of the node at `path`."""
    out: list[Node] = []
    for node in nodes:
        if node.name != path[0]:
            out.append(node)
        elif len(path) == 1:
            out.extend(new)
        else:
            out.append(replace(node, children=_change(node.children, path[1:], new)))
    return tuple(out)


def _set(tree: Tree, path: Path, *new: Node) -> Tree:
    return Tree(tree.name, _change(tree.roots, path, new))


def _tidy(tree: Tree, path: Path) -> Tree:
    """Remove the inner nodes above `path` that have no children any more; roots stay."""
    parent = path[:-1]
    while len(parent) > 1 and parent in tree and not tree.node(parent).children:
        tree = _set(tree, parent)
        parent = parent[:-1]
    return tree


def _need_free(above: Node, name: str, but: str | None = None) -> None:
    """Refuse a name that another child of the parent has."""
    for child in above.children:
        if child.name != but and fold((child.name,)) == fold((name,)):
            raise EditError(
                f"{above.name!r} has a child {child.name!r} already: choose another name, or "
                "merge the two"
            )


def _leaves_under(tree: Tree, path: Path) -> list[Path]:
    return [leaf for leaf in tree.leaves if leaf[: len(path)] == path]


def _add(tree: Tree, parent: Path, name: str, meaning: str) -> Tree:
    if not parent:
        raise EditError(f"{name!r}: roots are anchors and aren't added; name a parent")
    if parent[:1] not in tree:
        roots = ", ".join(root.name for root in tree.roots)
        raise EditError(f"{parent[0]!r} is no root; the roots are {roots}")
    for depth in range(2, len(parent) + 1):
        if parent[:depth] not in tree:
            tree = _hang(tree, parent[: depth - 1], Node(parent[depth - 1]))
    return _hang(tree, parent, Node(name, meaning))


def _hang(tree: Tree, parent: Path, child: Node) -> Tree:
    above = _need(tree, parent)
    _need_free(above, child.name)
    return _set(tree, parent, replace(above, children=(*above.children, child)))


def _rename(tree: Tree, path: Path, name: str) -> EditResult:
    if len(path) == 1:
        raise EditError("roots are anchors and keep their names")
    node = _need(tree, path)
    _need_free(_need(tree, path[:-1]), name, but=node.name)
    renamed = replace(node, name=name)
    new = (*path[:-1], name)
    moves = {leaf: new + leaf[len(path) :] for leaf in _leaves_under(tree, path)}
    return EditResult(_set(tree, path, renamed), moves)


def _move(tree: Tree, path: Path, parent: Path) -> EditResult:
    node = _need(tree, path)
    _need(tree, parent)
    if len(parent) != len(path) - 1 or len(path) == 1:
        raise EditError(
            f"{format_path(path)!r} lies in layer {len(path)}; it can move under a node of layer "
            f"{len(path) - 1}, and {format_path(parent)!r} lies in layer {len(parent)}"
        )
    if parent == path[:-1]:
        return EditResult(tree, {})
    new = (*parent, node.name)
    moves = {leaf: new + leaf[len(path) :] for leaf in _leaves_under(tree, path)}
    hung = _hang(_set(tree, path), parent, node)
    return EditResult(_tidy(hung, path), moves)


def _merge(tree: Tree, path: Path, into: Path) -> EditResult:
    node, other = _need(tree, path), _need(tree, into)
    if path == into:
        raise EditError(f"{format_path(path)!r} can't be merged with itself")
    if len(path) != len(into) or len(path) == 1:
        raise EditError("only nodes of the same layer, below the roots, can be merged")
    moves = {leaf: into + leaf[len(path) :] for leaf in _leaves_under(tree, path)}
    united = replace(other, children=_unite(other.children, node.children))
    merged = _set(_set(tree, into, united), path)
    spelled = {}
    for old, new in moves.items():
        # A child that joins one of the same name takes that one's spelling.
        found = merged.find_leaf(new)
        spelled[old] = new if found is None else found
    return EditResult(_tidy(merged, path), spelled)


def _unite(own: tuple[Node, ...], joining: tuple[Node, ...]) -> tuple[Node, ...]:
    out = {" ".join(node.name.casefold().split()): node for node in own}
    for node in joining:
        key = " ".join(node.name.casefold().split())
        if key in out:
            there = out[key]
            out[key] = replace(there, children=_unite(there.children, node.children))
        else:
            out[key] = node
    return tuple(out.values())


def _drop(tree: Tree, path: Path) -> EditResult:
    _need(tree, path)
    if len(path) == 1:
        raise EditError("roots are anchors and aren't dropped")
    moves: dict[Path, Path | None] = dict.fromkeys(_leaves_under(tree, path))
    return EditResult(_tidy(_set(tree, path), path), moves)
