"""Criteria as a reader edits them in Live replay, with their weights and leaves."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from atom.records import (
    Criterion,
    Region,
    Sample,
)
from atom.records import Mapping as LeafMapping
from atom.stages import criteria as criteria_stage
from atom.stages.criteria import CriteriaResult, EditedCriterion
from atom.stages.gate import TOTAL_WEIGHT, largest_remainder
from atom.stages.schemas import MAX_CRITERIA
from taxonomy import Path, Tree, format_path

HAND = "hand"
"""The prompt of a mapping that a person chose."""


TYPED = "typed"
"""The prompt of an answer that a person typed."""


MOST_CHOICES = 26


@dataclass(frozen=True, kw_only=True)
class DraftCriterion:
    """A criterion as the editor holds it.

    Attributes:
        key: its name in the editor; stays while its words change.
        question: the open question.
        truth: its ground truth.
        weight: a whole number from 1 to 10.
        leaf: where it hangs in the tree; None while it isn't mapped.
        step: 1-based step of the replay that it checks.
        regions: where to look.
    """

    key: str
    question: str = ""
    truth: str = ""
    weight: int = 1
    leaf: Path | None = None
    step: int | None = None
    regions: tuple[Region, ...] = ()

    @property
    def blank(self) -> bool:
        """Whether its question or its truth is still to be written."""
        return not self.question.strip() or not self.truth.strip()


Drafts = tuple[DraftCriterion, ...]


def drafts_of(result: CriteriaResult) -> Drafts:
    """Take a judge's criteria into the editor."""
    words = {criterion.id: criterion for criterion in result.criteria}
    return tuple(
        DraftCriterion(
            key=f"j{use.position}",
            question=words[use.criterion_id].question,
            truth=words[use.criterion_id].ground_truth,
            weight=max(1, round(use.weight)),
            step=use.step,
            regions=use.regions,
        )
        for use in result.criteria_set.uses
        if use.criterion_id in words
    )


def changed(drafts: Drafts, key: str, **values: object) -> Drafts:
    """Change fields of one criterion."""
    return tuple(
        replace(draft, **values) if draft.key == key else draft  # type: ignore[arg-type]
        for draft in drafts
    )


def dropped(drafts: Drafts, key: str) -> Drafts:
    """Take one criterion out."""
    return tuple(draft for draft in drafts if draft.key != key)


def added(drafts: Drafts, taken: Collection[str] = ()) -> Drafts:
    """Add an empty criterion at the end, with what is left of the weights.

    Args:
        taken: names that were used before, so that an undone step keeps its own.
    """
    if len(drafts) >= MAX_CRITERIA:
        return drafts
    used = {*taken, *(draft.key for draft in drafts)}
    key = next(f"h{n}" for n in itertools.count(1) if f"h{n}" not in used)
    left = min(max(TOTAL_WEIGHT - total(drafts), 1), 10)
    return (*drafts, DraftCriterion(key=key, weight=left))


def moved(drafts: Drafts, key: str, by: int) -> Drafts:
    """Move one criterion up (-1) or down (1).

    A criterion that no longer stands in the order of the replay's steps loses its step, since a
    set is ordered by steps where every criterion names one.
    """
    order = list(drafts)
    at = next((n for n, draft in enumerate(order) if draft.key == key), None)
    if at is None or not 0 <= at + by < len(order):
        return drafts
    order.insert(at + by, order.pop(at))
    steps = [draft.step for draft in order if draft.step is not None]
    if len(steps) == len(order) and steps != sorted(steps):
        order[at + by] = replace(order[at + by], step=None)
    return tuple(order)


def total(drafts: Drafts) -> int:
    """Add the weights up."""
    return sum(draft.weight for draft in drafts)


def balanced(drafts: Drafts) -> Drafts:
    """Bring the weights to a total of 10 by largest remainder, in proportion, none below 1."""
    if not drafts or len(drafts) > TOTAL_WEIGHT:
        return drafts
    weights = largest_remainder([float(draft.weight) for draft in drafts])
    return tuple(
        replace(draft, weight=weight) for draft, weight in zip(drafts, weights, strict=True)
    )


def criterion_id(sample: Sample, draft: DraftCriterion) -> str:
    """Name the criterion that a draft would make: by its words alone."""
    return Criterion.make_id(sample.id, draft.question.strip(), draft.truth.strip())


def same_content(drafts: Drafts, others: Drafts) -> bool:
    """Whether two editor states make the same set; leaves aside."""

    def plain(items: Drafts) -> list[tuple[object, ...]]:
        return [(d.question.strip(), d.truth.strip(), d.weight, d.step, d.regions) for d in items]

    return plain(drafts) == plain(others)


def result_of(
    sample: Sample, judge_id: str, replay_id: str | None, drafts: Drafts, judged: CriteriaResult
) -> CriteriaResult:
    """Make the criteria set of what the editor holds.

    Args:
        replay_id: the replay that the criteria rest on.
        drafts: what the editor holds.

    Returns:
        The judge's own set while nothing was changed, else a set by hand; unscored, with the
        reason, when it can't be used.
    """
    if judged.criteria_set.state == "scored" and same_content(drafts, drafts_of(judged)):
        return judged
    rows = [
        EditedCriterion(
            question=draft.question.strip(),
            ground_truth=draft.truth.strip(),
            weight=draft.weight,
            step=draft.step,
            regions=draft.regions,
        )
        for draft in drafts
    ]
    return criteria_stage.edited(sample, judge_id, replay_id, rows)


def mappings_of(
    sample: Sample,
    drafts: Drafts,
    judged: Mapping[str, LeafMapping],
    version: str,
    judge_id: str,
) -> tuple[LeafMapping, ...]:
    """Make the mappings of what the editor holds.

    Args:
        drafts: what the editor holds.
        judged: the judge's mappings by criterion id; kept where the leaf is still the judge's.
        version: the tree's version.
    """
    found = []
    for draft in drafts:
        identity = criterion_id(sample, draft)
        own = judged.get(identity)
        if own is not None and own.leaf == draft.leaf:
            found.append(own)
        elif draft.leaf is not None:
            found.append(
                LeafMapping(
                    criterion_id=identity,
                    tree_version=version,
                    judge_id=judge_id,
                    prompt=HAND,
                    state="scored",
                    leaf=draft.leaf,
                    detail="chosen by hand",
                )
            )
    return tuple(found)


def with_leaves(sample: Sample, drafts: Drafts, mappings: Sequence[LeafMapping]) -> Drafts:
    """Hang criteria that hang nowhere yet where the judge says."""
    leaves = {mapping.criterion_id: mapping.leaf for mapping in mappings if mapping.leaf}
    return tuple(
        replace(draft, leaf=leaves.get(criterion_id(sample, draft))) if not draft.leaf else draft
        for draft in drafts
    )


def leaf_choices(tree: Tree) -> dict[str, Path]:
    """List the tree's leaves: text form -> path."""
    return {format_path(path): path for path in tree.leaves}
