"""A tree that is growing: what it looks like now, and what happened last.

The picture keeps its places: a node stays where it was drawn first, and a new one is laid out by
NetworkX' force-directed layout among those that are there, from a start beside its parent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from taxonomy import DEPTH, Path, Tree, format_path
from taxonomy.edits import Add, Drop, Edit, LoggedEdit, Merge, Move, Rename, apply

EventKind = Literal["added", "united", "pruned", "moved", "renamed"]
Places = Mapping[Path, tuple[float, float]]
NEWEST = 14
"""Events that are listed."""
_SETTLE = 40
_RADII = (0.0, 0.42, 0.7, 0.9, 1.15)
"""Distance from the middle at which a node of a layer begins."""
_SPREAD = 0.32
"""Angle in radians by which siblings begin apart."""


@dataclass(frozen=True, kw_only=True)
class GrowthNode:
    """A node of the picture.

    Attributes:
        path: the node; empty for the middle.
        x: to the right, about -1.3 to 1.3.
        y: downwards, likewise.
        criteria: criteria that hang under it.
        root: number of its root; -1 for the middle.
        fresh: whether it came or took others in lately.
    """

    path: Path
    x: float
    y: float
    criteria: int
    root: int
    fresh: bool


@dataclass(frozen=True, kw_only=True)
class GrowthEvent:
    """Something that happened to a leaf or a group.

    Attributes:
        what: the node, its last two names.
        into: what took it in, or its new name or parent; empty where there is none.
        by: who decided: the judge or the rule of support.
        why: the reason, in words.
    """

    kind: EventKind
    what: str
    into: str
    by: str
    why: str


@dataclass(frozen=True, kw_only=True)
class GrowthView:
    """A growing tree.

    Attributes:
        nodes: the picture's nodes, parents first; the first is the middle.
        edges: pairs of indices into `nodes`.
        leaves: leaves now.
        placed: criteria that hang on one.
        added: leaves that were proposed so far.
        united: nodes that were taken in by another.
        pruned: leaves that were dropped, or merged for want of support or sense.
        events: the newest first.
        tree: the tree as it is now.
        n_edits: edits that led to it.
        places: where the nodes lie.
    """

    nodes: tuple[GrowthNode, ...]
    edges: tuple[tuple[int, int], ...]
    leaves: int
    placed: int
    added: int
    united: int
    pruned: int
    events: tuple[GrowthEvent, ...]
    tree: Tree
    n_edits: int
    places: Places


def growth_view(
    start: Tree,
    entries: Sequence[LoggedEdit],
    held: Mapping[Path, int],
    before: GrowthView | None = None,
) -> GrowthView:
    """Work out the picture of a growing tree.

    Args:
        start: the tree that the edits start from.
        entries: every edit so far.
        held: leaf -> criteria that hang on it.
        before: the picture before: its nodes stay where they are, its edits aren't made again, and
            what came after them is fresh. One of more edits is of another growth, and is left.
    """
    if before is not None and before.n_edits > len(entries):
        before = None
    seen = before.n_edits if before is not None else 0
    tree = before.tree if before is not None else start
    for entry in entries[seen:]:
        tree = apply(tree, entry.edit).tree
    fresh = {path for entry in entries[seen:] for path in _touched(entry.edit)}
    paths = [path for path, _ in tree.walk()]
    laid = _lay_out(paths, dict(before.places) if before is not None else {})
    root_of = {root.name: number for number, root in enumerate(tree.roots)}
    criteria = _criteria_under(held)
    nodes = [GrowthNode(path=(), x=0.0, y=0.0, criteria=sum(held.values()), root=-1, fresh=False)]
    nodes += [
        GrowthNode(
            path=path,
            x=laid[path][0],
            y=laid[path][1],
            criteria=criteria.get(path, 0),
            root=root_of[path[0]],
            fresh=path in fresh,
        )
        for path in paths
    ]
    index = {node.path: number for number, node in enumerate(nodes)}
    kinds = [_kind(entry) for entry in entries]
    return GrowthView(
        nodes=tuple(nodes),
        edges=tuple((index[path[:-1]], index[path]) for path in paths),
        leaves=len(tree.leaves),
        placed=sum(held.values()),
        added=sum(_is_leaf(entry.edit) for entry in entries),
        united=kinds.count("united"),
        pruned=kinds.count("pruned"),
        events=tuple(_event(entry) for entry in reversed(entries[-NEWEST:])),
        tree=tree,
        n_edits=len(entries),
        places={path: laid[path] for path in paths},
    )


def _is_leaf(edit: Edit) -> bool:
    return isinstance(edit, Add) and len(edit.parent) == DEPTH - 1


def _touched(edit: Edit) -> tuple[Path, ...]:
    match edit:
        case Add(parent, name, _):
            return ((*parent, name),)
        case Merge(_, into):
            return (into,)
        case Rename(path, name):
            return ((*path[:-1], name),)
        case Move(path, parent):
            return ((*parent, path[-1]),)
        case _:
            return ()


def _kind(entry: LoggedEdit) -> EventKind:
    match entry.edit:
        case Add():
            return "added"
        case Rename():
            return "renamed"
        case Move():
            return "moved"
        case Merge() if not (entry.by.startswith("rule:") or entry.why.startswith("vague:")):
            return "united"
        case _:
            return "pruned"


def _event(entry: LoggedEdit) -> GrowthEvent:
    match entry.edit:
        case Add(parent, name, _):
            what, into = (*parent, name), ""
        case Merge(what, place):
            into = _short(place)
        case Rename(what, into):
            pass
        case Move(what, parent):
            into = _short(parent)
        case Drop(what):
            into = ""
    return GrowthEvent(kind=_kind(entry), what=_short(what), into=into, by=entry.by, why=entry.why)


def _short(path: Path) -> str:
    return format_path(path[-2:])


def _criteria_under(held: Mapping[Path, int]) -> dict[Path, int]:
    counts: dict[Path, int] = {}
    for leaf, n in held.items():
        for depth in range(1, len(leaf) + 1):
            counts[leaf[:depth]] = counts.get(leaf[:depth], 0) + n
    return counts


def _lay_out(
    paths: Sequence[Path], places: dict[Path, tuple[float, float]]
) -> dict[Path, tuple[float, float]]:
    """Place what has no place yet; what has one stays there."""
    import networkx as nx

    new = [path for path in paths if path not in places]
    roots = [path for path in paths if len(path) == 1]
    for number, root in enumerate(roots):
        turn = 2 * math.pi * number / len(roots) - math.pi / 2
        places.setdefault(root, _at(turn, 1))
    siblings: dict[Path, int] = {}
    for path in paths:
        parent = path[:-1]
        siblings[parent] = siblings.get(parent, 0) + 1
        if path not in places:
            x, y = places[parent]
            step = siblings[parent]
            aside = (step // 2) * (1 if step % 2 else -1) * _SPREAD / len(path)
            places[path] = _at(math.atan2(y, x) + aside, len(path))
    moving = [path for path in new if len(path) > 1]
    if not moving:
        return places
    graph = nx.Graph()
    graph.add_nodes_from([(), *paths])
    graph.add_edges_from((path[:-1], path) for path in paths)
    still = [(), *(path for path in paths if path not in set(moving))]
    found = nx.spring_layout(
        graph,
        pos={(): (0.0, 0.0), **{path: places[path] for path in paths}},
        fixed=still,
        k=1.0 / math.sqrt(len(paths) + 1),
        iterations=_SETTLE,
        seed=0,
    )
    return {path: (float(found[path][0]), float(found[path][1])) for path in paths}


def _at(turn: float, layer: int) -> tuple[float, float]:
    radius = _RADII[min(layer, len(_RADII) - 1)]
    return radius * math.cos(turn), radius * math.sin(turn)
