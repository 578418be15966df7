"""The rules that criteria which a judge wrote have to keep, besides being readable.

A criterion that yes or no answers, or whose question holds its truth, scores a guess like
knowledge; a final answer that carries most of the weight hides the way that led there. The prompt
says so, and models break it: this looks for it, and says what is wrong in words that can be sent
back.

Reference: ATOM 3.1 (atomic criteria).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from atom.records import Criterion, Sample
from atom.stages.texts import leaks
from atom.stages.texts.final_answer import compare_answer
from atom.stages.texts.options import plain

MOST_FOR_THE_END: Final = 4
"""Of 10: what the checkpoint on the final answer may carry."""

_AUXILIARY: Final = (
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|must|may|might"
    r"|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|can't|won't)"
)
_STARTS_POLAR: Final = re.compile(rf"\s*(?:and |so |now |then )?{_AUXILIARY}\b", re.I)
_TURNS_POLAR: Final = re.compile(rf"[,:;]\s*{_AUXILIARY}\b", re.I)
_WHETHER: Final = re.compile(
    r"\s*(?:(?:please\s+)?(?:say|state|tell|decide|determine|judge|check|indicate)\s+)?"
    r"(?:whether|if)\b",
    re.I,
)
_ASKS_FOR_MORE: Final = re.compile(
    r"\b(?:what|which|who|whom|whose|where|when|why|how)\b"
    r"|^\s*(?:can|could|would|will)\s+you\s+(?:please\s+)?(?:name|give|say|tell|list|describe)\b",
    re.I,
)
_LETS_CHOOSE: Final = re.compile(r"\bor\b(?!\s+not\b)", re.I)
_TAG: Final = re.compile(
    r",\s*(?:right|correct|true|yes|no|isn't it|is it|doesn't it|does it|aren't they|are they)"
    r"\s*\?\s*$",
    re.I,
)
_POLAR_TRUTH: Final = re.compile(r"\s*(?:yes|no|true|false)\s*(?:[.,;:!–—(-]|$)", re.I)
_POLAR_OPTIONS: Final = frozenset(("yes", "no", "true", "false", "correct", "incorrect"))


@dataclass(frozen=True, kw_only=True, slots=True)
class CriterionText:
    """What the rules look at of a criterion."""

    question: str
    ground_truth: str
    weight: int


def broken_rules(
    sample: Sample, criteria: Sequence[CriterionText], *, final: str | None
) -> tuple[str, ...]:
    """Say which rules a set of criteria breaks.

    Args:
        criteria: the set, in order, with weights that total 10.
        final: the final answer of the solution that they were cut from, where there is one.

    Returns:
        A sentence for each fault, naming the criterion by its place; empty when all is well. Where
        the sample itself asks for yes or no, one criterion may do so too: no wider question is
        possible then.
    """
    faults = []
    spared = _spared(sample, criteria)
    for place, one in enumerate(criteria, start=1):
        if place == spared:
            continue
        gives = leaks.gives_away(
            Criterion(
                id="draft",
                sample_id=sample.id,
                question=one.question,
                ground_truth=one.ground_truth,
            ),
            sample,
        )
        if asks_yes_or_no(one.question, one.ground_truth):
            faults.append(
                f"criterion {place} can be answered by yes or no: ask for the thing itself"
            )
        elif gives:
            faults.append(f"criterion {place}: {gives}")
    end = _asks_for_the_end(sample, criteria, final)
    if end is not None and criteria[end].weight > MOST_FOR_THE_END:
        faults.append(
            f"criterion {end + 1} asks for the final answer and carries {criteria[end].weight} of "
            f"10: {MOST_FOR_THE_END} at most"
        )
    return tuple(faults)


def asks_yes_or_no(question: str, truth: str = "") -> bool:
    """Whether a question is answered by yes or no.

    Args:
        truth: its true result; one that begins with yes or no settles it.
    """
    asked = question.replace("’", "'")
    if _POLAR_TRUTH.match(truth) or _TAG.search(asked):
        return True
    if _LETS_CHOOSE.search(asked):
        return False
    if _WHETHER.match(asked):
        return True
    if _STARTS_POLAR.match(asked):
        return _ASKS_FOR_MORE.search(asked) is None or _asks_about_a_clause(asked)
    turned = _TURNS_POLAR.search(asked)
    return turned is not None and not _ASKS_FOR_MORE.search(asked)


def _asks_about_a_clause(asked: str) -> bool:
    """Whether a question that begins as a yes-or-no one only has its wh-word further inside."""
    return re.match(r"\s*(?:can|could|would|will)\s+you\b", asked, re.I) is None


def _spared(sample: Sample, criteria: Sequence[CriterionText]) -> int | None:
    """Return the place of the one criterion that may ask for yes or no, if the sample does."""
    options = {plain(choice) for choice in sample.choices}
    polar = bool(options) and options <= _POLAR_OPTIONS
    if not polar and not asks_yes_or_no(sample.question, sample.reference or ""):
        return None
    asking = [
        place
        for place, one in enumerate(criteria, start=1)
        if asks_yes_or_no(one.question, one.ground_truth)
    ]
    return asking[-1] if asking else None


def _asks_for_the_end(
    sample: Sample, criteria: Sequence[CriterionText], final: str | None
) -> int | None:
    """Return the index of the criterion whose truth is the final answer, the last such one."""
    ends = [end for end in (final, sample.reference) if end]
    for at in range(len(criteria) - 1, -1, -1):
        if any(_says(sample, criteria[at].ground_truth, end) for end in ends):
            return at
    return None


def _says(sample: Sample, truth: str, end: str) -> bool:
    """Whether a ground truth is a final answer."""
    verdict = compare_answer(sample.model_copy(update={"reference": end}), truth)
    return plain(truth) == plain(end) or (verdict is not None and verdict.right)
