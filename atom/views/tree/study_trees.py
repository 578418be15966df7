"""A study under any of its trees: those of its history, and rivals that a judge mapped."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from atom.errors import DataError
from atom.records import TreeOrigin, TreeVersion
from atom.store import Store, load_tree
from atom.store.standing.criteria import leaves_of
from atom.store.trees import mapped_trees, tree_versions
from atom.views.shards import spread
from atom.views.study_data import StudyData

RIVAL = "a rival, mapped for comparison"
ORIGINS: dict[TreeOrigin, str] = {
    "seed": "seed tree",
    "induced": "grown from the criteria",
    "hand": "by hand",
    "imported": "from a file",
}


@dataclass(frozen=True, kw_only=True)
class StudyTree:
    """A tree that a study can be looked at in.

    Attributes:
        version: content hash of the tree.
        origin: where it came from, in words.
        position: its place in the study's history; None for a rival.
        own: whether it is the study's tree now.
    """

    version: str
    name: str
    origin: str
    position: int | None
    leaves: int
    own: bool


def study_trees(store: Store, data: StudyData, own: str | None) -> tuple[StudyTree, ...]:
    """List the trees that criteria of a study hang in: its own first, then the newest, rivals last.

    Args:
        data: the study, under any of its trees.
        own: version of its own tree; None = it has none.
    """
    points: dict[str, TreeVersion] = {}
    for point in tree_versions(store, data.study.id):
        # An undo is a point by hand; a tree came from where it was first.
        points[point.version] = points.get(point.version, point).model_copy(
            update={"position": point.position}
        )
    found = []
    for version in mapped_trees(store, data.table.criterion_ids):
        made = points.get(version)
        try:
            tree = load_tree(store, version)
        except DataError:  # its text is gone
            continue
        found.append(
            StudyTree(
                version=version,
                name=tree.name,
                origin=ORIGINS[made.origin if made else "seed"]
                if made or version == own
                else RIVAL,
                position=made.position if made else None,
                leaves=len(tree.leaves),
                own=version == own,
            )
        )

    def rank(one: StudyTree) -> tuple[bool, bool, int, str]:
        return (not one.own, one.position is None, -(one.position or 0), one.name)

    return tuple(sorted(found, key=rank))


def under_tree(store: Store, data: StudyData, version: str) -> StudyData:
    """Return a study as it is under another tree: the same marks, hung elsewhere.

    Criteria that hang nowhere in that tree are unplaced, as they would be in the study's own.

    Raises:
        DataError: there is no such tree.
    """
    tree, table = load_tree(store, version), data.table
    leaf_of = leaves_of(store, version, table.criterion_ids)
    place = {leaf: number for number, leaf in enumerate(tree.leaves)}
    leaves = tuple(
        sorted({*leaf_of.values()}, key=lambda leaf: (place.get(leaf, len(place)), leaf))
    )
    at = {leaf: number for number, leaf in enumerate(leaves)}
    code = np.array(
        [at[leaf_of[one]] if one in leaf_of else -1 for one in table.criterion_ids], dtype=np.int16
    )
    aside = table.aside.copy()
    if aside.size:
        aside[2] = code[aside[1]]
    leaf = code[table.criterion] if len(code) else table.leaf
    hung = replace(
        data,
        study=data.study.model_copy(update={"tree_version": version}),
        tree=tree,
        table=replace(table, leaf=leaf, leaves=leaves, aside=aside),
    )
    return spread(hung)
