"""Sentences about a panel of judges, the same on screens, on the terminal and in reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from atom.display import numbers
from atom.display.numbers import money
from atom.views.judges.panel import Advice, PanelView

OPTIONS: Final[Mapping[str, str]] = {
    "samples": "As many samples again (marking alone)",
    "repeat": "Every judge asked once more",
    "judge": "Another judge like these",
}
"""What would narrow a panel's interval."""


def made_of(found: Advice) -> str:
    """Say how well the panel's mean is known, and what that is made of."""
    return (
        f"Over all {found.marks:,} marks that every judge gave, the mean is known to "
        f"± {found.half:.2f} points; {numbers.share(found.judges)} of that variance is the judges’ "
        "noise, the rest the samples’."
    )


def options_words(found: Advice) -> tuple[str, ...]:
    """Say of each option how narrow the interval would be, and what it would cost."""
    return tuple(
        f"{OPTIONS[one.name]}: "
        + (f"± {one.half:.2f}" if math.isfinite(one.half) else f"not known, {found.why_repeat}")
        + f", {_price(one.price)}"
        for one in found.options
    )


def _price(price: float | None) -> str:
    return f"about {money(price)}" if price else money(price)


def best_words(found: Advice) -> str:
    """Say which option narrows most; nothing where none does."""
    if not found.best:
        return ""
    name = OPTIONS[found.best]
    return f"{name} narrows most{' for its price' if found.by_price else ''}."


def panel_words(view: PanelView) -> tuple[str, ...]:
    """Say what the judges are worth together and what would narrow their mean, a line each."""
    names = ", ".join(one.judge.name for one in view.seats)
    panel = view.panel
    known = math.isfinite(panel.reliability)
    lines = [
        f"A panel of {numbers.count(len(view.seats), 'judge')}: {names}. "
        + (f"Reliability of their mean {panel.reliability:.2f}; " if known else "")
        + f"{view.needed if known else view.needed[0].upper() + view.needed[1:]}."
    ]
    lines += [
        f"{one.judge.name} is {one.flaw}: beside the others "
        f"{numbers.signed_interval(one.shift, one.shift_lo, one.shift_hi)} points."
        for one in view.seats
        if one.flaw
    ]
    if view.drop:
        lines.append(f"Without {view.drop} the others agree better: leave it out.")
    if view.advice is not None:
        told = "; ".join(options_words(view.advice))
        lines.append(
            " ".join(filter(None, (made_of(view.advice), f"{told}.", best_words(view.advice))))
        )
    return tuple(lines)
