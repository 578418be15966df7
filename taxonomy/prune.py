"""Pruning by support: a leaf that too few criteria or samples speak for is no capability.

Reference: ATOM E.1 (fewer than 5 criteria: merged into the nearest neighbour, or pruned);
METHODS A9 (we count distinct samples as well).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from taxonomy.edits import Drop, LoggedEdit, Merge
from taxonomy.grow import GrownTree
from taxonomy.path import Path, format_path

MIN_CRITERIA = 5
MIN_SAMPLES = 5
RULE = "rule: support"
"""Who proposes these edits."""

Nearest = Callable[[Path, Sequence[Path]], Path | None]
"""Of other leaves, the one that is most like a leaf; None where none is like it at all."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """How much speaks for a leaf.

    Attributes:
        criteria: criteria that hang on it.
        samples: distinct samples that they come from.
    """

    criteria: int = 0
    samples: int = 0

    def enough(self, criteria: int = MIN_CRITERIA, samples: int = MIN_SAMPLES) -> bool:
        """Whether a leaf with this support stands by itself."""
        return self.criteria >= criteria and self.samples >= samples

    def __str__(self) -> str:
        return f"{self.criteria:,} criteria of {self.samples:,} samples"


def support(grown: GrownTree, sample_of: Mapping[str, str]) -> dict[Path, Support]:
    """Count the support of every leaf.

    Args:
        sample_of: criterion id -> sample id.

    Returns:
        Support by leaf, in the tree's order; leaves without any are there, too.
    """
    criteria: dict[Path, int] = dict.fromkeys(grown.tree.leaves, 0)
    samples: dict[Path, set[str]] = {leaf: set() for leaf in criteria}
    for criterion, leaf in grown.leaf_of.items():
        criteria[leaf] += 1
        samples[leaf].add(sample_of[criterion])
    return {leaf: Support(criteria=n, samples=len(samples[leaf])) for leaf, n in criteria.items()}


def prune(
    grown: GrownTree,
    sample_of: Mapping[str, str],
    nearest: Nearest,
    *,
    min_criteria: int = MIN_CRITERIA,
    min_samples: int = MIN_SAMPLES,
    round_: int = 0,
) -> GrownTree:
    """Merge or drop leaves until every one that is left has enough support.

    The leaf with the least support goes first, and what it brings counts for the leaf that takes
    it. A leaf without any criterion, or that no other is like, is dropped; the criteria of a
    dropped leaf hang nowhere.

    Args:
        sample_of: criterion id -> sample id.
        nearest: finds a leaf's nearest neighbour.
        min_criteria: criteria that a leaf needs.
        min_samples: distinct samples that a leaf needs.
        round_: the round, for the log.

    Returns:
        The pruned tree with its log; no leaf of it is under the threshold.
    """
    while True:
        known = support(grown, sample_of)
        weak = [leaf for leaf, s in known.items() if not s.enough(min_criteria, min_samples)]
        if not weak:
            return grown
        leaf = min(weak, key=lambda path: (known[path].criteria, known[path].samples, path))
        others = [other for other in known if other != leaf]
        place = nearest(leaf, others) if known[leaf].criteria and others else None
        need = f"{known[leaf]}; {min_criteria:,} of {min_samples:,} are needed"
        if place is None:
            entry = LoggedEdit(edit=Drop(leaf), by=RULE, why=need, round=round_)
        else:
            why = f"{need}; the nearest is {format_path(place)}"
            entry = LoggedEdit(edit=Merge(leaf, place), by=RULE, why=why, round=round_)
        grown = grown.edited([entry])
