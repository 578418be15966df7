"""How much of right-answer-wrong-reason plain guessing would give.

Reference: METHODS B15.
"""

from __future__ import annotations

import math


def lucky_by_guessing(passing: float, guess_rate: float) -> float:
    """Return the share of right answers with a failed process that guessing alone explains.

    With a share `pi` of answers whose process passes (and which are then right) and a rate `g` of
    right guesses among the rest: `(1 - pi) g / (pi + (1 - pi) g)`.

    Args:
        passing: pi, 0..1.
        guess_rate: g, 0..1: one over the number of choices; 0 where there are none.

    Returns:
        The share; NaN where no answer could be right.

    Reference:
        METHODS B15.
    """
    right = passing + (1 - passing) * guess_rate
    return (1 - passing) * guess_rate / right if right > 0 else math.nan
