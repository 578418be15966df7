"""How a mark as somebody wrote it becomes a value from 0 to 1.

A scale is declared, never guessed from a mark: what it doesn't know is unscored. Our own judges'
1 to 5 is one scale of many, `JUDGE_SCALE`.

Reference: METHODS T11 (marks on any scale).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, Literal, NamedTuple, Self

from pydantic import model_validator

from atom.records.base import Id, Record, content_id

MarkState = Literal["scored", "unscored", "failed", "not_applicable"]
"""States of a mark. `not_applicable`: the criterion doesn't apply to this answer, says whoever
marked it; such a mark has no value, enters no mean, and is counted in sight."""

_FAILS_AT: Final = 0.25
_PASSES_AT: Final = 0.75
_MIDDLE: Final = 0.5


class ScaleMark(NamedTuple):
    """What a mark says on its scale."""

    state: MarkState
    value: float | None
    """0 to 1 where it is scored, else None."""
    detail: str = ""
    """Why it has no value."""


class MarkScale(Record):
    """A declared scale of marks: words in order, or numbers from one end to the other."""

    id: Id
    """Hash of all that follows; `judge` for our own judges' scale."""
    name: str = ""
    levels: tuple[tuple[str, float], ...] = ()
    """Each mark as written with its value from 0 to 1, the worst first; empty for numbers."""
    low: float | None = None
    """The smallest number, where marks are numbers on a line."""
    high: float | None = None
    lower_is_better: bool = False
    """Of numbers: whether `low` is worth 1 and `high` is worth 0."""
    na: tuple[str, ...] = ()
    """Marks that say that the criterion doesn't apply."""
    unreadable: tuple[str, ...] = ()
    """Regular expressions: a mark in which one is found is unscored, whatever else it says."""
    ordinal: bool = False
    """Whether the distance between levels is unknown: then the share at or above each level says
    more than a mean."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.levels:
            _check_levels(self)
        elif self.low is None or self.high is None:
            raise ValueError("a scale has either levels, or both of low and high")
        elif not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"low {self.low!r} must be a number below high {self.high!r}")
        for pattern in self.unreadable:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"unreadable {pattern!r} is no pattern: {error}") from error
        return self

    @classmethod
    def of_levels(
        cls,
        levels: Mapping[str, float] | Sequence[tuple[str, float]],
        *,
        name: str = "",
        na: Sequence[str] = (),
        unreadable: Sequence[str] = (),
        ordinal: bool = False,
    ) -> MarkScale:
        """Make a scale of marks as written, each with its value from 0 to 1, in any order.

        Raises:
            ValueError: a value lies outside of 0 to 1, or one mark has two.
        """
        pairs = [*(levels.items() if isinstance(levels, Mapping) else levels)]
        return _named(
            name=name,
            levels=tuple(sorted(((str(w), float(v)) for w, v in pairs), key=lambda one: one[1])),
            na=tuple(na),
            unreadable=tuple(unreadable),
            ordinal=ordinal,
        )

    @classmethod
    def of_numbers(
        cls,
        low: float,
        high: float,
        *,
        name: str = "",
        lower_is_better: bool = False,
        na: Sequence[str] = (),
        unreadable: Sequence[str] = (),
    ) -> MarkScale:
        """Make a scale of numbers from `low` to `high`.

        Raises:
            ValueError: these aren't two numbers in this order.
        """
        return _named(
            name=name,
            low=float(low),
            high=float(high),
            lower_is_better=lower_is_better,
            na=tuple(na),
            unreadable=tuple(unreadable),
        )

    def read(self, raw: object) -> ScaleMark:
        """Read a mark as somebody wrote it.

        Args:
            raw: a text or a number; blanks around it and the case of letters mean nothing, and
                `3`, `3.0` and `" 3 "` are one mark.

        Returns:
            Its state and value. A mark that the scale doesn't know, an empty one, and a number
            beyond the ends is unscored, with the reason: never a number by default.
        """
        text = _plain(raw)
        for pattern in self._patterns:
            if pattern.search(text):
                return ScaleMark(
                    "unscored", None, f"{text!r} is declared unreadable on this scale."
                )
        if _folded(text) in self._na:
            return ScaleMark("not_applicable", None, f"{text!r}: the criterion doesn't apply.")
        if not text:
            return ScaleMark("unscored", None, "There is no mark.")
        if self.levels:
            value = self._value_of.get(_folded(text))
            if value is None:
                known = ", ".join(repr(word) for word, _ in self.levels)
                return ScaleMark("unscored", None, f"{text!r} is no mark of this scale ({known}).")
            return ScaleMark("scored", value)
        return self._number(text)

    def _number(self, text: str) -> ScaleMark:
        assert self.low is not None
        assert self.high is not None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not self.low <= number <= self.high:
            ends = f"{self.low:g} to {self.high:g}"
            return ScaleMark("unscored", None, f"{text!r} is no number from {ends}.")
        value = (number - self.low) / (self.high - self.low)
        return ScaleMark("scored", 1 - value if self.lower_is_better else value)

    @property
    def values(self) -> tuple[float, ...]:
        """The different values that a mark can have, ascending; empty for numbers on a line."""
        return tuple(sorted({value for _, value in self.levels}))

    @property
    def fails_at(self) -> float:
        """A criterion is failed at this value or less.

        Of levels that is the last one below the middle (2 of our own 1 to 5, *no* of yes and no),
        or the worst where none lies below it; of numbers the lowest quarter, as on 1 to 5 (METHODS
        A2).
        """
        if not self.levels:
            return _FAILS_AT
        return max((v for v in self.values if v < _MIDDLE), default=self.values[0])

    @property
    def passes_at(self) -> float:
        """A criterion is met at this value or more: three quarters, or else the best level."""
        if not self.levels:
            return _PASSES_AT
        return min((v for v in self.values if v >= _PASSES_AT), default=self.values[-1])

    @cached_property
    def _value_of(self) -> dict[str, float]:
        return {_folded(word): value for word, value in self.levels}

    @cached_property
    def _na(self) -> frozenset[str]:
        return frozenset(map(_folded, self.na))

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern) for pattern in self.unreadable)


def _check_levels(scale: MarkScale) -> None:
    if scale.low is not None or scale.high is not None or scale.lower_is_better:
        raise ValueError("a scale has either levels, or numbers from low to high")
    values = [value for _, value in scale.levels]
    if not all(0 <= value <= 1 for value in values):
        raise ValueError(f"a level's value lies from 0 to 1, not {scale.levels!r}")
    if values != sorted(values):
        raise ValueError("levels come from the worst to the best")
    words = [_folded(word) for word, _ in scale.levels]
    twice = sorted({word for word in words if words.count(word) > 1})
    if twice:
        raise ValueError(f"{twice[0]!r} is a level twice")


def _named(**fields: object) -> MarkScale:
    scale = MarkScale.model_validate({"id": "unnamed", **fields})
    content = scale.model_dump(mode="json", exclude={"id"})
    return scale.model_copy(update={"id": content_id("scale", content)})


def _plain(raw: object) -> str:
    """Write a mark as a text: whole numbers without a point, truth values as words."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return ""
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw))
    return str(raw).strip()


def _folded(text: str) -> str:
    """Fold what doesn't tell marks apart."""
    text = text.strip().casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)


JUDGE_SCALE: Final = MarkScale(
    id="judge",
    name="1 to 5",
    levels=(("1", 0.0), ("2", 0.25), ("3", 0.5), ("4", 0.75), ("5", 1.0)),
)
"""Our own judges' scale (ATOM, appendix D); it is built in, and in no store."""
