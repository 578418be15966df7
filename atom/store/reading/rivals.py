"""Trees that a study's own is held against: written without its data, or not yet pruned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from atom.errors import DataError
from atom.records import Study
from atom.store.store import Store
from atom.store.trees import load_tree, tree_log, tree_versions
from taxonomy import Path, Tree, load_anchors, load_general, load_rival, tree_version
from taxonomy.edits import EditError, apply, compose
from taxonomy.prune import RULE

RivalKind = Literal["unpruned", "seed", "hand_made", "generalist"]
WRITTEN: tuple[tuple[RivalKind, str, str], ...] = (
    ("hand_made", "Hand-made", "the tasks of computer vision textbooks"),
    ("generalist", "Generalist", "skills that language models are tested for"),
)


@dataclass(frozen=True, kw_only=True)
class RivalTree:
    """A tree that a study's own is held against.

    Attributes:
        about: how it was made.
        version: its content hash.
        sources: of an unpruned tree: leaf of the study's tree -> the leaves that it was made of.
    """

    kind: RivalKind
    name: str
    about: str
    tree: Tree
    version: str
    sources: Mapping[Path, tuple[Path, ...]] | None = None


def rival_trees(store: Store, study: Study) -> tuple[RivalTree, ...]:
    """Return the rivals of a study's tree, in the order of ATOM Table 3 read upwards.

    Left out are the seed tree where it is the study's own, and the tree before pruning where none
    is known.

    Args:
        study: the study; its `tree_version` is the tree whose rivals are wanted.

    Reference:
        ATOM Table 3 and F.2.
    """
    found = []
    before = _before_pruning(store, study)
    if before is not None:
        found.append(before)
    seeds = (load_general(), load_anchors())
    if study.tree_version not in [tree_version(seed) for seed in seeds]:
        about = "written before any criterion was seen"
        found.append(_rival("seed", "No data (seed tree)", about, seeds[study.synthetic]))
    found += [_rival(kind, name, about, load_rival(kind)) for kind, name, about in WRITTEN]
    return tuple(found)


def _rival(kind: RivalKind, name: str, about: str, tree: Tree) -> RivalTree:
    return RivalTree(kind=kind, name=name, about=about, tree=tree, version=tree_version(tree))


def _before_pruning(store: Store, study: Study) -> RivalTree | None:
    """Rebuild a study's tree as it was before pruning, from the log of the induction behind it."""
    points = [p for p in tree_versions(store, study.id) if p.version == study.tree_version]
    for point in reversed(points):
        if point.origin != "induced" or point.parent_version is None:
            continue
        log = tree_log(store, study.id, point.position)
        first = next((n for n, entry in enumerate(log) if entry.by == RULE), None)
        if first is None:
            continue
        try:
            before = load_tree(store, point.parent_version)
            for entry in log[:first]:
                before = apply(before, entry.edit).tree
            after, moves = before, []
            for entry in log[first:]:
                applied = apply(after, entry.edit)
                after = applied.tree
                moves.append(applied.moves)
        except (EditError, DataError, KeyError):
            return None
        sources: dict[Path, tuple[Path, ...]] = {}
        for old, new in compose(moves, before.leaves).items():
            if new is not None:
                sources[new] = (*sources.get(new, ()), old)
        return RivalTree(
            kind="unpruned",
            name="No prune",
            about="this tree before small leaves were pruned",
            tree=before,
            version=tree_version(before),
            sources=sources,
        )
    return None
