"""Right answer, wrong reason: final answers against the process that led to them.

Reference: METHODS B15; T1 (what a failed process is, terse answers).
"""

from __future__ import annotations

from dataclasses import dataclass

from atom.analysis.intervals import wilson


@dataclass(frozen=True, kw_only=True)
class Quadrant:
    """Counts of a model's answers that have both an outcome and a scored process.

    Attributes:
        sound: right answer, process passes.
        lucky: right answer, process fails.
        slip: wrong answer, process passes.
        broken: wrong answer, process fails.
        lucky_share: lucky / right answers, with its Wilson interval; NaN without right answers.
        lucky_lo: lower end.
        slip_share: slips / answers whose process passes; NaN without any.
        terse: answers that say too little for a process; in none of the fields.
    """

    sound: int
    lucky: int
    slip: int
    broken: int
    lucky_share: float
    lucky_lo: float
    lucky_hi: float
    slip_share: float
    terse: int = 0

    @property
    def n(self) -> int:
        """Answers in the four fields."""
        return self.sound + self.lucky + self.slip + self.broken


def quadrant_of(*, sound: int, lucky: int, slip: int, broken: int, terse: int = 0) -> Quadrant:
    """Return a quadrant's shares, where its answers are counted already.

    Args:
        sound: right answer, process passes.
        lucky: right answer, process fails.
        slip: wrong answer, process passes.
        broken: wrong answer, process fails.
        terse: answers that say too little for a process.
    """
    n_right, n_pass = sound + lucky, sound + slip
    lo, hi = wilson(lucky, n_right)
    return Quadrant(
        sound=sound,
        lucky=lucky,
        slip=slip,
        broken=broken,
        lucky_share=lucky / n_right if n_right else float("nan"),
        lucky_lo=lo,
        lucky_hi=hi,
        slip_share=slip / n_pass if n_pass else float("nan"),
        terse=terse,
    )
