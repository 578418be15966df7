"""Colours of nodes: one hue for scores and support, orange to blue for differences.

Evidence has a colour a label: oranges for weaknesses, blue for strengths, greys for no claim; a
glyph and a word always stand beside it.

Reference: the visual language of the screens; never red against green.
"""

from __future__ import annotations

import math
from typing import Literal

from atom.analysis.capability.diagnosis import Label

Scheme = Literal["light", "dark"]
Rgb = tuple[int, int, int]

_SCORE: dict[Scheme, tuple[str, ...]] = {
    "light": ("#EDF3FC", "#CADDF6", "#92BAEC", "#2F6BC2", "#14407F"),
    "dark": ("#1A2330", "#213A60", "#2C5594", "#76A4EC", "#BFD6FB"),
}
_DIFFERENCE: dict[Scheme, tuple[str, ...]] = {
    "light": ("#C9580C", "#F2B37A", "#FFFFFF", "#9DBBF0", "#2457D6"),
    "dark": ("#E8863A", "#7A4519", "#1E242C", "#2B4B8F", "#7AA2FF"),
}
_EVIDENCE: dict[Scheme, dict[Label, str]] = {
    "light": {"confirmed": "#B04A06", "suspected": "#F6C695", "strength": "#2457D6",
              "nothing found": "#E3E6EA", "insufficient": "#F6F7F9", "not said": "#EDF0F4"},
    "dark": {"confirmed": "#E8863A", "suspected": "#6B3C16", "strength": "#7AA2FF",
             "nothing found": "#2A3038", "insufficient": "#171B21", "not said": "#20262E"},
}  # fmt: skip
GROUND: dict[Scheme, str] = {"light": "#FFFFFF", "dark": "#0F1216"}
PANEL: dict[Scheme, str] = {"light": "#F6F7F9", "dark": "#171B21"}
INK: dict[Scheme, str] = {"light": "#1B1F24", "dark": "#E8EAED"}
QUIET: dict[Scheme, str] = {"light": "#5B6470", "dark": "#9AA3AE"}
LINE: dict[Scheme, str] = {"light": "#E3E6EA", "dark": "#2A3038"}
FULL_DIFFERENCE = 25.0
"""Points of 100 at which a difference has its full colour."""


def _rgb(text: str) -> Rgb:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _between(stops: tuple[str, ...], share: float) -> str:
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    one, other = _rgb(stops[low]), _rgb(stops[low + 1])
    mixed = (round(a + (b - a) * (place - low)) for a, b in zip(one, other, strict=True))
    return "#" + "".join(f"{part:02X}" for part in mixed)


def score_colour(value: float, scheme: Scheme) -> str:
    """Colour a score or a share on 0..100; the panel's own colour where there is none."""
    return PANEL[scheme] if math.isnan(value) else _between(_SCORE[scheme], value / 100)


def difference_colour(value: float, scheme: Scheme) -> str:
    """Colour a difference in points of 100: orange below zero, blue above."""
    if math.isnan(value):
        return PANEL[scheme]
    return _between(_DIFFERENCE[scheme], 0.5 + value / (2 * FULL_DIFFERENCE))


def evidence_colour(label: Label | None, scheme: Scheme) -> str:
    """Colour a label of the diagnosis; the panel's own colour where there is none."""
    return PANEL[scheme] if label is None else _EVIDENCE[scheme][label]


def stops(scheme: Scheme, *, difference: bool) -> tuple[str, ...]:
    """Return the colours of a scale from its low to its high end, for a legend."""
    return (_DIFFERENCE if difference else _SCORE)[scheme]


_READS = 4.5
"""The least contrast at which text is read."""


def luminance(colour: str) -> float:
    """Return a colour's relative luminance, 0..1 (WCAG 2)."""
    parts = [part / 255 for part in _rgb(colour)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(colour: str) -> str:
    """Return the ink that reads well on a colour: ours where it does, else white or plain black.

    On some blues neither ours nor white reaches 4.5 to 1; of white and black, one always does.
    """
    ground = luminance(colour) + 0.05
    own = luminance(INK["light"]) + 0.05
    dark, white, black = max(ground, own) / min(ground, own), 1.05 / ground, ground / 0.05
    if max(dark, white) < _READS:
        return "#FFFFFF" if white >= black else "#000000"
    return INK["light"] if dark >= white else "#FFFFFF"
