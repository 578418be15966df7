"""How a difference is drawn: both means on a scale, and the difference about zero."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom.display import numbers
from atom.ui import kit
from atom.ui.compare.sides import names, short
from atom.ui.html import Html, el
from atom.views.compare.page import Comparison

VERDICTS = {
    "first": ("▲", "ahead", "ahead"),
    "second": ("▼", "behind", "behind"),
    "none": ("·", "not told apart", "even"),
    "thin": ("○", "insufficient", "even"),
}
"""Glyph, word and class of a verdict, seen from the first side."""


def marks_key(view: Comparison) -> Html:
    """Explain the two marks: a disc and a ring."""
    marks = (
        el("circle", cx="6", cy="6", r="5", fill=kit.colour(view.picked.first.colour)),
        el("circle", cx="6", cy="6", r="4.2", class_="ring",
           stroke=kit.colour(view.picked.second.colour)),
    )  # fmt: skip
    return el(
        "span",
        [
            el("span", el("svg", mark, aria_hidden="true"), numbers.middle(name, 30),
               class_="key", title=name)
            for mark, name in zip(marks, short(view), strict=True)
        ],
        class_="row small",
        style="gap:2px 12px",
    )  # fmt: skip


def dumbbell(view: Comparison, first: float, second: float) -> Html:
    """Draw both means on 0-100: a disc and a ring, joined."""
    a, b = names(view)
    track = el("line", class_="track", x1="0", x2="100%", y1="8", y2="8")
    if math.isnan(first) or math.isnan(second):
        return el("svg", track, class_="bar", role="img", aria_label="no value")
    at = [kit.along(0, 100)(mean) for mean in (first, second)]
    words = f"{a} {first:.1f}, {b} {second:.1f}"
    return el(
        "svg",
        track,
        el("line", class_="join", x1=at[0], x2=at[1], y1="8", y2="8"),
        el("circle", cx=at[1], cy="8", r="5.2", class_="ring",
           stroke=kit.colour(view.picked.second.colour)),
        el("circle", cx=at[0], cy="8", r="4.4", fill=kit.colour(view.picked.first.colour)),
        class_="bar",
        role="img",
        aria_label=words,
        data_tip=words,
    )  # fmt: skip


def forest(gap: float, lo: float, hi: float, limit: float, class_: str) -> Html:
    """Draw a difference and its interval about zero."""
    if math.isnan(gap):
        return el("span")
    at = kit.along(-limit, limit)
    return el(
        "svg",
        el("line", class_="track", x1="0", x2="100%", y1="8", y2="8"),
        el("line", class_="zero", x1="50%", x2="50%", y1="0", y2="16"),
        el("line", class_=f"span {class_}", x1=at(lo), x2=at(hi),
           y1="8", y2="8") if not math.isnan(lo) else None,
        el("line", class_=f"mid {class_}", x1=at(gap), x2=at(gap), y1="1", y2="15"),
        class_="bar",
        role="img",
        aria_label=f"difference {numbers.signed(gap)}",
    )  # fmt: skip


def difference(gap: float, lo: float, hi: float, verdict: str) -> Html:
    """Write `▲ +3.2 (0.9 to 5.5)`."""
    return mark(numbers.signed_interval(gap, lo, hi), verdict)


def mark(words: str, verdict: str) -> Html:
    """Write a difference with the glyph that says who is ahead."""
    glyph, word, class_ = VERDICTS[verdict]
    return el(
        "span",
        el("span", glyph, class_="glyph", role="img", aria_label=word),
        words,
        class_=f"diff {class_}",
        data_tip=word,
    )


def limit_of(ends: Sequence[float]) -> float:
    """Round the far end of a scale about zero up to a full step."""
    most = max(ends, default=10.0)
    step = 5.0 if most <= 20 else 10.0
    return min(max(step * math.ceil(most / step), 5.0), 100.0)
