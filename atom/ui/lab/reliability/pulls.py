"""What else may sway the judge: the place, the length, the family."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit
from atom.ui.html import Html, el, join
from atom.views.lab.reliability.position import PositionRow
from atom.views.lab.reliability.tab import Reliability


def pulls(view: Reliability) -> Html:
    """Draw what else may sway the judge: the place, the length, the family."""
    return kit.section(
        "What else may sway it?",
        _place(view.position),
        _length(view),
        el("p", _family(view), style="margin-top:8px"),
    )


def _place(rows: Sequence[PositionRow]) -> Html:
    if not rows:
        return el(
            "p",
            "Place: no votes on pairs in both orders are stored, so it can’t be said whether the "
            "answer shown first has it easier.",
            class_="quiet",
        )
    return join(
        kit.grid(
            rows,
            kit.MarkupColumn("Judge", lambda row: numbers.middle(row.judge, 30)),
            kit.MarkupColumn("Pairs of", lambda row: kit.short(row.where, 60)),
            kit.number(
                "same winner when swapped",
                lambda row: numbers.percent(
                    100 * row.found.consistent / row.found.pairs, row.found.pairs
                ),
            ),
            kit.number(
                "the first shown wins",
                lambda row: numbers.percent(100 * row.found.first_share, row.found.pairs),
            ),
            kit.number(
                "pull of the first place (95 %)",
                lambda row: numbers.signed_interval(row.found.beta, row.found.lo, row.found.hi, 2),
            ),
            kit.number("pairs", lambda row: kit.quiet(f"{row.found.pairs:,}")),
            label="Position bias",
        ),
        kit.note("Pull: 0 means that the place doesn’t matter; positive leans to the answer shown "
           "first (half the log odds of the two kinds of conflict)."),
    )  # fmt: skip


def _length(view: Reliability) -> Html:
    pull = view.length
    if math.isnan(pull.slope):
        words = "Length: too few questions with several scored answers to say."
        return el("p", words, class_="quiet", style="margin-top:8px")
    held = "with the final answer’s outcome held equal" if pull.controlled else (
        "the outcome isn’t known, so quality isn’t held equal"
    )  # fmt: skip
    return el(
        "p",
        f"Length: an answer twice as long as another to the same question scores "
        f"{numbers.signed(pull.slope, 2)} points of 1–5 "
        f"({numbers.signed_ends(pull.lo, pull.hi, 2)}; {pull.n:,} answers to "
        f"{pull.clusters:,} questions, {held}).",
        style="margin-top:8px",
    )


def _family(view: Reliability) -> str:
    if view.synthetic:
        return "Family: the judge is simulated and reads the truth; it has no kin."
    if view.family:
        return (
            f"Family: the judge shares its family with {', '.join(view.family[:8])}. Judges tend "
            "to be kinder to their own kind."
        )
    return "Family: no model here is of the judge’s own family, as far as names tell."
