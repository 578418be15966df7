"""Choose the criteria that an arm's feedback is about, and the peer that writes a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from atom.records import (
    Arm,
    Checkpoint,
    CriteriaSet,
    content_id,
)
from atom.stages.correction import ASKING

SOLVED: Final = 4
"""A peer's score of this or more: it solved the step."""


def select(
    criteria_set: CriteriaSet,
    checkpoints: Sequence[Checkpoint],
    arm: Arm,
    threshold: int = 2,
) -> tuple[str, ...]:
    """Select the criteria that an arm's feedback is about.

    Args:
        criteria_set: the sample's criteria with their weights.
        checkpoints: their scores on the answer that is tried again, by one judge, one repeat.
        threshold: a score of this or less is failed.

    Returns:
        Ids of criteria. Failed ones by weight times severity (5 - score), the largest first, then
        in the set's order. For `sham` passed ones, those that were passed best first, then by
        weight; no more than there are failed ones where there are any, so that both feedbacks are
        of like length. A criterion without a score is neither. Empty for an arm that isn't about
        criteria.
    """
    if arm not in ASKING:
        return ()
    scores = {
        checkpoint.criterion_id: checkpoint.score
        for checkpoint in checkpoints
        if checkpoint.state == "scored" and checkpoint.score is not None
    }
    uses = [use for use in criteria_set.uses if use.criterion_id in scores]
    failing = [use for use in uses if scores[use.criterion_id] <= threshold]
    if arm == "sham":
        passed = [use for use in uses if scores[use.criterion_id] > threshold]
        passed.sort(key=lambda use: (-scores[use.criterion_id], -use.weight, use.position))
        return tuple(use.criterion_id for use in passed[: len(failing) or None])
    failing.sort(key=lambda use: (-use.weight * (5 - scores[use.criterion_id]), use.position))
    return tuple(use.criterion_id for use in failing)


def choose_peer(
    criterion_id: str,
    scores: Mapping[str, int | None],
    ability: Mapping[str, float],
    family: Mapping[str, str],
    own: str,
    *,
    threshold: int = 2,
) -> str | None:
    """Choose the peer that writes the hint on a criterion.

    Args:
        criterion_id: the criterion; settles what else would be a draw.
        scores: candidate → its score on the criterion, None without one.
        ability: candidate → its overall score.
        family: candidate → its family; one that is missing is a family of its own.
        own: the model that gets the hint.
        threshold: a peer must have scored more than this, and 4 at least: who got a step half
            right has solved nothing.

    Returns:
        The peer with the best score, then the greatest ability, then by a hash of criterion and
        candidate, so that equals share the work. Never the model itself; of its own family only
        when no other peer solved the criterion. None when nobody did.
    """
    solvers = [
        peer
        for peer, score in scores.items()
        if peer != own and score is not None and score > threshold and score >= SOLVED
    ]
    strangers = [peer for peer in solvers if _family(family, peer) != _family(family, own)]
    return min(
        strangers or solvers,
        key=lambda peer: (
            -(scores[peer] or 0),
            -ability.get(peer, float("-inf")),
            content_id("peer", criterion_id, peer),
        ),
        default=None,
    )


def _family(family: Mapping[str, str], candidate: str) -> tuple[bool, str]:
    name = family.get(candidate, "")
    return (True, name) if name else (False, candidate)
