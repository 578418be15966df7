"""Two judges that read an answer alike, of which one looks at the picture and the other doesn't.

Both look for a criterion's ground truth in the answer's words. The sighted one holds it against
what it is shown, too, on the criteria that the picture settles (the branch `VISUAL`, told from the
words): shown nothing it gives a 2 there, shown another picture a 1. The sightless one marks the
text alone. So a control that shows a judge other things has to find the one and clear the other.

Reference: METHODS T8, D3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from atom.probes.answers.prose import fill
from atom.probes.answers.reading import same_words
from atom.probes.naming import planted_leaf
from atom.probes.program import Program

SIGHTED: Final = "probe-judge-sighted"
SIGHTLESS: Final = "probe-judge-sightless"
VISUAL: Final = "Perception"
"""The branch whose criteria the sighted judge settles by looking."""
RIGHT, UNSEEN, WRONG = 5, 2, 1
NOTE: Final = "The pictures aren't shown. They were described so:"
"""What stands before the description of pictures that a judge isn't shown."""


def describe(program: Program) -> dict[str, object]:
    """Describe a probe's picture: what each of its steps reads there."""
    told = " ".join(fill(step.phrases[0], step.truth) for step in program.steps)
    return {"description": told}


def mark_by_sight(
    question: str, item: Mapping[str, Any], answer: str, seen: Program | bool | None
) -> dict[str, object]:
    """Mark an answer at one criterion.

    Args:
        question: the sample's question, and behind it a description where there is one.
        item: the criterion: `id`, `question` and `ground_truth`.
        seen: what the picture shows; None = there is none; True = it isn't looked at.

    Returns:
        The entry, as a judge replies it.
    """
    asked, _, described = question.partition(NOTE)
    sub, truth = str(item.get("question", "")), str(item.get("ground_truth", ""))
    score, reason = _by_text(truth, answer)
    leaf = planted_leaf(asked.rstrip(), sub)
    if seen is not True and leaf is not None and leaf[0] == VISUAL:
        if isinstance(seen, Program):
            if not _shows(seen, sub, truth):
                score, reason = WRONG, "the picture shows something else"
        elif not _holds(described, truth):
            score, reason = UNSEEN, "there is no picture to see it by"
    return {
        "id": item.get("id"), "quote": "", "reason": reason, "addressed": True, "score": score,
        "carried": False,
    }  # fmt: skip


def _by_text(truth: str, answer: str) -> tuple[int, str]:
    if _holds(answer, truth):
        return RIGHT, "the answer states the ground truth"
    return WRONG, "the answer doesn't state the ground truth"


def _holds(text: str, truth: str) -> bool:
    words = same_words(truth)
    return bool(words) and f" {words} " in f" {same_words(text)} "


def _shows(program: Program, sub: str, truth: str) -> bool:
    words = same_words(sub)
    return any(
        same_words(step.question) == words and same_words(step.truth) == same_words(truth)
        for step in program.steps
    )
