"""The judge's mapping beside the one that people gave on Human check."""

from __future__ import annotations

from dataclasses import dataclass

from atom.records import AnnotationKind
from atom.store import Store
from atom.store.labels import labels_of
from atom.views.people.annotations import standing
from atom.views.study_data import StudyData
from atom.views.tree.node_table import PlacedCriteria
from taxonomy import parse_path


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """How far people put criteria where the judge put them.

    Attributes:
        n: criteria that people mapped to a leaf of this tree, and that the judge mapped, too.
        hits: those on the same leaf.
        roots: those under the same root.
        elsewhere: criteria that people mapped to a leaf that isn't in this tree.
        conflicts: criteria on which people disagree.
    """

    n: int
    hits: int
    roots: int
    elsewhere: int
    conflicts: int


_MAPPED_BY_HAND: tuple[AnnotationKind, ...] = ("mapping",)


def by_hand(store: Store, data: StudyData, where: PlacedCriteria) -> ByHand | None:
    """Hold the judge's mapping against the one that people gave on Human check.

    Args:
        where: its criteria in the tree.

    Returns:
        The counts; None where nobody has mapped a criterion.
    """
    stands = standing(labels_of(store, data.study.id, _MAPPED_BY_HAND))
    if not stands or data.tree is None:
        return None
    judged, leaves = where.leaf_of, set(data.tree.leaves)
    pairs, elsewhere = [], 0
    for (_, criterion), one in stands.items():
        if one.label is None:
            continue
        path = data.tree.find_leaf(parse_path(one.label.label))
        if path is None or path not in leaves:
            elsewhere += 1
        elif criterion in judged:
            pairs.append((path, judged[criterion]))
    return ByHand(
        n=len(pairs),
        hits=sum(mine == theirs for mine, theirs in pairs),
        roots=sum(mine[0] == theirs[0] for mine, theirs in pairs),
        elsewhere=elsewhere,
        conflicts=sum(one.state == "conflict" for one in stands.values()),
    )
