"""Raw marks to values from 0 to 1, by a declared scale; never a number by default.

Reference: METHODS T11 (scores on another scale), STYLE 10 (scored, unscored, failed).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from atom.errors import FormatError
from atom.formats.cells import to_list, to_number, to_text
from atom.formats.judgments.columns import ScaleMap, words_of
from atom.records import MarkScale

MarkState = Literal["scored", "not_applicable", "unscored"]
_MOST_SEEN = 12
_MOST_WORDS = 60
_MOST_RAW = 500
_MOST_KNOWN = 10_000
UNREADABLE = "marked as unreadable in the map"
_YES_NO: tuple[dict[str, float], ...] = (
    {"no": 0.0, "yes": 1.0},
    {"false": 0.0, "true": 1.0},
    {"n": 0.0, "y": 1.0},
    {"fail": 0.0, "pass": 1.0},
    {"failed": 0.0, "passed": 1.0},
    {"not met": 0.0, "met": 1.0},
    {"unmet": 0.0, "met": 1.0},
)
_BAD_WORDS = re.compile(
    r"\b(hallucinat\w*|errors?|mistakes?|harm\w*|toxic\w*|bias\w*|violat\w*|unsafe|misleading"
    r"|redundan\w*|artifacts?|contradict\w*|fabricat\w*|incorrect\w*)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(no|not|free|without|avoid\w*|absence|lack\w*|non|un\w+)\b", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkReading:
    """A mark as it was read.

    Args:
        state: `unscored` where it is no mark of its scale.
        value: from 0 to 1; None unless scored.
        raw: the mark as it is written.
        detail: why there is no value.
    """

    state: MarkState
    value: float | None
    raw: str
    detail: str = ""


EMPTY = MarkReading(state="unscored", value=None, raw="", detail="the file holds no mark")


class Scale:
    """Reads the raw marks of one declared scale, as cells hold them.

    Args:
        declared: what the map says.
        name: what the scale is called.
        parts: how many numbers a mark has that is written as a list; None = any number.
    """

    def __init__(self, declared: ScaleMap, name: str = "", parts: int | None = None) -> None:
        self.declared = declared
        self.record = mark_scale(declared, name)
        self._parts = parts
        self._unreadable = [re.compile(pattern) for pattern in declared.unreadable]
        words = sorted((word for word, _ in self.record.levels), key=len, reverse=True)
        self._starts = (
            re.compile(rf"\W*({'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)
            if declared.starts and words
            else None
        )
        self._known: dict[str, MarkReading] = {}

    def read(self, raw: object, reason: str = "") -> MarkReading:
        """Read one mark.

        Args:
            raw: the cell.
            reason: the judge's words, which may say that there is no mark.
        """
        for pattern in self._unreadable if reason else ():
            found = pattern.search(reason)
            if found is not None:
                detail = f"marked as unreadable in the file ({found[0][:_MOST_WORDS]!r})"
                return MarkReading(state="unscored", value=None, raw=written(raw), detail=detail)
        text = written(raw)
        known = self._known.get(text)
        if known is None:
            known = self._read(raw, text)
            if len(self._known) < _MOST_KNOWN and len(text) < _MOST_WORDS:
                self._known[text] = known
        return known

    def _read(self, raw: object, text: str) -> MarkReading:
        mark = self.record.read(text)
        if mark.state == "not_applicable":
            return MarkReading(state="not_applicable", value=None, raw=text, detail=mark.detail)
        if not text or text.casefold() == "nan":
            return EMPTY
        if any(pattern.search(text) for pattern in self._unreadable):
            return MarkReading(
                state="unscored", value=None, raw=text[:_MOST_RAW], detail=UNREADABLE
            )
        items = to_list(raw)
        if items is not None or (self._parts or 1) > 1:
            return self._of_parts([raw] if items is None else items, text)
        if mark.value is None and self._starts is not None:
            found = self._starts.match(text)
            if found is not None:
                text = found[1]
                mark = self.record.read(text)
        if mark.value is None:
            detail = self._refusal(text)
            return MarkReading(state="unscored", value=None, raw=text[:_MOST_RAW], detail=detail)
        return MarkReading(state="scored", value=mark.value, raw=text)

    def _of_parts(self, items: Sequence[object], text: str) -> MarkReading:
        values = [self.record.read(written(item)).value for item in items]
        known = [value for value in values if value is not None]
        detail = ""
        if not values or len(known) < len(values):
            detail = f"{text[:_MOST_WORDS]!r} isn't a list of marks of this scale"
        elif self._parts is not None and len(known) != self._parts:
            detail = f"it has {len(known):,} of {self._parts} parts"
        if detail:
            return MarkReading(state="unscored", value=None, raw=text[:_MOST_RAW], detail=detail)
        least = self.declared.parts == "least"
        value = min(known) if least else math.fsum(known) / len(known)
        return MarkReading(state="scored", value=value, raw=text)

    def _refusal(self, text: str) -> str:
        shown, low, high = text[:_MOST_WORDS], self.record.low, self.record.high
        if low is not None and high is not None and to_number(text) is not None:
            return f"{shown} lies outside {low:g} to {high:g}"
        return f"{shown!r} is no mark of this scale"

    def expected(self, shares: Mapping[str, object]) -> MarkReading:
        """Read a distribution over marks: the value is the expected one, divided by its sum.

        Args:
            shares: mark -> its probability, as cells.
        """
        total = expected = 0.0
        raw: dict[str, float] = {}
        for word, cell in shares.items():
            share, value = to_number(cell), self.record.read(word).value
            if share is None or share < 0 or value is None:
                detail = f"the probability of {word!r} is {written(cell)[:_MOST_WORDS]!r}"
                return MarkReading(state="unscored", value=None, raw="", detail=detail)
            raw[word] = share
            total += share
            expected += share * value
        if total <= 0:
            return EMPTY
        value = min(1.0, max(0.0, expected / total))
        return MarkReading(state="scored", value=value, raw=json.dumps(raw))


def written(raw: object) -> str:
    """Return a mark as it is written."""
    if raw.__class__ is str:
        return raw.strip()
    return (to_text(raw) or "").strip()


def fold(word: object) -> str:
    """Fold case, white space and the stop at a word's end."""
    return " ".join(written(word).casefold().split()).rstrip(".")


def mark_scale(declared: ScaleMap, name: str = "") -> MarkScale:
    """Make the record of a declared scale.

    Raises:
        FormatError: it declares no marks, or two values for one.
    """
    na = tuple(word for item in declared.na for word in words_of(item))
    turned = declared.polarity == "lower"
    values = declared.values
    try:
        if values is not None:
            last = max(1, len(values) - 1)
            pairs = (
                values.items()
                if isinstance(values, dict)
                else [(word, at / last) for at, word in enumerate(values)]
            )
            return MarkScale.of_levels(
                [
                    (spelled, 1.0 - value if turned else float(value))
                    for word, value in pairs
                    for spelled in words_of(word)
                ],
                name=name,
                na=na,
                unreadable=declared.unreadable,
                ordinal=not isinstance(values, dict),
            )
        if declared.low is None or declared.high is None:
            raise ValueError("it says neither `values` nor `from` and `to`")
        return MarkScale.of_numbers(
            min(declared.low, declared.high),
            max(declared.low, declared.high),
            name=name,
            lower_is_better=(declared.low > declared.high) != turned,
            na=na,
            unreadable=declared.unreadable,
        )
    except ValueError as error:
        raise FormatError(f"the scale {name or 'in the map'} can't be used: {error}") from error


def guess_scale(seen: Mapping[str, int]) -> ScaleMap | None:
    """Guess the scale of marks where it is obvious: yes/no, 0/1, or 1 to 5 with all five seen.

    Args:
        seen: mark as it is written -> how often; empty ones don't count.

    Returns:
        The scale; None where it isn't obvious.
    """
    words = {fold(word) for word in seen} - {""}
    if not words:
        return None
    for pair in _YES_NO:
        if words <= set(pair):
            return ScaleMap(values=dict(pair))
    numbers = {to_number(word) for word in words}
    if numbers == {0.0, 1.0}:
        return ScaleMap(values={"0": 0.0, "1": 1.0})
    if numbers == {1.0, 2.0, 3.0, 4.0, 5.0}:
        return ScaleMap(low=1, high=5)
    return None


def refuse_scale(seen: Counter[str], where: str) -> FormatError:
    """Make the error for marks whose scale isn't obvious: it names the values seen."""
    shown = ", ".join(
        f"{word[:30]!r} ({n:,})" for word, n in islice(seen.most_common(), _MOST_SEEN)
    )
    more = "" if len(seen) <= _MOST_SEEN else f" and {len(seen) - _MOST_SEEN:,} others"
    return FormatError(
        f"{where}: the scale of the marks isn't obvious; seen: {shown or 'no mark'}{more}. Declare "
        "it in the column map: `scale: {from: 1, to: 10}`, or `scale: {values: {bad: 0, good: 1}}`"
    )


def sounds_bad(text: str) -> bool:
    """Whether a criterion's wording names something bad, so that a high mark may be a bad one."""
    return _BAD_WORDS.search(text) is not None and _NEGATED.search(text) is None
