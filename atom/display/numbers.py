"""Numbers as text, in one way wherever they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Protocol

NONE = "–"
"""What stands where there is no value."""
_FINE = 200
"""From this many cases on a percent gets a decimal."""


_COUNTED = re.compile(r"(?<![\w.,:-])[1-9]\d{3,}(?= (?:of \d+ )?criteria\b)")
_NAMED = re.compile(r"(.*?)(\w*)( (?:of|by|on) .*)?")
_ONE = re.compile(r"(?<![\w.,:-])1 (criteria|samples)\b")


class EstimateLike(Protocol):
    """A value with its interval, both as they are to be read."""

    @property
    def known(self) -> bool:
        """Whether there is a value."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def lo(self) -> float:
        """Lower end."""

    @property
    def hi(self) -> float:
        """Upper end."""


def score(value: float, digits: int = 1) -> str:
    """Write a score on the 0-100 scale, with one decimal where there is room."""
    return plain(value, digits)


def plain(value: float, digits: int = 2) -> str:
    """Write a number with so many decimals and a minus sign: `0.41`, `−0.08`."""
    if math.isnan(value):
        return NONE
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text


def percent(value: float, n: int) -> str:
    """Write a percentage; without decimals under 200 cases."""
    return in_percent(value, 1 if n >= _FINE else 0)


def in_percent(value: float, digits: int = 1) -> str:
    """Write a percentage with so many decimals: `62.1 %` of 62.1."""
    return NONE if math.isnan(value) else f"{value:.{digits}f} %"


def share(part: float, digits: int = 0) -> str:
    """Write a share of one as a percentage: `62 %` of .62."""
    return in_percent(100 * part, digits)


def share_interval(value: float, lo: float, hi: float, digits: int = 1) -> str:
    """Write a share of one with its interval: `62.1 % (58.4–65.7)`; alone where it has none."""
    return share(value, digits) + share_ends(lo, hi, digits)


def share_ends(lo: float, hi: float, digits: int = 0) -> str:
    """Write what follows a share: ` (58–66)`; nothing where it has no interval."""
    known = math.isfinite(lo) and math.isfinite(hi)
    return f" ({ends(100 * lo, 100 * hi, digits)})" if known else ""


def interval(estimate: EstimateLike) -> str:
    """Write `62.1 (58.4-65.7)`."""
    if not estimate.known:
        return NONE
    return f"{plain(estimate.value, 1)} ({ends(estimate.lo, estimate.hi)})"


def ends(lo: float, hi: float, digits: int = 1) -> str:
    """Write the ends of an interval: `58.4–65.7`; `−6.0 to 27.4` where one is below zero."""
    return spanned(plain(lo, digits), plain(hi, digits))


def spanned(lo: str, hi: str) -> str:
    """Join two numbers that are written already; a dash between two minus signs can't be read."""
    return f"{lo} to {hi}" if "−" in lo + hi else f"{lo}–{hi}"


def signed(value: float, digits: int = 1) -> str:
    """Write a difference: `+3.2`, `−1.0`; `0.0` has no sign, whatever it was before rounding."""
    if not math.isfinite(value):
        return NONE
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"−{text}" if value < 0 else f"+{text}"


def signed_interval(value: float, lo: float, hi: float, digits: int = 1) -> str:
    """Write `+3.2 (+0.4 to +6.0)`; the value alone where it has no interval."""
    if not (math.isfinite(value) and math.isfinite(lo) and math.isfinite(hi)):
        return signed(value, digits)
    return f"{signed(value, digits)} ({signed_ends(lo, hi, digits)})"


def signed_ends(lo: float, hi: float, digits: int = 1) -> str:
    """Write the ends of a difference: `+0.4 to +6.0`."""
    return f"{signed(lo, digits)} to {signed(hi, digits)}"


def points(share: float) -> str:
    """Write a difference of shares in points of 100: `+6.1` of .061."""
    return signed(100 * share)


def points_interval(share: float, lo: float, hi: float) -> str:
    """Write a difference of shares in points with its interval: `+6.1 (+0.4 to +11.8)`."""
    return signed_interval(100 * share, 100 * lo, 100 * hi)


def points_ends(lo: float, hi: float) -> str:
    """Write the ends of a difference of shares in points: `+0.4 to +11.8`."""
    return signed_ends(100 * lo, 100 * hi)


def p_value(p: float) -> str:
    """Write a p-value: `.023`, `.41`, `< .001`, `1`."""
    if not math.isfinite(p):
        return NONE
    if p < 0.001:
        return "<\u00a0.001"
    text = f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"
    return "1" if p >= 0.995 else text.removeprefix("0")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write `1 sample`, `1,200 samples`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def counted(number: int, nouns: str) -> str:
    """Write a count of what is named in the plural: `1 criterion`, `2 pairs of answers`."""
    if number != 1:
        return f"{number:,} {nouns}"
    before, noun, behind = _NAMED.fullmatch(nouns).groups("")  # type: ignore[union-attr]
    one = "criterion" if noun == "criteria" else re.sub("ies$", "ys", noun).removesuffix("s")
    return f"1 {before}{one}{behind}"


def every(number: int, nouns: str) -> str:
    """Write `Both models`, `All 3 models`."""
    return f"{'Both' if number == 2 else f'All {number:,}'} {nouns}"


def are(number: int) -> str:
    """Write the verb behind a count: `is`, `are`."""
    return "is" if number == 1 else "are"


def regrouped(text: str) -> str:
    """Write a stored sentence's counts as others: `1061 criteria` with its comma, `1 sample`."""
    text = _COUNTED.sub(lambda found: f"{int(found[0]):,}", text)
    return _ONE.sub(lambda found: counted(1, found[1]), text)


def money(cost: float | None) -> str:
    """Write an amount in USD; what is not known is said to be unknown."""
    if cost is None:
        return "price unknown"
    if cost == 0:
        return "free"
    if cost < 0.0001:
        return "under $0.0001"
    return f"${cost:,.4f}" if cost < 0.1 else f"${cost:,.2f}"


def moment(at: str) -> str:
    """Write a stored moment shortly: `2026-03-01 09:30`."""
    return at[:16].replace("T", " ") or NONE


def middle(text: str, size: int = 34) -> str:
    """Cut a long name in the middle."""
    if len(text) <= size:
        return text
    head = (size - 1) * 2 // 3
    return f"{text[:head].rstrip()}…{text[-(size - 1 - head) :].lstrip()}"


def rank(best: int, worst: int) -> str:
    """Write a set of ranks, `1` or `1-3`."""
    return str(best) if best == worst else f"{best}–{worst}"


def short_names(names: Sequence[str]) -> list[str]:
    """Shorten names to what tells them apart: `model-a`, `model-b` become `a`, `b`."""
    if len(names) < 2:
        return [middle(name, 9) for name in names]
    head = 0
    while all(len(name) > head + 1 for name in names) and len({n[head] for n in names}) == 1:
        head += 1
    while head and names[0][head - 1] not in "-_ /.":
        head -= 1
    return [middle(name[head:], 9) for name in names]
