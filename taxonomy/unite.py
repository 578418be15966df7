"""Uniting duplicates: which of the pairs that a judge called the same become one node.

Reference: ATOM E.1 (iterative refinement: nodes with redundant meaning are merged).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taxonomy.edits import LoggedEdit, Merge
from taxonomy.path import Path


@dataclass(frozen=True, kw_only=True)
class SameMeaning:
    """A verdict that two nodes of one layer mean the same.

    Attributes:
        first: one node.
        second: the other.
        why: the judge's reason.
    """

    first: Path
    second: Path
    why: str = ""


def unite(
    verdicts: Sequence[SameMeaning], criteria: Mapping[Path, int], *, by: str, round_: int
) -> tuple[LoggedEdit, ...]:
    """Turn verdicts into merges.

    Verdicts don't chain: of A = B and B = C, C joins A only when somebody said so, because a few
    wrong verdicts would otherwise pull half of the tree into one node. The node with the most
    criteria takes those that were called the same as it; the rest waits for the next round.

    Args:
        verdicts: pairs that are the same.
        criteria: criteria under each node.

    Returns:
        Merges that can be applied in this order: no node is in two of them but as a target.
    """
    same: dict[Path, dict[Path, str]] = {}
    for verdict in verdicts:
        if verdict.first != verdict.second:
            same.setdefault(verdict.first, {})[verdict.second] = verdict.why
            same.setdefault(verdict.second, {})[verdict.first] = verdict.why
    entries: list[LoggedEdit] = []
    taken: set[Path] = set()
    for centre in sorted(same, key=lambda path: (-criteria.get(path, 0), path)):
        if centre in taken or _inside(centre, taken):
            continue
        for other in sorted(same[centre]):
            if other in taken or _inside(other, taken) or len(other) != len(centre):
                continue
            edit = Merge(other, centre)
            entries.append(LoggedEdit(edit=edit, by=by, why=same[centre][other], round=round_))
            taken.add(other)
        taken.add(centre)
    return tuple(entries)


def _inside(path: Path, taken: set[Path]) -> bool:
    """Whether a node above or below the path has a part in a merge already."""
    return any(
        path[: len(other)] == other or other[: len(path)] == path
        for other in taken
        if other != path
    )
