"""A number that was estimated: its value, its interval, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from atom.display import numbers

Unit = Literal["score", "gap", "share", "gain", "shift", "plain", "count"]
"""`score` 0-100; `gap` a difference of scores; `share` of one, without decimals under 200 cases;
`gain` a difference of shares; `shift` a difference of marks on 1-5; `plain` has two decimals,
`count` at most one."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimated number with its 95 % interval.

    Attributes:
        value: NaN where there is nothing.
        lo: lower end; NaN where it has no interval.
        n: values that it is of (checkpoints, answers, pairs).
        samples: distinct samples (clusters) of these.
        unit: how it is measured, and so how it is written.
    """

    value: float
    lo: float = math.nan
    hi: float = math.nan
    n: int = 0
    samples: int = 0
    unit: Unit = "score"

    @property
    def known(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)

    @property
    def text(self) -> str:
        """The value as it is read: `62.1`, `+3.2`, `62 %`."""
        return self._written(self.value)

    @property
    def ends(self) -> str:
        """Its interval as it is read: `58.4–65.7`, `+0.4 to +6.0`; empty where it has none."""
        if not (self.known and math.isfinite(self.lo) and math.isfinite(self.hi)):
            return ""
        lo, hi = self._written(self.lo), self._written(self.hi)
        if self.unit in _SIGNED:
            return f"{lo} to {hi}"
        return numbers.spanned(lo.removesuffix(" %"), hi.removesuffix(" %"))

    def _written(self, value: float) -> str:
        if self.unit == "share":
            return numbers.percent(100 * value, self.n) if self.n else numbers.share(value, 1)
        return _WRITE[self.unit](value)

    def __str__(self) -> str:
        """Write both: `62.1 (58.4–65.7)`."""
        return f"{self.text} ({self.ends})" if self.ends else self.text

    @property
    def document(self) -> dict[str, float | None]:
        """What JSON says of it; what isn't known is None."""
        named = {"value": self.value, "lo": self.lo, "hi": self.hi}
        return {
            **{name: end if math.isfinite(end) else None for name, end in named.items()},
            "n": self.n,
            "samples": self.samples,
        }


def _count(value: float) -> str:
    return (
        numbers.NONE if math.isnan(value) else f"{value:,.1f}".removesuffix(".0").replace("-", "−")
    )


_WRITE: Final[dict[Unit, Callable[[float], str]]] = {
    "score": numbers.score,
    "gap": numbers.signed,
    "gain": numbers.points,
    "shift": lambda value: numbers.signed(value, 2),
    "plain": numbers.plain,
    "count": _count,
}
_SIGNED = {"gap", "gain", "shift"}
