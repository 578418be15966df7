"""Marks of scores: a checkpoint's chip and its legend, a mean's interval."""

from __future__ import annotations

from atom.display.estimate import Estimate
from atom.ui.html import Html, el
from atom.ui.kit import along, colour


def interval_bar(estimate: Estimate, place: int = 0, *, lo: float = 0, hi: float = 100) -> Html:
    """Draw a mean and its interval on a scale.

    Args:
        place: the candidate's place, for its colour.
        lo: left end of the scale.
        hi: right end of the scale.
    """
    at = along(lo, hi)

    track = el("line", class_="track", x1="0", x2="100%", y1="8", y2="8")
    if not estimate.known:
        return el("svg", track, class_="bar", role="img", aria_label="no value")
    ink = colour(place)
    return el(
        "svg",
        track,
        el("line", class_="span", x1=at(estimate.lo), x2=at(estimate.hi), y1="8", y2="8",
           stroke=ink),
        el("line", class_="mid", x1=at(estimate.value), x2=at(estimate.value), y1="1", y2="15",
           stroke=ink),
        class_="bar",
        role="img",
        aria_label=f"{estimate.value:.1f}, interval {estimate.lo:.1f} to {estimate.hi:.1f}",
    )  # fmt: skip


def meter(estimate: Estimate) -> Html:
    """Draw a small interval under a number, on 0-100."""
    if not estimate.known:
        return Html("")
    width = max(estimate.hi - estimate.lo, 0.5)
    return el(
        "span",
        el("i", style=f"left:{estimate.lo:.1f}%;width:{width:.1f}%"),
        el("b", style=f"left:calc({estimate.value:.1f}% - 1px)"),
        class_="meter",
        aria_hidden="true",
    )


def score_chip(
    score: int | None,
    *,
    text: str | None = None,
    note: str = "",
    chosen: bool = False,
    glyph: str = "∅",
) -> Html:
    """Draw a checkpoint's score 1..5, or a glyph where there is none.

    Args:
        score: None = unscored or failed.
        text: what it says instead of the score, such as a mean.
        note: what the tooltip says (the model's name, the reason).
        chosen: whether it belongs to the chosen model.
        glyph: what stands for no score: `∅` unscored, `!` failed, `–` not there yet.
    """
    classes = f"chip {'none' if score is None else f's{score}'}{' chosen' if chosen else ''}"
    shown = glyph if score is None else text or score
    return el("span", shown, class_=classes, data_tip=note or None)


def score_legend(*, ours: bool = True) -> Html:
    """Explain the score chips.

    Args:
        ours: whether marks are on our own judges' scale, 1 to 5; else they stand as written.
    """
    if ours:
        chips = [score_chip(number) for number in (1, 2, 3, 4, 5)]
        return el("span", "score 1 (wrong)", chips, "5 (right)", class_="legend")
    chips = [score_chip(number, text=f"{25 * (number - 1)}") for number in (1, 2, 3, 4, 5)]
    return el("span", "marks as written, coloured by worth", chips, "of 100", class_="legend")
