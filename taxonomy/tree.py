"""A capability tree as a value: frozen nodes, found by path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from taxonomy.path import Path, fold, format_path


@dataclass(frozen=True)
class Node:
    """A node of a tree.

    Args:
        name: unique among its siblings.
        meaning: one plain sentence.
        children: empty for a leaf, and for a root that nothing hangs on yet.
    """

    name: str
    meaning: str = ""
    children: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("a node needs a name")
        names = [" ".join(child.name.casefold().split()) for child in self.children]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"children of {self.name!r} share a name: {repeated!r}")


@dataclass(frozen=True)
class Tree:
    """A rooted forest of capabilities.

    Args:
        roots: the anchors.
    """

    name: str
    roots: tuple[Node, ...]
    _index: dict[Path, Node] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        Node("tree", children=self.roots)
        for path, node in self.walk():
            self._index[path] = node

    def walk(self) -> Iterator[tuple[Path, Node]]:
        """Yield every (path, node), parents first, in the tree's order."""
        stack: list[tuple[Path, Node]] = [((root.name,), root) for root in reversed(self.roots)]
        while stack:
            path, node = stack.pop()
            yield path, node
            stack.extend(((*path, child.name), child) for child in reversed(node.children))

    @cached_property
    def leaves(self) -> tuple[Path, ...]:
        """Paths of all leaves, in the tree's order; a root without children is no leaf."""
        return tuple(path for path, node in self.walk() if not node.children and len(path) > 1)

    @cached_property
    def _folded(self) -> dict[Path, Path]:
        return {fold(path): path for path in self.leaves}

    def __contains__(self, path: object) -> bool:
        return path in self._index

    def node(self, path: Path) -> Node:
        """Return the node at a path.

        Raises:
            KeyError: there is no such node; the message names it.
        """
        try:
            return self._index[path]
        except KeyError:
            raise KeyError(f"no node {format_path(path)!r} in tree {self.name!r}") from None

    def find_leaf(self, path: Path) -> Path | None:
        """Return the leaf that this path means (case and spacing are forgiven), or None."""
        return self._folded.get(fold(path))
