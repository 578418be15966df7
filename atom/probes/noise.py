"""What judges that aren't exact make of a mark: noise, leniency, chance.

A drawn mark keeps to the scale's own rules, as a judge that read the prompt does: silence is a 2,
and only what is wrong can be carried.

Reference: METHODS D3 (confusion of scores), T1, T2 (silence, carried).
"""

from __future__ import annotations

from typing import Final

from atom.probes.answers.derivation import RIGHT
from atom.probes.answers.values import PlantedMark
from atom.probes.draws import Draws

SILENCE_MISSED: Final = 0.05
"""The noisy judge takes silence for something said this often."""
SILENCE_IMAGINED: Final = 0.02
"""It takes something said for silence this often."""
CARRIED_MISSED: Final = 0.10
"""It fails to see that a slip was inherited this often."""
CARRIED_IMAGINED: Final = 0.05
"""It takes a slip for inherited this often, where the step rests on earlier ones."""


def noisy_mark(mark: PlantedMark, draws: Draws, *key: str | int, rests: bool) -> PlantedMark:
    """Draw what the noisy judge says for a true mark.

    Args:
        draws: equal draws and keys give equal marks.
        key: what tells this step from others.
        rests: whether the step is made from earlier ones.

    Returns:
        The mark. What it takes for silence it gives a 2; else the score is confused as
        `confusion_row` has it, the score of missed silence included.
    """
    missed = SILENCE_IMAGINED if mark.addressed else 1 - SILENCE_MISSED
    if draws.uniform("silence", *key) < missed:
        return PlantedMark(score=2, addressed=False)
    score = confuse(mark.score, draws, *key)
    seen = 1 - CARRIED_MISSED if mark.carried else CARRIED_IMAGINED * rests
    carried = score < RIGHT and draws.uniform("carried", *key) < seen
    return PlantedMark(score=score, carried=carried)


def coin_mark(draws: Draws, *key: str | int) -> PlantedMark:
    """Draw a score, 1 to 5 alike; a 2 is silence, and a slip carried, as often as not."""
    score = 1 + draws.integer(5, "coin", *key)
    silent = score == 2 and draws.uniform("silence", *key) < 0.5
    carried = score < RIGHT and not silent and draws.uniform("carried", *key) < 0.5
    return PlantedMark(score=score, addressed=not silent, carried=carried)


def confusion_row(
    score: int, *, diagonal: float = 0.80, far: float = 0.02, lenient: float = 0.2
) -> tuple[float, ...]:
    """Return P(said = 1..5 | true score) of the noisy judge.

    Args:
        score: the true score, 1..5.
        diagonal: probability of saying the truth.
        far: mass spread evenly over scores two or more away.
        lenient: the adjacent mass goes up with share 0.5 + lenient / 2.

    Returns:
        Five probabilities that sum to 1. At 1 and 5 the share that would leave the scale is folded
        onto the one neighbour.

    Reference: METHODS D3.
    """
    row = [0.0] * 5
    row[score - 1] = diagonal
    distant = [c for c in range(1, 6) if abs(c - score) >= 2]
    for c in distant:
        row[c - 1] += far / len(distant)
    adjacent = 1 - diagonal - far
    up = 0.5 + lenient / 2
    row[(score if score < 5 else score - 2)] += adjacent * up
    row[(score - 2 if score > 1 else score)] += adjacent * (1 - up)
    return tuple(row)


def confuse(score: int, draws: Draws, *key: str | int) -> int:
    """Draw what the noisy judge says for a true score; equal keys give equal draws."""
    left = draws.uniform("confusion", *key)
    row = confusion_row(score)
    for said, share in enumerate(row, start=1):
        if left < share:
            return said
        left -= share
    return score
